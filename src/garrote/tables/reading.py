"""Read a table twice: once to learn what it holds and refuse what cannot be used, once to fill X.

Only X itself is as large as the table; everything else is read in pieces.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.blocks import BlockDesign
from garrote.results.selections.data_check import DataCheck, Finding, in_order, names_left_out
from garrote.results.selections.groups import VariableGroups
from garrote.summaries import listing
from garrote.tables.check.looking import Look
from garrote.tables.check.target import is_zero_or_one
from garrote.tables.check.times import read_events, times_of
from garrote.tables.check.types import MOST_LEVELS
from garrote.tables.coding import CodedColumn, Coding
from garrote.tables.errors import TableError
from garrote.tables.filling import (
    Destination,
    allocate,
    destinations_in,
    fill,
    put_means,
    refuse_huge,
    with_means,
)
from garrote.tables.formats.base import TableFile
from garrote.tables.formats.opening import refuse_same_names, with_table
from garrote.tables.large import read_large
from garrote.tables.marks import with_marks
from garrote.tables.notes import notes_on
from garrote.tables.refusals import is_labels, refuse_infinite, refuse_no_rows, refuse_target
from garrote.tables.resemblance import find_resemblances
from garrote.tables.roles import Roles, Wanted, assign_roles
from garrote.tables.survey import MOST_COUNTED, Survey, WordCount, count_words, survey
from garrote.tables.terms.asking import what_is_asked
from garrote.tables.terms.expanding import expand
from garrote.tables.terms.expansion import Expansion, coded_groups


@dataclass(frozen=True)
class DataTable:
    """A table as numbers.

    Parameters
    ----------
    X : array of shape (N, D), or `garrote.designs.ChunkedDesign`
        The variables, float64, column after column in memory; NaN where a value is to be imputed. A
        table larger than memory stays on disk, and is read in blocks.
    y : array of shape (N,), or None
        The target: numbers, or the labels of classes as texts.
    names : tuple of str
        Of the D columns.
    covariates : tuple of int
        Positions of the columns that are always in the model.
    weights : array of shape (N,), or None
    groups : array of shape (N,), or None
        The group of each row, numbered from 0.
    response : str
        Name of the target, "" if there is none.
    source : str
        Name of the file, or "standard input".
    check : DataCheck
        What a look at the table found, and how its columns were read.
    coding : Coding
        How to do the same to new rows.
    offset : array of shape (N,), or None
        A known part of the linear predictor.
    expansion : Expansion, or None
        The terms of the model, where more than the columns themselves was asked for.
    """

    X: Any
    y: Array | None
    names: tuple[str, ...]
    covariates: tuple[int, ...]
    weights: Floats | None
    groups: Array | None
    response: str
    source: str
    check: DataCheck
    coding: Coding
    offset: Floats | None = None
    expansion: Expansion | None = None

    @property
    def variables(self) -> VariableGroups:
        """Which columns of X are one variable."""
        if self.expansion is None:
            return coded_groups(self.coding)
        return self.expansion.groups(self.coding)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the table, and of how it was read."""
        return (*(finding.text for finding in self.check.findings), *self.check.reading)

    @property
    def in_blocks(self) -> bool:
        """Whether X is read from disk in blocks."""
        return isinstance(self.X, BlockDesign)

    @property
    def has_gaps(self) -> bool:
        """Whether a value is to be imputed."""
        return not self.in_blocks and bool(np.isnan(self.X).any())

    @property
    def is_zero_or_one(self) -> bool:
        """Whether the target is numbers, and all of them 0 or 1."""
        return self.y is not None and not self.of_times and is_zero_or_one(self.y)

    @property
    def of_times(self) -> bool:
        """Whether the target is times until an event."""
        return self.y is not None and self.y.dtype.names is not None


