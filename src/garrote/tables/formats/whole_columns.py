"""Single columns of a table, read whole: numbers, or texts as they stand."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.tables.errors import TableError
from garrote.tables.formats.base import TableFile
from garrote.tables.formats.engine import polars
from garrote.tables.kinds import MISSING, as_numbers


def read_numbers(table: TableFile, column: int) -> Floats:
    """Return a column of numbers, NaN where one is missing; refuse words."""
    frame = read_frame(table, [column])
    values = as_numbers(frame, table.decimal_comma)[0].to_series(0)
    cells = frame.to_series(0)
    for row in np.flatnonzero((values.is_null() & cells.is_not_null()).to_numpy()):
        text = str(cells[int(row)]).strip()
        if text.lower() not in MISSING["number"]:
            raise TableError(
                f"{table.label}: {table.place(int(row))} has {text[:60]!r} in the column "
                f"{table.names[column]!r}, which is no number"
            )
    return values.fill_null(np.nan).to_numpy().astype(np.float64)


def read_texts(table: TableFile, column: int) -> tuple[str, ...]:
    """Return a column as texts, "" where one is missing."""
    pl = polars()
    return tuple(read_frame(table, [column]).to_series(0).cast(pl.String).fill_null("").to_list())


def read_frame(table: TableFile, columns: Sequence[int]) -> Any:
    """Return some columns of a table whole."""
    pl = polars()
    parts: dict[tuple[int, ...], list[Any]] = {}
    for piece in table.pieces(list(columns)):
        frame = piece.frame.clone()
        frame.columns = [str(j) for j in piece.positions]
        parts.setdefault(piece.positions, []).append(frame)
    whole = pl.concat([pl.concat(frames) for frames in parts.values()], how="horizontal")
    return whole.select([str(j) for j in columns])


def plain_name(name: str) -> str:
    """Return the name of a column in small letters, with _ for blanks, dots and dashes."""
    return name.strip().lower().lstrip("#").replace("-", "_").replace(".", "_").replace(" ", "_")
