"""The contract of a design.

A design offers whole-matrix products to Python (``dot``, ``tdot``, ``gram``, ``moments``) and a
NamedTuple of its arrays to kernels (``columns``), for whose class ``column_dot`` and ``add_column`` of
`garrote.rules` are registered.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from garrote.arrays import Array, Floats

# Entries of a dense block that is copied out of X at a time: 4 MB, which stay in cache.
_ENTRIES_PER_BLOCK = 1 << 19


def block_width(n_rows: int) -> int:
    """Return how many columns to copy at a time."""
    return max(16, min(2048, _ENTRIES_PER_BLOCK // max(1, n_rows)))


class Moments(NamedTuple):
    """Weighted mean and standard deviation of every column."""

    mean: Floats
    deviation: Floats


class Design(Protocol):
    """A matrix of N rows and D columns that is never modified.

    ``nbytes`` is its size in memory; ``keeps_blocks`` tells whether dense blocks of some of its
    columns are small beside it; ``column_cost`` is what a product with one column costs, in
    multiplications read from memory in order.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    nbytes: int
    keeps_blocks: bool
    column_cost: float

    def dot(self, columns: Array, coef: Floats) -> Floats:
        """Return X[:, columns] @ coef."""
        ...

    def tdot(self, rows: Floats) -> Floats:
        """Return rows @ X, one row of D values for each row of N given."""
        ...

    def tdot_from(self, first: int, block: Floats) -> Floats:
        """Return X[:, first:].T @ block."""
        ...

    def own_products(self) -> Floats | None:
        """Return X.T @ X; None where that is not one product of float64 numbers."""
        ...

    def take(self, columns: Array, mean: Floats) -> Floats:
        """Return columns as a dense float64 block, less their means."""
        ...

    def some_rows(self, rows: Array) -> Floats:
        """Return rows as a dense float64 block."""
        ...

    def pick(self, columns: Array) -> "Design":
        """Return a design of some of the columns."""
        ...

    def gram(
        self, left: Array, right: Array, mean: Floats, scale: Floats, weights: Floats
    ) -> Floats:
        """Return the weighted cross products of two sets of standardised columns."""
        ...

    def moments(self, weights: Floats) -> Moments:
        """Return the weighted mean and standard deviation of every column."""
        ...

    def columns(self, mean: Floats, scale: Floats, weights: Floats) -> Any:
        """Return what kernels read of the standardised columns.

        None where columns cannot be read one by one at a fair price; blocks are taken instead.
        """
        ...
