"""Parquet and Arrow files: read a few columns at a time."""

from collections.abc import Iterator, Sequence
from typing import Any

from garrote.limits.budgets import NUMBERS_AT_ONCE
from garrote.tables.errors import TableError
from garrote.tables.formats.base import Piece
from garrote.tables.formats.engine import polars
from garrote.tables.formats.sources import PlainFile

# pandas keeps the index of a frame under this name.
_INDEX_PREFIX = "__index_level_"


class ColumnarTable:
    """A Parquet or Arrow file."""

    typed = True
    decimal_comma = False
    naming = ""

    def __init__(self, file: PlainFile):
        pl = polars()
        self.label, self.path = file.label, file.path
        scan = pl.scan_parquet if file.form == "parquet" else pl.scan_ipc
        self._scan = scan(file.path, glob=False, hive_partitioning=False)
        self.names = tuple(self._guarded(self._scan.collect_schema).names())
        self.n_rows = self._guarded(self._scan.select(pl.len()).collect).item()
        self.ordinary = tuple(
            j for j, name in enumerate(self.names) if not name.startswith(_INDEX_PREFIX)
        )
        dropped = len(self.names) - len(self.ordinary)
        self.notes: tuple[str, ...] = (
            ("the index of the data frame was left out",) if dropped else ()
        )

    def pieces(self, positions: Sequence[int]) -> Iterator[Piece]:
        from polars import selectors

        height = min(self.n_rows, NUMBERS_AT_ONCE)
        width = max(1, NUMBERS_AT_ONCE // max(1, height))
        for left in range(0, len(positions), width):
            some = tuple(positions[left : left + width])
            columns = self._scan.select(selectors.by_index(*some))
            for first in range(0, self.n_rows, max(1, height)):
                frame = self._guarded(columns.slice(first, height).collect)
                yield Piece(first, some, frame)

    def place(self, row: int) -> str:
        return f"row {row + 1:,}"

    def _guarded(self, action: Any) -> Any:
        pl = polars()
        try:
            return action()
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).splitlines()[0]
            raise TableError(f"{self.label} is damaged or cut off: {reason}") from error
