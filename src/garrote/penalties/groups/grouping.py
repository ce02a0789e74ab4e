"""Which columns belong together: from labels, lists, mappings, patterns of names, or indicators."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.groups.factors import factor_groups
from garrote.proximal.given_groups import storable_groups
from garrote.proximal.labels import (
    are_lists,
    as_position,
    group_numbers,
    numbers_of_labels,
    numbers_of_lists,
)
from garrote.summaries import listing


def resolve_groups(groups: Any, count: int, names: Array | None = None, X: Any = None) -> Array:
    """Return the number of each column's group.

    Parameters
    ----------
    groups
        As in `garrote.penalties.GroupLasso`.
    count : int
        How many columns there are.
    names : array of str, optional
    X : array or sparse matrix, optional
        The columns themselves, which "factors" looks at.
    """
    groups = storable_groups(groups)
    if groups is None:
        return np.arange(count)
    if isinstance(groups, str):
        return factor_groups(names, X, count)
    if isinstance(groups, dict):
        values = list(groups.values())
        if not are_lists(values, "column"):
            return numbers_of_labels(mapped_labels(groups, count, names))
        groups = values
    if not are_lists(groups, "column"):
        return group_numbers(groups, count, "column")
    columns = finder(count, names)
    lists = [[j for entry in group for j in columns(entry)] for group in groups]
    return numbers_of_lists(lists, count, "column", lambda j: called(j, names))


def mapped_labels(groups: dict[Any, Any], count: int, names: Array | None) -> list[Any]:
    """Look every column's label up by its name, a pattern of it, or its position."""
    labels: dict[int, Any] = {}
    columns = finder(count, names)
    for key, label in groups.items():
        for j in columns(key):
            if j in labels:
                raise ValueError(
                    f"groups has two labels for column {called(j, names)}, {labels[j]!r} and {label!r}: "
                    "give it one"
                )
            labels[j] = label
    missing = [called(j, names) for j in range(count) if j not in labels]
    if missing:
        raise ValueError(
            f"groups has no label for column {listing(missing, str, 5)}: every column needs one; a "
            "group of one is fine"
        )
    return [labels[j] for j in range(count)]


def as_weights(weights: Any) -> Floats | None:
    """Return finite numbers >= 0 as an array; None if these are no such numbers."""
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return values if values.ndim == 1 and (np.isfinite(values) & (values >= 0)).all() else None


def called(j: int, names: Array | None) -> str:
    """Return how a column is called in an error: by its name, or else by its position."""
    return repr(str(names[j])) if names is not None else str(j)


def finder(count: int, names: Array | None) -> Callable[[Any], list[int]]:
    """Return what gives the columns that a position, a name or a pattern stands for."""
    places: dict[str, list[int]] = {}
    for j, name in enumerate(() if names is None else names):
        places.setdefault(str(name), []).append(j)

    def columns(entry: Any) -> list[int]:
        if not isinstance(entry, str):
            return [as_position(entry, count, "column")]
        if names is None:
            raise ValueError(f"groups names {entry!r}, but X has no column names; give positions")
        if entry in places:
            return places[entry]
        found = [j for name, members in places.items() if fnmatchcase(name, entry) for j in members]
        if not found:
            raise ValueError(
                f"groups has {entry!r}, but no column is called so; known are {listing(names)}"
            )
        return found

    return columns
