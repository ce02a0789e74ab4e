"""Open a plain file as the kind of table that it is."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from garrote.summaries import listing
from garrote.tables.errors import TableError, count_of
from garrote.tables.formats.archives import ArchiveTable
from garrote.tables.formats.base import TableFile
from garrote.tables.formats.columnar import ColumnarTable
from garrote.tables.formats.sources import PlainFile, opened
from garrote.tables.formats.text import TextTable
from garrote.tables.formats.workbooks import WorkbookTable

Result = TypeVar("Result")


def with_table(source: str, use: Callable[[TableFile], Result], sheet: str | None = None) -> Result:
    """Open a table, use it, and close it; text that proves not to be UTF-8 is used anew as Latin-1.

    ``sheet`` is the name or number of the sheet of a workbook; by default the first is read.
    """
    with opened(source) as file:
        if sheet is not None and file.form != "xlsx":
            raise TableError(
                f"--sheet {sheet}: {file.label} is no workbook, and has no sheets: leave it out"
            )
        try:
            return use(_open(file, sheet))
        except UnicodeDecodeError:
            return use(TextTable(file, "latin-1"))


def _open(file: PlainFile, sheet: str | None = None) -> TableFile:
    table: TableFile
    if file.form == "text":
        table = TextTable(file)
    elif file.form == "npz":
        table = ArchiveTable(file)
    elif file.form == "xlsx":
        table = WorkbookTable(file, sheet)
    else:
        table = ColumnarTable(file)
    _refuse_half_characters(table)
    refuse_same_names(table.names, f"{table.label}: every column needs a name of its own, but")
    return table


def _refuse_half_characters(table: TableFile) -> None:
    """Refuse a name that is no text: no terminal, report or file could show it."""
    for j, name in enumerate(table.names):
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise TableError(
                f"{table.label}: the name of column {j + 1}, {listing([name])}, has half of a character "
                "in it: rename the column"
            )


def refuse_same_names(names: Sequence[str], what: str) -> None:
    """Refuse a table in which two columns have one name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        places = [j + 1 for j, name in enumerate(names) if name == twice[0]]
        more = f" (and {count_of(len(twice) - 1, 'other name')} too)" if len(twice) > 1 else ""
        raise TableError(
            f"{what} columns {listing(places, str)} are all {listing(twice[:1])}{more}"
        )
