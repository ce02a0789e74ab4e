"""The contract of a design, and the two column functions that every coordinate loop is made of.

A design offers whole-matrix products to Python (``dot``, ``tdot``, ``gram``, ``moments``) and a
NamedTuple of its arrays to kernels (``columns``), for whose class ``column_dot`` and ``add_column``
are registered.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from garrote._jit import generic
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


class Residual(NamedTuple):
    """What a coordinate loop carries along: the weighted residual of each row.

    Row i's weighted residual is ``values[i] + shift[0] * weights[i]``. The shift lets a centred
    sparse column change all rows at the price of its non-zeros. For a Gram design ``values`` is X'Wr
    itself and the rest is unused.
    """

    values: Floats
    shift: Floats
    weights: Floats


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


@generic
def column_dot(design: Any, j: int, residual: Residual) -> float:
    """Return the product of column ``j`` with the weighted residual."""
    raise TypeError(f"{type(design).__name__} has no column products")


@generic
def add_column(design: Any, j: int, step: float, residual: Residual) -> None:
    """Add ``step`` times the weighted column ``j`` to the residual, in place."""
    raise TypeError(f"{type(design).__name__} has no column updates")


@generic
def block_dot(design: Any, columns: Array, residual: Residual, products: Floats) -> None:
    """Write the products of some columns with the weighted residual into ``products``."""
    raise TypeError(f"{type(design).__name__} has no column products")


@generic
def add_block(design: Any, columns: Array, steps: Floats, residual: Residual) -> None:
    """Add each of some columns times its step to the residual, in place."""
    raise TypeError(f"{type(design).__name__} has no column products")
