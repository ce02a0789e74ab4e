"""Numbers that may stand for "no value": -999 and the like, far from all other values of a column."""

from collections.abc import Sequence

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.selections.data_check import Finding
from garrote.summaries import listing
from garrote.tables.check.sentences import named

# -9, -99, 99, -999, 999, ...: a 9 alone may well be a number of things.
_MARKS = (-9.0, *(sign * (10.0**k - 1) for k in range(2, 7) for sign in (-1, 1)))
_FEWEST_ROWS = 10


def find_spikes(names: Sequence[str], X: Floats, y: Array | None = None) -> list[Finding]:
    """Ask about each number that may be a mark; ``y`` is the target where it is a number."""
    columns: dict[float, list[int]] = {}
    for j in range(X.shape[1]):
        for mark in _spikes(X[:, j]):
            columns.setdefault(mark, []).append(j)
    return [_question(names, X, y, mark, some) for mark, some in columns.items()]


def _question(
    names: Sequence[str], X: Floats, y: Array | None, mark: float, columns: Sequence[int]
) -> Finding:
    counts = {j: int((X[:, j] == mark).sum()) for j in columns}
    said = named(columns, lambda j: f"{listing([names[j]])} ({counts[j]:,})")
    text = f"{mark:g} is far from all other values of {said}: does it mean a missing value?"
    return Finding("spike", text, {"--na": _marks(names, X, y, mark, columns)})


def _marks(
    names: Sequence[str], X: Floats, y: Array | None, mark: float, columns: Sequence[int]
) -> tuple[str, ...]:
    """Return what ``--na`` is to be given: with the columns' names where others have it for a value."""
    others = np.delete(X, columns, axis=1)
    if (others == mark).any() or (y is not None and (y == mark).any()):
        return tuple(f"{names[j]}:{mark:.0f}" for j in columns)
    return (f"{mark:.0f}",)


def _spikes(values: Floats) -> list[float]:
    """Return the marks that are farther from the other values than these are from each other."""
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    if len(values) < _FEWEST_ROWS or (low not in _MARKS and high not in _MARKS):
        return []
    others = values[~np.isnan(values) & ~np.isin(values, [x for x in (low, high) if x in _MARKS])]
    if not len(others):
        return []
    near, far = others.min(), others.max()
    reach = max(far - near, 1.0)
    return [x for x in dict.fromkeys((low, high)) if x in _MARKS and _away(x, near, far) > reach]


def _away(value: float, low: float, high: float) -> float:
    return float(max(low - value, value - high))
