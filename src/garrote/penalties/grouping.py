"""Which columns belong together: from labels, lists, patterns of names, or indicator columns."""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse

from garrote.arrays import Array
from garrote.summaries import listing

# What stands between the name of a categorical variable and its level: "colour_red", "colour=red".
_LEVEL = re.compile(r"^(.+?)(?:_|=|\[|\.)[^_=\[.]+\]?$")


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
    if groups is None:
        return np.arange(count)
    if isinstance(groups, str):
        if groups != "factors":
            raise ValueError(
                f"groups must be labels, lists of columns, 'factors' or None, got {groups!r}"
            )
        return factor_groups(names, X, count)
    if isinstance(groups, Mapping):
        groups = list(groups.values())
    groups = list(groups)
    if groups and all(_is_list(group) for group in groups):
        return _from_lists(groups, count, names)
    if len(groups) != count:
        raise ValueError(
            f"groups has {len(groups)} labels for {count} columns: give one for each column, or lists "
            "of columns"
        )
    try:
        return np.asarray(np.unique(np.array(groups), return_inverse=True)[1])
    except TypeError:
        raise ValueError("labels of groups must be all numbers or all names") from None


def factor_groups(names: Array | None, X: Any, count: int) -> Array:
    """Put the indicator columns of each categorical variable into one group, others alone.

    Those are columns of 0 and 1 whose names differ in the level only ("colour_red", "colour_blue") and
    of which no row has two.
    """
    if names is None or X is None:
        raise ValueError(
            "groups='factors' looks at names and values of columns, but X has no names; give labels"
        )
    stems: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        found = _LEVEL.match(str(name))
        if found and _is_indicator(X, j):
            stems.setdefault(found.group(1), []).append(j)
    group = np.arange(count)
    for members in stems.values():
        block = X[:, members]
        total = np.asarray(block.sum(axis=1)).ravel()
        if len(members) > 1 and total.max(initial=0) <= 1:
            group[members] = members[0]
    return np.asarray(np.unique(group, return_inverse=True)[1])


def _is_indicator(X: Any, j: int) -> bool:
    column = X[:, [j]]
    values = column.data if scipy.sparse.issparse(column) else np.asarray(column).ravel()
    return bool(np.isin(values, (0.0, 1.0)).all())


def _is_list(group: Any) -> bool:
    return isinstance(group, Iterable) and not isinstance(group, str)


def _from_lists(groups: list[Any], count: int, names: Array | None) -> Array:
    owner = np.full(count, -1)
    for number, group in enumerate(groups):
        members = [j for entry in group for j in _columns(entry, count, names)]
        if not members:
            raise ValueError(f"group {number} is empty: leave it out")
        taken = [j for j in members if owner[j] not in (-1, number)]
        if taken:
            raise ValueError(
                f"groups {owner[taken[0]]} and {number} share column {_called(taken[0], names)}: groups "
                "must not overlap; repeat the column in X if it belongs to both"
            )
        owner[members] = number
    missing = np.flatnonzero(owner < 0)
    if len(missing):
        shown = listing([_called(int(j), names) for j in missing], str, 5)
        raise ValueError(
            f"columns {shown} are in no group: every column needs one; a group of one is fine"
        )
    return owner


def _columns(entry: Any, count: int, names: Array | None) -> list[int]:
    """Return the columns that a position, a name or a pattern stands for."""
    if isinstance(entry, str):
        if names is None:
            raise ValueError(f"groups names {entry!r}, but X has no column names; give positions")
        found = [j for j, name in enumerate(names) if name == entry]
        found = found or [j for j, name in enumerate(names) if fnmatchcase(str(name), entry)]
        if not found:
            raise ValueError(
                f"groups has {entry!r}, but no column is called so; known are {listing(names)}"
            )
        return found
    if not isinstance(entry, Integral) or not -count <= int(entry) < count:
        raise ValueError(f"groups has column {entry!r}, but X has columns 0 to {count - 1}")
    return [int(entry) % count]


def _called(j: int, names: Array | None) -> str:
    return repr(str(names[j])) if names is not None else str(j)
