"""Rows of Parquet and Arrow files, one or a folder of them, decoded as they are needed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.designs.blocks.files import Watched
from garrote.summaries import listing

_PARQUET, _ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")


def is_columnar(path: Path) -> bool:
    """Tell whether a path is that of a Parquet or Arrow file by its suffix."""
    return path.suffix.lower() in (*_PARQUET, *_ARROW)


class ColumnarRows:
    """Parquet or Arrow files with the same columns, one after the other in the order of their names."""

    order = "F"

    def __init__(self, path: Path, columns: Sequence[str] | None, exclude: Sequence[str]):
        self._paths = _files(path)
        self._scans = [_scan(file) for file in self._paths]
        self._watched = Watched(self._paths)
        pl = _polars()
        with _said(path):
            schemas = [dict(scan.collect_schema()) for scan in self._scans]
            counts = [scan.select(pl.len()).collect().item() for scan in self._scans]
        self.label = path.name
        _refuse_unlike(self._paths, schemas)
        self._schema = schemas[0]
        self.names = _chosen(tuple(schemas[0]), columns, exclude, self.label)
        self._refuse_words()
        self._ends = np.cumsum(counts)
        if not self.names:
            raise ValueError(f"{self.label} has no columns to read")
        if not sum(counts):
            raise ValueError(f"{self.label} has no rows")
        self.shape = int(sum(counts)), len(self.names)
        single = all(schemas[0][name] == pl.Float32 for name in self.names)
        self.dtype = np.dtype(np.float32 if single else np.float64)

    def _refuse_words(self) -> None:
        """Refuse columns that are neither numbers nor true and false."""
        assert self.names is not None
        kinds = {name: self._schema[name] for name in self.names}
        words = [
            n for n, kind in kinds.items() if not (kind.is_numeric() or str(kind) == "Boolean")
        ]
        if words:
            kind = kinds[words[0]]
            what = "words" if str(kind) in ("String", "Categorical") else f"values of type {kind}"
            raise ValueError(
                f"{self.label}: {listing(words)} {'holds' if len(words) == 1 else 'hold'} {what}, not "
                "numbers: leave it out by exclude, or write its levels as columns of 0 and 1"
            )

    def pieces(self, columns: Array, height: int) -> Iterator[Array]:
        assert self.names is not None
        names = [self.names[j] for j in columns]
        for path, scan in zip(self._paths, self._scans, strict=True):
            with _said(path, self._watched):
                for frame in _batches(self._as_numbers(scan, names), height):
                    self._watched.check()
                    yield frame.to_numpy(order="fortran")
            self._watched.check()

    def _as_numbers(self, scan: Any, names: list[str]) -> Any:
        """Return some columns, of one type; a missing value becomes NaN as they turn into an array."""
        pl = _polars()
        kind = pl.Float32 if self.dtype == np.float32 else pl.Float64
        return scan.select(pl.col(names).cast(kind))

    def place(self, row: int) -> str:
        file = int(np.searchsorted(self._ends, row, side="right"))
        start = int(self._ends[file - 1]) if file else 0
        return f"row {row - start} of {self._paths[file].name}"

    def column(self, name: str) -> Array:
        if name not in self._schema:
            raise ValueError(
                f"{self.label} has no column {name!r}: it has {listing(tuple(self._schema))}"
            )
        chosen = _polars().col([name])
        parts = [scan.select(chosen).collect()[name].to_numpy() for scan in self._scans]
        self._watched.check()
        return np.concatenate(parts)


def _polars() -> Any:
    try:
        import polars
    except ImportError as error:
        raise ImportError(
            'reading Parquet and Arrow files needs polars: run `pip install "garrote[cli]"`'
        ) from error
    return polars


class _said:
    """Say which file could not be read, in place of polars' own words."""

    def __init__(self, path: Path, watched: Watched | None = None):
        self._path, self._watched = path, watched

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        pl = _polars()
        if isinstance(error, pl.exceptions.PolarsError | OSError):
            if self._watched is not None:
                self._watched.check()
            reason = str(error).splitlines()[0]
            raise ValueError(f"{self._path.name} is damaged or cut off: {reason}") from error


def _files(path: Path) -> list[Path]:
    """Return the files of a data set: the path itself, or all in a folder, by name."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}")
    if not path.is_dir():
        if not is_columnar(path):
            raise ValueError(
                f"{path.name} is no .parquet, .arrow or .npy file: write the table as Parquet first"
            )
        return [path]
    found = sorted(file for file in path.rglob("*") if file.is_file() and is_columnar(file))
    if not found:
        raise ValueError(f"the folder {path.name} has no .parquet or .arrow files in it")
    return found


def _scan(path: Path) -> Any:
    pl = _polars()
    scan = pl.scan_parquet if path.suffix.lower() in _PARQUET else pl.scan_ipc
    return scan(path, glob=False, hive_partitioning=False)


def _refuse_unlike(paths: Sequence[Path], schemas: Sequence[dict[str, Any]]) -> None:
    """Refuse files that do not have the same columns in the same order."""
    first = tuple(schemas[0])
    for path, schema in zip(paths[1:], schemas[1:], strict=True):
        here = tuple(schema)
        if here == first:
            for name in first:
                if schema[name].is_numeric() != schemas[0][name].is_numeric():
                    raise ValueError(
                        f"{path.name}: {name!r} is {schema[name]}, and {schemas[0][name]} in "
                        f"{paths[0].name}: all files must have the same columns"
                    )
            continue
        missing, more = set(first) - set(here), set(here) - set(first)
        said = (
            f"lacks {listing(sorted(missing))}" if missing else f"also has {listing(sorted(more))}"
        )
        if not missing and not more:
            said = "has its columns in another order"
        raise ValueError(
            f"{path.name} {said}, beside {paths[0].name}: all files must have the same columns"
        )


def _chosen(
    names: tuple[str, ...], columns: Sequence[str] | None, exclude: Sequence[str], label: str
) -> tuple[str, ...]:
    """Return the columns to read: those named, or all, but for those left out; patterns may be given."""
    texts = [*(columns or ()), *exclude]
    unknown = [t for t in texts if t not in names and not any(fnmatchcase(n, t) for n in names)]
    if unknown:
        raise ValueError(f"{label} has no column {listing(unknown)}: it has {listing(names)}")

    def meant(given: Sequence[str]) -> set[str]:
        return {n for n in names for text in given if n == text or fnmatchcase(n, text)}

    wanted = set(names) if columns is None else meant(columns)
    twice = [name for name, count in Counter(columns or ()).items() if count > 1]
    if twice:
        raise ValueError(f"columns names {listing(twice)} more than once")
    return tuple(name for name in names if name in wanted - meant(exclude))


def _batches(scan: Any, height: int) -> Iterator[Any]:
    """Yield a file's rows in order, decoded while those before are used."""
    if hasattr(scan, "collect_batches"):
        yield from scan.collect_batches(chunk_size=height, maintain_order=True)
        return
    for start in range(0, scan.select(_polars().len()).collect().item(), height):
        yield scan.slice(start, height).collect()
