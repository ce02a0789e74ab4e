"""Where rows come from: an array on disk, a Parquet or Arrow data set, or blocks made on demand."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from garrote.arrays import Array
from garrote.designs.blocks.array_rows import ArrayRows
from garrote.designs.blocks.columnar_rows import ColumnarRows
from garrote.designs.blocks.given_blocks import GivenBlocks


class Rows(Protocol):
    """A table whose rows can be read in order, as often as needed, by pieces of any height."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    order: Any
    """How the pieces lie in memory: "C", row by row, or "F", column by column."""

    def pieces(self, columns: Array, height: int) -> Iterator[Array]:
        """Yield all rows of some columns in order; pieces of about ``height`` rows serve best."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns, where they have any."""

    def place(self, row: int) -> str:
        """Say where a row is, counted from 0, in the reader's words."""

    def column(self, name: str) -> Array:
        """Return one column, which need not be among those of the design."""


def as_rows(
    source: Any, columns: Sequence[str] | None, exclude: Sequence[str], shape: Any = None
) -> Rows:
    """Return what a user names as rows to read."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.suffix == ".npy":
            _refuse_names(columns, exclude, "a .npy file")
            return ArrayRows(np.load(path, mmap_mode="r"), path)
        return ColumnarRows(path, columns, exclude)
    _refuse_names(columns, exclude, f"a {type(source).__name__}")
    if callable(source):
        return GivenBlocks(source, shape)
    if hasattr(source, "shape") and hasattr(source, "__getitem__"):
        return ArrayRows(source)
    if isinstance(source, Iterator):
        raise TypeError(
            f"a {type(source).__name__} can be read only once, and rows may be needed more than once: "
            "give a function that returns a new iterator each time it is called"
        )
    kind = type(source).__name__
    raise TypeError(
        f"rows cannot be read from a {kind}: give the path of a .npy, Parquet or Arrow "
        "file or of a folder of those, an array that is sliced by rows (memory-mapped, Zarr, HDF5), or "
        "a function that returns an iterator of blocks of rows"
    )


def _refuse_names(columns: Any, exclude: Any, what: str) -> None:
    if columns is not None or len(exclude):
        raise ValueError(
            f"columns and exclude name columns of Parquet and Arrow files; {what} has no names"
        )
