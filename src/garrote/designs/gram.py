"""No rows at all: only the cross products X'WX. The "residual" is then X'Wr itself."""

from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.standardized import Evaluation, StandardizedDesign
from garrote.rules import add_block, add_column, block_dot, column_dot, squared_residual


class GramColumns(NamedTuple):
    """What kernels see of a Gram matrix."""

    values: Floats


@column_dot.register
def _(design: GramColumns, j, residual):
    return residual.values[j]


@add_column.register
def _(design: GramColumns, j, step, residual):
    # The buffer may be larger than the residual: a working set grows into it.
    for i in range(residual.values.shape[0]):
        residual.values[i] += step * design.values[j, i]


@block_dot.register
def _(design: GramColumns, columns, residual, products):
    for k in range(columns.shape[0]):
        products[k] = residual.values[columns[k]]


@add_block.register
def _(design: GramColumns, columns, steps, residual):
    for k in range(columns.shape[0]):
        if steps[k] != 0.0:
            add_column(design, columns[k], steps[k], residual)


@squared_residual.register
def _(design: GramColumns, residual, start, coef):
    total = start.squared_residual
    for j in range(coef.shape[0]):
        total -= (coef[j] - start.coef[j]) * (start.gradient[j] + residual.values[j])
    return max(total, 0.0)


class GramDesign:
    """A symmetric positive semidefinite matrix of cross products."""

    has_rows = False
    stored = None
    # Blocks of columns have rows; and no column costs less on rows that there are not.
    keeps_blocks = False
    column_cost = np.inf
    columns_together = 64

    def __init__(self, values: Floats):
        self.values = values
        self.shape = values.shape
        self.dtype = np.dtype(np.float64)

    def columns(self) -> GramColumns:
        return GramColumns(self.values)

    def dot(self, columns: Array, coef: Floats) -> Floats:
        """Return X'WX[:, columns] @ coef: what the coefficients take out of X'Wr."""
        used = coef.any(axis=1)
        return self.values[columns[used]].T @ coef[used]

    def gram(self, left: Array, right: Array, projected: bool = True) -> Floats:
        """Return the cross products of two sets of columns; nothing can be projected out of them."""
        return self.values[np.ix_(left, right)]

    def gram_rows(self, columns: Array) -> Floats:
        """Return the cross products of some columns with all of them."""
        return self.values[columns]

    def whole_gram(self) -> Floats:
        return self.values

    @property
    def table(self) -> StandardizedDesign:
        raise ValueError("this problem has moments only, no rows")

    def max_rank(self, n: float) -> int:
        """Return how many columns suffice to interpolate ``n`` rows, whose mean is taken off."""
        return int(n) - 1

    def evaluate(
        self, problem: Any, columns: Array, coef: Floats, fitted: Floats | None
    ) -> Evaluation:
        """Return squared residuals (K,) and X'Wr (K x D) of K solutions; no product is needed."""
        yield from ()  # a solver like the others, though it shares no pass over X
        gradient = problem.xty - self.dot(columns, coef).T
        explained = np.sum(coef * (problem.xty[columns] + gradient[:, columns]).T, axis=0)
        return np.maximum(problem.yty - explained, 0.0), gradient
