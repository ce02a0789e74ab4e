"""No rows at all: only the cross products X'WX. The "residual" is then X'Wr itself."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
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

    def block(self, left: Array, right: Array) -> Floats:
        return self.values[np.ix_(left, right)]
