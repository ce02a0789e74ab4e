"""One word of the command line as a value: numbers, lists of names, settings; or an error that helps."""

import argparse
import csv
import math
from typing import Any


def names(text: str) -> list[str]:
    """Split a list as a line of CSV, so that a quoted name may contain a comma."""
    return [name.strip() for name in next(csv.reader([text]), []) if name.strip()]


def some(text: str) -> tuple[str, ...]:
    """Return names, or () for all."""
    return () if text == "all" else tuple(names(text))


def number(text: str) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


def positive(text: str) -> float:
    """Return a number above 0."""
    value = number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")
    return value


def bound(text: str) -> float:
    """Return a number of at least 0."""
    value = number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must be at least 0, got {text}")
    return value


def shares(text: str) -> float | list[float]:
    """Return a number from 0 to 1, or several."""
    values = [number(part) for part in text.split(",")]
    if not all(0 <= value <= 1 for value in values):
        raise argparse.ArgumentTypeError(f"must be between 0 and 1, got {text}")
    return values if len(values) > 1 else values[0]


def numbers(text: str) -> list[float]:
    """Return one number or several."""
    return [number(part) for part in text.split(",")]


def mismatch(text: str) -> float | str:
    """Return "estimate", or a number between 0 and 1."""
    if text == "estimate":
        return text
    value = number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be estimate or between 0 and 1, got {text}")
    return value


def strength(text: str) -> float | str:
    """Return the name of a way to choose gamma, or a number."""
    if text in ("cv", "free_energy"):
        return text
    try:
        return number(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"must be cv, free_energy or a number, got {text!r}"
        ) from None


def penalty_strength(text: str) -> float | str:
    """Return the name of a way to choose alpha, or a number of at least 0."""
    if text in ("cv", "bic", "ebic", "square-root"):
        return text
    try:
        value = number(text)
    except argparse.ArgumentTypeError:
        value = -1.0
    if value < 0:
        raise argparse.ArgumentTypeError(
            f"must be cv, bic, ebic, square-root or a number >= 0, got {text!r}"
        )
    return value


def whole(text: str, least: int) -> int:
    """Return a whole number that is not below the least one."""
    if not text.lstrip("+").isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, got {text}")
    return int(text)


def count(text: str) -> int:
    """Return a whole number of at least 1."""
    return whole(text, 1)


def folds(text: str) -> int:
    """Return a number of folds, at least 2."""
    return whole(text, 2)


def refits(text: str) -> int:
    """Return 0, or at least 2."""
    return 0 if text == "0" else whole(text, 2)


def seed(text: str) -> int:
    """Return a seed that NumPy takes."""
    value = whole(text, 0)
    if value >= 2**32:
        raise argparse.ArgumentTypeError(f"must be below {2**32}, got {text}")
    return value


def setting(text: str) -> tuple[str, Any]:
    """Return a name and its value."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"must look like NAME=VALUE, got {text!r}")
    parts = names(value)
    pairs = [part.rpartition(":") for part in parts]
    if parts and all(key and is_number(number) for key, _, number in pairs):
        keys = [key for key, _, _ in pairs]
        if len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise argparse.ArgumentTypeError(f"{name} has two numbers for {twice!r}: give one")
        return name, {key: float(number) for key, _, number in pairs}
    if len(parts) > 1 and all(map(is_number, parts)):
        return name, [parsed(part) for part in parts]
    return name, parsed(value)


def parsed(value: str) -> Any:
    """Return text as True, False, None, an integer or a number; as it is where it is none of these."""
    words = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return words[value.lower()]
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def is_number(text: str) -> bool:
    """Tell whether a text is a number."""
    return isinstance(parsed(text), int | float) and not isinstance(parsed(text), bool)
