"""CSV and other text: cut into blocks of whole rows, each parsed by polars into columns of strings.

A block holds some megabytes, so that a large file never lies in memory. Fields stay strings here:
what they stand for is decided by `kinds`, over all blocks. Lines that start with # at the top of a file
are comments, but the last of them is the header if it has as many fields as the line below it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array
from garrote.tables.errors import TableError, count_of
from garrote.tables.formats.base import Piece
from garrote.tables.formats.dialect import find_dialect, most_fields, single_spaced, split_fields
from garrote.tables.formats.engine import polars
from garrote.tables.formats.room import refuse_too_wide
from garrote.tables.formats.sources import PlainFile

_BLOCK = 4 << 20  # measured: larger ones are slower, and polars keeps their memory
# Each block costs some time for each column: tables of many columns get blocks up to 16 times as large.
_COLUMNS_A_BLOCK, _LARGEST_FACTOR = 500, 16
_LONGEST_ROW = 1 << 28
_SAMPLE_LINES, _SAMPLE_BYTES = 100, 8 << 20  # of lines that tell how a file is written
_BOM = b"\xef\xbb\xbf"
_LF = b"\n"
_QUOTE, _NEWLINE, _SPACE = 0x22, 0x0A, 0x20


class Block(NamedTuple):
    """Whole rows of a file, as they stand there, and how many bytes come before them."""

    data: bytes
    offset: int


class TextTable:
    """A text file with one row a line."""

    typed = False

    def __init__(self, file: PlainFile, encoding: str = "utf-8"):
        self.label, self._file, self._encoding = file.label, file, encoding
        self._places: dict[int, str] = {}
        lines = self._skip_comments()
        dialect = find_dialect(lines)
        self._dialect = dialect
        self.decimal_comma = dialect.decimal_comma
        self.names = dialect.names
        self.ordinary = dialect.ordinary
        self.naming = dialect.naming
        self.notes = self._skipped + dialect.notes
        if self._encoding != "utf-8":
            self.notes += ("the file is not UTF-8: it was read as Latin-1",)

    def _skip_comments(self) -> list[str]:
        """Set where the table starts, below comments; return its first rows that are not blank."""
        comments, self._start = _comments(self._file.path)
        lines = self._first_lines()
        if comments:
            offset, last = comments[-1]
            delimiter = find_dialect(lines).delimiter
            fields = len(split_fields(last.decode(self._encoding, "replace"), delimiter))
            if fields > 1 and fields == len(split_fields(lines[0], delimiter)):
                comments.pop()
                self._start = offset
                lines = self._first_lines()
        self._skipped: tuple[str, ...] = ()
        if comments:
            number = count_of(len(comments), "comment line")
            self._skipped = (f"{number} (with # in front) at the top of the file left out",)
        return lines

    def _first_lines(self) -> list[str]:
        """Return the first rows that are not blank."""
        for block in _blocks(self._file.path, self.label, _BLOCK, self._start):
            try:
                block.data.decode(self._encoding)
            except UnicodeDecodeError:
                self._encoding = "latin-1"
            spans = _sample(_row_spans(block.data))
            if spans:
                refuse_too_wide(self.label, most_fields(block.data[slice(*spans[0])]))
                if self._encoding != "utf-8":
                    self._refuse_mixture(block.data[slice(*spans[0])])
                return [block.data[a:b].decode(self._encoding) for a, b in spans]
        comments = "" if self._start <= len(_BOM) else " but for comments (#)"
        raise TableError(
            f"{self.label} is blank{comments}: a table with a header and rows is needed"
        )

    def _refuse_mixture(self, header: bytes) -> None:
        """Refuse a file whose header is UTF-8 when the rest is not: Latin-1 would garble the names."""
        try:
            header.decode("utf-8")
        except UnicodeDecodeError:
            return
        if not header.isascii():
            raise TableError(
                f"{self.label}: the header is UTF-8 but later lines are not: save it as UTF-8"
            )

    def pieces(self, positions: Sequence[int]) -> Iterator[Piece]:
        first = 0
        for block in self._data_blocks():
            frame = self._parse(block, positions)
            yield Piece(first, tuple(positions), frame)
            first += frame.height

    def place(self, row: int) -> str:
        if row not in self._places:  # often asked of one row for many columns
            self._places[row] = self._find_place(row)
        return self._places[row]

    def _find_place(self, row: int) -> str:
        for block in self._data_blocks():
            spans = _row_spans(block.data)
            if row < len(spans):
                return f"line {self._line(block.offset + spans[row][0]):,}"
            row -= len(spans)
        raise IndexError(row)

    def _data_blocks(self) -> Iterator[Block]:
        """Yield blocks without the header."""
        header_is_next = self._dialect.has_header
        factor = min(max(1, len(self.names) // _COLUMNS_A_BLOCK), _LARGEST_FACTOR)
        for block in _blocks(self._file.path, self.label, factor * _BLOCK, self._start):
            if header_is_next:
                header_is_next = False
                end = _row_spans(block.data)[0][1]
                block = Block(block.data[end:], block.offset + end)
            if block.data and not block.data.isspace():
                yield block

    def _parse(self, block: Block, positions: Sequence[int]) -> Any:
        """Turn a block into columns of strings, and make sure that no row is too short or long."""
        pl = polars()
        delimiter = self._dialect.delimiter
        width = len(self.names)
        data = self._decoded(block.data)
        if delimiter == " ":
            data = single_spaced(data.decode()).encode() + b"\n"
        elif b'"' in data:  # polars wants no space between a quote and a delimiter
            data = _without_spaces_around_quotes(data, ord(delimiter))
        rows, delimiters = _counts(data, delimiter)
        if delimiters != rows * (width - 1) or (width == 1 and b"\n\n" in data):
            # Blank lines, most likely: take them out; if that is not all, a row is ragged.
            data = b"".join(data[a:b] for a, b in _row_spans(data))
            rows, delimiters = _counts(data, delimiter)
            if delimiters != rows * (width - 1):
                raise self._ragged(block)
        try:
            frame = pl.read_csv(
                data,
                has_header=False,
                separator=delimiter,
                schema={str(j): pl.String for j in range(width)},
            )
        except pl.exceptions.PolarsError as error:
            raise self._ragged(block) from error
        if frame.height != rows:
            raise self._ragged(block)
        return frame[:, list(positions)]

    def _decoded(self, data: bytes) -> bytes:
        """Return UTF-8, or raise UnicodeDecodeError."""
        if not data.isascii():
            text = data.decode(self._encoding)
            if self._encoding != "utf-8":
                data = text.encode("utf-8")
        return data if data.endswith(b"\n") else data + b"\n"

    def _ragged(self, block: Block) -> TableError:
        """Return the refusal of the first row with too few or too many fields."""
        width = len(self.names)
        for start, end in _row_spans(block.data):
            text = block.data[start:end].decode(self._encoding).rstrip("\r\n")
            if text.count('"') % 2:
                return TableError(
                    f'{self.label}: a quote (") in line {self._line(block.offset + start):,} is never '
                    'closed: close it, or double it ("") and quote the field if it is part of the text'
                )
            fields = len(split_fields(text, self._dialect.delimiter))
            if fields != width:
                line = self._line(block.offset + start)
                return TableError(
                    f"{self.label}: line {line:,} has {count_of(fields, 'field')} where the first line "
                    f"has {width:,}: correct the line; a field that holds the delimiter "
                    f"{self._dialect.delimiter!r} needs quotes"
                )
        first = self._line(block.offset)
        last = first + block.data.count(_LF)
        return TableError(
            f"{self.label}: lines {first:,} to {last:,} could not be split into "
            f'{count_of(width, "field")}: a quote (") may only open and close a field'
        )

    def _line(self, offset: int) -> int:
        """Return the number of the line at an offset."""
        return _line_at(self._file.path, offset)


def _comments(path: Path) -> tuple[list[tuple[int, bytes]], int]:
    """Return the lines that start with # at the top, each with its offset, and where they end."""
    comments = []
    with path.open("rb") as file:
        end = len(_BOM) if file.read(len(_BOM)) == _BOM else 0
        file.seek(end)
        offset = end
        while (line := file.readline(_BLOCK)) and (line.startswith(b"#") or not line.strip()):
            if line.strip():
                comments.append((offset, line))
                end = offset + len(line)
            offset += len(line)
    return comments, end


