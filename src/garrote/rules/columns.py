"""What kernels ask of the columns of a design: products with the residual, and steps along columns.

A design hands kernels a NamedTuple of its arrays, for whose class ``column_dot`` and ``add_column`` are
registered. Loops over groups of columns ask for several of them at once.
"""

from typing import Any, NamedTuple

from garrote._jit import generic
from garrote.arrays import Array, Floats


class Residual(NamedTuple):
    """What a coordinate loop carries along: the weighted residual of each row.

    Row i's weighted residual is ``values[i] + shift[0] * weights[i]``. The shift lets a centred
    sparse column change all rows at the price of its non-zeros. For a Gram design ``values`` is X'Wr
    itself and the rest is unused.
    """

    values: Floats
    shift: Floats
    weights: Floats


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
    raise TypeError(f"{type(design).__name__} has no column updates")


@generic
def squared_residual(design: Any, residual: Residual, start: Any, coef: Floats) -> float:
    """Return r'Wr at the present coefficients.

    ``start`` has coefficients at which all is known, X'Wr there (``gradient``) and r'Wr there
    (``squared_residual``); a design without rows goes on from it.
    """
    raise TypeError(f"no residual norm for {type(design).__name__}")
