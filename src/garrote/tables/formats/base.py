"""What every kind of table file can do, so that the rest need not know which one it is."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import polars as pl


class Piece(NamedTuple):
    """A rectangle of a table: some rows, from `first` on, of the columns at `positions`."""

    first: int
    positions: tuple[int, ...]
    frame: "pl.DataFrame"  # columns in the order of `positions`; their names mean nothing


class TableFile(Protocol):
    """A table on disk that is read in pieces, as often as needed.

    Columns are known by position, because a name may be anything, also a pattern to polars.
    """

    label: str
    names: tuple[str, ...]
    ordinary: tuple[int, ...]
    """Columns that are variables unless something else is said of them."""
    notes: tuple[str, ...]
    typed: bool
    """Whether the columns have types; otherwise they are text that may stand for anything."""
    decimal_comma: bool
    naming: str
    """What to know of the names when one is not found; "" where they are the file's own."""

    def pieces(self, positions: Sequence[int]) -> Iterator[Piece]:
        """Yield rectangles that cover the given columns; each column's rows come in order."""

    def place(self, row: int) -> str:
        """Say where a row is, counted from 0, in the reader's words: "line 12"."""
