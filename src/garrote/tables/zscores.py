"""Files of z-scores, and of LD matrices.

Z-scores come as a table with a column ``z``, or ``beta`` and ``se``, one of names and perhaps ``n``;
other usual words for these columns are known, in capitals, too. Without a header there are z-scores
alone, or names and z-scores. An LD matrix is a NumPy array (`.npy`), one of an archive (`.npz`: called
ld, R or corr, or the only one of its kind; as a matrix, or as its triangle with the diagonal), a sparse
matrix of SciPy (`.npz`), or a table of numbers, in which names may stand in the first row, and in the
first column too: then rows are brought into the order of columns.
"""

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from scipy.sparse import load_npz

from garrote.arrays import Array, Floats
from garrote.files.npy import BadArray, read_header, stated_array
from garrote.summaries import listing
from garrote.tables.errors import TableError, count_of
from garrote.tables.formats.base import TableFile
from garrote.tables.formats.opening import with_table
from garrote.tables.formats.room import refuse_beyond_memory
from garrote.tables.formats.sources import is_workbook
from garrote.tables.formats.whole_columns import (
    plain_name,
    read_frame,
    read_numbers,
    read_texts,
)
from garrote.tables.kinds import as_numbers

_Z = ("z", "zscore", "z_score", "zstat", "z_stat", "tstat", "t_stat")
_EFFECT = ("beta", "b", "effect", "estimate", "coef")
_ERROR = ("se", "stderr", "std_err", "std_error", "standard_error", "se_beta")
_NAME = ("name", "variable", "variant", "variant_id", "snp", "snpid", "rsid", "rs", "id", "marker",
         "markername")  # fmt: skip
_SAMPLES = ("n", "n_samples", "nsamples", "n_total", "ntotal", "sample_size", "samplesize", "n_eff",
            "neff", "obs_ct", "nobs")  # fmt: skip
_POSITION = ("pos", "bp", "position", "base_pair_location", "base_pair", "ps", "bp_pos")
_CHROMOSOME = ("chr", "chrom", "chromosome")
_MATRIX = ("ld", "r", "corr", "correlation")
_NUMPY = b"\x93NUMPY"
_DAMAGE = (zipfile.BadZipFile, ValueError, OSError, EOFError)


class NamedValues(NamedTuple):
    """Numbers, by variable, and the variables' names where the file has them."""

    values: Floats
    names: tuple[str, ...] | None


class ZScoreColumns(NamedTuple):
    """What a file says of each variable: its z-score, its name, and the samples behind it.

    ``named_by`` and ``counted_by`` are the columns with names and samples. ``positions`` are on one
    chromosome; None where they are not stated, or on several.
    """

    values: Floats
    names: tuple[str, ...] | None = None
    named_by: str | None = None
    samples: Floats | None = None
    counted_by: str | None = None
    positions: Floats | None = None


def read_zscores(source: str) -> ZScoreColumns:
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
    if head.startswith(b"PK") and not is_workbook(path):
        return _from_archive(path)
    return with_table(source, _ld)


def _zscores(table: TableFile) -> ZScoreColumns:
    place = {plain_name(name): j for j, name in reversed(list(enumerate(table.names)))}

    def find(words: Sequence[str]) -> int | None:
        return next((place[word] for word in words if word in place), None)

    z, effect, error = find(_Z), find(_EFFECT), find(_ERROR)
    named_by, samples = find(_NAME), find(_SAMPLES)
    if z is not None:
        values = read_numbers(table, z)
    elif effect is None or error is None:
        return _without_header(table)
    else:
        spread = read_numbers(table, error)
        wrong = np.flatnonzero(spread <= 0)
        if len(wrong):
            raise TableError(
                f"{table.label}: the standard error in {table.place(int(wrong[0]))} is not positive"
            )
        values = read_numbers(table, effect) / spread
    names = None
    if named_by is not None:
        names = read_texts(table, named_by)
    elif 0 not in (z, effect, error, samples):
        # The first column holds names if it tells variables apart: a chromosome's number does not.
        first = read_texts(table, 0)
        named_by, names = (0, first) if len(set(first)) == len(first) else (None, None)
    return ZScoreColumns(
        values,
        names,
        None if named_by is None else table.names[named_by],
        None if samples is None else read_numbers(table, samples),
        None if samples is None else table.names[samples],
        _positions(table, find(_POSITION), find(_CHROMOSOME)),
    )


def _positions(table: TableFile, column: int | None, chromosome: int | None) -> Floats | None:
    """Return where variables are, if all of them are somewhere on one chromosome."""
    if column is None or (chromosome is not None and len(set(read_texts(table, chromosome))) > 1):
        return None
    try:
        found = read_numbers(table, column)
    except TableError:  # words are no positions, and only pictures need them
        return None
    return found if np.isfinite(found).all() else None


