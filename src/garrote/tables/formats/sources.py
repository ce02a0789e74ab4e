"""From what the user names to a plain file on disk, and what is in it.

A pipe, standard input ("-"), a compressed file, UTF-16 text and the Arrow stream format cannot be read
twice or in parts, so they are first written out to a temporary file, which is deleted at the end. It
lies where `TMPDIR` says.

What a file holds is told by its first bytes. The suffix only serves to say that a file is not what
its name promises.
"""

import bz2
import codecs
import gzip
import lzma
import os
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from garrote.files.places import why_not_there
from garrote.tables.errors import TableError
from garrote.tables.formats.engine import polars

SUFFIXES = {
    ".csv": "text",
    ".tsv": "text",
    ".tab": "text",
    ".txt": "text",
    ".dat": "text",
    ".data": "text",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npz": "npz",
    ".xlsx": "xlsx",
}
COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}

_IN_WORDS = {
    "text": "text",
    "parquet": "a Parquet file",
    "arrow": "an Arrow or Feather file",
    "npz": "a NumPy archive",
    "xlsx": "an Excel workbook",
}
_MAGIC = [
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow stream"),
    (b"PK\x03\x04", "npz"),
    (b"PK\x05\x06", "npz"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
_REFUSED = [
    (b"FEA1", "an old Feather file: write it anew as Feather 2, Parquet or CSV"),
    (b"\x93NUMPY", "a single NumPy array: save it with numpy.savez as arrays X and y"),
    (b"\xd0\xcf\x11\xe0", "an old or protected Excel workbook: save it as .xlsx or CSV"),
    (b"%PDF", "a PDF document: save the table as CSV"),
]
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, UnicodeError)
_ARROW_END = b"\xff\xff\xff\xff\0\0\0\0"
# The header that bgzip writes into each of its members, from its third byte on, and its empty last one.
_BGZIP_HEAD = b"\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0"
_BGZIP_END = b"\x1f\x8b" + _BGZIP_HEAD + b"\x1b\0\x03\0\0\0\0\0\0\0\0\0"
_HEAD = 4096
_CHUNK = 1 << 20
# Bytes that no text file holds; tab, line feed, form feed, carriage return and escape may occur.
_NOT_TEXT = bytes([*range(9), 11, *range(14, 27), 28, 29, 30, 31])


@dataclass(frozen=True)
class PlainFile:
    """A file that can be read in parts, what it holds, and what to call it."""

    path: Path
    form: str
    label: str


@contextmanager
def opened(source: str) -> Iterator[PlainFile]:
    """Yield the plain file behind a path or "-", and remove what was written for it."""
    if not source:
        raise TableError("no file was named: give the name of a table, or - for standard input")
    label = "standard input" if source == "-" else Path(source).name
    with ExitStack() as stack:

        @cache  # made at first use: a plain file needs none
        def folder() -> Path:
            return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="garrote-")))

        try:
            yield _plain_file(source, label, folder)
        except OSError as error:
            reason = error.strerror or str(error)
            raise TableError(f"{label} could not be read: {reason}") from error


def _plain_file(source: str, label: str, folder: Callable[[], Path]) -> PlainFile:
    if source == "-":
        stream = getattr(sys.stdin, "buffer", None)  # None: closed before the program began
        if stream is None or stream.closed:
            raise TableError("standard input is closed: send a table to it, or name a file")
        path = folder() / "input"
        with path.open("wb") as copy:
            shutil.copyfileobj(stream, copy, _CHUNK)
    else:
        given = Path(source)
        if wrong := why_not_there(source):
            raise TableError(wrong)
        if given.is_file():
            path = given
        else:  # a pipe: it can be read only once
            path = folder() / "input"
            with given.open("rb") as pipe, path.open("wb") as copy:
                shutil.copyfileobj(pipe, copy, _CHUNK)
    form = _form(path, label)
    while form in _CONVERTERS:
        target = folder() / form
        try:
            _CONVERTERS[form](path, target)
        except _DAMAGE as error:
            raise TableError(f"{label} is damaged or cut off: {error}") from error
        path, form = target, _form(target, label)
    _check_promise(source, label, form)
    return PlainFile(path, form, label)


