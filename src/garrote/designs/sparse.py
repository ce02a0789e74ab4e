"""A sparse matrix by columns (CSC); rows (CSR) are accepted and converted once."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.designs.base import Design, Moments, read_only
from garrote.limits.budgets import ENTRIES_PER_CALL
from garrote.rules import add_column, column_dot, squared_residual

# A number gathered from a row costs as much as so many read in order.
_GATHER = 8.0
# Right-hand sides that share one gather of a non-zero's row.
_ROWS_TOGETHER = 8
# Beyond this ratio of mean to deviation x'y - N mean mean loses digits that a centred product keeps.
_LARGE_OFFSET = 100.0


class SparseColumns(NamedTuple):
    """What kernels see of a sparse design."""

    data: Array
    indices: Array
    indptr: Array


@column_dot.register
def _(design: SparseColumns, j, residual):
    total = 0.0
    for k in range(design.indptr[j], design.indptr[j + 1]):
        total += design.data[k] * residual.values[design.indices[k]]
    return total


@add_column.register
def _(design: SparseColumns, j, step, residual):
    for k in range(design.indptr[j], design.indptr[j + 1]):
        i = design.indices[k]
        residual.values[i] += step * residual.weights[i] * design.data[k]


class StandardizedSparse(NamedTuple):
    """What kernels see of sparse columns: centring is left to the residual's shift."""

    stored: SparseColumns
    mean: Floats
    scale: Floats
    total_weight: float


@column_dot.register
def _(design: StandardizedSparse, j, residual):
    product = column_dot(design.stored, j, residual)
    return (product + residual.shift[0] * design.total_weight * design.mean[j]) / design.scale[j]


@add_column.register
def _(design: StandardizedSparse, j, step, residual):
    add_column(design.stored, j, step / design.scale[j], residual)
    residual.shift[0] -= step / design.scale[j] * design.mean[j]


@squared_residual.register
def _(design: StandardizedSparse, residual, start, coef):
    total = 0.0
    for i in range(residual.values.shape[0]):
        if residual.weights[i] > 0:
            value = residual.values[i] + residual.shift[0] * residual.weights[i]
            total += value * value / residual.weights[i]
    return total


