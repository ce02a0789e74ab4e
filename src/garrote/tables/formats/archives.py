"""NumPy archives: the array X, whose rows are streamed, and other arrays beside it.

The columns of X are the variables. Their names are the array `names`, `feature_names` or `columns`,
else the only text array with as many entries as X has columns, else x0, x1, ... Every other
one-dimensional array with as many entries as X has rows can be named as target, weights, offset or
groups. So can each column of a two-dimensional array Y with as many rows: they are called Y0, Y1, ...
"""

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from garrote.arrays import Array
from garrote.files.npy import ArrayHeader, BadArray, check_member, read_header, stated_array
from garrote.limits.budgets import NUMBERS_AT_ONCE
from garrote.summaries import listing
from garrote.tables.errors import TableError, count_of
from garrote.tables.formats.base import Piece
from garrote.tables.formats.engine import polars
from garrote.tables.formats.room import refuse_beyond_memory, refuse_too_wide
from garrote.tables.formats.sources import PlainFile

_NAMES = ("names", "feature_names", "columns")
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError)
_AS_TEXT = 60  # bytes of a Python string beside its letters


class ArchiveTable:
    """A `.npz` file with an array X."""

    typed = True
    decimal_comma = False

    def __init__(self, file: PlainFile):
        self.label, self._path = file.label, file.path
        try:
            self._read_header()
        except TableError:
            raise
        except _DAMAGE as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> TableError:
        if isinstance(error, BadArray) and "encrypted" in str(error):
            return TableError(f"{self.label}: {error}: save the archive anew without a password")
        if isinstance(error, UnicodeEncodeError):
            half = error.object[error.start : error.end]
            return TableError(
                f"{self.label} holds a text with half of a character, {half!r}: save it anew as text"
            )
        return TableError(f"{self.label} is damaged or cut off: {error}: save it anew")

    def _read_header(self) -> None:
        self._headers: dict[str, ArrayHeader] = {}
        with zipfile.ZipFile(self._path) as archive:
            infos = archive.infolist()
            members = [info.filename for info in infos]
            for info in infos:
                check_member(info)
                if info.filename.endswith(".npy"):
                    key = info.filename.removesuffix(".npy")
                    self._headers[key] = stated_array(archive, info)
        if not members or any(not name.endswith(".npy") for name in members):
            raise TableError(
                f"{self.label} is a ZIP file but not a NumPy archive: unpack it, or save a workbook's "
                "sheet as CSV"
            )
        keys = [name.removesuffix(".npy") for name in members]
        self._key = "X" if "X" in keys else "x"
        if self._key not in keys:
            raise TableError(f"{self.label} has no array X: it has {listing(keys)}")
        self._shape, self._by_columns, self._dtype = self._headers[self._key]
        if len(self._shape) != 2 or self._dtype.kind not in "biuf":
            raise TableError(
                f"{self.label}: array {self._key} has shape {self._shape} and type {self._dtype}: "
                "a two-dimensional array of numbers is needed"
            )
        self.n_rows, width = self._shape
        refuse_too_wide(self.label, width)
        keys.remove(self._key)
        others = self._load_others(keys)
        names_of_x = self._column_names(others, width)
        if "y" in others and len(others["y"]) != self.n_rows:
            raise TableError(
                f"{self.label}: array y has {count_of(len(others['y']), 'value')} where X has "
                f"{count_of(self.n_rows, 'row')}: give each row one"
            )
        # Each name with the array, and the column of it, that it stands for.
        beside = {k: (k, 0) for k, v in others.items() if len(v) == self.n_rows}
        wide = self._wide_arrays(keys, {*names_of_x, *beside})
        for key, names in wide.items():
            beside |= {name: (key, c) for c, name in enumerate(names)}
        self._beside = list(beside.values())
        self.names = (*names_of_x, *beside)
        self.naming = "; ".join(
            f"the array {key} has two dimensions: name one of its columns, {names[0]} to {names[-1]}"
            for key, names in wide.items()
        )
        self.ordinary = tuple(range(width))
        self.notes: tuple[str, ...] = ()

    def _column_names(self, arrays: dict[str, Array], width: int) -> tuple[str, ...]:
        """Take the names of X's columns out of the other arrays."""
        given = [key for key in _NAMES if key in arrays]
        if given and len(arrays[given[0]]) != width:
            raise TableError(
                f"{self.label}: array {given[0]} has {count_of(len(arrays[given[0]]), 'name')} where X "
                f"has {count_of(width, 'column')}: give each column its name"
            )
        if not given and width != self.n_rows:
            given = [k for k, v in arrays.items() if v.dtype.kind in "US" and len(v) == width]
            given = given if len(given) == 1 else []
        if not given:
            return tuple(f"x{j}" for j in range(width))
        return tuple(map(str, _decoded(arrays.pop(given[0])).tolist()))

    def _load_others(self, keys: list[str]) -> dict[str, Array]:
        """Return the one-dimensional arrays; larger ones stay on disk."""
        useful = {self.n_rows, self._shape[1]}
        wanted = [
            key
            for key, shape in self._shapes(keys, "biufUSM").items()
            if len(shape) == 1 and (shape[0] in useful or key in (*_NAMES, "y"))
        ]
        headers = [self._headers[key] for key in wanted]
        texts = sum(header.shape[0] for header in headers if header.dtype.kind in "US")
        needed = sum(header.nbytes for header in headers) + _AS_TEXT * texts
        refuse_beyond_memory(
            self.label, needed, "the arrays beside X", "leave out what is not needed"
        )
        with np.load(self._path, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in wanted}

    def _wide_arrays(self, keys: list[str], taken: set[str]) -> dict[str, list[str]]:
        """Return the names of the columns of each two-dimensional array with as many rows as X."""
        found = {}
        for key, shape in self._shapes(keys, "biuf").items():
            if len(shape) == 2 and shape[0] == self.n_rows and shape[1] > 0:
                names = [f"{key}{c}" for c in range(shape[1])]
                if taken.isdisjoint(names):
                    found[key] = names
                    taken |= {*names}
        return found

    def _shapes(self, keys: list[str], kinds: str) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the arrays of some kinds."""
        headers = {key: self._headers[key] for key in keys}
        return {key: header.shape for key, header in headers.items() if header.dtype.kind in kinds}

    def pieces(self, positions: Sequence[int]) -> Iterator[Piece]:
        width = self._shape[1]
        inside = tuple(j for j in positions if j < width)
        try:
            if inside:
                yield from (
                    self._column_pieces(inside) if self._by_columns else self._row_pieces(inside)
                )
            for j in positions:
                if j >= width:
                    yield Piece(0, (j,), _frame(self._load_column(*self._beside[j - width])))
        except _DAMAGE as error:
            if isinstance(error, TableError):
                raise
            raise self._damaged(error) from error

    def _load_column(self, key: str, column: int) -> Array:
        """Return a column of an array beside X, as an array of one column."""
        with np.load(self._path, allow_pickle=False) as arrays:
            return arrays[key].reshape(self.n_rows, -1)[:, [column]]

    def _row_pieces(self, positions: tuple[int, ...]) -> Iterator[Piece]:
        rows, width = self._shape
        step = max(1, NUMBERS_AT_ONCE // max(1, width))
        with zipfile.ZipFile(self._path) as archive, archive.open(f"{self._key}.npy") as stream:
            read_header(stream)
            for first in range(0, rows, step):
                block = self._block(stream, (min(step, rows - first), width))
                yield Piece(first, positions, _frame(block[:, list(positions)]))

    def _column_pieces(self, positions: tuple[int, ...]) -> Iterator[Piece]:
        rows, width = self._shape
        step = max(1, NUMBERS_AT_ONCE // max(1, rows))
        with zipfile.ZipFile(self._path) as archive, archive.open(f"{self._key}.npy") as stream:
            read_header(stream)
            for left in range(0, width, step):
                block = self._block(stream, (min(step, width - left), rows)).T
                some = tuple(j for j in positions if left <= j < left + step)
                if some:
                    yield Piece(0, some, _frame(block[:, [j - left for j in some]]))

    def _block(self, stream: IO[bytes], shape: tuple[int, int]) -> Array:
        size = shape[0] * shape[1] * self._dtype.itemsize
        data = stream.read(size)
        if len(data) < size:
            raise EOFError(f"array {self._key} ends early")
        return np.frombuffer(data, self._dtype).reshape(shape)

    def place(self, row: int) -> str:
        return f"row {row + 1:,}"


def _frame(values: Array) -> Any:
    pl = polars()
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    values = _decoded(values)
    if values.dtype.kind != "U":
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
    columns = {str(j): np.ascontiguousarray(values[:, j]) for j in range(values.shape[1])}
    return pl.DataFrame(
        {name: c.tolist() if c.dtype.kind == "U" else c for name, c in columns.items()}
    )


def _decoded(values: Array) -> Array:
    return np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values
