"""Who was at risk when: sums over risk sets, and sums over the times that a row was at risk.

Times of events are numbered stratum by stratum, ascending, and a row is at risk at the numbers from its
``first`` to before its ``last``. All sums are of numbers of one sign, without differences of cumulated
sums: rows that came late go through a tree of intervals, so that a row of a large hazard that is not
there yet costs the others no digits.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.likelihoods.survival.times import Times


class RiskSets(NamedTuple):
    """Rows and times of events.

    Attributes
    ----------
    first, last : array of int of shape (N,)
        The times of events at which a row is at risk.
    own : array of int of shape (N,)
        The time of its own event; -1 where it is censored.
    events : array of int
        The rows that have one.
    stratum : array of int of shape (N,)
    begin : array of int of shape (strata + 1,)
        Where the times of each stratum begin, and the end of all.
    late : array of int
        Rows that came under observation after the first event of their stratum.
    early : array of int
        All others that are ever at risk.
    tied : array of int
        Times of more than one event.
    times : array of shape (G,)
        The times themselves.
    """

    first: Array
    last: Array
    own: Array
    events: Array
    stratum: Array
    begin: Array
    late: Array
    early: Array
    tied: Array
    times: Floats


def risk_sets(given: Times) -> RiskSets:
    """Number the times of events, and find out who is at risk when."""
    count = len(given.stop)
    first, last = np.zeros(count, np.int64), np.zeros(count, np.int64)
    begin, times = [0], []
    for number in range(len(given.strata)):
        rows = np.flatnonzero(given.stratum == number)
        here = np.unique(given.stop[rows][given.event[rows] > 0])
        first[rows] = begin[-1] + np.searchsorted(here, given.start[rows], side="right")
        last[rows] = begin[-1] + np.searchsorted(here, given.stop[rows], side="right")
        begin.append(begin[-1] + len(here))
        times.append(here)
    own = np.where(given.event > 0, last - 1, -1)
    starts = np.array(begin, dtype=np.int64)
    ever, came_late = last > first, first > starts[given.stratum]
    events = np.bincount(own[own >= 0], minlength=begin[-1])
    return RiskSets(
        first, last, own, np.flatnonzero(own >= 0), given.stratum, starts,
        np.flatnonzero(ever & came_late), np.flatnonzero(ever & ~came_late), np.flatnonzero(events > 1),
        np.concatenate(times),
    )  # fmt: skip


@kernel
def sum_at_risk(risk: Any, values: Any, sums: Any) -> None:
    """Fill in the sums of values over the rows at risk at every time."""
    count = sums.shape[0]
    for g in range(count):
        sums[g] = 0.0
    for i in risk.early:
        sums[risk.last[i] - 1] += values[i]
    for s in range(risk.begin.shape[0] - 1):
        for g in range(risk.begin[s + 1] - 2, risk.begin[s] - 1, -1):
            sums[g] += sums[g + 1]
    if risk.late.shape[0] == 0:
        return
    tree = np.zeros(2 * count)
    for i in risk.late:
        low, high = risk.first[i] + count, risk.last[i] + count
        while low < high:
            if low & 1:
                tree[low] += values[i]
                low += 1
            if high & 1:
                high -= 1
                tree[high] += values[i]
            low >>= 1
            high >>= 1
    for node in range(1, count):
        tree[2 * node] += tree[node]
        tree[2 * node + 1] += tree[node]
    for g in range(count):
        sums[g] += tree[count + g]


@kernel
def sum_over_stay(risk: Any, values: Any, sums: Any) -> None:
    """Fill in, for every row, the sum of values over the times at which it is at risk."""
    count = values.shape[0]
    tree = np.zeros(2 * count)
    for s in range(risk.begin.shape[0] - 1):
        total = 0.0
        for g in range(risk.begin[s], risk.begin[s + 1]):
            total += values[g]
            tree[g] = total
    for i in range(sums.shape[0]):
        sums[i] = 0.0
    for i in risk.early:
        sums[i] = tree[risk.last[i] - 1]
    if risk.late.shape[0] == 0:
        return
    for g in range(count):
        tree[count + g] = values[g]
    for node in range(count - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]
    for i in risk.late:
        low, high = risk.first[i] + count, risk.last[i] + count
        while low < high:
            if low & 1:
                sums[i] += tree[low]
                low += 1
            if high & 1:
                high -= 1
                sums[i] += tree[high]
            low >>= 1
            high >>= 1
