"""Arrays in zip files: what a member states is checked before any memory is taken for it."""

import zipfile
from collections.abc import Callable
from math import prod
from typing import IO, Any, NamedTuple

import numpy as np

# Deflate cannot shrink anything further than this.
_LARGEST_RATIO = 1100
_ENCRYPTED = 0x1
_READERS: dict[tuple[int, int], Callable[[IO[bytes]], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class BadArray(ValueError):
    """A member of a zip file that is no array, or not the one that it states to be."""


class ArrayHeader(NamedTuple):
    """What a .npy states: shape, whether columns come one after the other, and type."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """How many bytes its values take."""
        return prod(self.shape) * self.dtype.itemsize


def read_header(stream: IO[bytes]) -> ArrayHeader:
    """Read the header of an array, and leave the stream at its first value."""
    try:
        return ArrayHeader(*_READERS[np.lib.format.read_magic(stream)](stream))
    except Exception as error:  # it is parsed as Python text, nested as deep as anyone likes
        reason = " ".join(str(error).split())[:100]
        raise BadArray(f"the header of an array cannot be read ({reason})") from error


def check_member(info: zipfile.ZipInfo) -> None:
    """Refuse a member that is encrypted, or that states more bytes than it can hold."""
    if info.flag_bits & _ENCRYPTED:
        raise BadArray(f"{info.filename} is encrypted")
    known = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if not known or info.file_size > _LARGEST_RATIO * (info.compress_size + 1):
        raise BadArray(f"{info.filename} states {info.file_size:,} bytes, which it cannot hold")


def stated_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> ArrayHeader:
    """Return the header of a member, whose size must be that of the array it states."""
    check_member(info)
    with archive.open(info) as stream:
        header = read_header(stream)
        stated = stream.tell() + header.nbytes
    if min(header.shape, default=0) < 0 or (
        stated != info.file_size and not header.dtype.hasobject
    ):
        raise BadArray(
            f"{info.filename} has {info.file_size} bytes, not an array of {header.dtype} and "
            f"{header.shape}"
        )
    return header