def read_table(source: str, wanted: Wanted) -> DataTable:
    r"""Read a table from a file, or from standard input ("-").

    Raises
    ------
    TableError
        If the table, or what is wanted of it, cannot be used.

    Examples
    --------
    >>> from pathlib import Path
    >>> from garrote.tables import Wanted, read_table
    >>> _ = Path("dose.csv").write_text("dose,colour,y\n1,red,2.1\n2,blue,3.9\n3,red,6.2\n")
    >>> table = read_table("dose.csv", Wanted(target="y", encode=True))
    >>> table.names
    ('dose', 'colour=blue')
    """
    return with_table(source, lambda table: _read_any(table, source, wanted), wanted.sheet)


def _read_any(table: TableFile, source: str, wanted: Wanted) -> DataTable:
    """Read a table into memory or, where it is too large for that, leave X where it is."""
    large = read_large(table, Path(source), wanted)
    if large is None:
        return _read(with_marks(table, wanted.na), wanted)
    _check_weights(table, large.weights, np.ones(large.design.shape[0], dtype=bool))
    return DataTable(
        large.design,
        large.y,
        large.coding.names,
        _covariate_positions(large.roles, large.coding),
        large.weights,
        large.groups,
        wanted.target or "",
        table.label,
        large.check,
        large.coding,
        large.offset,
    )


def _read(table: TableFile, wanted: Wanted) -> DataTable:
    asked, wanted = what_is_asked(table, wanted)
    read = _read_columns(table, wanted)
    if asked is None:
        return read
    apart = {read.coding.owners[j] for j in read.covariates}
    made = expand(table.label, read.coding, read.X, asked, apart)
    check = replace(read.check, reading=(*made.notes, *read.check.reading))
    names = made.expansion.names(read.coding)
    owners = made.expansion.owners(read.coding)
    return replace(
        read,
        X=made.X,
        names=names,
        covariates=tuple(j for j, owner in enumerate(owners) if owner <= apart),
        check=check,
        expansion=made.expansion,
    )


def _read_columns(table: TableFile, wanted: Wanted) -> DataTable:
    """Read the columns themselves."""
    roles = assign_roles(table, wanted)
    look = _look(table, roles, wanted)
    if names_left_out(look.findings):
        return _read_without(table, wanted, look.findings)
    found, keep = look.found, look.gaps.kept
    coding = _make_coding(table, roles, found, keep, wanted.na)
    X = allocate(table, int(keep.sum()), len(coding.names))
    parts = (roles.target, roles.weights, roles.offset)
    y, weights, offset = (None if j is None else np.empty(len(X)) for j in parts)
    labels = _labels(table, roles, found, wanted, keep)
    destinations = destinations_in(roles.variables, coding, X)
    for j, values in zip(parts, (None if labels else y, weights, offset), strict=True):
        if j is not None and values is not None:
            column = CodedColumn(table.names[j], found.columns[j].kind)
            destinations.append(Destination(j, column, values[:, None]))
    if labels:
        destinations.append(labels)
    groups = fill(table, destinations, keep, roles.groups)
    if labels:
        y = np.array(labels.column.levels)[labels.values.argmax(axis=1)]
    refuse_huge(table, destinations)
    _check_weights(table, weights, keep)
    coding = with_means(X, coding)
    coded = replace(roles, target=None) if labels else roles  # labels stay as they are
    check = look.check(coding.owners, X, y, notes_on(table, coded, found, coding))
    if roles.event is not None and y is not None:
        y = times_of(table, roles, keep, y, wanted.event)
    if names_left_out(check.findings):
        return _read_without(table, wanted, check.findings)
    if wanted.missing != "impute":
        put_means(X, coding)
    return DataTable(
        X,
        y,
        coding.names,
        _covariate_positions(roles, coding),
        weights,
        groups,
        (wanted.target or "") + (f" until {wanted.event}" if wanted.event else ""),
        table.label,
        check,
        coding,
        offset,
    )


