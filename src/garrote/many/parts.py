"""Rows of a table on disk, part by part while they are found, and one Parquet file in the end."""

import json
import shutil
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.files.writing import replacing, write_text

_STATED = "identity.json"
_TYPES = {
    "trait": "String", "variable": "String", "column": "Int64", "probability": "Float64",
    "effect": "Float64", "standard_error": "Float64", "lower": "Float64", "upper": "Float64",
    "set": "Int64", "converged": "Boolean", "note": "String",
}  # fmt: skip


def digest_of(text: str, *arrays: Array) -> str:
    """Return a digest of a text and of arrays."""
    digest = blake2b(text.encode(), digest_size=16)
    for array in arrays:
        digest.update(repr((array.shape, str(array.dtype))).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class Parts:
    """A folder ``path.parts`` beside the file to be, whose parts are written whole or not at all.

    Parameters
    ----------
    path : Path
        The file in the end.
    identity : str
        What the parts are of; a folder of anything else is refused.
    count : int
        How many parts there will be.

    Attributes
    ----------
    done : set of int
        The parts that an earlier call has left.
    """

    def __init__(self, path: Path, identity: str, count: int):
        self.path, self.count = path, count
        self._polars = _polars()
        self._folder = path.with_name(path.name + ".parts")
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; give the name of a file")
        if not path.parent.is_dir():
            raise FileNotFoundError(
                f"the folder {str(path.parent)!r} does not exist; create it first"
            )
        stated = self._folder / _STATED
        if stated.is_file() and json.loads(stated.read_text())["identity"] != identity:
            raise ValueError(
                f"{self._folder.name} holds parts of other data or settings: remove it, or give "
                "another path"
            )
        self._folder.mkdir(exist_ok=True)
        if not stated.is_file():
            write_text(stated, json.dumps({"identity": identity, "parts": count}))
        self.done = {k for k in range(count) if self._file(k).is_file()}

    def _file(self, k: int) -> Path:
        return self._folder / f"{k:06d}.parquet"

    def write(self, k: int, rows: Sequence[dict[str, Any]]) -> None:
        """Write one part."""
        pl = self._polars
        frame = pl.DataFrame(
            {name: [row[name] for row in rows] for name in _TYPES},
            schema={name: getattr(pl, kind) for name, kind in _TYPES.items()},
        )
        with replacing(self._file(k)) as stream:
            frame.write_parquet(stream)

    def finish(self) -> tuple[int, int]:
        """Make one file of all parts, remove them; return its rows, and the responses without a fit."""
        pl = self._polars
        whole = pl.concat([pl.read_parquet(self._file(k)) for k in range(self.count)])
        with replacing(self.path) as stream:
            whole.write_parquet(stream)
        shutil.rmtree(self._folder)
        return whole.height, int(whole["note"].is_not_null().sum())


def _polars() -> Any:
    try:
        import polars
    except ImportError:
        raise ImportError(
            'Parquet files need polars: install it with pip install "garrote[cli]"'
        ) from None
    return polars
