"""Several classes by machines of two: who wins most of its duels, and how likely each class is."""

from itertools import combinations

import numpy as np

from garrote.arrays import Array, Floats

# Probabilities of duels are this far from 0 and 1 at least, so that no class is certain to lose.
_LEAST = 1e-7


def pairs_of(count: int) -> list[tuple[int, int]]:
    """Return the pairs of so many classes; a positive decision is for the second of a pair."""
    return list(combinations(range(count), 2))


def scores(decisions: Floats, count: int) -> Floats:
    """Return a score for every class: duels won, and between equals what its decisions add up to."""
    votes, sums = np.zeros((2, len(decisions), count))
    for k, (first, second) in enumerate(pairs_of(count)):
        wins = decisions[:, k] > 0
        votes[:, second] += wins
        votes[:, first] += ~wins
        sums[:, second] += decisions[:, k]
        sums[:, first] -= decisions[:, k]
    return np.asarray(votes + sums / (3.0 * (np.abs(sums) + 1.0)))


def coupled(chances: Floats, count: int) -> Floats:
    """Return probabilities of classes that agree best with those of all duels.

    Minimises the sum over pairs of (r_ji p_i - r_ij p_j)^2 with the p adding up to 1, r_ij being the
    probability of i in a duel with j (Wu, Lin & Weng 2004, their second method).
    """
    duel = np.zeros((len(chances), count, count))
    for k, (first, second) in enumerate(pairs_of(count)):
        found = np.clip(chances[:, k], _LEAST, 1.0 - _LEAST)
        duel[:, second, first], duel[:, first, second] = found, 1.0 - found
    equations = np.zeros((len(chances), count + 1, count + 1))
    equations[:, :count, :count] = -np.swapaxes(duel, 1, 2) * duel
    diagonal: Array = np.arange(count)
    equations[:, diagonal, diagonal] = (np.swapaxes(duel, 1, 2) ** 2).sum(axis=2)
    equations[:, :count, count] = equations[:, count, :count] = 1.0
    sides = np.zeros((len(chances), count + 1, 1))
    sides[:, count] = 1.0
    found = np.maximum(np.linalg.solve(equations, sides)[:, :count, 0], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
