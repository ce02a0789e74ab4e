"""All coefficients of a model at once: a variable in or out without regard to them, and their draw.

Given the noise and the slab, the coefficients of a model are normal with precision
(G + ridge I) / noise. One Cholesky factor serves both: its last pivot and score tell what the last
variable is worth, all coefficients being integrated out, and it turns normal numbers into coefficients.
"""

import numpy as np

from garrote._jit import kernel
from garrote.solvers.algebra.factor_updates import factor_column

# A pivot below this share of its column's length is rounding: the slab's precision is lost in it.
_ROUNDED = 1e-13


@kernel
def choose_partner(row, length, i, draw):
    """Draw another column by the eighth power of its correlation with column i; -1 if there is none.

    ``row`` is that of i in the Gram matrix. So steep a power finds a near copy among thousands.
    """
    total = 0.0
    for j in range(length.shape[0]):
        total += _likeness(row, length, i, j)
    goal, chosen = draw * total, -1
    for j in range(length.shape[0]):
        like = _likeness(row, length, i, j)
        if like > 0.0:
            chosen = j
            goal -= like
            if goal < 0.0:
                break
    return chosen


@kernel(inline=True)
def _likeness(row, length, i, j):
    if i == j or length[j] <= 0.0:
        return 0.0
    square = row[j] * row[j] / (length[i] * length[j])
    return square * square * square * square


@kernel
def factorise(gram, slot, length, members, xty, ridge, root, scores):
    """Fill the Cholesky factor L of G + ridge I and L^-1 x'y; return how many variables it reached.

    It ends before a copy beside a slab so wide that roundings hide its precision. The row of the Gram
    matrix of the last variable is not needed.
    """
    for a in range(members.shape[0]):
        j = members[a]
        for b in range(a):
            root[a, b] = gram[slot[members[b]], j]
        pivot, score = factor_column(root.T, a, length[j] + ridge), xty[j]
        if pivot <= _ROUNDED * length[j]:
            return a
        for c in range(a):
            score -= root[a, c] * scores[c]
        root[a, a] = np.sqrt(pivot)
        scores[a] = score / root[a, a]
    return members.shape[0]


@kernel
def draw_together(gram, slot, members, xty, noise, root, scores, values, coef, gradient):
    """Draw the coefficients of a model from its factor and ``values``, normal numbers."""
    for i in range(gradient.shape[0]):
        gradient[i] = xty[i]
    for a in range(members.shape[0] - 1, -1, -1):
        total = scores[a] + np.sqrt(noise) * values[a]
        for c in range(a + 1, members.shape[0]):
            total -= root[c, a] * values[c]
        values[a] = total / root[a, a]
        coef[members[a]] = values[a]
        row = gram[slot[members[a]]]
        for i in range(gradient.shape[0]):
            gradient[i] -= values[a] * row[i]
