"""From statistics to selections with a false discovery rate: thresholds, q-values, e-values.

Statistics of groups without effect are negative as often as positive, so that those below -t count the
false ones above t. The filter takes the smallest t of which

::

    (1 + #{W <= -t}) / #{W >= t} <= q

(knockoff+, which keeps the false discovery rate at q; without the 1 a modified one, E[V / (R + 1/q)];
Barber & Candes 2015). E-values of groups without effect have a sum whose expectation is at most G, the
number of groups: those of several copies may be averaged, and the e-BH procedure (Wang & Ramdas 2022)
keeps the false discovery rate however they depend on each other (Ren & Barber 2024).
"""

import numpy as np

from garrote.arrays import Array, Floats


def threshold(statistics: Floats, q: float, plus: bool = True) -> float:
    """Return the smallest t whose estimated share of false discoveries is at most q; inf if none is."""
    sizes, estimates = _estimates(statistics, plus)
    enough = np.flatnonzero(estimates <= q)
    return float(sizes[enough[-1]]) if len(enough) else np.inf


def q_values(statistics: Floats, plus: bool = True) -> Floats:
    """Return the least q at which each group is selected; 1 for what no q below 1 selects."""
    sizes, estimates = _estimates(statistics, plus)
    found = np.ones(len(statistics))
    if len(sizes):
        least = np.minimum(np.minimum.accumulate(estimates[::-1])[::-1], 1.0)
        positive = statistics > 0
        found[positive] = least[np.searchsorted(-sizes, -statistics[positive])]
    return found


def _estimates(statistics: Floats, plus: bool) -> tuple[Floats, Floats]:
    """Return the sizes of all statistics but 0, the largest first, and the estimate at each.

    Those of negative ones count, too: a threshold that may not stop there depends on signs that it must
    not know, and e-values would be too large.
    """
    positive = np.sort(statistics[statistics > 0])
    negative = np.sort(-statistics[statistics < 0])
    sizes = np.unique(np.abs(statistics[statistics != 0]))[::-1]
    above = len(positive) - np.searchsorted(positive, sizes)
    below = len(negative) - np.searchsorted(negative, sizes)
    return sizes, (int(plus) + below) / np.maximum(above, 1)


def e_values(statistics: Floats, q: float) -> Floats:
    """Return G / (1 + #{W <= -t}) for the groups that knockoff+ selects at q, 0 for the others."""
    t = threshold(statistics, q)
    false = 1 + int((statistics <= -t).sum())
    return np.where(statistics >= t, len(statistics) / false, 0.0)


def select_by_e_values(values: Floats, q: float) -> Array:
    """Return which of G groups e-BH selects: the k largest, k the last with e_(k) >= G / (q k)."""
    return e_q_values(values) <= q


def e_q_values(values: Floats) -> Floats:
    """Return the least q at which e-BH selects each group, at most 1."""
    count = len(values)
    order = np.argsort(-values, kind="stable")
    with np.errstate(divide="ignore"):
        needed = count / (np.arange(1, count + 1) * values[order])
    found = np.empty(count)
    found[order] = np.minimum(np.minimum.accumulate(needed[::-1])[::-1], 1.0)
    return found
