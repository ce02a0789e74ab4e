"""How a table is refused: one sentence that names the file, the place and the remedy."""

import difflib
from typing import TYPE_CHECKING

from garrote.results.selections.data_check import DataCheck
from garrote.summaries import listing

if TYPE_CHECKING:
    from garrote.tables.formats.base import TableFile


class TableError(ValueError):
    """A table, or what was asked of it, that cannot be used."""


class RefusedTable(TableError):
    """A table in which a look before the fit found what stands in the way of one.

    Parameters
    ----------
    label : str
        The name of the table.
    check : DataCheck
        All that was found.
    """

    def __init__(self, label: str, check: DataCheck):
        self.label, self.check = label, check
        said = "; ".join([*(finding.text for finding in check.findings), *check.reading])
        options = [
            f"{option} {listing(values, str)}".strip() for option, values in check.remedy.items()
        ]
        super().__init__(f"{label}: {said}" + (f"; give {' '.join(options)}" if options else ""))


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun: "1 row", "1,000 rows"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def unknown_name(table: "TableFile", role: str, given: str) -> TableError:
    """Return the refusal of a name that no column has, with the names that look like it."""
    names = table.names
    folded = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(given.casefold(), list(folded), n=3, cutoff=0.6)
    hint = f"did you mean {listing([folded[name] for name in close])}? " if close else ""
    return TableError(
        f"{table.label} has no column {listing([given])} for {role}: {hint}"
        f"it has {count_of(len(names), 'column')}, {listing(names)}"
        f"{naming_of(table)}"
    )


def naming_of(table: "TableFile") -> str:
    """Return what a refusal of names should add, if anything."""
    return f"; {table.naming}" if table.naming else ""
