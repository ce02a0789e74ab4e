"""Rows of X'WX, computed when they are first wanted and kept while there is room."""

import numpy as np

from garrote.arrays import Array, Floats
from garrote.limits.budgets import GRAM_BYTES
from garrote.problem import Problem

NO_COLUMNS = np.zeros(0, dtype=np.int64)


class GramRows:
    """A cache of rows of the standardised Gram matrix; the least recently used one makes room.

    Kernels read ``rows[slot[j]]``; ``slot[j]`` is -1 where row j is not at hand. At most ``most`` rows
    are kept: as many as ``room`` bytes hold, and no fewer than ``least``. The room for them is there
    from the start, and if it holds all rows they are computed at once; a ``lazy`` cache does neither.
    """

    def __init__(
        self, problem: Problem, room: int = GRAM_BYTES, least: int = 64, lazy: bool = False
    ):
        D = problem.n_features
        self.problem = problem
        self.most = min(D, max(least, room // (8 * D)))
        self.slot = np.full(D, -1, dtype=np.int64)
        self._complete = self.most == D and not lazy
        if self._complete:
            self.rows = np.ascontiguousarray(problem.whole_gram())
            self.slot[:] = np.arange(D)
        else:
            self.rows = np.empty((0 if lazy else self.most, D))
        self._owner = np.full(self.most, -1, dtype=np.int64)
        self._used = np.zeros(self.most, dtype=np.int64)
        self._clock = 0

    @staticmethod
    def holds_all(problem: Problem, room: int = GRAM_BYTES) -> bool:
        """Tell whether so many bytes have room for all rows."""
        return room // (8 * problem.n_features) >= problem.n_features

    def fetch(self, j: int, pinned: Array, likely: Array = NO_COLUMNS) -> None:
        """Bring row j in, in the place of one that is not ``pinned``.

        If it has to be computed, rows of ``likely`` columns are computed in the same pass over X.
        """
        self._clock += 1
        if self.slot[j] >= 0:
            self._used[self.slot[j]] = self._clock
            return
        wanted = np.unique(np.append(likely, j)).astype(np.int64)
        wanted = wanted[self.slot[wanted] < 0]
        held = self.slot[pinned]
        age = self._used.copy()
        age[held[held >= 0]] = self._clock + 1
        room = int(np.count_nonzero(age <= self._clock)) - 1
        others = wanted[wanted != j][: max(room, 0)]
        wanted = np.append(others, j)
        places = np.argsort(age, kind="stable")[: len(wanted)]
        gone = self._owner[places]
        self.slot[gone[gone >= 0]] = -1
        self._keep(wanted, places)

    def hold(self, columns: Array) -> None:
        """Bring the rows of several columns in, all of which there is room for."""
        if self._complete:
            return
        self.mark(columns)
        for j in columns[self.slot[columns] < 0]:
            self.fetch(int(j), columns)

    def mark(self, columns: Array) -> None:
        """Remember that the rows of some columns were of use just now, if they are at hand."""
        self._clock += 1
        slots = self.slot[columns]
        self._used[slots[slots >= 0]] = self._clock

    def take_in(self, columns: Array) -> bool:
        """Bring missing rows in, in one pass over X; False, and nothing done, where no room is left."""
        if not len(columns):
            return True
        free = np.flatnonzero(self._owner < 0)
        if len(columns) > len(free):
            return False
        self._keep(columns, free[: len(columns)])
        return True

    def _keep(self, columns: Array, places: Array) -> None:
        """Compute rows in one pass over X, and put them into some places."""
        wanted = int(places.max()) + 1
        if wanted > len(self.rows):
            larger = np.empty((min(self.most, max(2 * wanted, 32)), self.problem.n_features))
            larger[: len(self.rows)] = self.rows
            self.rows = larger
        self.rows[places] = self._rows(columns)
        self._owner[places], self._used[places], self.slot[columns] = columns, self._clock, places

    def taken(self, columns: Array) -> tuple[Floats, Array]:
        """Return rows of given columns, all at once, and where each is; -1 for the others."""
        if len(self.rows) == len(self.slot):
            return self.rows, self.slot
        slot = np.full(len(self.slot), -1, dtype=np.int64)
        slot[columns] = np.arange(len(columns))
        return np.ascontiguousarray(self._rows(columns)), slot

    def _rows(self, columns: Array) -> Floats:
        if not self.problem.has_rows:
            return self.problem.whole_gram()[columns]
        table = self.problem.table
        return table.tdot(np.ascontiguousarray(table.block(columns).T))
