"""The contract of a design.

A design offers whole-matrix products to Python (``dot``, ``tdot``, ``gram``, ``moments``). It may offer
a NamedTuple of its arrays to kernels (``columns``), for whose class ``column_dot`` and ``add_column``
of `garrote.rules` are registered.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.limits.budgets import ENTRIES_PER_BLOCK


def block_width(n_rows: int) -> int:
    """Return how many columns to copy at a time."""
    return max(16, min(2048, ENTRIES_PER_BLOCK // max(1, n_rows)))


def read_only(array: Array) -> Array:
    """Return a view of an array that cannot be written to.

    numba compiles a loop for arrays that may be written to, and again for those that may not. What loops
    only read is handed over in one way, so that a memory-mapped X needs no second compilation.
    """
    view = array.view()
    view.flags.writeable = False
    return view


class Moments(NamedTuple):
    """Weighted mean and standard deviation of every column."""

    mean: Floats
    deviation: Floats


class Design:
    """A matrix of N rows and D columns that is never modified, however it is stored.

    A subclass sets ``shape`` and ``nbytes``, its size in memory, and has `dot`, `tdot` and `take`. All
    else that solvers ask for has a default by blocks of columns, which a subclass replaces where its way
    of storing allows for something faster. ``keeps_blocks`` tells whether dense blocks of some columns
    are small beside the matrix; ``column_cost`` is what a product with one column costs, in
    multiplications read from memory in order. ``known_distinct_rows`` is how many rows differ, where
    that is known.
    """

    shape: tuple[int, int]
    nbytes: int
    dtype: np.dtype[Any] = np.dtype(np.float64)
    keeps_blocks: bool = True
    known_distinct_rows: int | None = None

    @cached_property
    def column_cost(self) -> float:
        """What a product with one column costs."""
        return float(self.shape[0])

    def dot(self, columns: Array, coef: Floats) -> Floats:
        """Return X[:, columns] @ coef."""
        raise NotImplementedError

    def tdot(self, left: Floats) -> Floats:
        """Return left @ X (K x D), of K vectors of length N."""
        raise NotImplementedError

    def take(self, columns: Array, mean: Floats) -> Floats:
        """Return columns as a dense float64 block of their own, less their means."""
        raise NotImplementedError

    def tdot_from(self, first: int, block: Floats) -> Floats:
        """Return X[:, first:].T @ block."""
        return self.pick(np.arange(first, self.shape[1])).tdot(block.T).T

    def cross_products(self) -> Floats | None:
        """Return X.T @ X; None where that is not one product of float64 numbers."""
        return None

    def whole_gram(self, mean: Floats, scale: Floats, weights: Floats) -> Floats | None:
        """Return the weighted cross products of all standardised columns, where one pass gives them.

        None where blocks of columns give them as well.
        """
        return None

    def some_rows(self, rows: Array) -> Floats:
        """Return rows as a dense float64 block."""
        return np.hstack([block[rows] for _, block in self._blocks()])

    def pick(self, columns: Array) -> "Design":
        """Return a design of some of the columns."""
        from garrote.designs.dense import DenseDesign

        return DenseDesign(self.take(columns, np.zeros(self.shape[1])))

    def gram(
        self, left: Array, right: Array, mean: Floats, scale: Floats, weights: Floats
    ) -> Floats:
        """Return the weighted cross products of two sets of standardised columns."""
        block = self.take(right, mean)
        block /= scale[right]
        block *= weights[:, None]
        product = np.empty((len(left), len(right)))
        width = block_width(self.shape[0])
        for start in range(0, len(left), width):
            some = left[start : start + width]
            part = self.take(some, mean)
            part /= scale[some]
            np.matmul(part.T, block, out=product[start : start + width])
        return product

    def moments(self, weights: Floats) -> Moments:
        """Return the weighted mean and standard deviation of every column."""
        mean, deviation = np.empty(self.shape[1]), np.empty(self.shape[1])
        share = weights / weights.sum()
        for columns, block in self._blocks():
            mean[columns] = share @ block
            block -= mean[columns]
            # In units of the largest one: squares neither overflow nor vanish.
            largest = np.abs(block[weights > 0]).max(axis=0)
            block /= np.where(largest > 0, largest, 1.0)
            deviation[columns] = largest * np.sqrt(share @ block**2)
        return Moments(mean, deviation)

    def columns(self, mean: Floats, scale: Floats, weights: Floats) -> Any:
        """Return what kernels read of the standardised columns.

        None where columns cannot be read one by one at a fair price; blocks are taken instead.
        """
        return None

    def few_entries(self) -> Any:
        """Return X as a SciPy matrix by columns if it has no more entries than rows; else None.

        None also where that is not known: fused signals are then solved like any other table.
        """
        return None

    def in_columns(self) -> "Design":
        """Return the same matrix as column-wise methods read it best, which may be a copy."""
        return self

    def _blocks(self) -> Iterator[tuple[Array, Floats]]:
        """Yield some columns at a time, as they are."""
        nothing, width = np.zeros(self.shape[1]), block_width(self.shape[0])
        for start in range(0, self.shape[1], width):
            columns = np.arange(start, min(start + width, self.shape[1]))
            yield columns, self.take(columns, nothing)


def is_design(X: Any) -> bool:
    """Tell whether X is stored as a design: an object of `Design`, or another with its methods."""
    return hasattr(X, "tdot")
