"""Texts that the user says mean "no value": they become empty before anything else looks at a table.

A mark such as ``height:99`` is one in the column ``height`` alone: 99 may be a value of another.
"""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from garrote.tables.formats.base import Piece, TableFile
from garrote.tables.formats.engine import polars

if TYPE_CHECKING:
    import polars as pl


def with_marks(table: TableFile, marks: Sequence[str]) -> TableFile:
    """Return a table whose cells are empty where they hold one of the marks."""
    return MarkedTable(table, marks) if marks else table


class MarkedTable:
    """A table without the cells that hold a mark. A mark that is a number is one among numbers too."""

    def __init__(self, table: TableFile, marks: Sequence[str]):
        self._table, self._marks = table, [_in_column(mark, table.names) for mark in marks]
        self.label, self.names, self.ordinary = table.label, table.names, table.ordinary
        self.notes, self.typed, self.naming = table.notes, table.typed, table.naming
        self.decimal_comma = table.decimal_comma

    def pieces(self, positions: Sequence[int]) -> Iterator[Piece]:
        for piece in self._table.pieces(positions):
            names = [self.names[j] for j in piece.positions]
            columns = map(self._without_marks, piece.frame.get_columns(), names)
            frame = piece.frame.with_columns(*columns)
            yield Piece(piece.first, piece.positions, frame)

    def place(self, row: int) -> str:
        return self._table.place(row)

    def _without_marks(self, column: "pl.Series", name: str) -> "pl.Series":
        pl = polars()
        meant = [text for only, text in self._marks if only in (None, name)]
        numbers = [x for x in map(_number, meant) if math.isfinite(x)]
        if column.dtype == pl.String:
            texts = column.str.strip_chars()
            marked = texts.is_in(meant)
            if numbers:
                marked |= texts.cast(pl.Float64, strict=False).is_in(numbers)
        elif column.dtype in (pl.Categorical, pl.Enum):
            marked = column.cast(pl.String).is_in(meant)
        elif column.dtype.is_numeric() and numbers:
            marked = column.cast(pl.Float64).is_in(numbers)
        else:
            return column
        kept = pl.when(~marked.fill_null(False)).then(column)
        return pl.select(kept.alias(column.name)).to_series()


def _in_column(mark: str, names: Sequence[str]) -> tuple[str | None, str]:
    """Return the only column that a mark is one of, if it names one, and its text."""
    name = max((name for name in names if mark.startswith(f"{name}:")), key=len, default=None)
    return (None, mark.strip()) if name is None else (name, mark[len(name) + 1 :].strip())


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
