"""The second pass over a table: make room, code the cells, and put them where they belong."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.limits.magnitudes import VALUES
from garrote.summaries import listing
from garrote.tables.coding import CodedColumn, Coding
from garrote.tables.errors import TableError
from garrote.tables.formats.base import Piece, TableFile
from garrote.tables.formats.engine import polars
from garrote.tables.formats.room import refuse_beyond_memory
from garrote.tables.kinds import as_numbers, as_word, may_be_numbers


class Destination(NamedTuple):
    """Where one column of a table goes: as many columns of numbers as it has outputs."""

    position: int
    column: CodedColumn
    values: Floats


def fill(
    table: TableFile, destinations: Sequence[Destination], keep: Array, groups: int | None = None
) -> Array | None:
    """Fill all destinations with the rows to keep; return a number for the group of each row."""
    goal = {d.position: d for d in destinations}
    # Row i of the table becomes row target[i] of the arrays.
    target = np.concatenate([[0], np.cumsum(keep)])
    words = []
    for piece in table.pieces(sorted([*goal, *([] if groups is None else [groups])])):
        kept = keep[piece.first : piece.first + piece.frame.height]
        rows = slice(target[piece.first], target[piece.first + piece.frame.height])
        numbers = _numbers_without_coding(piece, goal)
        values, _ = as_numbers(piece.frame[:, numbers], table.decimal_comma)
        for k, i in enumerate(numbers):
            goal[piece.positions[i]].values[rows, 0] = _pick(values.to_series(k).to_numpy(), kept)
        for i in sorted(set(range(len(piece.positions))) - set(numbers)):
            column, j = piece.frame.to_series(i), piece.positions[i]
            if j == groups:
                words.append(as_word(column).filter(kept))
            else:
                coded = goal[j].column.code(column, table.decimal_comma)
                goal[j].values[rows] = _pick(coded, kept)
    if groups is None:
        return None
    return polars().concat(words).rank("dense").to_numpy().astype(np.int64) - 1


def refuse_huge(table: TableFile, destinations: Sequence[Destination]) -> None:
    """Refuse numbers with which no method could compute, as their squares are infinite."""
    for destination in destinations:
        values = destination.values
        # fmin and fmax pass over missing values; a column may also have nothing else, or no outputs.
        ends = (f.reduce(values, axis=None, initial=0.0) for f in (np.fmin, np.fmax))
        farthest = max(ends, key=abs)
        if abs(farthest) > VALUES.most:
            raise TableError(
                f"{table.label}: column {listing([destination.column.name])} holds values up to "
                f"{farthest:.3g}, whose squares overflow: rescale it to at most {VALUES.most:g}"
            )


def _numbers_without_coding(piece: Piece, goal: dict[int, Destination]) -> list[int]:
    """Return which columns of a piece need no coding, so that they can be converted together."""
    dtypes = piece.frame.dtypes
    return [
        i
        for i, j in enumerate(piece.positions)
        if j in goal and goal[j].column.kind == "number" and may_be_numbers(dtypes[i])
    ]


def _pick(values: Floats, kept: Array) -> Floats:
    return values if kept.all() else values[kept]


def allocate(table: TableFile, rows: int, columns: int) -> Floats:
    """Return room for the numbers of a table, column after column."""
    if columns == 0:
        raise TableError(f"{table.label}: no column is left, as every one has only a single word")
    what, remedy = (
        f"{rows:,} x {columns:,} numbers",
        "give --include or --exclude to read fewer columns",
    )
    refuse_beyond_memory(table.label, 8.0 * rows * columns, what, remedy)
    try:
        return np.empty((rows, columns), order="F")
    except MemoryError as error:
        raise TableError(
            f"{table.label}: {what} need {rows * columns * 8e-9:,.1f} GB of memory: {remedy}"
        ) from error


def destinations_in(positions: Sequence[int], coding: Coding, X: Floats) -> list[Destination]:
    """Say where in X each column of the table goes."""
    found, left = [], 0
    for j, column in zip(positions, coding.columns, strict=True):
        right = left + len(column.outputs)
        found.append(Destination(j, column, X[:, left:right]))
        left = right
    return found


def with_means(X: Floats, coding: Coding) -> Coding:
    """Add the mean of each column, over the values that are there."""
    columns, j = [], 0
    for column in coding.columns:
        means = []
        for _ in column.outputs:
            values = X[:, j]
            there = ~np.isnan(values)
            means.append(float((values if there.all() else values[there]).mean()))
            j += 1
        columns.append(replace(column, means=tuple(means)))
    return replace(coding, columns=tuple(columns))


def put_means(X: Floats, coding: Coding) -> None:
    """Replace missing values by the means that the coding knows."""
    means = [mean for column in coding.columns for mean in column.means]
    for j, mean in enumerate(means):
        gaps = np.isnan(X[:, j])
        if gaps.any():
            X[gaps, j] = mean
