"""Rows of X'WX, computed when they are first wanted and kept while there is room."""

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs import GramDesign
from garrote.problem import Problem

# Bytes of rows that are kept.
_ROOM = 200_000_000


class GramRows:
    """A cache of rows of the standardised Gram matrix; the least recently used one makes room.

    Kernels read ``rows[slot[j]]``; ``slot[j]`` is -1 where row j is not at hand.
    """

    def __init__(self, problem: Problem, least: int = 64):
        D = problem.n_features
        self.problem = problem
        count = min(D, max(least, _ROOM // (8 * D)))
        self.slot = np.full(D, -1, dtype=np.int64)
        if count == D:
            self.rows = np.ascontiguousarray(problem.whole_gram())
            self.slot[:] = np.arange(D)
        else:
            self.rows = np.empty((count, D))
        self._owner = np.full(count, -1, dtype=np.int64)
        self._used = np.zeros(count, dtype=np.int64)
        self._clock = 0

    def fetch(self, j: int, pinned: Array) -> None:
        """Bring row j in, in the place of one that is not ``pinned``."""
        self._clock += 1
        if self.slot[j] >= 0:
            self._used[self.slot[j]] = self._clock
            return
        held = self.slot[pinned]
        age = self._used.copy()
        age[held[held >= 0]] = self._clock + 1
        place = int(np.argmin(age))
        if self._owner[place] >= 0:
            self.slot[self._owner[place]] = -1
        self.rows[place] = self._row(j)
        self._owner[place], self._used[place], self.slot[j] = j, self._clock, place

    def _row(self, j: int) -> Floats:
        design = self.problem.design
        if isinstance(design, GramDesign):
            return design.values[j]
        column = np.ascontiguousarray(design.block(np.array([j])).T)
        return design.tdot(column)[0]
