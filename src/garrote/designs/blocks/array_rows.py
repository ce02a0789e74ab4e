"""Rows of an array that is sliced: memory-mapped, of Zarr or of HDF5."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.designs.blocks.files import Watched


class ArrayRows:
    """A two-dimensional array of which slices of rows can be taken.

    ``path`` is the file it lies in, where that is known: then it is watched while it is read.
    """

    names = None

    def __init__(self, array: Any, path: Path | None = None):
        if len(array.shape) != 2:
            raise ValueError(f"X must have two dimensions, got shape {tuple(array.shape)}")
        kind = np.dtype(array.dtype)
        if kind.kind not in "fiub":
            raise TypeError(f"X must hold numbers, got an array of {kind}")
        self._array = array
        self.shape = int(array.shape[0]), int(array.shape[1])
        self.dtype = np.dtype(np.float32 if kind == np.float32 else np.float64)
        self.order = "F" if getattr(getattr(array, "flags", None), "f_contiguous", False) else "C"
        path = path or getattr(array, "filename", None)
        self._watched = Watched([] if path is None else [Path(path)])
        chunks = getattr(array, "chunks", None)
        self._step = int(chunks[0]) if chunks else 1

    def pieces(self, columns: Array, height: int) -> Iterator[Array]:
        whole = np.array_equal(columns, np.arange(self.shape[1]))
        # Stored chunks are opened once each.
        height = max(self._step, height - height % self._step)
        for start in range(0, self.shape[0], height):
            rows = slice(start, min(start + height, self.shape[0]))
            piece = np.asarray(self._array[rows]) if whole else self._some(rows, columns)
            self._watched.check()
            yield piece

    def _some(self, rows: slice, columns: Array) -> Array:
        if isinstance(self._array, np.ndarray):  # of which only these are read then
            return self._array[rows][:, columns]
        first, last = (int(columns.min()), int(columns.max()) + 1) if len(columns) else (0, 0)
        # A range of columns is what every kind of array can take.
        return np.asarray(self._array[rows, first:last])[:, columns - first]

    def place(self, row: int) -> str:
        return f"row {row}"

    def column(self, name: str) -> Array:
        raise ValueError("an array has no columns with names")