def _form(path: Path, label: str) -> str:
    """Tell what a file holds from its first bytes."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise TableError(f"{label} is empty: a table with a header and rows is needed")
    for magic, what in _REFUSED:
        if head.startswith(magic):
            raise TableError(f"{label} is {what}")
    for magic, form in _MAGIC:
        if head.startswith(magic):
            return "xlsx" if form == "npz" and is_workbook(path) else form
    if _utf16_without_mark(head):
        return "utf-16"
    if head.translate(None, _NOT_TEXT) != head:
        raise TableError(
            f"{label} is a binary file of an unknown kind: give CSV or other text, Parquet, Arrow, "
            ".npz or .xlsx"
        )
    if b"\r" in head[:-1] and b"\n" not in head:  # the last one may have its line feed behind it
        return "carriage returns"
    return "text"


def is_workbook(path: Path) -> bool:
    """Tell an Excel workbook from other archives."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False


def _utf16_without_mark(head: bytes) -> bool:
    """Tell whether every other byte is 0, as in UTF-16 of plain letters."""
    pairs = len(head) // 2
    low, high = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    return pairs >= 4 and max(low, high) > 0.9 * pairs and min(low, high) == 0


def _check_promise(source: str, label: str, form: str) -> None:
    suffixes = [s.lower() for s in Path(source).suffixes if s.lower() not in COMPRESSIONS]
    promised = SUFFIXES.get(suffixes[-1]) if suffixes and source != "-" else None
    if promised not in (None, "text", form):
        raise TableError(
            f"{label} is not {_IN_WORDS[promised]}, or is damaged: write it anew, or give it the suffix "
            "of what it holds"
        )


def _decompress(opener: Callable[..., Any]) -> Callable[[Path, Path], None]:
    def convert(source: Path, target: Path) -> None:
        with opener(source, "rb") as file, target.open("wb") as copy:
            shutil.copyfileobj(file, copy, _CHUNK)

    return convert


def _decompress_gzip(source: Path, target: Path) -> None:
    # A file of several members that was cut between two of them is a whole file to gzip.
    with source.open("rb") as file:
        begins = file.read(2 + len(_BGZIP_HEAD))[2:]
        file.seek(-min(len(_BGZIP_END), source.stat().st_size), os.SEEK_END)
        if begins == _BGZIP_HEAD and file.read() != _BGZIP_END:
            raise EOFError("the empty block at the end of a file of bgzip is missing")
    _decompress(gzip.open)(source, target)


def _decompress_zstd(source: Path, target: Path) -> None:
    # The standard library reads zstd from Python 3.14 on only. Polars does, as long as it is told to
    # see one column without quotes: then it passes the lines on as they are, in parts.
    pl = polars()
    lines = pl.scan_csv(
        source, has_header=False, separator="\x01", quote_char=None, infer_schema=False, glob=False
    )
    try:
        lines.sink_csv(target, include_header=False, quote_style="never")
    except (pl.exceptions.PolarsError, OSError) as error:
        if getattr(error, "errno", None):  # of the system: no space left, say
            raise
        raise EOFError(str(error).splitlines()[0]) from error


def _from_utf16(source: Path, target: Path) -> None:
    with source.open("rb") as file:
        head = file.read(2)
    if head in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16"
    else:
        encoding = "utf-16-be" if head[:1] == b"\0" else "utf-16-le"
    # newline=None: whatever ends the lines becomes a line feed.
    with (
        source.open(encoding=encoding, newline=None) as text,
        target.open("w", encoding="utf-8", newline="\n") as copy,
    ):
        shutil.copyfileobj(text, copy, _CHUNK)


def _from_carriage_returns(source: Path, target: Path) -> None:
    with source.open("rb") as file, target.open("wb") as copy:
        while chunk := file.read(_CHUNK):
            copy.write(chunk.replace(b"\r", b"\n"))


def _from_arrow_stream(source: Path, target: Path) -> None:
    pl = polars()
    # A stream that was cut between two batches looks whole but for its end mark.
    with source.open("rb") as file:
        file.seek(-min(len(_ARROW_END), source.stat().st_size), os.SEEK_END)
        if file.read() != _ARROW_END:
            raise EOFError("the mark at the end of an Arrow stream is missing")
    try:
        pl.read_ipc_stream(source).write_ipc(target)
    except pl.exceptions.PolarsError as error:
        raise EOFError(str(error).splitlines()[0]) from error


_CONVERTERS: dict[str, Callable[[Path, Path], None]] = {
    "gzip": _decompress_gzip,
    "bzip2": _decompress(bz2.open),
    "xz": _decompress(lzma.open),
    "zstd": _decompress_zstd,
    "utf-16": _from_utf16,
    "carriage returns": _from_carriage_returns,
    "arrow stream": _from_arrow_stream,
}
