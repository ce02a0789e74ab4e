"""X'WX times sparse vectors, for loops that come back to the same few columns again and again.

A product with X'WX is two passes over X. Vectors that have few entries need only so many rows of X'WX,
which are computed once, several in one pass, and kept; after that a product costs no more than reading
these rows. Vectors of many entries go by X.
"""

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs import GramDesign
from garrote.problem import Problem

# Rows of X'WX that may be missing from a product: so many cost about as much as two passes over X.
_TOGETHER = 8
# Rows that are kept need no more memory than this, or than X itself if that is more.
_ROOM = 100_000_000
# Entries whose fitted values all together are below this share of the vector's are left out.
_NEGLIGIBLE = 1e-12


class GramProducts:
    """Products of one problem's X'WX with vectors that have few entries of any size."""

    def __init__(self, problem: Problem):
        self.problem = problem
        D = problem.n_features
        stored = 0 if isinstance(problem.design, GramDesign) else problem.table.stored.nbytes
        self._most = min(D, max(_TOGETHER, max(_ROOM, stored) // (8 * D)))
        self._slot = np.full(D, -1, dtype=np.int64)
        self._rows = np.empty((0, D))
        self._count = 0
        self._length = np.sqrt(problem.curvature)

    def times(self, coef: Floats) -> Floats:
        """Return X'WX coef."""
        columns = self._sizable(coef)
        design = self.problem.design
        if not len(columns):
            return np.zeros(len(coef))
        if isinstance(design, GramDesign):
            if len(columns) > len(coef) // 4:  # the rows of fewer are copied
                return coef @ design.values
            # Rows rather than columns, which are the same: rows are read in order.
            return coef[columns] @ design.values[columns]
        missing = columns[self._slot[columns] < 0]
        if len(missing) > _TOGETHER or self._count + len(missing) > self._most:
            fitted = design.dot(columns, coef[columns, None])
            return design.tdot(np.ascontiguousarray(fitted.T))[0]
        if len(missing):
            self._keep(missing)
        places = self._slot[columns]
        return coef[columns] @ self._rows[places]

    def _sizable(self, coef: Floats) -> Array:
        """Return the columns of a vector without those that add nothing to what it fits."""
        size = np.abs(coef) * self._length
        largest = size.max(initial=0.0)
        # All that are left out together are no more than the share asked for.
        return np.flatnonzero(size > _NEGLIGIBLE * largest / len(size))

    def _keep(self, missing: Array) -> None:
        """Compute rows of X'WX in one pass over X."""
        design = self.problem.table
        wanted = self._count + len(missing)
        if wanted > len(self._rows):
            room = np.empty((min(self._most, max(2 * wanted, 32)), self.problem.n_features))
            room[: self._count] = self._rows[: self._count]
            self._rows = room
        self._rows[self._count : wanted] = design.tdot(
            np.ascontiguousarray(design.block(missing).T)
        )
        self._slot[missing] = np.arange(self._count, wanted)
        self._count = wanted
