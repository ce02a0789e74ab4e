"""Upper triangular factors in kernels: making them, solving by them, a column more or less."""

import numpy as np

from garrote._jit import kernel
from garrote.elementary import copy_into


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


@kernel(inline=True)
def append_row(source, rows, shares, k, first, last):
    """Write row k of R^-T G up to its scale: ``source``, a row of G, less ``shares`` of those before.

    Only columns ``first`` to ``last`` are written. Four rows at a time: the new one is then read and
    written a quarter as often.
    """
    new, whole = rows[k, first:last], k - k % 4
    copy_into(new, source[first:last])
    for a in range(0, whole, 4):
        s0, s1, s2, s3 = shares[a], shares[a + 1], shares[a + 2], shares[a + 3]
        r0, r1 = rows[a, first:last], rows[a + 1, first:last]
        r2, r3 = rows[a + 2, first:last], rows[a + 3, first:last]
        for i in range(new.shape[0]):
            new[i] -= s0 * r0[i] + s1 * r1[i] + s2 * r2[i] + s3 * r3[i]
    for a in range(whole, k):
        share, row = shares[a], rows[a, first:last]
        for i in range(new.shape[0]):
            new[i] -= share * row[i]


@kernel
def solve_transposed(root, right, k):
    """Solve R'x = b for each row of ``right``, in place; R is k x k.

    Four rows of R at a time: what is left of b is then read and written a quarter as often.
    """
    whole = k - k % 4
    for c in range(right.shape[0]):
        x = right[c]
        for a in range(0, whole, 4):
            r0, r1, r2, r3 = root[a], root[a + 1], root[a + 2], root[a + 3]
            x0 = x[a] / r0[a]
            x1 = (x[a + 1] - x0 * r0[a + 1]) / r1[a + 1]
            x2 = (x[a + 2] - x0 * r0[a + 2] - x1 * r1[a + 2]) / r2[a + 2]
            x3 = (x[a + 3] - x0 * r0[a + 3] - x1 * r1[a + 3] - x2 * r2[a + 3]) / r3[a + 3]
            x[a], x[a + 1], x[a + 2], x[a + 3] = x0, x1, x2, x3
            for b in range(a + 4, k):
                x[b] -= x0 * r0[b] + x1 * r1[b] + x2 * r2[b] + x3 * r3[b]
        for a in range(whole, k):
            x[a] /= root[a, a]
            for b in range(a + 1, k):
                x[b] -= x[a] * root[a, b]


@kernel
def solve_upper(root, right, k):
    """Solve R x = b in place; R is k x k. Four rows of R at a time, as there are."""
    whole = k - k % 4
    for a in range(k - 1, whole - 1, -1):
        for b in range(a + 1, k):
            right[a] -= root[a, b] * right[b]
        right[a] /= root[a, a]
    for a in range(whole - 4, -1, -4):
        r0, r1, r2, r3 = root[a], root[a + 1], root[a + 2], root[a + 3]
        s0, s1, s2, s3 = right[a], right[a + 1], right[a + 2], right[a + 3]
        for b in range(a + 4, k):
            x = right[b]
            s0 -= r0[b] * x
            s1 -= r1[b] * x
            s2 -= r2[b] * x
            s3 -= r3[b] * x
        s3 /= r3[a + 3]
        s2 = (s2 - r2[a + 3] * s3) / r2[a + 2]
        s1 = (s1 - r1[a + 2] * s2 - r1[a + 3] * s3) / r1[a + 1]
        s0 = (s0 - r0[a + 1] * s1 - r0[a + 2] * s2 - r0[a + 3] * s3) / r0[a]
        right[a], right[a + 1], right[a + 2], right[a + 3] = s0, s1, s2, s3


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


@kernel
def invert_row(root, inverse, a, k):
    """Make the a-th row of the inverse of R."""
    row = inverse[a]
    row[a] = 1.0 / root[a, a]
    for b in range(a + 1, k):
        total = 0.0
        for c in range(a, b):
            total += row[c] * root[c, b]
        row[b] = -total / root[b, b]
