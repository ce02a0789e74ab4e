"""Codes of signals with gaps: atoms come in one after the other, while the posterior density rises."""

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats


def masked_pursuit(
    atoms: Floats,
    signals: Floats,
    known: Array,
    noise: float,
    spread: Floats,
    log_odds: Floats,
    most: int,
    always: int,
) -> tuple[Floats, Floats]:
    """Return posterior means and variances of all entries of signals, given a set of atoms for each.

    A signal is the sum of the atoms that are in it, with codes w_j ~ N(0, spread_j), and of noise in its
    known entries. With C the covariance of these under the atoms that are in, the log posterior density
    rises by log_odds_j + 1/2 log(b / spread_j) + b/2 (a_j' C^-1 x)^2 if atom j comes in,
    b = 1 / (1 / spread_j + a_j' C^-1 a_j).

    Parameters
    ----------
    atoms : array of shape (L, D)
    signals, known : array of shape (N, D)
    noise : float
        The variance of the noise.
    spread, log_odds : array of shape (L,)
    most : int
        Atoms of a signal at most.
    always : int
        The first so many atoms are always in.

    References
    ----------
    Schniter, P., Potter, L. C. & Ziniel, J. (2008). Fast Bayesian matching pursuit. Information Theory
    and Applications Workshop, 326-333; of which the greedy path is followed.
    """
    mean, variance = np.empty(signals.shape), np.empty(signals.shape)
    _pursue(atoms, signals, known, noise, spread, log_odds, most, always, mean, variance)
    return mean, variance


@kernel
def _pursue(atoms, signals, known, noise, spread, log_odds, most, always, mean, variance):
    """Fill in means and variances."""
    count, length = atoms.shape
    some, solved = np.empty((count, length)), np.empty((count, length))
    members, places = np.empty(most, np.int64), np.empty(length, np.int64)
    values, taken = np.empty(length), np.empty(count, np.bool_)
    for s in range(signals.shape[0]):
        m = 0
        for i in range(length):
            if known[s, i]:
                places[m], values[m] = i, signals[s, i]
                m += 1
        for j in range(count):
            taken[j] = False
            for a in range(m):
                some[j, a] = atoms[j, places[a]]
                solved[j, a] = some[j, a] / noise
        size = 0
        while size < most:
            best = size
            if size >= always:
                best = _best(some, solved, values, m, spread, log_odds, taken, always)
            if best < 0:
                break
            members[size], taken[best] = best, True
            size += 1
            _take_in(some, solved, m, spread[best], best)
        _expect(atoms, some, solved, values, m, spread, members[:size], mean[s], variance[s])


@kernel
def _best(some, solved, values, m, spread, log_odds, taken, always):
    """Return the atom by which the density rises most; -1 if it rises by none."""
    best, most = -1, 0.0
    for j in range(always, some.shape[0]):
        if taken[j]:
            continue
        square, product = 0.0, 0.0
        for a in range(m):
            square += some[j, a] * solved[j, a]
            product += values[a] * solved[j, a]
        variance = 1.0 / (1.0 / spread[j] + square)
        rise = log_odds[j] + 0.5 * np.log(variance / spread[j]) + 0.5 * variance * product**2
        if rise > most:
            best, most = j, rise
    return best


@kernel
def _take_in(some, solved, m, spread, best):
    """Let ``solved``, C^-1 times each atom, be those of the covariance with one more atom."""
    pivot = solved[best, :m].copy()
    square = 0.0
    for a in range(m):
        square += some[best, a] * pivot[a]
    variance = 1.0 / (1.0 / spread + square)
    for j in range(some.shape[0]):
        product = 0.0
        for a in range(m):
            product += some[j, a] * pivot[a]
        product *= variance
        for a in range(m):
            solved[j, a] -= product * pivot[a]


@kernel
def _expect(atoms, some, solved, values, m, spread, members, mean, variance):
    """Write the mean and the variance of each entry of a signal with these atoms."""
    size = members.shape[0]
    codes, spreads = np.empty(size), np.empty((size, size))
    for a in range(size):
        j, total = members[a], 0.0
        for i in range(m):
            total += solved[j, i] * values[i]
        codes[a] = spread[j] * total
        for b in range(size):
            k, product = members[b], 0.0
            for i in range(m):
                product += solved[j, i] * some[k, i]
            spreads[a, b] = (spread[j] if a == b else 0.0) - spread[j] * spread[k] * product
    for i in range(atoms.shape[1]):
        value, square = 0.0, 0.0
        for a in range(size):
            value += codes[a] * atoms[members[a], i]
            across = 0.0
            for b in range(size):
                across += spreads[a, b] * atoms[members[b], i]
            square += across * atoms[members[a], i]
        mean[i], variance[i] = value, max(square, 0.0)
