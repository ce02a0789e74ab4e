"""A model's factor with signs: what a variable of either sign more, or less, would change.

Beside the products with the response those with the signs t are kept: of every column what is left of
its own sign, ``tilt`` = -a_j'A^-1 t, and ``lifts`` = R^-T t, from which t'A^-1 z and t'A^-1 t follow.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.solvers.algebra.factor_updates import turn_rows
from garrote.solvers.algebra.model_factor import add_variable, empty_factor, fill, remove_variable


class SignedFactor(NamedTuple):
    """As `garrote.solvers.algebra.model_factor.ModelFactor`, and signs; ``sign`` is 0 of those out.

    ``cross`` is t'A^-1 z and ``lean`` t'A^-1 t.
    """

    # The fields of a `ModelFactor` are repeated, not nested: the walks are written once for both
    # classes and read ``factor.root`` of either, and numba knows no NamedTuple that inherits fields.

    members: Array
    place: Array
    size: Array
    root: Floats
    rows: Floats
    scores: Floats
    pivot: Floats
    product: Floats
    left: Floats
    turns: Floats
    sign: Floats
    tilt: Floats
    lifts: Floats
    cross: Floats
    lean: Floats


def empty_signed_factor(n_features: int, room: int) -> SignedFactor:
    """Return a factor with room for models of some size."""
    sign, tilt = np.zeros((2, n_features))
    cross, lean = np.zeros((2, 1))
    unsigned = empty_factor(n_features, room)
    return SignedFactor(*unsigned, sign, tilt, np.zeros(room), cross, lean)


@kernel
def fill_signed(gram, slot, lengths, xty, yty, ridge, members, signs, factor):
    """Make the factor that of a model with signs."""
    fill(gram, slot, lengths, xty, yty, ridge, members, factor)
    factor.cross[0] = factor.lean[0] = 0.0
    for j in range(lengths.shape[0]):
        factor.sign[j] = factor.tilt[j] = 0.0
    for k in range(members.shape[0]):
        tilted = signs[k]
        for a in range(k):
            tilted -= factor.root[a, k] * factor.lifts[a]
        _lift(members[k], k, signs[k], tilted, factor)


@kernel
def add_signed(gram_row, j, sign, factor):
    """Take variable j in with a sign."""
    k = factor.size[0]
    tilted = sign + factor.tilt[j]
    add_variable(gram_row, j, factor)
    _lift(j, k, sign, tilted, factor)


@kernel
def _lift(j, k, sign, tilted, factor):
    """Give variable j, the k-th of the model, a sign; ``tilted`` is what the others leave of it."""
    lift, row = tilted / factor.root[k, k], factor.rows[k]
    for i in range(row.shape[0]):
        factor.tilt[i] -= row[i] * lift
    factor.lifts[k] = lift
    factor.sign[j] = sign
    factor.cross[0] += lift * factor.scores[k]
    factor.lean[0] += lift * lift


@kernel
def remove_signed(j, factor):
    """Leave variable j out."""
    k, start = factor.size[0], factor.place[j]
    remove_variable(j, factor)
    lifts = factor.lifts
    for a in range(start, k - 1):
        c, s = factor.turns[a]
        lifts[a], lifts[a + 1] = turn_rows(c, s, lifts[a], lifts[a + 1])
    last, row = lifts[k - 1], factor.rows[k - 1]
    for i in range(row.shape[0]):
        factor.tilt[i] += row[i] * last
    factor.sign[j] = 0.0
    factor.cross[0] -= last * factor.scores[k - 1]
    factor.lean[0] -= last * last


@kernel
def turn_sign(j, inverse, factor):
    """Give member j the other sign; ``inverse`` is that of the root."""
    k, a = factor.size[0], factor.place[j]
    change = -2.0 * factor.sign[j]
    factor.sign[j] = -factor.sign[j]
    for b in range(a, k):
        step, row = change * inverse[a, b], factor.rows[b]
        factor.lifts[b] += step
        for i in range(row.shape[0]):
            factor.tilt[i] -= row[i] * step
    factor.cross[0] = factor.lean[0] = 0.0
    for b in range(k):
        factor.cross[0] += factor.lifts[b] * factor.scores[b]
        factor.lean[0] += factor.lifts[b] * factor.lifts[b]


@kernel(inline=True)
def member_lift(factor, inverse, a, k):
    """Return the a-th member's entry of A^-1 t."""
    total = 0.0
    for b in range(a, k):
        total += inverse[a, b] * factor.lifts[b]
    return total
