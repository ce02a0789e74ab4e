"""How columns become numbers, and how the same is done again to new rows.

A number stays what it is; true and yes become 1, false and no become 0. A column of words becomes one
column of zeros and ones for each level but one: the most frequent level is the reference (of equally
frequent ones the first in alphabetical order), the others follow in alphabetical order as
"colour=red"; cells that are blank have a level of their own, "(missing)". A date becomes three columns:
the days since 1970-01-01, with the time of day as a fraction, the month from 1 to 12, and the day of
the week from 1, Monday, to 7.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from garrote.arrays import Floats
from garrote.tables.errors import TableError
from garrote.tables.formats.engine import polars
from garrote.tables.kinds import BLANK, MEANINGS, as_word

if TYPE_CHECKING:
    import polars as pl

_MICROSECONDS_A_DAY = 86_400e6
_DATE_PARTS = ("days", "month", "weekday")


@dataclass(frozen=True)
class CodedColumn:
    """How one column of a table becomes none, one or several columns of numbers.

    Parameters
    ----------
    name : str
        Of the column in the table.
    kind : {"number", "boolean", "date", "word"}
    levels : tuple of str
        Of a column of words: those that have a column.
    reference : str, optional
        Of a column of words: the level that has none.
    means : tuple of float
        Of the columns of numbers: what `missing="mean"` puts in for a missing value of a number or date.
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    reference: str | None = None
    means: tuple[float, ...] = ()

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        if self.kind == "word":
            return tuple(f"{self.name}={level}" for level in self.levels)
        if self.kind == "date":
            return tuple(f"{self.name}:{part}" for part in _DATE_PARTS)
        return (self.name,)

    @property
    def known(self) -> frozenset[str]:
        """Of a column of words: all that occurred."""
        return frozenset([*self.levels, *([] if self.reference is None else [self.reference])])

    def code(self, column: "pl.Series", decimal_comma: bool) -> Floats:
        """Return the columns of numbers, with NaN where a number or date is missing."""
        if self.kind == "word":
            return _indicators(as_word(column), self.levels)
        values = MEANINGS[self.kind](column, decimal_comma)
        if self.kind == "date":
            return _date_parts(values)
        return values.to_numpy()[:, None]


@dataclass(frozen=True)
class Coding:
    """How a table became numbers: all that is needed to repeat it.

    Parameters
    ----------
    columns : tuple of CodedColumn
    na : tuple of str
        Texts that meant "no value", beside the usual ones.
    """

    columns: tuple[CodedColumn, ...]
    na: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of numbers, in order."""
        return tuple(name for column in self.columns for name in column.outputs)

    @property
    def owners(self) -> tuple[str, ...]:
        """Names of the columns of the table that each column of numbers is made of."""
        return tuple(column.name for column in self.columns for _ in column.outputs)

    def to_dict(self) -> dict[str, Any]:
        """Return it as lists, texts and numbers, for JSON."""
        columns: dict[str, Any] = {"columns": [_column_to_dict(column) for column in self.columns]}
        return columns | ({"na": list(self.na)} if self.na else {})

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> "Coding":
        """Make it from what `to_dict` returned."""
        try:
            columns = tuple(_column_from_dict(column) for column in written["columns"])
            return cls(columns, tuple(map(str, written.get("na", ()))))
        except (KeyError, TypeError, ValueError) as error:
            raise TableError(
                f"the coding of the columns is damaged ({error!r}): save the model anew"
            ) from error


def _column_to_dict(column: CodedColumn) -> dict[str, Any]:
    return asdict(column) | {"levels": list(column.levels), "means": list(column.means)}


def _column_from_dict(written: Mapping[str, Any]) -> CodedColumn:
    column = CodedColumn(
        str(written["name"]),
        written["kind"],
        tuple(map(str, written["levels"])),
        written["reference"],
        tuple(map(float, written["means"])),
    )
    if column.kind not in MEANINGS or len(column.means) != len(column.outputs):
        raise ValueError(f"column {column.name!r}")
    return column


def _indicators(words: "pl.Series", levels: tuple[str, ...]) -> Floats:
    coded = np.zeros((len(words), len(levels)))
    known = words.fill_null(BLANK)
    for k, level in enumerate(levels):
        coded[:, k] = (known == level).to_numpy()
    return coded


def _date_parts(moments: "pl.Series") -> Floats:
    pl = polars()
    days = moments.dt.epoch("us").cast(pl.Float64) / _MICROSECONDS_A_DAY
    parts = [days, moments.dt.month().cast(pl.Float64), moments.dt.weekday().cast(pl.Float64)]
    return np.column_stack([part.to_numpy() for part in parts])
