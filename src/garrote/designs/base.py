"""The contract of a design, and the two column functions that every coordinate loop is made of.

A design offers whole-matrix products to Python (``dot``, ``tdot``, ``gram``, ``moments``) and a
NamedTuple of its arrays to kernels (``columns``), for whose class ``column_dot`` and ``add_column``
are registered.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from garrote._jit import generic
from garrote.arrays import Array, Floats


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
    """A matrix of N rows and D columns that is never modified."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    def dot(self, columns: Array, coef: Floats) -> Floats:
        """Return X[:, columns] @ coef."""

    def tdot(self, rows: Floats) -> Floats:
        """Return rows @ X, one row of D values for each row of N given."""

    def take(self, columns: Array, mean: Floats) -> Floats:
        """Return the columns as a dense float64 block, less their means."""

    def moments(self, weights: Floats) -> Moments:
        """Return the weighted mean and standard deviation of every column."""

    def columns(self) -> NamedTuple:
        """Return the arrays that kernels read."""


@generic
def column_dot(design: Any, j: int, residual: Residual) -> float:
    """Return the product of column ``j`` with the weighted residual."""
    raise TypeError(f"{type(design).__name__} has no column products")


@generic
def add_column(design: Any, j: int, step: float, residual: Residual) -> None:
    """Add ``step`` times the weighted column ``j`` to the residual, in place."""
    raise TypeError(f"{type(design).__name__} has no column updates")
