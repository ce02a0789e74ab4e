"""What says who belongs together: labels of any kind, or lists of positions; turned into numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from numbers import Integral, Real
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.summaries import listing

_ALLOWED = "groups must be a label for each {0}, or lists of {0}s"


def group_numbers(groups: Any, count: int | None = None, what: str = "coefficient") -> Array:
    """Return each coefficient's group, numbered from 0.

    Parameters
    ----------
    groups : array of labels, or list of lists of positions
        Groups are numbered in the order of their labels, or of the lists.
    count : int, optional
        How many coefficients there are; by default as many as are given.
    what : str
        What errors call them.
    """
    entries = as_entries(groups, what)
    if are_lists(entries, what):
        lists = [[as_position(entry, count, what) for entry in group] for group in entries]
        largest = max((max(group, default=-1) for group in lists), default=-1)
        return numbers_of_lists(lists, largest + 1 if count is None else count, what)
    if count is not None and len(entries) != count:
        raise ValueError(
            f"groups has {len(entries)} labels for {count} {what}s: give one for each {what}, or lists "
            f"of {what}s"
        )
    return numbers_of_labels(entries)


def as_entries(groups: Any, what: str = "coefficient") -> Any:
    """Return labels or lists as an array or a list, or refuse what has no order."""
    if isinstance(groups, AbstractSet):
        raise ValueError(f"{_ALLOWED.format(what)}, got a set, which has no order: give a list")
    if isinstance(groups, str | bytes | Mapping) or not (
        isinstance(groups, Iterable) or hasattr(groups, "__array__")
    ):
        raise ValueError(f"{_ALLOWED.format(what)}, got {groups!r}")
    array = np.asarray(groups) if hasattr(groups, "__array__") else None
    if array is None:
        return list(groups)
    if array.ndim == 0:
        raise ValueError(f"{_ALLOWED.format(what)}, got {groups!r}")
    return array.tolist() if array.dtype.kind == "O" else array


def are_lists(entries: Any, what: str = "coefficient") -> bool:
    """Tell whether every entry is a list of its own; refuses lists beside labels."""
    if isinstance(entries, np.ndarray):
        return entries.ndim > 1
    lists = [is_list(entry) for entry in entries]
    if any(lists) and not all(lists):
        place = lists.index(False)
        raise ValueError(
            f"groups has {entries[place]!r} beside lists of {what}s: put it into a list of its own"
        )
    return any(lists)


def is_list(entry: Any) -> bool:
    """Tell whether an entry of groups is a list, not a label."""
    return isinstance(entry, Iterable) and not isinstance(entry, str | bytes)


def as_position(entry: Any, count: int | None, what: str) -> int:
    """Return a position from 0; negative ones are counted from the end where that is known."""
    whole = isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_)
    if whole and (int(entry) >= 0 if count is None else -count <= int(entry) < count):
        return int(entry) if count is None else int(entry) % count
    known = f"there are {what}s 0 to {count - 1}" if count else f"{what}s are numbered from 0"
    raise ValueError(f"groups has {what} {entry!r}, but {known}")


def numbers_of_lists(
    lists: Sequence[Sequence[int]], count: int, what: str, called: Callable[[int], str] = str
) -> Array:
    """Return the number of the list that each position is in: every one in one of them."""
    owner = np.full(count, -1)
    for number, members in enumerate(lists):
        if not len(members):
            raise ValueError(f"group {number} is empty: leave it out")
        taken = [j for j in members if owner[j] not in (-1, number)]
        if taken:
            raise ValueError(
                f"groups {owner[taken[0]]} and {number} share {what} {called(taken[0])}: groups must "
                f"not overlap; repeat the {what} if it belongs to both"
            )
        owner[list(members)] = number
    missing = np.flatnonzero(owner < 0)
    if len(missing):
        raise ValueError(
            f"{what}s {listing([called(int(j)) for j in missing], str, 5)} are in no group: every "
            f"{what} needs one; a group of one is fine"
        )
    return owner


def numbers_of_labels(labels: Any) -> Array:
    """Return the rank of each label among those that there are; labels are all numbers or all text."""
    array = labels if isinstance(labels, np.ndarray) else _as_array(labels)
    if array.dtype.kind not in "biufU":
        raise ValueError(f"labels of groups must be numbers or text, got {array.dtype}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise _missing_label(int(np.argmax(np.isnan(array))))
    if array.dtype.kind in "iu" and _without_gaps(array):
        return array.astype(np.int64)
    return np.asarray(np.unique(array, return_inverse=True)[1].ravel(), dtype=np.int64)


def _as_array(labels: list[Any]) -> Array:
    """Return labels as an array of numbers or of text; NumPy would make text of a mixture."""
    text = [isinstance(label, str) for label in labels]
    if all(text):
        return np.array(labels, dtype=str)
    for place, label in enumerate(labels):
        if label is None or (isinstance(label, Real) and label != label):
            raise _missing_label(place)
        if not isinstance(label, Real | np.bool_) and not text[place]:
            raise ValueError(
                f"labels of groups must be numbers or text, got {label!r} at position {place}"
            )
    if any(text):
        raise ValueError(
            "labels of groups must be all numbers or all text, got "
            f"{labels[text.index(False)]!r} and {labels[text.index(True)]!r}"
        )
    return np.array(labels)


def _missing_label(place: int) -> ValueError:
    return ValueError(
        f"groups has no label (NaN or None) at position {place}: give every one a label; a group of "
        "one is fine"
    )


def _without_gaps(numbers: Array) -> bool:
    """Tell whether labels are 0, 1, ... already: without sorting, for operators called often."""
    if not len(numbers):
        return True
    if numbers.min() != 0 or numbers.max() >= len(numbers):
        return False
    return bool(np.bincount(numbers.astype(np.int64)).all())