def _blocks(path: Path, label: str, size: int, start: int) -> Iterator[Block]:
    """Yield a file, from an offset on, as blocks of some size that end where a row ends."""
    rest = b""
    offset = start
    with path.open("rb") as file:
        file.seek(start)
        while chunk := file.read(max(size, len(rest))):
            data = rest + chunk
            if data.find(b"\0", len(rest)) >= 0:
                raise TableError(f"{label} holds zero bytes: it is no text file, or is damaged")
            end = _last_row_end(data)
            if end:
                yield Block(data[:end], offset)
            rest = data[end:]
            offset += end
            if len(rest) > _LONGEST_ROW:
                raise TableError(
                    f"{label}: the row that starts in line {_line_at(path, offset):,} does not end "
                    f'within {_LONGEST_ROW >> 20} MB: look for a quote (") that is never closed'
                )
    if rest.strip():
        yield Block(rest, offset)


def _line_at(path: Path, offset: int) -> int:
    """Return the number of the line at an offset: only needed once something is wrong."""
    line = 1
    with path.open("rb") as file:
        while offset > 0 and (chunk := file.read(min(_BLOCK, offset))):
            line += chunk.count(_LF)
            offset -= len(chunk)
    return line


def _outside_quotes(data: bytes) -> tuple[Array, Array]:
    """Return the bytes, and which of them are outside of quoted fields."""
    values = np.frombuffer(data, np.uint8)
    return values, ~np.logical_xor.accumulate(values == _QUOTE)


