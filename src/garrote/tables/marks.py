"""Texts that the user says mean "no value": they become empty before anything else looks at a table."""

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
        self._table, self._texts = table, [mark.strip() for mark in marks]
        self._numbers = [x for x in map(_number, self._texts) if math.isfinite(x)]
        self.label, self.names, self.ordinary = table.label, table.names, table.ordinary
        self.notes, self.typed, self.naming = table.notes, table.typed, table.naming
        self.decimal_comma = table.decimal_comma

    def pieces(self, positions: Sequence[int]) -> Iterator[Piece]:
        for piece in self._table.pieces(positions):
            frame = piece.frame.with_columns(*map(self._without_marks, piece.frame.get_columns()))
            yield Piece(piece.first, piece.positions, frame)

    def place(self, row: int) -> str:
        return self._table.place(row)

    def _without_marks(self, column: "pl.Series") -> "pl.Series":
        pl = polars()
        if column.dtype == pl.String:
            texts = column.str.strip_chars()
            marked = texts.is_in(self._texts)
            if self._numbers:
                marked |= texts.cast(pl.Float64, strict=False).is_in(self._numbers)
        elif column.dtype in (pl.Categorical, pl.Enum):
            marked = column.cast(pl.String).is_in(self._texts)
        elif column.dtype.is_numeric() and self._numbers:
            marked = column.cast(pl.Float64).is_in(self._numbers)
        else:
            return column
        kept = pl.when(~marked.fill_null(False)).then(column)
        return pl.select(kept.alias(column.name)).to_series()


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
