"""Files of z-scores, and of LD matrices.

Z-scores come as a table with a column ``z``, or ``beta`` and ``se``, and one of names; other usual words
for these columns are known, in capitals, too. Without a header there are z-scores alone, or names and
z-scores. An LD matrix is a NumPy array (`.npy`), one of an archive (`.npz`: called ld, R or corr, or the
only one of its kind; as a matrix, or as its triangle with the diagonal), or a table of numbers, in which
names may stand in the first row, the first column or both.
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.summaries import listing
from garrote.tables.base import TableFile
from garrote.tables.engine import polars
from garrote.tables.errors import TableError, count_of
from garrote.tables.kinds import as_numbers
from garrote.tables.opening import with_table

_Z = ("z", "zscore", "z_score", "zstat", "z_stat", "tstat", "t_stat")
_EFFECT = ("beta", "b", "effect", "estimate", "coef")
_ERROR = ("se", "stderr", "std_err", "std_error", "standard_error", "se_beta")
_NAME = ("name", "variable", "variant", "variant_id", "snp", "snpid", "rsid", "rs", "id", "marker",
         "markername")  # fmt: skip
_MATRIX = ("ld", "r", "corr", "correlation")
_NUMPY = b"\x93NUMPY"
_DAMAGE = (zipfile.BadZipFile, ValueError, OSError, EOFError)


class NamedValues(NamedTuple):
    """Numbers, by variable, and the variables' names where the file has them."""

    values: Floats
    names: tuple[str, ...] | None


def read_zscores(source: str) -> NamedValues:
    """Read the z-score of each variable; one that is missing is NaN."""
    return with_table(source, _zscores)


def read_ld(source: str) -> NamedValues:
    """Read a square matrix of correlations."""
    path = Path(source)
    head = b""
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(len(_NUMPY))
    if head == _NUMPY:
        return NamedValues(_matrix(_loaded(path), path.name), None)
    if head.startswith(b"PK"):
        return _from_archive(path)
    return with_table(source, _ld)


def _zscores(table: TableFile) -> NamedValues:
    place = {_plain(name): j for j, name in reversed(list(enumerate(table.names)))}

    def find(words: Sequence[str]) -> int | None:
        return next((place[word] for word in words if word in place), None)

    z, effect, error = find(_Z), find(_EFFECT), find(_ERROR)
    own = find(_NAME)
    if z is not None:
        values = _numbers(table, z)
    elif effect is None or error is None:
        return _without_header(table)
    else:
        spread = _numbers(table, error)
        wrong = np.flatnonzero(spread <= 0)
        if len(wrong):
            raise TableError(
                f"{table.label}: the standard error in {table.place(int(wrong[0]))} is not positive"
            )
        values = _numbers(table, effect) / spread
    if own is None and 0 not in (z, effect, error):
        own = 0
    return NamedValues(values, None if own is None else _texts(table, own))


def _without_header(table: TableFile) -> NamedValues:
    """Read z-scores alone, or names and z-scores, where the first line is no header."""
    if table.naming and len(table.names) == 1:
        return NamedValues(_numbers(table, 0), None)
    if len(table.names) == 2 and not table.naming:
        try:
            first = float(table.names[1])
        except ValueError:
            pass
        else:
            values = np.concatenate([[first], _numbers(table, 1)])
            return NamedValues(values, (table.names[0], *_texts(table, 0)))
    raise TableError(
        f"{table.label} has no column z, nor beta and se: it has {listing(table.names, most=8)}; name "
        "the column of z-scores z"
    )


def _ld(table: TableFile) -> NamedValues:
    columns = list(table.ordinary)
    frame = _frame(table, columns)
    rows = frame.height
    if len(columns) == rows + 1:  # names in the first column, under a word of their own
        columns, frame = columns[1:], frame[:, 1:]
    if len(columns) != rows:
        raise TableError(
            f"{table.label} has {count_of(rows, 'row')} and {count_of(len(columns), 'column')} of "
            "numbers: an LD matrix is square"
        )
    values, _ = as_numbers(frame, table.decimal_comma)
    names = None if table.naming else tuple(table.names[j] for j in columns)
    return NamedValues(values.fill_null(np.nan).to_numpy().astype(np.float64), names)


def _from_archive(path: Path) -> NamedValues:
    arrays = _loaded(path)
    numbers = {k: v for k, v in arrays.items() if v.dtype.kind in "biuf"}
    wanted = [key for word in _MATRIX for key in numbers if key.lower() == word]
    square = [k for k, v in numbers.items() if v.ndim == 2 and v.shape[0] == v.shape[1] > 1]
    only = next((keys for keys in (square, list(numbers)) if len(keys) == 1), [])
    chosen = (wanted or only)[:1]
    if not chosen:
        raise TableError(
            f"{path.name}: which array is the LD matrix? Call it ld; there are {listing(arrays)}"
        )
    matrix = _matrix(numbers[chosen[0]], path.name)
    names = [v for v in arrays.values() if v.dtype.kind == "U" and v.shape == (len(matrix),)]
    return NamedValues(matrix, tuple(names[0].tolist()) if len(names) == 1 else None)


def _matrix(values: Array, label: str) -> Floats:
    """Return a matrix; a triangle with its diagonal, by rows, is completed."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1:
        return values
    count = int((np.sqrt(8.0 * len(values) + 1.0) - 1.0) / 2.0)
    for places in (np.tril_indices(count), np.triu_indices(count)):
        if len(places[0]) == len(values):
            matrix = np.zeros((count, count))
            matrix[places] = values
            if np.allclose(np.diag(matrix), 1.0, atol=1e-3):
                return matrix + matrix.T - np.diag(np.diag(matrix))
    raise TableError(
        f"{label} has {len(values)} numbers in a row, which are no triangle of a matrix with ones on "
        "its diagonal: save the whole matrix"
    )


def _loaded(path: Path) -> Any:
    """Return the array of a file, or a dictionary of those of an archive."""
    try:
        with path.open("rb") as file:
            found = np.load(file, allow_pickle=False)
            if isinstance(found, np.ndarray):
                return found
            return {key: found[key] for key in found.files}
    except _DAMAGE as error:
        raise TableError(f"{path.name} is damaged, or holds no plain arrays: {error}") from error


def _numbers(table: TableFile, column: int) -> Floats:
    values, _ = as_numbers(_frame(table, [column]), table.decimal_comma)
    return values.to_series(0).fill_null(np.nan).to_numpy().astype(np.float64)


def _texts(table: TableFile, column: int) -> tuple[str, ...]:
    pl = polars()
    return tuple(_frame(table, [column]).to_series(0).cast(pl.String).fill_null("").to_list())


def _frame(table: TableFile, columns: list[int]) -> Any:
    """Return some columns of a table whole."""
    pl = polars()
    parts: dict[tuple[int, ...], list[Any]] = {}
    for piece in table.pieces(columns):
        frame = piece.frame.clone()
        frame.columns = [str(j) for j in piece.positions]
        parts.setdefault(piece.positions, []).append(frame)
    whole = pl.concat([pl.concat(frames) for frames in parts.values()], how="horizontal")
    return whole.select([str(j) for j in columns])


def _plain(name: str) -> str:
    """Return how a column is called, without case and signs."""
    return name.strip().lower().lstrip("#").replace("-", "_").replace(".", "_").replace(" ", "_")
