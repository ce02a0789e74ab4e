"""Binary quadratic programmes by brute force, and their linear relaxation, in plain NumPy and SciPy."""

import numpy as np
from scipy.optimize import linprog


def settings(n):
    """Return all 2^n settings of n switches, one a row."""
    return ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(float)


def values(A, b):
    """Return x'Ax + b'x of all settings, in the order of `settings`, half of the switches at a time."""
    half = len(b) // 2
    low, high = settings(half), settings(len(b) - half)
    alone = [
        np.einsum("ki,ij,kj->k", x, A[part, part], x) + x @ b[part]
        for x, part in ((low, slice(half)), (high, slice(half, None)))
    ]
    both = 2.0 * high @ A[half:, :half] @ low.T
    return (both + alone[0] + alone[1][:, None]).ravel()


def linear_relaxation(A, b):
    """Return the bound of the linear programme in which y_ij takes the place of x_i x_j."""
    n = len(b)
    one, other = np.nonzero(np.triu(A, 1))
    pairs = len(one)
    cost = np.concatenate([b + np.diag(A), 2.0 * A[one, other]])
    rows, least = [], []
    for k, (i, j) in enumerate(zip(one, other, strict=True)):
        for ends, sign, limit in (((i,), 1, 0), ((j,), 1, 0), ((i, j), -1, 1)):
            row = np.zeros(n + pairs)  # y <= x_i, y <= x_j, y >= x_i + x_j - 1
            row[n + k] = sign
            row[list(ends)] = -sign
            rows.append(row)
            least.append(limit)
    found = linprog(
        -cost, np.array(rows) if rows else None, least if rows else None, bounds=(0.0, 1.0)
    )
    return -found.fun
