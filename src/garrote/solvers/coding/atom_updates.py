"""Atoms for codes that are given: block coordinate descent on their cross products, and K-SVD.

The sum of squares |X - Z W|^2 depends on atoms through A = Z'Z and B = Z'X alone. Given all others, the
best atom of length 1 at most is w_j + (b_j - a_j W) / A_jj, shortened to length 1 (Mairal et al. 2010).
"""

import numpy as np
import scipy.sparse

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.elementary import copy_into

# Products that one call of a kernel makes: some milliseconds of work.
_MOST_PRODUCTS = 2e7


def gather(
    codes: scipy.sparse.csr_array, signals: Floats, weights: Floats
) -> tuple[Floats, Floats]:
    """Return Z'Z and Z'X of some signals and their codes, every signal with its weight."""
    atoms = codes.shape[1]
    inner, outer = np.zeros((atoms, atoms)), np.zeros((atoms, signals.shape[1]))
    _gather(codes.indices, codes.data, codes.indptr, weights, signals, inner, outer)
    return inner, outer


@kernel
def _gather(columns, coefs, ends, weights, signals, inner, outer):
    """Add up the products of codes with each other and with the signals."""
    for s in range(signals.shape[0]):
        for a in range(ends[s], ends[s + 1]):
            share = weights[s] * coefs[a]
            row, sums = outer[columns[a]], inner[columns[a]]
            for i in range(row.shape[0]):
                row[i] += share * signals[s, i]
            for b in range(ends[s], ends[s + 1]):
                sums[columns[b]] += share * coefs[b]


def update_atoms(
    atoms: Floats,
    inner: Floats,
    outer: Floats,
    passes: int = 1,
    share: float = 0.0,
    positive: bool = False,
    longest: float = 1.0,
) -> float:
    """Let every atom be the best one given all others, in place, until a pass gains little.

    Parameters
    ----------
    atoms : array of shape (L, D)
    inner, outer : array of shape (L, L), (L, D)
        Z'Z and Z'X. Atoms in no code stay as they are.
    passes : int
        Over all atoms, at most.
    share : float
        A pass that gains no more than this share of what all before it did is the last.
    positive : bool
        Whether atoms are not negative.
    longest : float
        The length of an atom at most.

    Returns
    -------
    float
        By how much half the sum of squares has fallen.
    """
    together = max(1, int(_MOST_PRODUCTS / max(atoms.size, 1)))
    total = 0.0
    for _ in range(passes):
        gained = 0.0
        for first in range(0, len(atoms), together):
            end = min(first + together, len(atoms))
            gained += _update(atoms, inner, outer, positive, longest, first, end)
        done, total = gained <= share * total, total + gained
        if done:
            break
    return total


@kernel
def _update(atoms, inner, outer, positive, longest, first, end):
    """Update some atoms; return by how much half the sum of squares has fallen."""
    length = atoms.shape[1]
    step, free, gained = np.empty(length), np.empty(length), 0.0
    for j in range(first, end):
        size = inner[j, j]
        if size <= 0.0:
            continue
        copy_into(step, outer[j])
        for k in range(atoms.shape[0]):
            share = inner[j, k]
            if share != 0.0:
                for i in range(length):
                    step[i] -= share * atoms[k, i]
        square = 0.0
        for i in range(length):
            step[i] /= size
            best = atoms[j, i] + step[i]
            free[i] = max(best, 0.0) if positive else best
            square += free[i] * free[i]
        shorter = longest / np.sqrt(square) if square > longest * longest else 1.0
        for i in range(length):
            new = free[i] * shorter
            moved = new - atoms[j, i]
            gained += size * moved * (step[i] - 0.5 * moved)
            atoms[j, i] = new
    return gained


def update_pairs(
    atoms: Floats, codes: scipy.sparse.csr_array, left: Floats, weights: Floats
) -> scipy.sparse.csr_array:
    """Update every atom together with its codes, given all others (K-SVD); return the codes.

    Atoms and ``left``, what codes leave of the signals, are changed in place. The best pair is a
    singular vector of what all others leave; a step of the power method towards it never loses
    (Rubinstein, Zibulevsky & Elad 2008). Atoms in no code stay as they are.
    """
    by_atom = codes.tocsc()
    values, rows, ends = by_atom.data.copy(), by_atom.indices, by_atom.indptr
    cost = np.cumsum(np.diff(ends) * left.shape[1] * 4)
    cuts = np.searchsorted(cost, np.arange(_MOST_PRODUCTS, cost[-1], _MOST_PRODUCTS)) + 1
    for some in np.split(np.arange(len(atoms)), np.unique(cuts)):
        if len(some):
            _update_pairs(atoms, values, rows, ends, left, weights, some[0], some[-1] + 1)
    new = scipy.sparse.csc_array((values, rows, ends), shape=codes.shape)
    return scipy.sparse.csr_array(new)


@kernel
def _update_pairs(atoms, values, rows, ends, left, weights, first, last):
    """Update some atoms, and their codes."""
    length = atoms.shape[1]
    new = np.empty(length)
    for j in range(first, last):
        # What all others leave is left + z w; its product with the codes is that of left, plus z'z w.
        size, old = 0.0, atoms[j]
        new[:] = 0.0
        for p in range(ends[j], ends[j + 1]):
            share = weights[rows[p]] * values[p]
            size += share * values[p]
            for i in range(length):
                new[i] += share * left[rows[p], i]
        square = 0.0
        for i in range(length):
            new[i] += size * old[i]
            square += new[i] * new[i]
        if size == 0.0 or square == 0.0:
            continue
        for i in range(length):
            new[i] /= np.sqrt(square)
        for p in range(ends[j], ends[j + 1]):
            row, code, total = left[rows[p]], values[p], 0.0
            for i in range(length):
                row[i] += code * old[i]
                total += row[i] * new[i]
            for i in range(length):
                row[i] -= total * new[i]
            values[p] = total
        copy_into(old, new)