def _without_header(table: TableFile) -> ZScoreColumns:
    """Read z-scores alone, or names and z-scores, where the first line is no header."""
    if table.naming and len(table.names) == 1:
        return ZScoreColumns(read_numbers(table, 0))
    if len(table.names) == 2 and not table.naming:
        try:
            first = float(table.names[1])
        except ValueError:
            pass
        else:
            values = np.concatenate([[first], read_numbers(table, 1)])
            return ZScoreColumns(values, (table.names[0], *read_texts(table, 0)))
    raise TableError(
        f"{table.label} has no column z, nor beta and se: it has {listing(table.names, most=8)}; name "
        "the column of z-scores z"
    )


def _ld(table: TableFile) -> NamedValues:
    columns = list(table.ordinary)
    frame = read_frame(table, columns)
    rows = frame.height
    if len(columns) == rows + 1:  # names in the first column, under a word of their own
        columns, frame = columns[1:], frame[:, 1:]
    if len(columns) == rows + 2 and all(map(_is_number, table.names[1:])):
        raise TableError(
            f"{table.label} has names in its first column and none in its first row: put a line with "
            "the names of the columns on top"
        )
    if len(columns) != rows:
        raise TableError(
            f"{table.label} has {count_of(rows, 'row')} and {count_of(len(columns), 'column')} of "
            "numbers: an LD matrix is square, with a row and a column for each variable (PLINK writes "
            "one with --r square)"
        )
    numbers, _ = as_numbers(frame, table.decimal_comma)
    values = numbers.fill_null(np.nan).to_numpy().astype(np.float64)
    names = None if table.naming else tuple(table.names[j] for j in columns)
    row_names = None if columns[0] == 0 else read_texts(table, 0)
    return NamedValues(*_by_columns(values, names, row_names, table.label))


def _by_columns(
    values: Floats,
    names: tuple[str, ...] | None,
    row_names: tuple[str, ...] | None,
    file: str,
) -> tuple[Floats, tuple[str, ...] | None]:
    """Bring rows with names into the order of columns with names; numbers are no names of rows."""
    if row_names is None or row_names == names or all(map(_is_number, row_names)):
        return values, names
    if names is None:
        return values, row_names
    if set(row_names) != set(names) or len(set(row_names)) != len(row_names):
        alone = [name for name in row_names if name not in names] or [*row_names]
        raise TableError(
            f"{file}: rows and columns must be the same variables, each once, but there are rows "
            f"{listing(alone, most=3)} for columns {listing(names, most=3)}"
        )
    place = {name: k for k, name in enumerate(row_names)}
    return values[[place[name] for name in names]], names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _from_archive(path: Path) -> NamedValues:
    arrays = _loaded(path)
    if {"format", "shape", "data"} <= arrays.keys():
        return NamedValues(_from_sparse(path, arrays["shape"]), None)
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


def _from_sparse(path: Path, shape: Array) -> Floats:
    """Return a sparse matrix as a whole one; a triangle of it is completed."""
    rows, columns = (int(n) for n in np.ravel(shape)[:2])
    what = f"{rows:,} x {columns:,} correlations"
    refuse_beyond_memory(
        path.name, 16.0 * rows * columns, what, "keep the variables of one region only"
    )
    try:
        matrix = load_npz(path).toarray().astype(np.float64)
    except _DAMAGE as error:
        raise TableError(f"{path.name} holds no sparse matrix: {error}") from error
    if matrix.ndim == 2 and not (np.tril(matrix, -1).any() and np.triu(matrix, 1).any()):
        return matrix + matrix.T - np.diag(np.diag(matrix))
    return matrix


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
            _check_sizes(file, path.name)
            found = np.load(file, allow_pickle=False)
            if isinstance(found, np.ndarray):
                return found
            return {key: _array_of_numbers_or_text(found, key, path.name) for key in found.files}
    except TableError:
        raise
    except _DAMAGE as error:
        raise TableError(
            f"{path.name} is damaged, or holds no plain arrays: {error}: save it anew"
        ) from error


def _check_sizes(file: BinaryIO, label: str) -> None:
    """Refuse arrays that state more than the file holds, or than there is memory for."""
    if file.read(len(_NUMPY)) == _NUMPY:
        file.seek(0)
        headers = [read_header(file)]
        stated = file.tell() + headers[0].nbytes
        if stated != file.seek(0, os.SEEK_END) and not headers[0].dtype.hasobject:
            raise BadArray(f"it is no array of {headers[0].dtype} and {headers[0].shape}")
    else:
        with zipfile.ZipFile(file) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            headers = [stated_array(archive, info) for info in members]
    file.seek(0)
    needed = sum(header.nbytes for header in headers)
    refuse_beyond_memory(label, needed, "its arrays", "keep the variables of one region only")


def _array_of_numbers_or_text(archive: Any, key: str, file: str) -> Array:
    try:
        return archive[key]
    except ValueError as error:
        if "Object arrays" not in str(error):
            raise
        raise TableError(
            f"{file}: the array {key!r} holds Python objects; save it as text, with "
            f"np.array({key}, dtype=str), or leave it out"
        ) from error
