"""What a cell may stand for: a number, yes or no, a date, a word, or nothing.

Each function takes a column as it was read and returns what its cells stand for under that meaning,
null where a cell is missing or cannot have it.
"""

from typing import TYPE_CHECKING, Any

from garrote.tables.formats.engine import polars

if TYPE_CHECKING:
    import polars as pl

_MARKS = ("", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN", "null", "NULL", "?", ".")
_ABBREVIATIONS = ("NA", "N/A", "n/a")
_AMONG_NUMBERS = (
    "n.a.", "n/d", "nd", "n.d.", "missing", "-", "--", "\N{EN DASH}", "\N{EM DASH}", "#div/0!",
    "#value!", "#null!", "#num!",
)  # fmt: skip
_LOWER_MARKS = frozenset(text.lower() for text in (*_MARKS, *_ABBREVIATIONS, *_AMONG_NUMBERS))

MISSING = {
    # "NA" and "None" may be words like others: no alley to the house, an arm without treatment.
    "word": frozenset(_MARKS),
    "label": frozenset((*_MARKS, *_ABBREVIATIONS)),
    # Beside numbers, dates, yes and no, other cells leave no doubt. These are in small letters.
    "boolean": _LOWER_MARKS,
    "number": _LOWER_MARKS | {"none"},
    "date": _LOWER_MARKS | {"none"},
}
"""Texts that mean "no value", by the kind of the column; a "label" names a class or group of rows."""

BLANK = "(missing)"
"""The level of a column of words that its blank cells have."""

_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "1": 1.0, "0": 0.0}
_DATE_FORMATS = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S%.f")


def kinds_of(dtype: Any, typed: bool) -> tuple[str, ...] | None:
    """Return the kinds that a column may have, the likeliest first, or None if it is of no use.

    An empty tuple means that only words are left.
    """
    pl = polars()
    if dtype == pl.Null:
        return ("number",)
    if dtype.is_numeric():
        return ("number",)
    if dtype == pl.Boolean:
        return ("boolean",)
    if dtype in (pl.Date, pl.Datetime):
        return ("date",)
    if dtype in (pl.Categorical, pl.Enum) or (dtype == pl.String and typed):
        return ()
    if dtype == pl.String:
        return ("number", "boolean", "date")
    return None


def may_be_numbers(dtype: Any) -> bool:
    """Tell whether `as_numbers` understands a type of column."""
    pl = polars()
    return dtype.is_numeric() or dtype in (pl.String, pl.Boolean, pl.Null)


def as_numbers(frame: "pl.DataFrame", decimal_comma: bool) -> tuple["pl.DataFrame", list[bool]]:
    """Return all columns as float64, null where a cell is missing or not a number, and which are whole.

    A column is whole if all of its cells are finite numbers.
    """
    pl = polars()
    values = frame.select(pl.all().cast(pl.Float64, strict=False))
    # Nearly all columns are whole: the others are found at one blow, in parallel. Beside decimal
    # commas a point may separate thousands, so that no number is taken as it stands.
    whole = [False] * frame.width if decimal_comma else _are_finite(values)
    for j, good in enumerate(whole):
        if not good:
            column, repaired = frame.to_series(j), values.to_series(j)
            if column.dtype == pl.String:
                text = column.str.strip_chars()
                if decimal_comma:
                    text = text.set(text.str.contains(".", literal=True), "")
                    text = text.str.replace(",", ".", literal=True)
                repaired = text.cast(pl.Float64, strict=False)
            values.replace_column(j, repaired.fill_nan(None))
            whole[j] = _are_finite(values[:, [j]])[0]
    return values, whole


def _are_finite(values: "pl.DataFrame") -> list[bool]:
    pl = polars()
    if not values.width:
        return []
    # A null makes the answer null, which is no yes.
    return list(map(bool, values.select(pl.all().is_finite().all(ignore_nulls=False)).row(0)))


def as_number(column: "pl.Series", decimal_comma: bool = False) -> "pl.Series":
    """Return one column as float64."""
    pl = polars()
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if not may_be_numbers(column.dtype):
        return _nothing(column)
    return as_numbers(column.to_frame(), decimal_comma)[0].to_series(0)


def as_boolean(column: "pl.Series", decimal_comma: bool = False) -> "pl.Series":
    """Return 1 for true and yes, 0 for false and no, in small or capital letters."""
    pl = polars()
    if column.dtype == pl.String:
        words = column.str.strip_chars().str.to_lowercase()
        return words.replace_strict(_WORDS, default=None, return_dtype=pl.Float64)
    values = as_number(column, decimal_comma)
    return values.set(~values.is_in([0.0, 1.0]), None)


def as_date(column: "pl.Series", decimal_comma: bool = False) -> "pl.Series":
    """Return moments in time; text must be as in 2024-12-31, or with a time, 2024-12-31 23:59:59."""
    pl = polars()
    moment = pl.Datetime("us")
    if column.dtype == pl.String:
        text = column.str.strip_chars().str.strip_suffix("Z").str.replace("T", " ", literal=True)
        found = _nothing(column).cast(moment)
        for form in _DATE_FORMATS:
            moments = text.str.to_datetime(form, strict=False, time_unit="us")
            found = found.zip_with(found.is_not_null(), moments)
        return found
    if column.dtype in (pl.Date, pl.Datetime):
        if getattr(column.dtype, "time_zone", None):
            column = column.dt.replace_time_zone(None)
        return column.cast(moment)
    return _nothing(column).cast(moment)


def is_missing(column: "pl.Series", kind: str) -> "pl.Series":
    """Tell which cells of a column mean nothing, if it is a column of some kind."""
    pl = polars()
    texts = column.cast(pl.String).str.strip_chars()
    if kind not in ("word", "label"):
        texts = texts.str.to_lowercase()
    return texts.is_in(list(MISSING[kind])).fill_null(True)


def as_word(column: "pl.Series", decimal_comma: bool = False) -> "pl.Series":
    """Return text without the white space around it, null where it means nothing."""
    pl = polars()
    words = column.cast(pl.String).str.strip_chars()
    return words.set(is_missing(column, "word"), None)


MEANINGS = {"number": as_number, "boolean": as_boolean, "date": as_date, "word": as_word}


def _nothing(column: "pl.Series") -> "pl.Series":
    pl = polars()
    return pl.Series([None], dtype=pl.Float64).new_from_index(0, len(column))
