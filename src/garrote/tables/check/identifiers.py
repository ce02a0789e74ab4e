"""Numbers that only tell rows apart: counters, hospital numbers, dates written as numbers.

Whole numbers that differ from row to row are not enough: counts of molecules are such too, in every
column. A counter rises by one from row to row; another number must be called a number or an
identifier, or be one of few columns whose values all have the same, large number of digits. What is
called so, too, is left out without being asked: nobody means "rownames" as a variable.
"""

import re
from collections.abc import Collection, Sequence

import numpy as np

from garrote.arrays import Floats
from garrote.results.selections.data_check import Finding
from garrote.summaries import listing
from garrote.tables.check.sentences import NAMED, named

_FEWEST_ROWS = 20  # with fewer, whole numbers differ by chance
# A word at the end of a name ("patient_id", "Sample Number", but not "solid"), or "patientID".
_WORD = re.compile(
    r"(.*[\W_])?(id|ids|identifier|number|no|nr|num|index|mrn|serial|row|rownames?|pid)[\W_]*|unnamed.*",
    re.IGNORECASE,
)
_CAMEL = re.compile(r".*[a-z](ID|Id)")
_DIFFERENT = 0.8  # part of the values that must differ where the name says what they are
_FEWEST_DIGITS = 6
_DATES = (19000101, 21001231)


def find_identifiers(
    names: Sequence[str], X: Floats, n_rows: int, asked: Collection[str] = ()
) -> list[Finding]:
    """Return columns that should be left out, by what they are; ``n_rows`` are those of the file.

    Of those that were not ``asked`` for by name what is called an identifier is left out.
    """
    found: dict[str, list[int]] = {kind: [] for kind in _KINDS}
    for j, name in enumerate(names):
        values = X[:, j]
        values = values[~np.isnan(values)]
        if len(values) < _FEWEST_ROWS or not _is_whole(values):
            continue
        tests = {kind: test for kind, (test, _, _) in _KINDS.items()}
        kind = next((kind for kind, test in tests.items() if test(name, values, n_rows)), None)
        if kind is not None:
            found[kind].append(j)
    if len(found["long"]) > NAMED:  # more than a few such columns are data
        found["long"] = []
    return [
        finding
        for kind, some in found.items()
        for finding in _findings_of(kind, [names[j] for j in some], asked)
    ]


def _findings_of(kind: str, names: Sequence[str], asked: Collection[str]) -> list[Finding]:
    """Return what is said of the identifiers of a kind: of those left out, and of the others."""
    free = [name for name in names if name not in asked]
    out = tuple(name for name in free if kind != "date" and is_called_identifier(name))
    rest = tuple(name for name in names if name not in out)
    left = "and is left out" if len(out) == 1 else "and are left out"
    said = [Finding("identifier", f"{_described(kind, out)}, {left}", {}, left_out=out)]
    question = [Finding("identifier", _described(kind, rest), {"--exclude": rest})]
    return [*(said if out else []), *(question if rest else [])]


def _described(kind: str, names: Sequence[str]) -> str:
    return f"{named(names, lambda name: listing([name]))} {_KINDS[kind][1 + (len(names) > 1)]}"


def _is_whole(values: Floats) -> bool:
    start = values[:1000]
    return bool((start == np.rint(start)).all()) and bool((values == np.rint(values)).all())


def _is_counter(name: str, values: Floats, n_rows: int) -> bool:
    """Tell whether numbers rise from row to row, by one but for rows that are left out."""
    if values[0] not in (0, 1) or values[-1] - values[0] >= n_rows or values[1] <= values[0]:
        return False
    return bool((np.diff(values) > 0).all())


def _is_called_so(name: str, values: Floats, n_rows: int) -> bool:
    return is_called_identifier(name) and len(np.unique(values)) > _DIFFERENT * len(values)


def is_called_identifier(name: str) -> bool:
    """Tell whether a column is called as those are that tell rows apart."""
    return bool(_WORD.fullmatch(name) or _CAMEL.fullmatch(name))


def _is_long(name: str, values: Floats, n_rows: int) -> bool:
    low, high = values.min(), values.max()
    if low < 10.0 ** (_FEWEST_DIGITS - 1) or len(f"{low:.0f}") != len(f"{high:.0f}"):
        return False
    return len(np.unique(values)) == len(values)


def _is_date(name: str, values: Floats, n_rows: int) -> bool:
    if values.min() < _DATES[0] or values.max() > _DATES[1]:
        return False
    day, month = values % 100, values // 100 % 100
    return bool(((day >= 1) & (day <= 31) & (month >= 1) & (month <= 12)).all())


# How each kind is recognised, and what is said of one such column and of several.
_KINDS = {
    "date": (
        _is_date,
        "looks like a date written as a number, as 20200131",
        "look like dates written as numbers, as 20200131",
    ),
    "counter": (_is_counter, "counts the rows", "count the rows"),
    "called so": (
        _is_called_so,
        "is a number that identifies the row, as a hospital number does",
        "are numbers that identify the row, as a hospital number does",
    ),
    "long": (
        _is_long,
        "is a long number, another one in every row",
        "are long numbers, others in every row",
    ),
}
