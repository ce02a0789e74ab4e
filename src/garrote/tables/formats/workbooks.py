"""Excel workbooks: the first sheet, as text that may stand for anything, and tables written as such.

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
    """The first sheet of a workbook; blank rows are left out."""

    typed = False
    decimal_comma = False

    def __init__(self, file: PlainFile):
        self.label = file.label
        frame, sheets = _first_sheet(file)
        filled = np.flatnonzero(frame.select(~polars().all_horizontal(polars().all().is_null())))
        if not len(filled):
            raise TableError(
                f"{self.label}: the first sheet, {sheets[0]!r}, is blank: a table with a header and "
                "rows is needed there"
            )
        sample = frame[filled[: _SAMPLE_ROWS + 1]].fill_null("").rows()
        dialect = describe_rows([[cell.strip() for cell in row] for row in sample], ",")
        self.names, self.ordinary = dialect.names, dialect.ordinary
        self.naming, self.notes = dialect.naming, dialect.notes
        if len(sheets) > 1:
            others = listing(sheets[1:], most=3)
            self.notes += (f"the first sheet, {sheets[0]!r}, was read, and not {others}",)
        self._rows = filled[1:] if dialect.has_header else filled
        self._frame = frame[self._rows]

    def pieces(self, positions: Sequence[int]) -> Iterator[Piece]:
        columns = [self._frame.to_series(j) for j in positions]
        yield Piece(0, tuple(positions), polars().DataFrame(columns))

    def place(self, row: int) -> str:
        return f"row {int(self._rows[row]) + 1:,} of the sheet"


def _first_sheet(file: PlainFile) -> tuple[Any, list[str]]:
    """Return the cells of the first sheet as text, by rows and columns, and the names of all sheets."""
    try:
        import fastexcel
    except ImportError as error:
        raise ImportError(f"reading {file.label} needs fastexcel: {_EXTRA}") from error
    try:
        book = fastexcel.read_excel(file.path)
        # Rows are counted as Excel does, blank ones above the table too.
        texts, numbers = (
            book.load_sheet(0, header_row=None, skip_rows=0, dtypes=kind).to_polars()
            for kind in ("string", "float")
        )
        return _exact(texts, numbers), list(book.sheet_names)
    except fastexcel.FastExcelError as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"{file.label} could not be read as a workbook: {reason}") from error


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
