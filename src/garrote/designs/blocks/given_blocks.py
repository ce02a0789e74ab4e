"""Rows that a function gives, block by block, anew each time it is called."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from garrote.arrays import Array


class GivenBlocks:
    """Blocks of rows from a function that returns an iterator of them.

    Without a ``shape`` the blocks are gone through once to count their rows.
    """

    order = "C"
    dtype = np.dtype(np.float64)

    def __init__(
        self, make: Callable[[], Iterable[Any]], shape: tuple[int | None, int] | None = None
    ):
        self._make = make
        self.names: tuple[str, ...] | None = None
        self._last: Any = None
        rows, width = 0, None if shape is None else int(shape[1])
        if shape is None or shape[0] is None:
            for block in self._blocks(width):
                rows, width = rows + len(block), block.shape[1]
        else:
            rows = int(shape[0])
        if width is None or not rows:
            raise ValueError("the function that gives blocks of rows gave none")
        self.shape = rows, width

    def _blocks(self, width: int | None) -> Iterator[Array]:
        given = self._make()
        if given is self._last and isinstance(given, Iterator):
            raise ValueError(
                "the function that gives blocks of rows returned the same iterator again, which can be "
                "read only once: make a new one in it"
            )
        self._last, start = given, 0
        for number, block in enumerate(given):
            values = self._values(block)
            if values.ndim != 2:
                raise ValueError(
                    f"block {number} of rows has {values.ndim} dimensions, and must have two"
                )
            if width is not None and values.shape[1] != width:
                raise ValueError(
                    f"block {number}, from row {start} on, has {values.shape[1]} columns, and those "
                    f"before have {width}: all blocks must have the same columns"
                )
            width = values.shape[1]
            start += len(values)
            yield values

    def _values(self, block: Any) -> Array:
        names = getattr(block, "columns", None)
        if names is not None:
            found = tuple(map(str, names))
            if self.names is not None and found != self.names:
                differ = next(
                    (pair for pair in zip(found, self.names, strict=False) if pair[0] != pair[1]),
                    (f"{len(found)} columns", f"{len(self.names)}"),
                )
                raise ValueError(
                    f"a block of rows has {differ[0]!r} where the first has {differ[1]!r}: all blocks "
                    "must have the same columns"
                )
            self.names = found
        values = block.to_numpy() if hasattr(block, "to_numpy") else np.asarray(block)
        if values.dtype.kind not in "fiub":
            raise TypeError(f"a block of rows must hold numbers, got {values.dtype}")
        return np.asarray(values)

    def pieces(self, columns: Array, height: int) -> Iterator[Array]:
        whole = np.array_equal(columns, np.arange(self.shape[1]))
        seen = 0
        for block in self._blocks(self.shape[1]):
            seen += len(block)
            yield block if whole else block[:, columns]
        if seen != self.shape[0]:
            raise ValueError(
                f"the blocks hold {seen} rows, and held {self.shape[0]} before: the function must give "
                "the same rows each time it is called"
            )

    def place(self, row: int) -> str:
        return f"row {row}"

    def column(self, name: str) -> Array:
        raise ValueError("take the column out of the blocks before they are given")
