"""Rows to predict, coded as those that the model was fitted to.

Only the columns that are needed have to be there, whole and with words that the model knows. In place of
what is missing or unknown in others stands the mean of the rows fitted to.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.summaries import listing
from garrote.tables.check.gaps import refuse_gaps
from garrote.tables.coding import CodedColumn, Coding
from garrote.tables.errors import TableError, count_of, naming_of, unknown_name
from garrote.tables.filling import (
    Destination,
    allocate,
    destinations_in,
    fill,
    put_means,
    refuse_huge,
)
from garrote.tables.formats.base import TableFile
from garrote.tables.formats.engine import polars
from garrote.tables.formats.opening import with_table
from garrote.tables.kinds import BLANK, as_word
from garrote.tables.marks import with_marks
from garrote.tables.refusals import refuse_infinite, refuse_no_rows, refuse_other_kinds
from garrote.tables.survey import Survey, count_words, survey


class NewRows(NamedTuple):
    """Rows to predict.

    ``kept`` are cells of further columns as they stand in the file, None where blank; ``filled`` names
    columns that are not needed, and in which means stand for what is missing or unknown.
    """

    values: Floats
    kept: dict[str, list[str | None]]
    filled: tuple[str, ...]


def read_new_rows(
    source: str, coding: Coding, missing: str = "error", sheet: str | None = None
) -> Floats:
    """Read rows to predict, coded as those that the model was fitted to.

    Columns are found by name, in any order; others are ignored.

    Parameters
    ----------
    source : str
        A file, or "-" for standard input.
    coding : Coding
        Of the table that the model was fitted to.
    missing : {"error", "mean"}
        Whether missing values are refused, or replaced by the mean of the rows fitted to.
    sheet : str, optional
        Name or number of the sheet of a workbook; by default the first.
    """
    needed = [column.name for column in coding.columns]
    return read_needed_rows(source, coding, needed, missing, sheet=sheet).values


def read_needed_rows(
    source: str,
    coding: Coding,
    needed: Collection[str],
    missing: str = "error",
    keep: Sequence[str] = (),
    sheet: str | None = None,
) -> NewRows:
    """Read rows to predict, of which only some columns have to be there and whole.

    Parameters
    ----------
    source, coding, missing, sheet
        As in `read_new_rows`; ``missing`` is about the columns that are needed.
    needed : collection of str
        Names of columns of the table.
    keep : sequence of str
        Columns whose cells are handed back as they are.
    """
    if missing not in ("error", "mean"):
        raise TableError(
            f"--missing must be error or mean for new rows, got {listing([missing])}: every row gets "
            "its prediction"
        )

    def read(table: TableFile) -> NewRows:
        marked = with_marks(table, coding.na)
        X, filled = _read(marked, coding, frozenset(needed), missing)
        return NewRows(X, _kept(table, keep), filled)

    return with_table(source, read, sheet)


def _read(
    table: TableFile, coding: Coding, needed: Collection[str], missing: str
) -> tuple[Floats, tuple[str, ...]]:
    position = {name: j for j, name in enumerate(table.names)}
    _refuse_absent(table, [c.name for c in coding.columns if c.name in needed])
    wanted = {position[c.name]: c for c in coding.columns if c.name in needed}
    n_rows = _checked(table, wanted, missing) if wanted else _count_rows(table)
    others = {
        position[c.name]: c for c in coding.columns if c.name not in needed and c.name in position
    }
    usable = wanted | _usable(table, others)
    X = allocate(table, n_rows, len(coding.names))
    X[:] = np.nan
    places = destinations_in([position.get(c.name, -1) for c in coding.columns], coding, X)
    filled_in = [place for place in places if place.position in usable]
    fill(table, filled_in, np.ones(n_rows, dtype=bool))
    refuse_huge(table, filled_in)
    _forget_unseen(table, [place for place in filled_in if place.position in others])
    gaps = [
        p.column.name for p in places if p.column.name not in needed and np.isnan(p.values).any()
    ]
    put_means(X, coding)
    return X, tuple(gaps)


def _checked(table: TableFile, wanted: dict[int, CodedColumn], missing: str) -> int:
    """Return how many rows there are; refuse what the columns that are needed should not hold."""
    kinds = {j: column.kind for j, column in wanted.items()}
    found = survey(table, sorted(wanted), kinds)
    refuse_no_rows(table, found)
    refuse_other_kinds(table, found, kinds)
    refuse_infinite(table, found)
    if missing == "error":
        refuse_gaps(table, found, "give --missing mean to put in the mean of the rows fitted to")
    _refuse_unseen(table, wanted, found)
    return found.n_rows


def _count_rows(table: TableFile) -> int:
    """Return how many rows there are where no column is needed."""
    found = survey(table, [0])
    refuse_no_rows(table, found)
    return found.n_rows


def _refuse_absent(table: TableFile, needed: Sequence[str]) -> None:
    absent = [name for name in needed if name not in table.names]
    if len(absent) == 1:
        raise unknown_name(table, "a variable of the model", absent[0])
    if absent:
        raise TableError(
            f"{table.label} lacks {count_of(len(absent), 'column')} of the model: {listing(absent)}; it "
            f"has {listing(table.names)}{naming_of(table)}"
        )


def _usable(table: TableFile, columns: dict[int, CodedColumn]) -> dict[int, CodedColumn]:
    """Return the columns that hold what they held when the model was fitted."""
    if not columns:
        return {}
    found = survey(table, sorted(columns), {j: c.kind for j, c in columns.items()})
    return {
        j: column
        for j, column in columns.items()
        if found.columns[j].kind == column.kind and found.columns[j].infinite is None
    }


def _forget_unseen(table: TableFile, places: Sequence[Destination]) -> None:
    """Make words missing that did not occur when the model was fitted."""
    words = {place.position: place for place in places if place.column.kind == "word"}
    for piece in table.pieces(sorted(words)) if words else ():
        for i, j in enumerate(piece.positions):
            cells = as_word(piece.frame.to_series(i)).fill_null(BLANK)
            unseen = ~cells.is_in([*words[j].column.known])
            words[j].values[piece.first : piece.first + len(cells)][unseen.to_numpy()] = np.nan


def _kept(table: TableFile, names: Sequence[str]) -> dict[str, list[str | None]]:
    """Return the cells of some columns as they stand in the file."""
    for name in names:
        if name not in table.names:
            raise unknown_name(table, "--keep", name)
    positions = [table.names.index(name) for name in names]
    kept: dict[int, list[str | None]] = {j: [] for j in positions}
    for piece in table.pieces(sorted(kept)) if kept else ():
        for i, j in enumerate(piece.positions):
            kept[j] += piece.frame.to_series(i).cast(polars().String).to_list()
    return {name: kept[j] for name, j in zip(names, positions, strict=True)}


def _refuse_unseen(table: TableFile, wanted: dict[int, CodedColumn], found: Survey) -> None:
    """Refuse a word that did not occur when the model was fitted: nothing is known of its effect."""
    columns = {j: c for j, c in wanted.items() if c.kind == "word"}
    counts = count_words(table, sorted(columns), np.ones(found.n_rows, dtype=bool))
    for j, column in columns.items():
        known = column.known
        for word, seen in counts[j].items():
            if word not in known:
                what = "a blank cell" if word == BLANK else listing([word])
                raise TableError(
                    f"{table.label}: {what} in column {listing([column.name])}, "
                    f"{table.place(seen.row)}, did not occur when the model was fitted: it knows "
                    f"{listing(sorted(known))}; recode it, or take the row "
                    "out"
                )
