"""X'WX times sparse vectors, for loops that come back to the same few columns again and again.

A product with X'WX is two passes over X. Vectors that have few entries need only so many rows of X'WX,
which are computed once, several in one pass, and kept; after that a product costs no more than reading
these rows. Vectors of many entries go by X.
"""

import numpy as np

from garrote.arrays import Array, Floats
from garrote.limits.budgets import GRAM_BYTES_OF_DESCENT
from garrote.problem import Problem
from garrote.solvers.algebra.gram_rows import GramRows

# Rows of X'WX that may be missing from a product: so many cost about as much as two passes over X.
_TOGETHER = 8
# Entries whose fitted values all together are below this share of the vector's are left out.
_NEGLIGIBLE = 1e-12


class GramProducts:
    """Products of one problem's X'WX with vectors that have few entries of any size."""

    def __init__(self, problem: Problem):
        self.problem = problem
        stored = problem.table.stored.nbytes if problem.has_rows else 0
        self._kept = GramRows(problem, max(GRAM_BYTES_OF_DESCENT, stored), _TOGETHER, lazy=True)
        self._length = np.sqrt(problem.curvature)

    def times(self, coef: Floats) -> Floats:
        """Return X'WX coef."""
        columns = self._sizable(coef)
        if not len(columns):
            return np.zeros(len(coef))
        if not self.problem.has_rows:
            gram = self.problem.whole_gram()
            if len(columns) > len(coef) // 4:  # the rows of fewer are copied
                return coef @ gram
            # Rows rather than columns, which are the same: rows are read in order.
            return coef[columns] @ gram[columns]
        kept = self._kept
        missing = columns[kept.slot[columns] < 0]
        if len(missing) > _TOGETHER or not kept.take_in(missing):
            table = self.problem.table
            fitted = table.dot(columns, coef[columns, None])
            return table.tdot(np.ascontiguousarray(fitted.T))[0]
        return coef[columns] @ kept.rows[kept.slot[columns]]

    def _sizable(self, coef: Floats) -> Array:
        """Return the columns of a vector without those that add nothing to what it fits."""
        size = np.abs(coef) * self._length
        largest = size.max(initial=0.0)
        # All that are left out together are no more than the share asked for.
        return np.flatnonzero(size > _NEGLIGIBLE * largest / len(size))