def _without_spaces_around_quotes(data: bytes, delimiter: int) -> bytes:
    """Take out a single space between a delimiter and a quoted field, on either side."""
    values, outside = _outside_quotes(data)
    before, space, after = values[:-2], values[1:-1] == _SPACE, values[2:]
    # A quote counts as outside where it closes a field.
    opening = (before == delimiter) & (after == _QUOTE)
    closing = (before == _QUOTE) & (after == delimiter)
    surplus = outside[:-2] & space & (opening | closing)
    if not surplus.any():
        return data
    return np.delete(values, np.flatnonzero(surplus) + 1).tobytes()


def _last_row_end(data: bytes) -> int:
    """Return where the last whole row ends; a line feed within quotes ends none."""
    end = data.rfind(b"\n") + 1
    if b'"' not in data or data.count(b'"', 0, end) % 2 == 0:
        return end
    values, outside = _outside_quotes(data)
    ends = np.flatnonzero((values == _NEWLINE) & outside)
    return int(ends[-1]) + 1 if ends.size else 0


def _row_spans(data: bytes) -> list[tuple[int, int]]:
    """Return where each row that is not blank starts and ends."""
    values, outside = _outside_quotes(data)
    ends = (np.flatnonzero((values == _NEWLINE) & outside) + 1).tolist()
    if not ends or ends[-1] < len(data):
        ends.append(len(data))
    starts = [0, *ends[:-1]]
    return [(a, b) for a, b in zip(starts, ends, strict=True) if data[a:b].strip()]


def _sample(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return where the first rows are: a header and one row at least, few if they are very long."""
    most = [k for k, (_, end) in enumerate(spans) if end - spans[0][0] <= _SAMPLE_BYTES]
    return spans[: min(_SAMPLE_LINES + 1, max(2, len(most)))]


def _counts(data: bytes, delimiter: str) -> tuple[int, int]:
    """Return the numbers of rows and of delimiters."""
    if b'"' not in data:
        return data.count(b"\n"), data.count(delimiter.encode())
    values, outside = _outside_quotes(data)
    rows, delimiters = (
        int(np.count_nonzero((values == sign) & outside)) for sign in (_NEWLINE, ord(delimiter))
    )
    return rows, delimiters
