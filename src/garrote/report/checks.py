"""Whether a part of a document is what it should be: a number, a list of so many, a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from garrote.results.selections.document import SCHEMA

# A type, a tuple of types, or (for an entry that may be null) a tuple with NoneType.
NUMBER = (int, float)
MAYBE = (int, float, type(None))
Kinds = dict[str, Any]
_LARGEST = 1e300


def check_kinds(found: Any, kinds: Kinds, where: str) -> None:
    """Refuse what is no object, lacks a key, or has one of another kind."""
    if not isinstance(found, Mapping):
        raise ValueError(f"{where} must be an object with keys, got {_said(found)}")
    for key, kind in kinds.items():
        if key not in found:
            raise ValueError(f"{where} has no {key!r}: it is not complete, or not of {SCHEMA!r}")
        if not _is(found[key], kind):
            raise ValueError(f"{key!r} of {where} must be {_named(kind)}, got {_said(found[key])}")


def check_entries(found: Any, kind: tuple[type, ...], where: str) -> None:
    """Refuse what is no list, or has an entry of another kind."""
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise ValueError(f"{where} must be a list, got {_said(found)}")
    for entry in found:
        if not _is(entry, kind):
            raise ValueError(f"{where} must hold {_named(kind)}, got {_said(entry)}")


def check_numbers(
    found: Any, count: int | None, where: str, kind: tuple[type, ...] = MAYBE
) -> None:
    """Refuse what is no list of so many numbers."""
    check_entries(found, kind, where)
    if count is not None and len(found) != count:
        raise ValueError(f"{where} has {len(found)} entries where {count} belong")


def check_table(found: Any, rows: int | None, columns: int, where: str) -> None:
    """Refuse what is no list of so many rows, each of so many numbers."""
    check_entries(found, (list, tuple), where)
    if rows is not None and len(found) != rows:
        raise ValueError(f"{where} has {len(found)} rows where {rows} belong")
    for row in found:
        check_numbers(row, columns, where)


def _is(value: Any, kind: Any) -> bool:
    """Tell whether a value is of a kind; true and false, NaN and infinity are no numbers."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if isinstance(value, bool):
        return bool in kinds
    if isinstance(value, int | float) and not -_LARGEST < value < _LARGEST:
        return False
    return isinstance(value, kinds)


_KIND_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    tuple: "a list",
    dict: "an object",
    type(None): "null",
}


def _named(kind: Any) -> str:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if float in kinds:
        kinds = tuple(k for k in kinds if k is not int)
    return " or ".join(dict.fromkeys(_KIND_NAMES[k] for k in kinds))


def _said(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
