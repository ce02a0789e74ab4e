"""How a text file is written: its delimiter, its header, its decimal sign, found from its first lines.

The delimiter is the first of tab, ; | and comma that splits all of the first lines into equally many
fields, or else white space. The first line is a header unless all of its fields are numbers. A header
with one name less than the rows have fields, as R writes it, and an unnamed first column, as pandas and
R write it, mean that the first column holds row names: it is left out. So is an unnamed column without
any value, which a delimiter at the end of each line makes. With another delimiter than the
comma, numbers may be written with decimal commas, if none of the first lines has a decimal point.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from garrote.summaries import listing
from garrote.tables.kinds import MISSING

_DELIMITERS = "\t;|,"
_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE
)
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_SPACES = re.compile(r'("[^"]*")|\s+')  # what is quoted, or white space between
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """How a text file is written."""

    delimiter: str  # " " stands for any run of white space
    names: tuple[str, ...]
    has_header: bool
    ordinary: tuple[int, ...]  # all columns but row names and the void behind a last delimiter
    decimal_comma: bool
    notes: tuple[str, ...]
    naming: str  # what to know of the names when one is not found


def find_dialect(lines: Sequence[str]) -> Dialect:
    """Find out how a file is written from its first lines, none of them blank."""
    delimiter = _find_delimiter(lines)
    return describe_rows([split_fields(line, delimiter) for line in lines], delimiter)


def describe_rows(rows: list[list[str]], delimiter: str) -> Dialect:
    """Find names, decimal sign and columns that are no data from the fields of the first rows."""
    first, rest = rows[0], rows[1:]
    comma = delimiter != "," and _has_decimal_commas(rows)
    has_header = not all(_is_number(field, comma) for field in first)
    notes = []
    naming = ""
    if has_header:
        names, left_out = _header_names(first, rest)
        numbers = [name for name in names if _is_number(name, comma)]
        if numbers and len(numbers) < len(names):
            notes.append(f"the first line was read as names, also {listing(numbers)}")
        if 0 in left_out:
            notes.append("the first column has no name: it was taken for row names and left out")
    else:
        names, left_out = [f"x{j}" for j in range(len(first))], set()
        notes.append(
            f"the first line holds only numbers: the columns were named {listing(names, str, 2)}"
        )
        naming = (
            "the first line holds only numbers, so it was read as data and the columns were named x0, "
            "x1, ...: use these names, or make the first line names that are not all numbers (such as "
            "v1990)"
        )
    if comma:
        notes.append("commas in numbers were read as decimal points")
    ordinary = tuple(j for j in range(len(names)) if j not in left_out)
    return Dialect(delimiter, tuple(names), has_header, ordinary, comma, tuple(notes), naming)


def split_fields(line: str, delimiter: str) -> list[str]:
    """Split one row into fields, without the white space around them."""
    if delimiter == " ":
        line = single_spaced(line)
    try:
        rows = list(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    except csv.Error:  # a field of more than 131,072 characters: a quote that is never closed
        return [line]
    return [field.strip() for field in rows[0]] if rows else []


def most_fields(line: bytes) -> int:
    """Return how many fields a line can have at most, whatever its delimiter is."""
    return 1 + max(line.count(delimiter.encode()) for delimiter in _DELIMITERS + " ")


def single_spaced(text: str) -> str:
    """Return text with one space for each run of white space, none at line ends; quotes keep theirs."""
    if '"' not in text:
        return "\n".join(" ".join(line.split()) for line in text.rstrip().split("\n"))
    return _SPACES.sub(lambda found: found[1] or ("\n" if "\n" in found[0] else " "), text).strip()


def _find_delimiter(lines: Sequence[str]) -> str:
    # A header may have one name less than the rows have fields: the rows decide, where there are any.
    body = lines[1:] or lines
    counts = {d: [len(split_fields(line, d)) for line in body] for d in _DELIMITERS + " "}
    for delimiter, fields in counts.items():
        header = len(split_fields(lines[0], delimiter))
        if min(fields) > 1 and len(set(fields)) == 1 and header in (fields[0], fields[0] - 1):
            return delimiter
    # A ragged file: what splits the first line most; which row is wrong is said when it is read.
    header_fields = {d: len(split_fields(lines[0], d)) for d in _DELIMITERS}
    best = max(header_fields, key=lambda d: header_fields[d])
    return best if header_fields[best] > 1 else ","


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    fields = [field for row in rows for field in row]
    return any(_COMMA_NUMBER.fullmatch(field) for field in fields) and not any(
        _POINT_NUMBER.fullmatch(field) for field in fields
    )


def _is_number(field: str, comma: bool) -> bool:
    if comma:
        field = field.replace(",", ".")
    return field.lower() in MISSING["number"] or _NUMBER.fullmatch(field) is not None


def _header_names(first: list[str], rest: list[list[str]]) -> tuple[list[str], set[int]]:
    """Return the names of all columns, and which columns are no data."""
    names = list(first)
    if rest and all(len(row) == len(first) + 1 for row in rest):
        ends_in_delimiter = all(row[-1] == "" for row in rest)
        names = [*first, ""] if ends_in_delimiter else ["", *first]
    void = {
        j
        for j, name in enumerate(names)
        if not name and all(row[j : j + 1] == [""] for row in rest)
    }
    left_out = void | ({0} if not names[0] else set())
    return [name or f"column {j + 1}" for j, name in enumerate(names)], left_out
