"""What groups of columns are called: by their labels, or by what the names of their columns share."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.penalties.groups.factors import SEPARATORS, name_cuts
from garrote.penalties.groups.grouping import mapped_labels, resolve_groups
from garrote.proximal.given_groups import storable_groups
from garrote.proximal.labels import are_lists


def resolve_named_groups(
    groups: Any, count: int, names: Array | None = None, X: Any = None
) -> tuple[Array, tuple[str, ...]]:
    """Return the number of each column's group, and the groups' labels, none of them twice.

    Labels are those given, one a column or as keys of lists. Else a group of one column is called as
    the column is, and one of several by the beginning that their names share.

    Parameters
    ----------
    groups, count, names, X
        As in `garrote.penalties.groups.grouping.resolve_groups`.
    """
    groups = storable_groups(groups)
    numbers = resolve_groups(groups, count, names, X)
    called = [f"x{j}" for j in range(count)] if names is None else [str(name) for name in names]
    members: list[list[int]] = [[] for _ in range(int(numbers.max(initial=-1)) + 1)]
    for j, number in enumerate(numbers.tolist()):
        members[number].append(j)
    labels = _given_labels(groups, count, names)
    if labels is None:
        return numbers, _apart([_shared_name(group, called) for group in members])
    return numbers, _apart([str(labels[group[0]]) for group in members])


def _given_labels(groups: Any, count: int, names: Array | None) -> Sequence[Any] | None:
    """Return the labels that were given, one a column; None where there are none."""
    if groups is None or isinstance(groups, str):
        return None
    if isinstance(groups, dict):
        if not are_lists(list(groups.values()), "column"):
            return mapped_labels(groups, count, names)
        labels, each = list(groups), resolve_groups(groups, count, names)
        return [labels[number] for number in each]
    return None if are_lists(groups, "column") else np.asarray(groups).tolist()


def _shared_name(group: Sequence[int], names: Sequence[str]) -> str:
    """Return the name of a column, or the shortest beginning that names of a group alone have."""
    if len(group) == 1:
        return names[group[0]]
    shared = _beginning([names[j] for j in group])
    others = [name for j, name in enumerate(names) if j not in set(group)]
    for cut in name_cuts(names[group[0]]):
        beginning = names[group[0]][:cut]
        if len(shared) >= cut and not any(name.startswith(beginning) for name in others):
            return beginning.rstrip(SEPARATORS)
    return shared.rstrip(SEPARATORS) or f"{names[group[0]]} and {len(group) - 1} more"


def _beginning(names: Sequence[str]) -> str:
    """Return the longest beginning of all names: that of the first and the last by alphabet."""
    first, last = min(names), max(names)
    same = (k for k, (one, two) in enumerate(zip(first, last, strict=False)) if one != two)
    return first[: next(same, min(len(first), len(last)))]


def _apart(labels: Sequence[str]) -> tuple[str, ...]:
    """Return labels that differ: those that were there before get a number."""
    seen: set[str] = set()
    made = []
    for label in labels:
        new, times = label, 1
        while new in seen:
            times += 1
            new = f"{label} ({times})"
        seen.add(new)
        made.append(new)
    return tuple(made)
