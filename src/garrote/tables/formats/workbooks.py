"""Excel workbooks: one sheet, as text that may stand for anything, and tables written as such.

fastexcel reads them, the engine that polars has for workbooks, and XlsxWriter, polars' other one, writes
them. Cells become text, as in a CSV file: a column of numbers with "67 F" in one row is a finding of the
data check, with its row, and not a column of another type.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np

from garrote.summaries import listing
from garrote.tables.errors import TableError
from garrote.tables.formats.base import Piece
from garrote.tables.formats.dialect import describe_rows
from garrote.tables.formats.engine import polars
from garrote.tables.formats.sources import PlainFile

_EXTRA = 'run `pip install "garrote[excel]"`, or save the sheet as CSV'
_SAMPLE_ROWS = 100  # that tell what the columns are
_MOST_ROWS, _MOST_COLUMNS = 1_048_575, 16_384  # below a header


class WorkbookTable:
    """A sheet of a workbook, by default the first; blank rows are left out."""

    typed = False
    decimal_comma = False

    def __init__(self, file: PlainFile, sheet: str | None = None):
        self.label = file.label
        frame, name, sheets = _sheet(file, sheet)
        filled = np.flatnonzero(frame.select(~polars().all_horizontal(polars().all().is_null())))
        if not len(filled):
            raise TableError(
                f"{self.label}: {'the first' if sheet is None else 'that'} sheet, {name!r}, is blank: a "
                f"table with a header and rows is needed there{_others(sheets, name)}"
            )
        sample = frame[filled[: _SAMPLE_ROWS + 1]].fill_null("").rows()
        dialect = describe_rows([[cell.strip() for cell in row] for row in sample], ",")
        self.names, self.ordinary = dialect.names, dialect.ordinary
        self.naming, self.notes = dialect.naming, dialect.notes
        if len(sheets) > 1 and sheet is None:
            others = listing(sheets[1:], most=3)
            self.notes += (f"the first sheet, {sheets[0]!r}, was read, and not {others} (--sheet)",)
        self._rows = filled[1:] if dialect.has_header else filled
        self._frame = frame[self._rows]

    def pieces(self, positions: Sequence[int]) -> Iterator[Piece]:
        columns = [self._frame.to_series(j) for j in positions]
        yield Piece(0, tuple(positions), polars().DataFrame(columns))

    def place(self, row: int) -> str:
        return f"row {int(self._rows[row]) + 1:,} of the sheet"


def _sheet(file: PlainFile, sheet: str | None) -> tuple[Any, str, list[str]]:
    """Return the cells of a sheet as text, its name, and the names of all sheets."""
    try:
        import fastexcel
    except ImportError as error:
        raise ImportError(f"reading {file.label} needs fastexcel: {_EXTRA}") from error
    try:
        book = fastexcel.read_excel(file.path)
        sheets = list(book.sheet_names)
        number = _number_of(sheet, sheets, file.label)
        # Rows are counted as Excel does, blank ones above the table too.
        texts, numbers = (
            book.load_sheet(number, header_row=None, skip_rows=0, dtypes=kind).to_polars()
            for kind in ("string", "float")
        )
        return _exact(texts, numbers), sheets[number], sheets
    except fastexcel.FastExcelError as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"{file.label} could not be read as a workbook: {reason}") from error


def _number_of(sheet: str | None, sheets: list[str], label: str) -> int:
    """Return the position of a sheet, given its name, or else its number from 1."""
    if sheet is None:
        return 0
    if sheet in sheets:
        return sheets.index(sheet)
    if sheet.isdecimal() and 1 <= int(sheet) <= len(sheets):
        return int(sheet) - 1
    raise TableError(
        f"{label} has no sheet {sheet!r}: it has {listing(sheets)}; give a name, or a number from 1 to "
        f"{len(sheets)}"
    )


def _others(sheets: list[str], name: str) -> str:
    others = [sheet for sheet in sheets if sheet != name]
    return f", or give --sheet; others are {listing(others, most=3)}" if others else ""


def _exact(texts: Any, numbers: Any) -> Any:
    """Return texts with all digits of numbers, of which fastexcel's texts have nine behind the point."""
    pl = polars()
    columns = []
    for text, number in zip(texts, numbers, strict=True):
        rounded = text.cast(pl.Float64, strict=False)
        differs = (rounded.is_not_null() & (rounded != number)).fill_null(value=False)
        columns.append(number.cast(pl.String).zip_with(differs, text))
    return pl.DataFrame(columns)


def write_workbook(stream: IO[bytes], columns: Mapping[str, Sequence[Any]], label: str) -> None:
    """Write columns of texts and numbers as the only sheet of a workbook; NaN becomes a blank cell."""
    pl = polars()
    frame = pl.DataFrame(columns, strict=False).fill_nan(None)
    if frame.height > _MOST_ROWS or frame.width > _MOST_COLUMNS:
        raise TableError(
            f"{label}: {frame.height:,} rows and {frame.width:,} columns are more than a sheet holds "
            f"({_MOST_ROWS:,} and {_MOST_COLUMNS:,}): write .csv"
        )
    try:
        frame.write_excel(stream, autofilter=False, dtype_formats={pl.Float64: "General"})
    except ImportError as error:
        raise ImportError(f"writing {label} needs XlsxWriter: {_EXTRA}") from error
