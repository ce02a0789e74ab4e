"""Bounds on how many variables of no account stability selection selects, and what follows from them.

A base selects q of D variables in half of the rows, on average. A variable is of *low selection
probability* if it is selected from a random half with probability q / D at most, as good as by chance.
Of those, stability selection at the threshold t selects so many at most, in expectation:

- worst case (Shah & Samworth 2013, Theorem 1): q^2 / ((2 t - 1) D). It asks for nothing but rows that
  are independent draws of one law, and complementary halves.
- unimodal (their Theorem 2): if how often a variable is in both halves of a pair has a unimodal law.
- r-concave (their Eq. 8): if the laws of these numbers, and of how often it is in any half, are
  r-concave with r = -1/2 and -1/4, as those of their simulations were.

The bound of Meinshausen & Buehlmann (2010, Theorem 1) is the first number again, and counts false
variables themselves: it asks that these are alike (exchangeable), and that the base does no worse than
chance.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats

# The laws of Shah & Samworth: of how often a variable is in both halves, and in any half.
_BOTH, _ANY = -0.5, -0.25
# Places of the parameter of a law that are tried at once, and how often around the best of them.
_TRIED, _ROUNDS = 17, 6
# Hits are whole numbers; thresholds are not.
_DIGITS = 9
# Parameters of a law that are as good as infinite (a uniform law) and as 0 (a single point).
_FLAT, _STEEP = 1e9, 1e-9
_HALVINGS = 80


class Bound(NamedTuple):
    """A bound: its formula, what it counts, what it asks for, and the schemes that it is for."""

    formula: Callable[[float, int, float, int], float]
    counts: str
    asks: str
    schemes: tuple[str, ...]


def hits_needed(threshold: float, resamples: int) -> int:
    """Return in how many resamples at least a variable of a frequency beyond the threshold is."""
    return int(np.ceil(np.round(threshold * resamples, _DIGITS)))


def worst_case(size: float, variables: int, threshold: float, pairs: int) -> float:
    """Return q^2 / ((2 t - 1) D), for as many variables in a half, of so many."""
    return min(size**2 / ((2.0 * threshold - 1.0) * variables), float(variables))


def unimodal(size: float, variables: int, threshold: float, pairs: int) -> float:
    """Return the bound for a unimodal law; where its theorem says nothing, that of the worst case."""
    share, step = size / variables, 1.0 / pairs
    worst = worst_case(size, variables, threshold, pairs)
    least = min(0.5 + share**2, 0.5 + step / 2 + 0.75 * share**2)
    if share > 1.0 / np.sqrt(3.0) or threshold <= max(least, 0.5 + step / 2):
        return worst
    if threshold <= 0.75:
        factor = 1.0 / (2.0 * (2.0 * threshold - 1.0 - step / 2))
    else:
        factor = 4.0 * (1.0 - threshold + step / 2) / (1.0 + step)
    return min(factor * share**2 * variables, worst)


def r_concave(size: float, variables: int, threshold: float, pairs: int) -> float:
    """Return the bound for r-concave laws, the smaller one of both."""
    share, hits = size / variables, hits_needed(threshold, 2 * pairs)
    both = largest_tail(share**2, hits - pairs, pairs, _BOTH)
    once = largest_tail(share, hits, 2 * pairs, _ANY)
    return min(both, once) * variables


_LOW = "variables that a random half of the rows selects with probability q / D at most"
BOUNDS = {
    "r-concave": Bound(
        r_concave,
        _LOW,
        "the laws of how often a variable is selected are r-concave (r = -1/2 and -1/4)",
        ("pairs",),
    ),
    "unimodal": Bound(
        unimodal,
        _LOW,
        "the law of how often a variable is selected from both halves of a pair is unimodal",
        ("pairs",),
    ),
    "worst-case": Bound(worst_case, _LOW, "", ("pairs",)),
    "meinshausen-buehlmann": Bound(
        worst_case,
        "false variables",
        "these are exchangeable, the base does no worse than chance, and frequencies are those of all "
        "halves",
        ("pairs", "half"),
    ),
}


def largest_size(bound: str, variables: int, threshold: float, pairs: int, allowed: float) -> int:
    """Return how many variables a half may select so that the bound is kept; 0 if none may."""
    formula = BOUNDS[bound].formula
    low, high = 0, variables + 1  # kept, and not kept
    while high - low > 1:
        middle = (low + high) // 2
        if formula(middle, variables, threshold, pairs) <= allowed:
            low = middle
        else:
            high = middle
    return low


def thresholds(pairs: int) -> Floats:
    """Return all frequencies above a half that so many pairs may give."""
    return np.arange(pairs + 1, 2 * pairs + 1) / (2 * pairs)


def least_threshold(
    bound: str, size: float, variables: int, pairs: int, allowed: float
) -> float | None:
    """Return the least frequency above a half at which the bound is kept; None if it never is."""
    grid, formula = thresholds(pairs), BOUNDS[bound].formula
    if formula(size, variables, 1.0, pairs) > allowed:
        return None
    low, high = -1, len(grid) - 1  # not kept, and kept
    while high - low > 1:
        middle = (low + high) // 2
        if formula(size, variables, float(grid[middle]), pairs) <= allowed:
            high = middle
        else:
            low = middle
    return float(grid[high])


@lru_cache(maxsize=4096)
def largest_tail(mean: float, place: int, steps: int, r: float) -> float:
    """Return the largest probability of ``place`` or more of an r-concave law on 0, 1, ..., ``steps``.

    Its mean is ``mean`` times ``steps``, and r < 0. f is r-concave where f^r is convex. The largest tail
    is one of f(i) = c (a + i)^(1/r) for i <= k, with what is left of the mass at k + 1 (Shah & Samworth
    2013, appendix): for each k the best a is looked for. Below twice the mean the tail may be all.

    Parameters
    ----------
    mean : float
    place, steps : int
    r : float
    """
    target = mean * steps
    first = int(np.ceil(2.0 * target)) + 1  # a uniform law up to here has a larger mean
    if place < first:
        return 1.0
    if place > steps:
        return 0.0
    if target <= 0.0:
        return 0.0
    # Of the laws that end at k the one with this mean is steeper the larger k is.
    log_a = _log_parameters(np.arange(first, steps + 1), target, 1.0 / r)
    ends = np.arange(first, steps)
    ends = ends[ends + 1 >= place]  # else there is nothing at the place
    best = _tails(np.array([log_a[-1]]), np.array([steps - 1]), target, place, 1.0 / r)
    if not len(ends):
        return float(np.clip(best.max(), 0.0, 1.0))
    low, high = log_a[ends + 1 - first], log_a[ends - first]
    for _ in range(_ROUNDS):
        tried = low + (high - low) * np.linspace(0.0, 1.0, _TRIED)[:, None]
        tails = np.array([_tails(row, ends, target, place, 1.0 / r) for row in tried])
        at = tails.argmax(axis=0)
        best = np.append(best, tails.max())
        step = (high - low) / (_TRIED - 1)
        middle = tried[at, np.arange(len(ends))]
        low, high = np.maximum(low, middle - step), np.minimum(high, middle + step)
    return float(np.clip(best.max(), 0.0, 1.0))


def _powers(log_a: Floats, ends: Array, power: float) -> tuple[Floats, Array]:
    """Return (a + i)^power for i up to each end, 0 beyond, as a share of the first; and i."""
    i = np.arange(int(ends.max()) + 1)
    a = np.exp(log_a)[:, None]
    return np.where(i <= ends[:, None], (1.0 + i / a) ** power, 0.0), i


def _log_parameters(ends: Array, target: float, power: float) -> Floats:
    """Return log a for which the law that ends at each k has the mean, by halving."""
    low = np.full(len(ends), np.log(_STEEP))
    high = np.full(len(ends), np.log(_FLAT))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        mass, i = _powers(middle, ends, power)
        small = mass @ i < target * mass.sum(axis=1)  # too steep
        low, high = np.where(small, middle, low), np.where(small, high, middle)
    return np.asarray(0.5 * (low + high))


def _tails(log_a: Floats, ends: Array, target: float, place: int, power: float) -> Floats:
    """Return the tail of each law that has mass at k + 1 beside its powers up to k."""
    mass, i = _powers(log_a, ends, power)
    last = ends[:, None] + 1
    whole = ((last - i) * mass).sum(axis=1)
    share = (ends + 1 - target) / whole
    return np.asarray(1.0 - share * mass[:, :place].sum(axis=1))