def _read_without(table: TableFile, wanted: Wanted, found: Sequence[Finding]) -> DataTable:
    """Read a table again, without the columns that a look at it left out, and keep what was said."""
    excluded = (*wanted.exclude, *names_left_out(found))
    read = _read_columns(table, replace(wanted, exclude=excluded))
    said = [finding for finding in found if finding.left_out]
    findings = in_order([*said, *read.check.findings])
    return replace(read, check=replace(read.check, findings=findings))


def _look(table: TableFile, roles: Roles, wanted: Wanted) -> Look:
    """Look at all cells once, and refuse what cannot be used."""
    words = roles.categories.union(roles.words)
    labels = [j for j in (roles.target, *roles.words) if j is not None]
    found = survey(table, roles.used, dict.fromkeys(words, "word"), labels)
    refuse_no_rows(table, found)
    parts = (roles.target, roles.weights, roles.offset, roles.start)
    numbers = {*roles.variables, *parts} - roles.categories
    positions = sorted(j for j in numbers if j is not None)
    find_resemblances(table, positions, found, roles.target)
    refuse_target(table, roles, found, wanted.labels)
    refuse_infinite(table, found)
    look = Look.at(table, roles, found, wanted)
    if roles.event is not None:
        read_events(table, roles.event, ~look.gaps.without_target, wanted.event)
    look.refuse_what_blocks()
    return look


def _make_coding(
    table: TableFile, roles: Roles, found: Survey, keep: Array, na: tuple[str, ...]
) -> Coding:
    """Decide how each variable becomes numbers; the means are not known yet."""
    kinds = {j: found.columns[j].kind for j in roles.variables}
    counts = count_words(table, [j for j, kind in kinds.items() if kind == "word"], keep)
    columns = (
        _word_column(table, j, counts[j]) if kind == "word" else CodedColumn(table.names[j], kind)
        for j, kind in kinds.items()
    )
    coding = Coding(tuple(columns), na)
    refuse_same_names(coding.names, f"{table.label}: rename a column, for once coded,")
    return coding


def _labels(
    table: TableFile, roles: Roles, found: Survey, wanted: Wanted, keep: Array
) -> Destination | None:
    """Return where the classes of a target of labels go, a column each; None if it is no such."""
    j = roles.target
    if j is None or not wanted.labels or not is_labels(found, j):
        return None
    words = count_words(table, [j], keep)[j]
    _refuse_many(table, j, words, "name another target")
    column = CodedColumn(table.names[j], "word", tuple(sorted(words)))
    return Destination(j, column, np.empty((int(keep.sum()), len(words))))


def _refuse_many(table: TableFile, j: int, words: dict[str, WordCount], remedy: str) -> None:
    if len(words) > MOST_LEVELS:
        number = f"more than {MOST_COUNTED:,}" if len(words) > MOST_COUNTED else f"{len(words):,}"
        raise TableError(
            f"{table.label}: column {listing([table.names[j]])} has {number} different words, and at "
            f"most {MOST_LEVELS} can be coded: group them, or {remedy}"
        )


def _word_column(table: TableFile, j: int, words: dict[str, WordCount]) -> CodedColumn:
    name = table.names[j]
    _refuse_many(table, j, words, "give --exclude to leave it out")
    levels = sorted(words)
    reference = max(levels, key=lambda word: words[word].count)  # the first of equals
    return CodedColumn(name, "word", tuple(w for w in levels if w != reference), reference)


def _covariate_positions(roles: Roles, coding: Coding) -> tuple[int, ...]:
    widths = [len(column.outputs) for column in coding.columns]
    fixed = np.repeat([j in roles.covariates for j in roles.variables], widths)
    return tuple(np.flatnonzero(fixed).tolist())


def _check_weights(table: TableFile, weights: Floats | None, keep: Array) -> None:
    if weights is None:
        return
    if (weights < 0).any():
        first = int(np.argmax(weights < 0))
        place = table.place(int(np.flatnonzero(keep)[first]))
        raise TableError(
            f"{table.label}: the weight in {place} is {weights[first]:g}: weights must be 0 or more"
        )
    if not weights.any():
        raise TableError(f"{table.label}: all weights are 0: at least one must be positive")
