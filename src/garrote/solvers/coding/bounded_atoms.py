"""Atoms for given codes of signals with gaps, each within the bound |w|^2 + gamma |w|_1 <= 1.

Given all others an atom minimises a sum over its entries of a_j (w_j - b_j)^2 / 2, a_j being the
squares of its codes over the signals that show the entry. With a multiplier m of the bound each entry is
S(a_j b_j, m gamma) / (a_j + 2 m), S moving towards 0, and the bound's left side falls as m rises
(Mairal, Bach, Ponce & Sapiro 2010 have such a projection for equal a_j).
"""

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import copy_into

# Halvings of the interval that holds the multiplier.
_HALVINGS = 100
# Products that one call of a kernel makes: some milliseconds of work.
_MOST_PRODUCTS = 1e7


def update_bounded_atoms(
    atoms: Floats, codes: Floats, left: Floats, seen: Array, weights: Floats, gamma: float
) -> float:
    """Let every atom be the best one given all others, in place; return what half the squares fall by.

    Parameters
    ----------
    atoms : array of shape (K, D)
        Within the bound. Entries that no code needs become 0.
    codes : array of shape (N, K)
    left : array of shape (N, D)
        What codes leave of signals, 0 where an entry was not seen; changed in place, too.
    seen : array of bool of shape (N, D)
    weights : array of shape (N,)
    gamma : float
        What sizes count in the bound.
    """
    together = max(1, int(_MOST_PRODUCTS / max(left.size, 1)))
    gained = 0.0
    for first in range(0, len(atoms), together):
        last = min(first + together, len(atoms))
        gained += _update(atoms, codes, left, seen, weights, gamma, first, last)
    return gained


@kernel
def _update(atoms, codes, left, seen, weights, gamma, first, last):
    """Update some atoms."""
    length = atoms.shape[1]
    pull, square, new = np.empty(length), np.empty(length), np.empty(length)
    gained = 0.0
    for k in range(first, last):
        pull[:] = 0.0
        square[:] = 0.0
        for i in range(codes.shape[0]):
            size, row, shown = codes[i, k], left[i], seen[i]
            if size != 0.0:
                share = weights[i] * size
                for j in range(length):
                    pull[j] += share * row[j]
                    square[j] += share * size * shown[j]
        if square.max() == 0.0:
            continue
        for j in range(length):
            pull[j] += square[j] * atoms[k, j]
        _fill(pull, square, gamma, new)
        for j in range(length):
            step = new[j] - atoms[k, j]
            gained += step * (pull[j] - 0.5 * square[j] * (new[j] + atoms[k, j]))
            new[j] = step
            atoms[k, j] += step
        for i in range(codes.shape[0]):
            size, row, shown = codes[i, k], left[i], seen[i]
            if size != 0.0:
                for j in range(length):
                    row[j] -= size * new[j] * shown[j]
    return gained


def update_remembered_atoms(
    atoms: Floats, inner: Floats, outer: Floats, gamma: float, passes: int
) -> None:
    """Do the same for signals of which products of codes are all that is known, in place.

    Parameters
    ----------
    atoms : array of shape (K, D)
    inner : array of shape (D, K, K) or (1, K, K)
        Products of codes with each other, over the signals that show each entry: all of them if 1.
    outer : array of shape (K, D)
        Products of codes with signals.
    gamma : float
    passes : int
        Over all atoms.
    """
    together = max(1, int(_MOST_PRODUCTS / max(atoms.size, 1)))
    for _ in range(passes):
        for first in range(0, len(atoms), together):
            _update_remembered(atoms, inner, outer, gamma, first, min(first + together, len(atoms)))


@kernel
def _update_remembered(atoms, inner, outer, gamma, first, last):
    """Update some atoms by products."""
    count, length = atoms.shape
    own = 1 if inner.shape[0] > 1 else 0
    pull, square, new = np.empty(length), np.empty(length), np.empty(length)
    for k in range(first, last):
        for j in range(length):
            products = inner[own * j, k]
            square[j] = products[k]
            pull[j] = outer[k, j] + products[k] * atoms[k, j]
            for i in range(count):
                pull[j] -= products[i] * atoms[i, j]
        if square.max() > 0.0:
            _fill(pull, square, gamma, new)
            copy_into(atoms[k], new)


@kernel
def _fill(pull, square, gamma, new):
    """Write the best atom within the bound, at the least multiplier that brings it there."""
    low, high = 0.0, 0.0
    if _filled(pull, square, gamma, 0.0, new) > 1.0:
        high = square.max()
        while _filled(pull, square, gamma, high, new) > 1.0:
            low, high = high, 2.0 * high
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if _filled(pull, square, gamma, middle, new) > 1.0:
                low = middle
            else:
                high = middle
        _filled(pull, square, gamma, high, new)


@kernel
def _filled(pull, square, gamma, multiplier, new):
    """Write the atom at a multiplier of the bound, and return the bound's left side."""
    total = 0.0
    for j in range(new.shape[0]):
        size = max(abs(pull[j]) - multiplier * gamma, 0.0)
        below = square[j] + 2.0 * multiplier
        new[j] = np.sign(pull[j]) * size / below if below > 0.0 else 0.0
        total += new[j] * new[j] + gamma * abs(new[j])
    return total


def within_bound(atoms: Floats, gamma: float) -> Floats:
    """Return atoms made as long as the bound allows: shorter or longer in their directions."""
    squares, sizes = np.sum(atoms**2, axis=1), np.abs(atoms).sum(axis=1)
    # t^2 squares + t gamma sizes = 1, without cancellation.
    below = gamma * sizes + np.sqrt((gamma * sizes) ** 2 + 4.0 * squares)
    share = np.divide(2.0, below, out=np.zeros_like(below), where=below > 0)
    return np.asarray(atoms * share[:, None])
