"""A dense matrix in C or Fortran order, float32 or float64, read in place."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.designs.base import Design, Moments, block_width, read_only
from garrote.limits.budgets import ENTRIES_AT_HAND, ENTRIES_PER_CALL
from garrote.limits.memory import free_memory
from garrote.rules import add_block, add_column, block_dot, column_dot, squared_residual

# Below this many right-hand sides our own loop beats the packing that a matrix product starts with.
_SKINNY = 6
# Up to this many, products of few columns at a time do: of so many multiplications at most, for which
# OpenBLAS copies nothing.
_NARROW, _SMALL_PRODUCT = 16, 600_000


class DenseColumns(NamedTuple):
    """What kernels see of a dense block, standardised already."""

    values: Array


@column_dot.register
def _(design: DenseColumns, j, residual):
    total = 0.0
    for i in range(design.values.shape[0]):
        total += design.values[i, j] * residual.values[i]
    return total


@add_column.register
def _(design: DenseColumns, j, step, residual):
    for i in range(design.values.shape[0]):
        residual.values[i] += step * residual.weights[i] * design.values[i, j]


@squared_residual.register
def _(design: DenseColumns, residual, start, coef):
    total = 0.0
    for i in range(residual.values.shape[0]):
        if residual.weights[i] > 0:
            total += residual.values[i] * residual.values[i] / residual.weights[i]
    return total


# Four columns at a time: the residual is read, and written, once for all of them.


@block_dot.register
def _(design: DenseColumns, columns, residual, products):
    values, residuals, count = design.values, residual.values, columns.shape[0]
    for k in range(0, count - 3, 4):
        a, b, c, d = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
        for i in range(values.shape[0]):
            first += values[i, a] * residuals[i]
            second += values[i, b] * residuals[i]
            third += values[i, c] * residuals[i]
            fourth += values[i, d] * residuals[i]
        products[k], products[k + 1], products[k + 2], products[k + 3] = (
            first,
            second,
            third,
            fourth,
        )
    for k in range(count - count % 4, count):
        products[k] = column_dot(design, columns[k], residual)


@add_block.register
def _(design: DenseColumns, columns, steps, residual):
    values, residuals, weights, count = (
        design.values, residual.values, residual.weights, columns.shape[0],
    )  # fmt: skip
    for k in range(0, count - 3, 4):
        a, b, c, d = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        first, second, third, fourth = steps[k], steps[k + 1], steps[k + 2], steps[k + 3]
        for i in range(values.shape[0]):
            change = first * values[i, a] + second * values[i, b]
            change += third * values[i, c] + fourth * values[i, d]
            residuals[i] += weights[i] * change
    for k in range(count - count % 4, count):
        add_column(design, columns[k], steps[k], residual)


class StandardizedDense(NamedTuple):
    """What kernels see of dense columns: entries are centred one by one, which loses no digits."""

    values: Array
    mean: Floats
    scale: Floats
    even: bool


@column_dot.register
def _(design: StandardizedDense, j, residual):
    total = 0.0
    mean = design.mean[j]
    for i in range(design.values.shape[0]):
        total += (design.values[i, j] - mean) * residual.values[i]
    return total / design.scale[j]


@add_column.register
def _(design: StandardizedDense, j, step, residual):
    mean, scaled = design.mean[j], step / design.scale[j]
    if design.even:  # all weights are 1, and reading them would cost a third of the loop
        for i in range(design.values.shape[0]):
            residual.values[i] += scaled * (design.values[i, j] - mean)
    else:
        for i in range(design.values.shape[0]):
            residual.values[i] += scaled * residual.weights[i] * (design.values[i, j] - mean)


class DenseDesign(Design):
    """A two-dimensional array."""

    def __init__(self, values: Array):
        self.values = read_only(values)
        self.shape = values.shape
        self.dtype = values.dtype
        self.nbytes = values.nbytes

    def columns(self, mean: Floats, scale: Floats, weights: Floats) -> StandardizedDense | None:
        # The columns of rows stored one after the other are scattered over memory.
        if not self.values.flags.f_contiguous:
            return None
        return StandardizedDense(self.values, mean, scale, bool((weights == 1.0).all()))

    def in_columns(self) -> "DenseDesign":
        """Return the matrix in Fortran order: a copy where rows are stored one after the other.

        Sweeps over columns are up to 8 times as fast on it. A matrix that would fill more than half of
        the free memory stays where it is.
        """
        free = free_memory()
        if self.values.flags.f_contiguous or (free is not None and 2 * self.nbytes > free):
            return self
        return DenseDesign(np.asfortranarray(self.values))

    def dot(self, columns: Array, coef: Floats) -> Floats:
        if coef.shape[1] == 1:
            return self._one_dot(columns, np.ascontiguousarray(coef[:, 0]))[:, None]
        if len(columns) > self.shape[1] // 4 and self.dtype == np.float64:
            if not np.array_equal(columns, np.arange(self.shape[1])):
                everywhere = np.zeros((self.shape[1], coef.shape[1]))
                everywhere[columns] = coef
                coef = everywhere
            return _product(self.values, coef)
        product = np.zeros((self.shape[0], coef.shape[1]))
        width = block_width(self.shape[0])
        for start in range(0, len(columns), width):
            part = slice(start, start + width)
            block = self.values[:, columns[part]].astype(np.float64, copy=False)
            product += _product(block, coef[part])
        return product

    def _one_dot(self, columns: Array, coef: Floats) -> Floats:
        """Return the product with one vector, for which a copy of the columns would cost most."""
        in_columns = self.values.flags.f_contiguous
        if self.dtype == np.float64 and len(columns) > self.shape[1] // (4 if in_columns else 16):
            everywhere = np.zeros(self.shape[1])
            everywhere[columns] = coef
            return np.asarray(self.values @ everywhere)
        product = np.zeros(self.shape[0])
        columns = np.asarray(columns, dtype=np.intp)
        if in_columns:
            step = max(4, ENTRIES_PER_CALL // max(1, self.shape[0]))
            for start in range(0, len(columns), step):
                part = slice(start, start + step)
                _add_columns(self.values, columns[part], coef[part], product)
        else:
            step = max(1, ENTRIES_PER_CALL // max(1, self.shape[1]))
            for start in range(0, self.shape[0], step):
                _add_in_row_order(
                    self.values, columns, coef, start, min(start + step, self.shape[0]), product
                )
        return product

    def tdot(self, left: Floats) -> Floats:
        if self.values.flags.f_contiguous and len(left) < _SKINNY:
            return self._skinny_tdot(left)
        if self.dtype == np.float64:
            width = _SMALL_PRODUCT // max(1, left.size)
            if self.values.flags.f_contiguous and len(left) <= _NARROW and width >= 8:
                return self._narrow_tdot(left, width)
            # A matrix of one row would be packed like any other; a vector is not.
            return left @ self.values if len(left) > 1 else (left[0] @ self.values)[None, :]
        product = np.empty((len(left), self.shape[1]))
        width = block_width(self.shape[0])
        for start in range(0, self.shape[1], width):
            part = slice(start, start + width)
            product[:, part] = left @ self.values[:, part].astype(np.float64)
        return product

    def tdot_from(self, first: int, block: Floats) -> Floats:
        """Return X[:, first:].T @ block."""
        if self.dtype == np.float64:
            return self.values[:, first:].T @ block
        product = np.empty((self.shape[1] - first, block.shape[1]))
        width = block_width(self.shape[0])
        for start in range(first, self.shape[1], width):
            part = self.values[:, start : start + width].astype(np.float64)
            product[start - first : start - first + part.shape[1]] = part.T @ block
        return product

    def cross_products(self) -> Floats | None:
        """Return X.T @ X; None where that is not one product of float64 numbers."""
        return self.values.T @ self.values if self.dtype == np.float64 else None

    def _skinny_tdot(self, left: Floats) -> Floats:
        product = np.empty((len(left), self.shape[1]))
        step = max(1, ENTRIES_PER_CALL // max(1, self.shape[0] * len(left)))
        for start in range(0, self.shape[1], step):
            _multiply_columns(self.values, left, start, min(start + step, self.shape[1]), product)
        return product

    def _narrow_tdot(self, left: Floats, width: int) -> Floats:
        """Multiply some columns at a time, so few that the library does not copy them first."""
        product = np.empty((self.shape[1], len(left)))
        sides = np.ascontiguousarray(left.T)
        for start in range(0, self.shape[1], width):
            part = slice(start, start + width)
            np.matmul(self.values[:, part].T, sides, out=product[part])
        return np.ascontiguousarray(product.T)

    def take(self, columns: Array, mean: Floats) -> Floats:
        block = np.empty((self.shape[0], len(columns)), order="F")
        width = block_width(self.shape[0])
        for start in range(0, len(columns), width):  # in pieces: no second copy of them all
            some = columns[start : start + width]
            np.subtract(self.values[:, some], mean[some], out=block[:, start : start + width])
        return block

    def pick(self, columns: Array) -> "DenseDesign":
        return DenseDesign(self.values[:, columns])

    def few_entries(self) -> Any:
        """Return X by its entries that are not 0 if there are no more of them than rows; else None."""
        few = np.count_nonzero(self.values) <= self.shape[0]
        return scipy.sparse.csc_array(self.values) if few else None

    def some_rows(self, rows: Array) -> Floats:
        return self.values[rows].astype(np.float64)

    def moments(self, weights: Floats) -> Moments:
        mean, deviation = np.empty(self.shape[1]), np.empty(self.shape[1])
        step = max(1, ENTRIES_PER_CALL // self.shape[0])
        measure = _measure_columns if self.values.flags.f_contiguous else _measure_in_row_order
        for start in range(0, self.shape[1], step):
            stop = min(start + step, self.shape[1])
            measure(self.values, read_only(weights), start, stop, mean, deviation)
        return Moments(mean, deviation)


def _product(values: Array, coef: Floats) -> Floats:
    """Return values @ coef; the transposed product is twice as fast for tall, narrow ``coef``."""
    return (np.ascontiguousarray(coef.T) @ values.T).T


@kernel
def _add_columns(values, columns, coef, product):
    """Add some columns times their coefficients, four at a time so that the sum is read less often."""
    count, n = columns.shape[0], values.shape[0]
    k = 0
    while k + 4 <= count:
        a, b, c, d = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        first, second, third, fourth = coef[k], coef[k + 1], coef[k + 2], coef[k + 3]
        for i in range(n):
            change = first * values[i, a] + second * values[i, b]
            product[i] += change + third * values[i, c] + fourth * values[i, d]
        k += 4
    while k < count:
        for i in range(n):
            product[i] += coef[k] * values[i, columns[k]]
        k += 1


@kernel
def _add_in_row_order(values, columns, coef, start, stop, product):
    """Do as `_add_columns` for some rows of a C-ordered matrix."""
    for i in range(start, stop):
        total = 0.0
        for k in range(columns.shape[0]):
            total += coef[k] * values[i, columns[k]]
        product[i] = total


@kernel
def _multiply_columns(values, rows, start, stop, product):
    """Fill ``product[:, start:stop]`` with rows @ values, reading each column of X once."""
    n, count = values.shape[0], rows.shape[0]
    for j in range(start, stop):
        k = 0
        while k + 4 <= count:
            a = b = c = d = 0.0
            for i in range(n):
                x = values[i, j]
                a += x * rows[k, i]
                b += x * rows[k + 1, i]
                c += x * rows[k + 2, i]
                d += x * rows[k + 3, i]
            product[k, j], product[k + 1, j] = a, b
            product[k + 2, j], product[k + 3, j] = c, d
            k += 4
        while k < count:
            a = 0.0
            for i in range(n):
                a += values[i, j] * rows[k, i]
            product[k, j] = a
            k += 1


@kernel
def _measure_columns(values, weights, start, stop, mean, deviation):
    """Mean, then the deviation from it in units of the largest one: no cancellation, no overflow."""
    n = values.shape[0]
    total = weights.sum()
    for j in range(start, stop):
        first = 0.0
        for i in range(n):
            first += weights[i] * values[i, j]
        first /= total
        largest = 0.0
        for i in range(n):
            if weights[i] > 0:
                largest = max(largest, abs(values[i, j] - first))
        second = 0.0
        if largest > 0:
            for i in range(n):
                second += weights[i] * ((values[i, j] - first) / largest) ** 2
        mean[j] = first
        deviation[j] = largest * np.sqrt(second / total)


@kernel
def _measure_in_row_order(values, weights, start, stop, mean, deviation):
    """Do as `_measure_columns`, but read a C-ordered matrix along its rows."""
    n = values.shape[0]
    total = weights.sum()
    largest = np.zeros(stop - start)
    second = np.zeros(stop - start)
    mean[start:stop] = 0.0
    for i in range(n):
        for j in range(start, stop):
            mean[j] += weights[i] * values[i, j] / total
    for i in range(n):
        if weights[i] > 0:
            for j in range(start, stop):
                largest[j - start] = max(largest[j - start], abs(values[i, j] - mean[j]))
    for i in range(n):
        for j in range(start, stop):
            if largest[j - start] > 0:
                second[j - start] += (
                    weights[i] * ((values[i, j] - mean[j]) / largest[j - start]) ** 2
                )
    for j in range(start, stop):
        deviation[j] = largest[j - start] * np.sqrt(second[j - start] / total)


def in_memory_if_small(design: Design) -> Design:
    """Return a design that is stored elsewhere in memory, where it has few entries; else as it is."""
    entries, free = design.shape[0] * design.shape[1], free_memory()
    if entries > ENTRIES_AT_HAND or (free is not None and 16 * entries > free):
        return design
    return DenseDesign(design.take(np.arange(design.shape[1]), np.zeros(design.shape[1])))
