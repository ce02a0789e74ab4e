"""Annotations of variables in a file: a row for each variable, its name first, then numbers."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.tables.errors import TableError
from garrote.tables.formats.base import TableFile
from garrote.tables.formats.opening import with_table
from garrote.tables.formats.whole_columns import read_numbers, read_texts


class Annotations(NamedTuple):
    """Names of variables, what is known of each, and what that is called."""

    variables: tuple[str, ...]
    labels: tuple[str, ...]
    values: Floats

    def by_variable(self) -> dict[str, dict[str, float]]:
        """Return the annotations of each variable by name, as `AnnotatedInclusion` takes them."""
        return {
            name: dict(zip(self.labels, map(float, row), strict=True))
            for name, row in zip(self.variables, self.values, strict=True)
        }


def read_annotations(source: str) -> Annotations:
    """Read annotations of variables: the first column has their names, all others numbers.

    Parameters
    ----------
    source : str
        Text, a workbook, Parquet or Arrow, as tables are.
    """
    return with_table(source, _read)


def _read(table: TableFile) -> Annotations:
    if len(table.names) < 2:
        raise TableError(
            f"{table.label}: annotations need a column of variables' names, and one of numbers at least"
        )
    names = read_texts(table, 0)
    twice = (
        {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()
    )
    if twice or "" in names:
        said = "a row without a name" if "" in names else f"{min(twice)!r} twice"
        raise TableError(f"{table.label}: {said} in the column {table.names[0]!r} of variables")
    values = np.column_stack([read_numbers(table, j) for j in range(1, len(table.names))])
    gaps = np.argwhere(np.isnan(values))
    if len(gaps):
        row, column = gaps[0]
        raise TableError(
            f"{table.label}: {table.place(int(row))} has no number in the column "
            f"{table.names[column + 1]!r}: every variable needs its annotations"
        )
    return Annotations(names, table.names[1:], values)
