"""A model's Cholesky factor beside all other columns: what one variable more or less would change.

R is the factor of G + ridge I on the model's variables and U = R^-T G its rows for all columns. What
they leave of every column's length (``pivot``) and of its product with the response (``product``) scores
the column as a newcomer. A variable more costs one row of U, one less a few rotations of its rows.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.solvers.algebra.factor_updates import append_row, factor_column, shift_left, turn_rows

# A column whose pivot is below this share of its length adds nothing to those in the model; a slab's
# precision in the pivot is lost in roundings only much further down, and copies have a right to it.
_DEPENDENT, _ROUNDED = 1e-9, 1e-13
# Columns that are worked on together: those of all rows of U stay near the processor meanwhile.
_CHUNK = 1024


@kernel(inline=True)
def dependent_share(rule):
    """Return the share of a column's length up to which its pivot counts as 0.

    Such a column is a combination of those in the model. Under a slab with a precision, which is part of
    every pivot, only pivots lost in rounding count as 0.
    """
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
def fill(gram, slot, lengths, xty, yty, ridge, members, factor):
    """Make the factor that of a model; its variables have rows of the Gram matrix."""
    begin(lengths, xty, yty, ridge, factor)
    root, scores = factor.root, factor.scores
    for k in range(members.shape[0]):
        j = members[k]
        for a in range(k):
            root[a, k] = gram[slot[members[a]], j]
        root[k, k] = np.sqrt(factor_column(root, k, factor.pivot[j]))
        product = factor.product[j]
        for a in range(k):
            product -= root[a, k] * scores[a]
        scores[k] = product / root[k, k]
        factor.left[0] = max(factor.left[0] - scores[k] * scores[k], 0.0)
        factor.members[k], factor.place[j] = j, k
    factor.size[0] = members.shape[0]
    for first in range(0, lengths.shape[0], _CHUNK):
        last = min(first + _CHUNK, lengths.shape[0])
        for k in range(members.shape[0]):
            _append_row(gram[slot[members[k]]], factor, k, first, last)


@kernel
def add_variable(gram_row, j, factor):
    """Take variable j in: one more row of U."""
    k = factor.size[0]
    for a in range(k):
        factor.root[a, k] = factor.rows[a, j]
    factor.root[k, k] = np.sqrt(factor.pivot[j])
    score = factor.product[j] / factor.root[k, k]
    factor.scores[k] = score
    for first in range(0, gram_row.shape[0], _CHUNK):
        _append_row(gram_row, factor, k, first, min(first + _CHUNK, gram_row.shape[0]))
    factor.left[0] = max(factor.left[0] - score * score, 0.0)
    factor.members[k] = j
    factor.place[j] = k
    factor.size[0] = k + 1


@kernel
def _append_row(gram_row, factor, k, first, last):
    """Make some columns of the k-th row of U, by its column of R, and take off what it explains."""
    append_row(gram_row, factor.rows, factor.root[:, k], k, first, last)
    new, scale, score = factor.rows[k, first:last], 1.0 / factor.root[k, k], factor.scores[k]
    pivot, product = factor.pivot[first:last], factor.product[first:last]
    for i in range(new.shape[0]):
        new[i] *= scale
        pivot[i] -= new[i] * new[i]
        product[i] -= new[i] * score


@kernel
def remove_variable(j, factor):
    """Leave variable j out: rotate its row to the end of U, and give back what it took."""
    k, start = factor.size[0], factor.place[j]
    scores, turns = factor.scores, factor.turns
    for a in range(start, k - 1):
        c, s = shift_left(factor.root, a, k)
        turns[a, 0], turns[a, 1] = c, s
        scores[a], scores[a + 1] = turn_rows(c, s, scores[a], scores[a + 1])
        factor.members[a] = factor.members[a + 1]
        factor.place[factor.members[a]] = a
    score = scores[k - 1]
    for first in range(0, factor.pivot.shape[0], _CHUNK):
        span = slice(first, min(first + _CHUNK, factor.pivot.shape[0]))
        for a in range(start, k - 1):
            c, s = turns[a, 0], turns[a, 1]
            upper, lower = factor.rows[a, span], factor.rows[a + 1, span]
            for i in range(upper.shape[0]):
                upper[i], lower[i] = turn_rows(c, s, upper[i], lower[i])
        gone, pivot, product = factor.rows[k - 1, span], factor.pivot[span], factor.product[span]
        for i in range(gone.shape[0]):
            pivot[i] += gone[i] * gone[i]
            product[i] += gone[i] * score
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


@kernel(inline=True)
def beside_newcomer(factor, between, i, j, k):
    """Return what the model and newcomer i leave of j: its product with the response, and its length.

    ``between`` is the cross product of the two columns.
    """
    for b in range(k):
        between -= factor.rows[b, i] * factor.rows[b, j]
    share = between / factor.pivot[i]
    return factor.product[j] - share * factor.product[i], factor.pivot[j] - share * between


@kernel
def log_determinant(factor):
    """Return log |G + ridge I| of the model."""
    total = 0.0
    for a in range(factor.size[0]):
        total += 2.0 * np.log(factor.root[a, a])
    return total
