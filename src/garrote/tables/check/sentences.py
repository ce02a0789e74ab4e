"""How findings name columns and cells: at most three of them, with their places."""

from collections.abc import Callable, Sequence
from typing import Any

from garrote.summaries import listing
from garrote.tables.errors import count_of
from garrote.tables.formats.base import TableFile
from garrote.tables.survey import ColumnFacts

NAMED = 3
"""Names, or cells, in one sentence."""


def named(columns: Sequence[Any], show: Callable[[Any], str] = lambda name: listing([name])) -> str:
    """Return what is shown of the first three columns, and how many more there are."""
    more = f" and {len(columns) - NAMED:,} more" if len(columns) > NAMED else ""
    return ", ".join(map(show, columns[:NAMED])) + more


def odd_cells(table: TableFile, facts: ColumnFacts, most: int = NAMED) -> str:
    """Return up to three cells that are not what their column is, each with its place."""
    shown = facts.odd[:most]
    said = ", ".join(f"{listing([text])} in {table.place(row)}" for row, text in shown)
    others = facts.unreadable - len(shown)
    return said + (f" and {count_of(others, 'other cell')}" if others > 0 else "")
