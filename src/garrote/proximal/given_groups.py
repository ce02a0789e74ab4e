"""Groups of columns as users give them, in values that can be used twice, compared and saved."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from garrote.proximal.grouping import Groups
from garrote.proximal.labels import as_entries, is_list

_ALLOWED = (
    "groups must be labels, lists of columns, a mapping from columns to labels, 'factors' or None"
)


def storable_groups(groups: Any) -> Any:
    """Return groups as given, in values that can be used twice and saved.

    A Series is a mapping by its index. What could not be groups of any table is refused.
    """
    if groups is None or (isinstance(groups, str) and groups == "factors"):
        return groups
    if isinstance(groups, Groups):
        return groups.labels
    if not (is_list(groups) or hasattr(groups, "__array__")):
        raise ValueError(f"{_ALLOWED}, got {groups!r}")
    if hasattr(groups, "iloc") and hasattr(groups, "index"):
        return _series_mapping(groups)
    if isinstance(groups, Mapping):
        return {_python_value(key): _python_value(value) for key, value in groups.items()}
    entries = as_entries(groups, "column")
    return (
        entries if isinstance(entries, np.ndarray) else [_python_value(entry) for entry in entries]
    )


def _series_mapping(series: Any) -> dict[Any, Any]:
    if np.ndim(series) != 1:
        raise ValueError(
            f"{_ALLOWED}, got a table of shape {series.shape}: give one of its columns"
        )
    keys = np.asarray(series.index).tolist()
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"groups has {twice!r} twice in its index: give every column one label")
    return dict(zip(keys, map(_python_value, np.asarray(series).tolist()), strict=True))


def _python_value(entry: Any) -> Any:
    """Return a label, a position, a name, or a list of these as Python's own value."""
    if isinstance(entry, AbstractSet):
        return sorted((_python_value(part) for part in entry), key=str)
    if is_list(entry):
        return [_python_value(part) for part in entry]
    return entry.item() if isinstance(entry, np.generic) else entry
