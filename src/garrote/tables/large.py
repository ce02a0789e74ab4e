"""Tables larger than memory: the fit reads their rows in blocks, and here only what is beside X is."""

from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.blocks import ChunkedDesign
from garrote.designs.blocks.columnar_rows import is_columnar
from garrote.limits.memory import free_memory
from garrote.results.selections.data_check import DataCheck
from garrote.summaries import listing
from garrote.tables.coding import CodedColumn, Coding
from garrote.tables.errors import TableError
from garrote.tables.formats.columnar import ColumnarTable
from garrote.tables.roles import Roles, Wanted, assign_roles

# A table is read at once where it fills no more than this share of the memory that is free.
_SHARE = 0.5


@dataclass(frozen=True)
class LargeTable:
    """A table that is read in blocks: the design, and what is beside X, a value for each row."""

    design: ChunkedDesign
    y: Array | None
    weights: Floats | None
    groups: Array | None
    offset: Floats | None
    roles: Roles
    coding: Coding
    check: DataCheck


def read_large(table: Any, path: Path, wanted: Wanted) -> LargeTable | None:
    """Return a Parquet or Arrow file as a table that is read in blocks; None if it fits into memory.

    Such a table is taken as it is: columns of numbers, true and false, without missing values.
    """
    # What was written out for a compressed file or a pipe is gone after this.
    if not isinstance(table, ColumnarTable) or table.path != path or not is_columnar(path):
        return None
    roles = assign_roles(table, wanted)
    bytes_needed = 8 * table.n_rows * len(roles.variables)
    room = wanted.max_memory if wanted.max_memory is not None else _half_of_free()
    if room is None or bytes_needed <= room or not table.n_rows:
        return None
    _refuse_terms(table.label, wanted)
    names = [table.names[j] for j in roles.variables]
    try:
        design = ChunkedDesign(path, columns=[escape(name) for name in names])
        y, weights, groups, offset = (
            None if j is None else design.column(table.names[j])
            for j in (roles.target, roles.weights, roles.groups, roles.offset)
        )
    except ValueError as error:
        raise TableError(str(error)) from error
    columns = tuple(CodedColumn(name, "number") for name in names)
    return LargeTable(
        design,
        None if y is None else _response(table, roles, y, wanted),
        None if weights is None else _numbers(table, roles.weights, weights),
        None if groups is None else np.unique(groups.astype(str), return_inverse=True)[1],
        None if offset is None else _numbers(table, roles.offset, offset),
        roles,
        Coding(columns, wanted.na),
        DataCheck(reading=(_said(bytes_needed, room, wanted.max_memory is not None),)),
    )


def with_known_means(coding: Coding, design: Any) -> Coding:
    """Return a coding that knows the means of its columns, after one more pass over the rows."""
    means = design.moments(np.ones(design.shape[0])).mean
    columns = (
        replace(column, means=(float(mean),))
        for column, mean in zip(coding.columns, means, strict=True)
    )
    return replace(coding, columns=tuple(columns))


def _half_of_free() -> float | None:
    free = free_memory()
    return None if free is None else _SHARE * free


def _said(needed: float, room: float, given: bool) -> str:
    limit = f"the {room / 1e9:,.2f} GB of --max-memory" if given else "half of the free memory"
    return (
        f"as numbers it is {needed / 1e9:,.2f} GB, more than {limit}: it is read in blocks of rows, and "
        "was not looked at before the fit"
    )


def _refuse_terms(label: str, wanted: Wanted) -> None:
    """Refuse what is made of a table that is in memory."""
    asked = {
        "--formula": wanted.formula is not None,
        "--interactions": wanted.interactions is not None,
        "--curves": wanted.curves is not None,
        f"--missing {wanted.missing}": wanted.missing != "error",
        "--categories": bool(wanted.categories),
        "--na": bool(wanted.na),
        "--time": wanted.event is not None,
    }
    given = [name for name, is_given in asked.items() if is_given]
    if given:
        raise TableError(
            f"{label} is larger than memory, and {listing(given, str)} needs all of it there: leave it "
            "out, make the columns in the file, or give more by --max-memory"
        )


def _response(table: ColumnarTable, roles: Roles, y: Array, wanted: Wanted) -> Array:
    """Return the target as numbers, or as texts where it is labels."""
    assert roles.target is not None
    if y.dtype.kind in "OUT":
        missing = np.flatnonzero([value is None for value in y])
        if len(missing):
            raise _gap(table, roles.target, int(missing[0]))
        if not wanted.labels:
            raise TableError(
                f"{table.label}: the target {listing([table.names[roles.target]])} holds words, and "
                "this method takes numbers: name another method or target"
            )
        return y.astype(str)
    return _numbers(table, roles.target, y)


def _numbers(table: ColumnarTable, j: int | None, values: Array) -> Floats:
    assert j is not None
    if values.dtype.kind not in "fiub":
        raise TableError(f"{table.label}: {listing([table.names[j]])} does not hold numbers")
    numbers = values.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise _gap(table, j, int(bad[0]))
    return numbers


def _gap(table: ColumnarTable, j: int, row: int) -> TableError:
    return TableError(
        f"{table.label}: {listing([table.names[j]])} has no value in {table.place(row)}: a table larger "
        "than memory must be complete, leave such rows out of the file"
    )
