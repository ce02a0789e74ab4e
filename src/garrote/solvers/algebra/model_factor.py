"""A model's Cholesky factor beside all other columns: what one variable more or less would change.

R is the factor of G + ridge I on the model's variables and U = R^-T G its rows for all columns. What
they leave of every column's length (``pivot``) and of its product with the response (``product``) scores
the column as a newcomer. A variable more costs one row of U, one less a few rotations of its rows.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.solvers.algebra.factor_updates import shift_left

# A column whose pivot is below this share of its length adds nothing to those in the model; a slab's
# precision in the pivot is lost in roundings only much further down, and copies have a right to it.
_DEPENDENT, _ROUNDED = 1e-9, 1e-13


@kernel(inline=True)
def dependent_share(rule):
    """Return the share of its length up to which what a column has beyond a model counts as nothing."""
    return _ROUNDED if rule.ridge > 0.0 else _DEPENDENT


class ModelFactor(NamedTuple):
    """A model: its variables in order of their coming, and the factor that scores its neighbours.

    ``turns`` are the rotations, cosine and sine, by which the last variable that left did so.
    """

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


def empty_factor(n_features: int, room: int) -> ModelFactor:
    """Return a factor with room for models of some size."""
    return ModelFactor(
        members=np.zeros(room, np.int64),
        place=np.full(n_features, -1, np.int64),
        size=np.zeros(1, np.int64),
        root=np.zeros((room, room)),
        rows=np.zeros((room, n_features)),
        scores=np.zeros(room),
        pivot=np.zeros(n_features),
        product=np.zeros(n_features),
        left=np.zeros(1),
        turns=np.zeros((room, 2)),
    )


@kernel
def begin(lengths, xty, yty, ridge, factor):
    """Make the factor that of the empty model."""
    factor.size[0] = 0
    factor.left[0] = yty
    for j in range(lengths.shape[0]):
        factor.place[j] = -1
        factor.pivot[j] = lengths[j] + ridge
        factor.product[j] = xty[j]


@kernel
def add_variable(gram_row, j, factor):
    """Take variable j in: one more row of U."""
    k = factor.size[0]
    scale = 1.0 / np.sqrt(factor.pivot[j])
    new = factor.rows[k]
    for i in range(new.shape[0]):
        new[i] = gram_row[i]
    for a in range(k):
        share = factor.rows[a, j]
        factor.root[a, k] = share
        row = factor.rows[a]
        for i in range(new.shape[0]):
            new[i] -= share * row[i]
    factor.root[k, k] = 1.0 / scale
    score = factor.product[j] * scale
    for i in range(new.shape[0]):
        new[i] *= scale
        factor.pivot[i] -= new[i] * new[i]
        factor.product[i] -= new[i] * score
    factor.scores[k] = score
    factor.left[0] = max(factor.left[0] - score * score, 0.0)
    factor.members[k] = j
    factor.place[j] = k
    factor.size[0] = k + 1


@kernel
def remove_variable(j, factor):
    """Leave variable j out: rotate its row to the end of U, and give back what it took."""
    k = factor.size[0]
    start = factor.place[j]
    root, rows = factor.root, factor.rows
    for a in range(start, k - 1):
        c, s = shift_left(root, a, k)
        factor.turns[a, 0], factor.turns[a, 1] = c, s
        for i in range(rows.shape[1]):
            upper, lower = rows[a, i], rows[a + 1, i]
            rows[a, i], rows[a + 1, i] = c * upper + s * lower, c * lower - s * upper
        upper, lower = factor.scores[a], factor.scores[a + 1]
        factor.scores[a], factor.scores[a + 1] = c * upper + s * lower, c * lower - s * upper
        factor.members[a] = factor.members[a + 1]
        factor.place[factor.members[a]] = a
    last, score = rows[k - 1], factor.scores[k - 1]
    for i in range(rows.shape[1]):
        factor.pivot[i] += last[i] * last[i]
        factor.product[i] += last[i] * score
    factor.left[0] += score * score
    factor.place[j] = -1
    factor.size[0] = k - 1


@kernel(inline=True)
def member_coefficient(factor, inverse, a, k):
    """Return the ridge coefficient of the a-th member, and its spread (its entry of the inverse)."""
    weight = spread = 0.0
    for b in range(a, k):
        weight += inverse[a, b] * factor.scores[b]
        spread += inverse[a, b] * inverse[a, b]
    return weight, spread


def log_determinant(factor: ModelFactor) -> float:
    """Return log |G + ridge I| of the model."""
    return 2.0 * float(np.log(np.diag(factor.root)[: factor.size[0]]).sum())
