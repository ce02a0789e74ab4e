"""Rows to predict, coded as those that the model was fitted to."""

from collections.abc import Sequence

import numpy as np

from garrote.arrays import Floats
from garrote.summaries import listing
from garrote.tables.check.gaps import refuse_gaps
from garrote.tables.coding import Coding
from garrote.tables.errors import TableError, count_of, naming_of, unknown_name
from garrote.tables.filling import allocate, destinations_in, fill, put_means, refuse_huge
from garrote.tables.formats.base import TableFile
from garrote.tables.formats.opening import with_table
from garrote.tables.kinds import BLANK
from garrote.tables.marks import with_marks
from garrote.tables.refusals import refuse_infinite, refuse_no_rows, refuse_other_kinds
from garrote.tables.survey import Survey, count_words, survey


def read_new_rows(source: str, coding: Coding, missing: str = "error") -> Floats:
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
    """
    if missing not in ("error", "mean"):
        raise TableError(
            f"--missing must be error or mean for new rows, got {listing([missing])}: every row gets "
            "its prediction"
        )
    return with_table(source, lambda table: _read(with_marks(table, coding.na), coding, missing))


def _read(table: TableFile, coding: Coding, missing: str) -> Floats:
    position = {name: j for j, name in enumerate(table.names)}
    absent = [column.name for column in coding.columns if column.name not in position]
    if len(absent) == 1:
        raise unknown_name(table, "a variable of the model", absent[0])
    if absent:
        raise TableError(
            f"{table.label} lacks {count_of(len(absent), 'column')} of the model: {listing(absent)}; it "
            f"has {listing(table.names)}{naming_of(table)}"
        )
    positions = [position[column.name] for column in coding.columns]
    kinds = {j: c.kind for j, c in zip(positions, coding.columns, strict=True)}
    found = survey(table, sorted(positions), kinds)
    refuse_no_rows(table, found)
    refuse_other_kinds(table, found, kinds)
    refuse_infinite(table, found)
    if missing == "error":
        refuse_gaps(table, found, "give --missing mean to put in the mean of the rows fitted to")
    _refuse_unseen(table, positions, coding, found)
    X = allocate(table, found.n_rows, len(coding.names))
    keep = np.ones(found.n_rows, dtype=bool)
    destinations = destinations_in(positions, coding, X)
    fill(table, destinations, keep)
    refuse_huge(table, destinations)
    put_means(X, coding)
    return X


def _refuse_unseen(
    table: TableFile, positions: Sequence[int], coding: Coding, found: Survey
) -> None:
    """Refuse a word that did not occur when the model was fitted: nothing is known of its effect."""
    columns = {j: c for j, c in zip(positions, coding.columns, strict=True) if c.kind == "word"}
    counts = count_words(table, sorted(columns), np.ones(found.n_rows, dtype=bool))
    for j, column in columns.items():
        known = {*column.levels, column.reference}
        for word, seen in counts[j].items():
            if word not in known:
                what = "a blank cell" if word == BLANK else listing([word])
                raise TableError(
                    f"{table.label}: {what} in column {listing([column.name])}, "
                    f"{table.place(seen.row)}, did not occur when the model was fitted: it knows "
                    f"{listing(sorted(w for w in known if w is not None))}; recode it, or take the row "
                    "out"
                )
