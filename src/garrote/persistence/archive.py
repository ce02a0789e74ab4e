"""One zip with a JSON header and an .npy for each array: written as a whole, read without trust.

Every size that a file states is checked against what it can hold before memory is taken for it, and
whatever is wrong with a file comes out as one `ModelFileError` that says what to do.
"""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.files.npy import BadArray, check_member, stated_array
from garrote.files.writing import replacing

HEADER = "header.json"
# The SHA-256 of the header. That of each array stands in the header, as "digests".
HEADER_DIGEST = "header.sha256"
# Numbers, truth values and text of fixed width: what a .npy holds without pickle.
KINDS = "biufcU"
# Names of some ten million columns; far beyond it nobody wrote a header in good faith.
_LARGEST_HEADER = 1 << 28
# Members of equal content are equal bytes, whenever they are written.
_NO_DATE = (1980, 1, 1, 0, 0, 0)
# On arrays of a path with 10,000 columns, level 1 is twice as fast as 6 and 0.4% larger.
_ARRAY_LEVEL, _HEADER_LEVEL = 1, 6

PathLike = str | os.PathLike[str]


class ModelFileError(ValueError):
    """A model file that cannot be read or written; the message says why and what to do."""


def write_archive(path: PathLike, header: dict[str, Any], arrays: Sequence[Array]) -> None:
    """Write a header and arrays to a new file, then put it in the place of ``path``."""
    contents = [_npy(array) for array in arrays]
    header = {**header, "digests": [_digest(content) for content in contents]}
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(text) > _LARGEST_HEADER:
        raise ModelFileError(
            f"cannot save to {show(path)}: names and settings take {len(text):,} bytes, at most "
            f"{_LARGEST_HEADER:,} can be stored; shorten the column names"
        )
    try:
        with replacing(path) as file:
            _write_members(file, text, contents)
    except OSError as error:
        said = f"{error.strerror}; make room or choose another place" if error.strerror else error
        raise ModelFileError(f"cannot save to {show(path)}: {said}") from error


def _npy(array: Array) -> memoryview:
    content = io.BytesIO()
    np.lib.format.write_array(content, array, version=(1, 0), allow_pickle=False)
    return content.getbuffer()


def _digest(content: Any) -> str:
    return hashlib.sha256(content).hexdigest()


def _write_members(file: Any, header: bytes, arrays: Sequence[memoryview]) -> None:
    with zipfile.ZipFile(file, "w") as members:
        _write_member(members, HEADER, header, _HEADER_LEVEL)
        _write_member(members, HEADER_DIGEST, _digest(header).encode("ascii"), _HEADER_LEVEL)
        for position, content in enumerate(arrays):
            _write_member(members, member_name(position), content, _ARRAY_LEVEL)


def _write_member(members: zipfile.ZipFile, name: str, content: Any, level: int) -> None:
    info = zipfile.ZipInfo(name, _NO_DATE)
    info.external_attr = 0o644 << 16
    members.writestr(info, content, zipfile.ZIP_DEFLATED, level)


def member_name(position: int) -> str:
    """Return the name of an array inside the file."""
    return f"arrays/{position}.npy"


class Archive:
    """An open model file; its members are read by name, so that no other name matters."""

    def __init__(self, members: zipfile.ZipFile, size: int):
        self._members = members
        self._header_digest = ""
        self._digests: list[str] | None = None
        self._by_name = {info.filename: info for info in members.infolist()}
        # Members that overlap can state far more bytes than there are.
        if sum(info.compress_size for info in self._by_name.values()) > size:
            raise ModelFileError("its parts are larger than the whole")

    def header(self) -> dict[str, Any]:
        """Return the header, a JSON object."""
        info = self._info(HEADER)
        if info.file_size > _LARGEST_HEADER:
            raise ModelFileError(f"its header states {info.file_size:,} bytes")
        text = self._members.read(info)
        found = json.loads(text, parse_constant=_refuse_constant)
        if not isinstance(found, dict):
            raise ModelFileError("its header is not a JSON object")
        self._header_digest, self._digests = _digest(text), found.get("digests")
        return found

    def check_header(self) -> None:
        """Refuse a header that was changed after it was written, once it has been read.

        Digests notice accidents of any kind. They are no signature: who changes a file on purpose can
        change them too. Files of older versions have none.
        """
        if HEADER_DIGEST not in self._by_name:
            if self._digests is not None:
                raise ModelFileError(f"{HEADER_DIGEST} is missing")
            return
        info = self._info(HEADER_DIGEST)
        if info.file_size > 64 or self._members.read(info).decode("ascii") != self._header_digest:
            raise ModelFileError(f"{HEADER} was changed after it was written")

    def array(self, position: int) -> Array:
        """Return one array, writable and with memory of its own."""
        info = self._info(member_name(position))
        try:
            header = stated_array(self._members, info)
        except BadArray as error:
            raise ModelFileError(str(error)) from error
        if header.dtype.kind not in KINDS:
            raise ModelFileError(f"{info.filename} is an array of {header.dtype}")
        content = self._members.read(info)
        if self._digests is not None and self._digests[position] != _digest(content):
            raise ModelFileError(f"{info.filename} was changed after it was written")
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self._by_name.get(name)
        if info is None:
            raise ModelFileError(f"{name} is missing")
        try:
            check_member(info)
        except BadArray as error:
            raise ModelFileError(str(error)) from error
        return info


@contextmanager
def open_archive(path: PathLike) -> Iterator[Archive]:
    """Open a model file; whatever fails while it is read says that the file is to blame."""
    _check_is_file(path)
    try:
        with open(path, "rb") as file:
            _check_beginning(file, path)
            with zipfile.ZipFile(file) as members:
                yield Archive(members, os.fstat(file.fileno()).st_size)
    except _Explained:
        raise
    except MemoryError as error:
        raise ModelFileError(
            f"{show(path)} holds more than there is memory for; free some, or load it elsewhere"
        ) from error
    except OSError as error:
        raise ModelFileError(
            f"cannot read {show(path)}: {error.strerror or error}; check the file and its disk"
        ) from error
    except Exception as error:
        # Damaged bytes can make the readers of zip, JSON and .npy raise almost anything.
        kind = "" if isinstance(error, ModelFileError) else f"{type(error).__name__}: "
        detail = f"{kind}{' '.join(str(error).split())}"[:200]
        raise ModelFileError(
            f"{show(path)} is damaged ({detail}); save the model again or copy the file anew"
        ) from error


class _Explained(ModelFileError):
    """An error that already names the file and the remedy."""


def explain(path: PathLike, problem: str) -> ModelFileError:
    """Return an error about a file that is whole, but not what can be used."""
    return _Explained(f"{show(path)} {problem}")


def _check_is_file(path: PathLike) -> None:
    path = os.fspath(path)
    if not os.path.exists(path):
        raise ModelFileError(f"there is no file {show(path)}; check the name and the folder")
    if not os.path.isfile(path):
        raise ModelFileError(f"{show(path)} is not a file; give the name of a saved model")


def _check_beginning(file: Any, path: PathLike) -> None:
    beginning = file.read(4)
    if not beginning:
        raise explain(path, "is empty; save the model again or copy the file anew")
    if beginning != b"PK\x03\x04":
        raise explain(path, "is not a garrote model; give a file written by `save`")
    file.seek(0)


def _refuse_constant(name: str) -> None:
    raise ModelFileError(f"its header has {name}, which is no JSON")


def show(path: PathLike) -> str:
    """Return a path for a message, in quotes and not too long."""
    text = repr(os.fspath(path))
    return text if len(text) <= 300 else f"{text[:150]}...{text[-147:]}"
