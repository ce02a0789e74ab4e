"""Upper triangular factors in kernels: making them, solving by them, and taking a column out."""

import numpy as np

from garrote._jit import kernel


@kernel(inline=True)
def factor_column(root, k, pivot):
    """Make the k-th column of the Cholesky factor R of a matrix; return what is left of its ``pivot``.

    ``root`` holds R before that column and, above its diagonal, the entries of the matrix, whose
    diagonal one is ``pivot``. R has the square root of what is left there, which is for the caller to
    judge and to write. A lower triangular factor is given by its transpose, ``root.T``.
    """
    column = root[:, k]  # read by two indices it would cost half as much again
    for a in range(k):
        entry, other = column[a], root[:, a]
        for b in range(a):
            entry -= other[b] * column[b]
        entry /= other[a]
        column[a] = entry
        pivot -= entry * entry
    return pivot


@kernel
def solve_transposed(root, right, k):
    """Solve R'x = b for each row of ``right``, in place; R is k x k."""
    for a in range(k):
        for c in range(right.shape[0]):
            x = right[c, a] / root[a, a]
            right[c, a] = x
            for b in range(a + 1, k):
                right[c, b] -= x * root[a, b]


@kernel
def solve_upper(root, right, k):
    """Solve R x = b in place; R is k x k."""
    for a in range(k - 1, -1, -1):
        total = right[a]
        for b in range(a + 1, k):
            total -= root[a, b] * right[b]
        right[a] = total / root[a, a]


@kernel(inline=True)
def turn_rows(c, s, upper, lower):
    """Return an entry of two rows after a rotation of them."""
    return c * upper + s * lower, c * lower - s * upper


@kernel(inline=True)
def shift_left(root, a, k):
    """Move column a + 1 of R to place a, and rotate rows a and a + 1 so that it is triangular there.

    Done for all places from that of a column on, this takes the column out. Returns the rotation's
    cosine and sine, by which whatever else belongs to the two rows has to be rotated.
    """
    for b in range(a + 2):
        root[b, a] = root[b, a + 1]
    size = np.hypot(root[a, a], root[a + 1, a])
    c, s = root[a, a] / size, root[a + 1, a] / size
    root[a, a], root[a + 1, a] = size, 0.0
    for b in range(a + 2, k):
        root[a, b], root[a + 1, b] = turn_rows(c, s, root[a, b], root[a + 1, b])
    return c, s


@kernel
def take_out(root, place, k):
    """Take one column out of R."""
    for a in range(place, k - 1):
        shift_left(root, a, k)


@kernel
def invert_root(root, inverse, k):
    """Invert R."""
    for b in range(k):
        inverse[b, b] = 1.0 / root[b, b]
        for a in range(b - 1, -1, -1):
            total = 0.0
            for c in range(a + 1, b + 1):
                total += root[a, c] * inverse[c, b]
            inverse[a, b] = -total / root[a, a]