class SparseDesign(Design):
    """A SciPy sparse matrix or array."""

    keeps_blocks = False

    def __init__(self, matrix: Any):
        self.matrix = scipy.sparse.csc_array(matrix)
        if not self.matrix.has_canonical_format:
            # A copy: summing duplicates works in place, and the user's matrix is not ours to change.
            self.matrix = self.matrix.copy()
            self.matrix.sum_duplicates()
        self.shape = self.matrix.shape
        self.dtype = self.matrix.dtype
        self.nbytes = sum(part.nbytes for part in self._arrays())
        self.column_cost = _GATHER * self.matrix.nnz / max(1, self.shape[1])

    def columns(self, mean: Floats, scale: Floats, weights: Floats) -> StandardizedSparse:
        return StandardizedSparse(self._arrays(), mean, scale, float(weights.sum()))

    def _arrays(self) -> SparseColumns:
        parts = self.matrix.data, self.matrix.indices, self.matrix.indptr
        return SparseColumns(*map(read_only, parts))

    def dot(self, columns: Array, coef: Floats) -> Floats:
        return self.matrix[:, columns].astype(np.float64, copy=False) @ coef

    def tdot(self, left: Floats) -> Floats:
        product = np.empty((len(left), self.shape[1]))
        per_column = max(1.0, self.matrix.nnz / max(1, self.shape[1]))
        step = max(1, int(ENTRIES_PER_CALL / (per_column * min(len(left), _ROWS_TOGETHER))))
        for first in range(0, len(left), _ROWS_TOGETHER):
            together = np.ascontiguousarray(left[first : first + _ROWS_TOGETHER].T)
            for start in range(0, self.shape[1], step):
                stop = min(start + step, self.shape[1])
                _multiply_columns(*self._arrays(), together, start, stop, product[first:])
        return product

    def tdot_from(self, first: int, block: Floats) -> Floats:
        return self.matrix[:, first:].astype(np.float64, copy=False).T @ block

    def pick(self, columns: Array) -> "SparseDesign":
        """Return a design of some of the columns, still sparse."""
        return SparseDesign(self.matrix[:, columns])

    def take(self, columns: Array, mean: Floats) -> Floats:
        return self.matrix[:, columns].toarray(order="F").astype(np.float64) - mean[columns]

    def gram(
        self, left: Array, right: Array, mean: Floats, scale: Floats, weights: Floats
    ) -> Floats:
        """Return the weighted cross products of standardised columns without making them dense."""
        a, b = self._scaled(left, scale), self._scaled(right, scale)
        b.data *= weights[b.indices]
        center_a, center_b = mean[left] / scale[left], mean[right] / scale[right]
        product = (a.T @ b).toarray() - weights.sum() * np.outer(center_a, center_b)
        for k in self._with_large_offset(left, mean):
            block = self._standardized(left[[k]], mean, scale)
            product[k] = (block.T @ (weights[:, None] * self._standardized(right, mean, scale)))[0]
        for k in self._with_large_offset(right, mean):
            block = weights[:, None] * self._standardized(right[[k]], mean, scale)
            product[:, k] = (self._standardized(left, mean, scale).T @ block)[:, 0]
        return product

    def _scaled(self, columns: Array, scale: Floats) -> scipy.sparse.csc_array:
        part = self.matrix[:, columns].astype(np.float64)
        part.data /= np.repeat(scale[columns], np.diff(part.indptr))
        return part

    def _standardized(self, columns: Array, mean: Floats, scale: Floats) -> Floats:
        return self.take(columns, mean) / scale[columns]

    def _with_large_offset(self, columns: Array, mean: Floats) -> list[int]:
        """Return which columns have a mean that dwarfs their deviation: products lose digits."""
        return [k for k, j in enumerate(columns) if self._has_large_offset(j, mean[j])]

    def _has_large_offset(self, j: int, mean: float) -> bool:
        data = self.matrix.data[self.matrix.indptr[j] : self.matrix.indptr[j + 1]]
        if len(data) < self.shape[0] // 2:
            return False  # the zeros alone keep the deviation near the mean
        return bool(abs(mean) > _LARGE_OFFSET * np.abs(data - mean).max())

    def few_entries(self) -> Any:
        """Return the matrix itself if it has no more entries than rows; else None."""
        return self.matrix if self.matrix.nnz <= self.shape[0] else None

    def some_rows(self, rows: Array) -> Floats:
        return self.matrix[rows].toarray().astype(np.float64)

    def moments(self, weights: Floats) -> Moments:
        mean, deviation = np.empty(self.shape[1]), np.empty(self.shape[1])
        step = max(1, int(ENTRIES_PER_CALL / max(1.0, self.column_cost)))
        for start in range(0, self.shape[1], step):
            stop = min(start + step, self.shape[1])
            _measure_columns(*self._arrays(), read_only(weights), start, stop, mean, deviation)
        return Moments(mean, deviation)


@kernel(fastmath=False)
def _multiply_columns(data, indices, indptr, rows, start, stop, product):
    """Fill ``product[:, start:stop]``; ``rows`` holds the right-hand sides as columns."""
    count = rows.shape[1]
    if count == 1:  # a sum in a register is twice as fast as one in an array
        for j in range(start, stop):
            total = 0.0
            for k in range(indptr[j], indptr[j + 1]):
                total += data[k] * rows[indices[k], 0]
            product[0, j] = total
        return
    totals = np.empty(count)
    for j in range(start, stop):
        totals[:] = 0.0
        for k in range(indptr[j], indptr[j + 1]):
            x, i = data[k], indices[k]
            for c in range(count):
                totals[c] += x * rows[i, c]
        for c in range(count):
            product[c, j] = totals[c]


@kernel(fastmath=False)
def _measure_columns(data, indices, indptr, weights, start, stop, mean, deviation):
    """Two passes over each column's non-zeros; the zeros enter through their total weight."""
    total = weights.sum()
    for j in range(start, stop):
        first = 0.0
        stored = 0.0
        for k in range(indptr[j], indptr[j + 1]):
            first += weights[indices[k]] * data[k]
            stored += weights[indices[k]]
        first /= total
        absent = max(total - stored, 0.0) if indptr[j + 1] - indptr[j] < weights.shape[0] else 0.0
        largest = abs(first) if absent > 0 else 0.0
        for k in range(indptr[j], indptr[j + 1]):
            if weights[indices[k]] > 0:
                largest = max(largest, abs(data[k] - first))
        second = 0.0
        if largest > 0:
            second = absent * (first / largest) ** 2
            for k in range(indptr[j], indptr[j + 1]):
                second += weights[indices[k]] * ((data[k] - first) / largest) ** 2
        mean[j] = first
        deviation[j] = largest * np.sqrt(second / total)
