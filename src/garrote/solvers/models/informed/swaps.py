"""Swaps: a variable of a model is exchanged for one that resembles it.

Two columns that resemble each other stand in for each other: beside either one the other is not needed,
and without both the model is far worse. A walk that flips one variable at a time has to pass through
that, or through both of them.

Any two columns whose absolute correlation reaches a threshold are partners. It is one threshold for all,
so that each is the other's partner, high enough that a variable has few of them on average. Beside the
others of the model, a member i is exchanged for its partner j at the rate q / (1 + q), q being the
posterior odds of the model with j to that with i: from both ends the posterior times the rate is the
same.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import exponential
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.models.factor_kinds import newcomer_log_odds

# Partners have at least this absolute correlation ...
_RESEMBLING = 0.8
# ... or more, where variables would have more partners than this on average, ...
_FEW = 2
# (copies, which correlate beyond this, are always partners if these are at most so many on average),
_COPIES, _MOST = 0.999, 40
# ... of which so many variables, taken at even distances, are asked.
_ASKED = 100
# Variables whose partners are found together.
_TOGETHER = 64


class PartnerLists(NamedTuple):
    """Partners of variable j: ``columns[first[j] : end[j]]``; ``end[j]`` is -1 if not known."""

    first: Array
    end: Array
    columns: Array


class Partners:
    """Which variables may be exchanged for each other, found when one of them is first asked for."""

    def __init__(self, rows: GramRows, lengths: Floats):
        D = len(lengths)
        self._rows = rows
        self._size = np.sqrt(np.where(lengths > 0, lengths, np.inf))
        self._used = 0
        asked = np.unique(np.linspace(0, D - 1, min(D, _ASKED)).astype(np.int64))
        self._threshold = self._few_beyond(asked)
        self.lists = PartnerLists(np.zeros(D, np.int64), np.full(D, -1), np.zeros(4 * D, np.int64))
        if len(rows.rows) == D:
            self._find_all()

    def _few_beyond(self, asked: Array) -> float:
        """Return the correlation beyond which variables have few partners, if that is a high one."""
        rows, slot = self._rows.taken(asked)
        alike = np.abs(rows[slot[asked]]) / self._size / self._size[asked, None]
        alike[np.arange(len(asked)), asked] = 0.0
        high = np.sort(alike[alike >= _RESEMBLING])[::-1]
        most = _FEW * len(asked)
        if len(high) <= most:
            return _RESEMBLING
        # Beyond the next correlation itself, or rounding would tell whether that pair are partners.
        beyond = float(high[most]) * (1.0 + 1e-9)
        copies = np.count_nonzero(high >= _COPIES)
        # Copies need partners most of all, unless there are so many that looking at them costs too much.
        return min(beyond, _COPIES) if copies <= _MOST * len(asked) else beyond

    def _find_all(self) -> None:
        """Find the partners of all variables, all of whose rows are at hand."""
        columns, D = [], len(self._size)
        for start in range(0, D, _TOGETHER):
            some = np.arange(start, min(start + _TOGETHER, D))
            least = self._threshold * self._size[some, None] * self._size
            alike = np.abs(self._rows.rows[some]) >= least
            alike[some - start, some] = False
            self.lists.end[some] = np.count_nonzero(alike, axis=1)
            columns.append(np.nonzero(alike)[1])
        np.cumsum(self.lists.end, out=self.lists.end)
        self.lists.first[1:] = self.lists.end[:-1]
        self.lists = self.lists._replace(columns=np.concatenate(columns))

    def find(self, j: int) -> None:
        """Find the partners of variable j, whose row of the Gram matrix is at hand."""
        if self.lists.end[j] >= 0:
            return
        row = self._rows.rows[self._rows.slot[j]]
        found = np.flatnonzero(np.abs(row) >= self._threshold * self._size[j] * self._size)
        found = found[found != j]
        while self._used + len(found) > len(self.lists.columns):
            room = np.zeros_like(self.lists.columns)
            longer = np.concatenate([self.lists.columns, room])
            self.lists = self.lists._replace(columns=longer)
        first, self._used = self._used, self._used + len(found)
        self.lists.columns[first : self._used] = found
        self.lists.first[j], self.lists.end[j] = first, self._used


def no_partners(n_features: int) -> PartnerLists:
    """Return lists by which no variable has a partner."""
    nobody = np.zeros(n_features, np.int64)
    return PartnerLists(nobody, nobody, np.zeros(0, np.int64))


@kernel(inline=True)
def _swap_rate(factor, rule, data, inverse, a, j, log_odds):
    """Return the rate at which the a-th member, of given log odds, is exchanged for j."""
    if factor.place[j] >= 0:
        return 0.0
    log_ratio = newcomer_log_odds(factor, rule, data, inverse, a, j, factor.size[0] - 1) - log_odds
    # Between two models without probability there is no ratio, and no swap.
    return 1.0 / (1.0 + exponential(-log_ratio)) if log_ratio > -np.inf else 0.0


@kernel
def fill_swap_rates(factor, rule, data, inverse, partners, log_odds, rates):
    """Fill in the rates at which members are exchanged for one or another of their partners.

    ``log_odds`` are those of all variables, beside the others.
    """
    k = factor.size[0]
    for a in range(k):
        i = factor.members[a]
        rates[i] = 0.0
        of_size = data.by_size[k] - data.by_size[k - 1]
        for p in range(partners.first[i], partners.end[i]):
            j = partners.columns[p]
            rates[i] += _swap_rate(factor, rule, data, inverse, a, j, log_odds[i] - of_size)


@kernel
def choose_partner(goal, factor, rule, data, inverse, partners, i, log_odds):
    """Return the partner of member i at which summed rates of swaps pass a goal."""
    k, chosen = factor.size[0], -1
    log_odds -= data.by_size[k] - data.by_size[k - 1]
    for p in range(partners.first[i], partners.end[i]):
        j = partners.columns[p]
        rate = _swap_rate(factor, rule, data, inverse, factor.place[i], j, log_odds)
        goal -= rate
        chosen = j if rate > 0.0 else chosen
        if goal < 0.0:
            break
    return chosen
