"""Times until an event in a table: their columns, what an event is, and what is refused by its row."""

import re
from typing import TYPE_CHECKING

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods import survival_times
from garrote.likelihoods.survival.times import read_times
from garrote.summaries import listing
from garrote.tables.coding import CodedColumn
from garrote.tables.errors import TableError
from garrote.tables.filling import Destination, fill
from garrote.tables.formats.base import TableFile
from garrote.tables.survey import MOST_COUNTED, count_words

if TYPE_CHECKING:
    from garrote.tables.roles import Roles

# What 1 and 0 may be called.
_CODES = {"1": 1.0, "true": 1.0, "yes": 1.0, "0": 0.0, "false": 0.0, "no": 0.0}


def split_event(table: TableFile, text: str) -> tuple[str, str | None]:
    """Return the column of events, and the value that means one, of "column" or "column:value"."""
    column, colon, value = text.rpartition(":")
    if text in table.names or not colon:
        return text, None
    return column, value


def times_of(
    table: TableFile, roles: "Roles", keep: Array, time: Floats, event: str | None
) -> Array:
    """Return the times of the rows to keep as a response.

    Raises
    ------
    TableError
        If they are none, naming the line.
    """
    assert roles.event is not None
    start = strata = None
    if roles.start is not None:
        start = np.empty(len(time))
        fill(
            table,
            [
                Destination(
                    roles.start, CodedColumn(table.names[roles.start], "number"), start[:, None]
                )
            ],
            keep,
        )
    if roles.strata is not None:
        strata = _words(table, roles.strata, keep)
    try:
        y = survival_times(
            time, read_events(table, roles.event, keep, event), start=start, strata=strata
        )
        read_times(y)
    except ValueError as error:
        rows = np.flatnonzero(keep)
        said = re.sub(
            r"at row (\d+)", lambda m: f"in {table.place(int(rows[int(m[1])]))}", str(error)
        )
        raise TableError(f"{table.label}: {said}") from None
    return y


def _words(table: TableFile, j: int, keep: Array) -> Array:
    """Return the words of a column."""
    words = count_words(table, [j], keep)[j]
    if len(words) > MOST_COUNTED:
        raise TableError(
            f"{table.label}: column {listing([table.names[j]])} has more than {MOST_COUNTED:,} "
            "different values: that is none of strata or events"
        )
    levels = tuple(sorted(words))
    values = np.empty((int(keep.sum()), len(levels)))
    fill(table, [Destination(j, CodedColumn(table.names[j], "word", levels), values)], keep)
    return np.array(levels, dtype=object)[values.argmax(axis=1)]


def read_events(table: TableFile, j: int, keep: Array, asked: str | None) -> Floats:
    """Return 1 where the event came; refuse codes that nobody has explained.

    ``asked`` is what was said of the column: its name, or "column:value".
    """
    value = None if asked is None else split_event(table, asked)[1]
    words = _words(table, j, keep)
    found = sorted(set(words.tolist()))
    name = table.names[j]
    if value is not None:
        if value not in found:
            raise TableError(
                f"{table.label}: --event {name}:{value}: no row has {listing([value])} there; it holds "
                f"{listing(found, most=5)}"
            )
        return (words == value).astype(np.float64)
    codes = {word: _code(word) for word in found}
    if None in codes.values():
        raise TableError(
            f"{table.label}: --event {name} holds {listing(found, most=5)}, not 0 and 1: say which "
            f"value means that the event came, as --event {name}:{found[-1]}"
        )
    return np.array([codes[word] for word in words], dtype=np.float64)


def _code(word: str) -> float | None:
    """Return what a word says of an event; None if that is unknown."""
    known = _CODES.get(word.lower())
    if known is not None:
        return known
    try:
        number = float(word)
    except ValueError:
        return None
    return number if number in (0.0, 1.0) else None
