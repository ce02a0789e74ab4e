"""How often the row with the larger hazard had its event first (Harrell et al. 1982)."""

from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.likelihoods.survival.times import Times


def concordance(times: Times, hazards: Floats, weights: Floats | None = None) -> float:
    """Return the share of comparable pairs that relative hazards put in the right order.

    A row with an event is comparable to those of its stratum that were at risk at that time and left
    later, or were censored then. Equal hazards count for a half. A pair has the product of its weights.
    NaN where no pair is comparable.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.likelihoods import survival_times
    >>> from garrote.likelihoods.survival.concordance import concordance
    >>> from garrote.likelihoods.survival.times import read_times
    >>> times = read_times(survival_times([1.0, 2.0, 3.0], [1, 0, 1]))
    >>> concordance(times, np.array([0.9, 0.1, 0.5]))
    1.0
    """
    counted = np.ones(len(hazards)) if weights is None else np.asarray(weights, dtype=np.float64)
    right, whole = 0.0, 0.0
    for stratum in range(len(times.strata)):
        rows = np.flatnonzero((times.stratum == stratum) & (counted > 0))
        order = rows[np.lexsort((-times.event[rows], times.stop[rows]))]
        ranks = np.unique(hazards[order], return_inverse=True)[1]
        found = _count_pairs(
            times.start[order], times.stop[order], times.event[order], ranks, counted[order]
        )
        right, whole = right + found[0], whole + found[1]
    return right / whole if whole > 0 else float("nan")


@kernel
def _count_pairs(start: Any, stop: Any, event: Any, rank: Any, weight: Any) -> Any:
    """Return the weights of pairs in the right order and of all; rows are sorted by their stops."""
    right = whole = 0.0
    for i in range(stop.shape[0]):
        if event[i] == 0.0:
            continue
        for k in range(i + 1, stop.shape[0]):
            if start[k] >= stop[i] or (stop[k] == stop[i] and event[k] > 0.0):
                continue
            pair = weight[i] * weight[k]
            whole += pair
            if rank[k] < rank[i]:
                right += pair
            elif rank[k] == rank[i]:
                right += 0.5 * pair
    return right, whole
