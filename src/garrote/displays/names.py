"""Names and numbers in pictures: short, taken literally, and not on top of each other."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from garrote.arrays import Floats

_LONGEST = 22
# A name with dollar signs, underscores or backslashes is no formula.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}


def shorten(name: str, longest: int = _LONGEST) -> str:
    """Return a name of bounded length on one line; names often differ only near their ends."""
    shown = "".join(c if c.isprintable() else " " for c in str(name)).strip()
    if len(shown) <= longest:
        return shown or "(no name)"
    tail = longest // 3
    return shown[: longest - tail - 1] + "…" + shown[-tail:]


def shorten_all(names: Sequence[str], longest: int = _LONGEST) -> list[str]:
    """Shorten names so that those which differ in the middle are still told apart."""
    short = [shorten(name, longest) for name in names]
    for text in {text for text, count in Counter(short).items() if count > 1}:
        alike = [k for k, one in enumerate(short) if one == text]
        # What all of them begin with is of no use, beyond a few letters for recognition.
        common = _shared_beginning([str(names[k]) for k in alike])
        if longest // 3 < common < min(len(str(names[k])) for k in alike):
            for k in alike:
                head = str(names[k])[: longest // 3]
                rest = longest - len(head) - 1
                short[k] = shorten(head) + "…" + shorten(str(names[k])[common:][:rest], rest)
    return short


def _shared_beginning(names: Sequence[str]) -> int:
    """Return how many letters all names begin with; the first and the last in order decide."""
    first, last = min(names), max(names)
    pairs = enumerate(zip(first, last, strict=False))
    return next((k for k, (a, b) in pairs if a != b), len(first))


def number(value: float, digits: int = 3) -> str:
    """Return a number of few digits with a true minus sign."""
    return f"{value:.{digits}g}".replace("-", "−")


def chance(value: float) -> str:
    """Return a probability of two digits, never rounded to certainty."""
    if value < 0.01:
        return "< 0.01"
    return f"{value:.2f}" if value <= 0.99 else "> 0.99"


def push_apart(wanted: Floats, gap: float, low: float, high: float) -> Floats:
    """Return positions within [low, high] at least ``gap`` apart, as near as may be to those wanted.

    They minimise the sum of squared displacements: with the gaps taken off, it is an isotonic
    regression. Of equal wishes the first ends up highest. Without room for all, gaps shrink evenly.
    """
    wanted = np.asarray(wanted, dtype=float)
    count = len(wanted)
    if count == 0:
        return wanted
    if count > 1:
        gap = min(gap, (high - low) / (count - 1))
    order = np.lexsort((-np.arange(count), wanted))
    shifts = gap * np.arange(count)
    close = isotonic_regression(wanted[order] - shifts).x
    placed = np.empty(count)
    placed[order] = np.clip(close, low, max(low, high - shifts[-1])) + shifts
    return placed
