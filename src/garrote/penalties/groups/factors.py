"""Which columns are the indicators of one categorical variable: told by names and values together.

Names alone cannot tell: in "age_18_25" the level is "18_25", in "onehot__age_18" it is "18". So a name
is cut at every separator, and what stands before a cut is tried, the shortest first: the indicator
columns that begin with it are one factor if no row has two of them.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from garrote.arrays import Array

# What may stand between a variable and its level: colour_red, colour=red, C(colour)[T.red], colour:red.
SEPARATORS = "_=[.:|-"
_SEPARATOR = re.compile(f"[{re.escape(SEPARATORS)}]+")


def factor_groups(
    names: Array | Sequence[str] | None, X: Any, count: int, known: Iterable[Sequence[int]] = ()
) -> Array:
    """Put the indicator columns of each categorical variable into one group, others alone.

    Indicator columns have one value beside 0. Those of one variable begin alike, up to a separator
    (``_ = [ . : | -``), and no row has two of them; of several such beginnings the shortest counts.

    Parameters
    ----------
    names : array of str
    X : array or sparse matrix
    count : int
        How many columns there are.
    known : lists of positions, optional
        Variables whose columns are known already.
    """
    if names is None or X is None:
        raise ValueError(
            "groups='factors' looks at names and values of columns, but X has no names; give labels"
        )
    group = np.arange(count)
    taken: set[int] = set()
    for members in known:
        group[list(members)] = members[0]
        taken.update(members)
    columns = _Columns(X)
    open_columns = [j for j in range(count) if j not in taken]
    for members in _found_factors([str(name) for name in names], open_columns, columns):
        group[members] = members[0]
    if not taken and len(np.unique(group)) == count > 1:
        warnings.warn(
            "groups='factors' found no two indicator columns (of 0 and 1) of one variable, so every "
            "column is a group of its own: give labels or lists of columns if some belong together",
            UserWarning,
            stacklevel=2,
        )
    return np.asarray(np.unique(group, return_inverse=True)[1])


def _found_factors(
    names: list[str], candidates: list[int], columns: "_Columns"
) -> Iterator[list[int]]:
    """Yield the columns of each factor."""
    cuts = {j: name_cuts(names[j]) for j in candidates}
    # How many cuts the columns have in common, and these columns.
    waiting = [(0, candidates)]
    while waiting:
        depth, members = waiting.pop()
        if depth and columns.exclude_each_other(members):
            yield members
            continue
        longer: dict[str, list[int]] = {}
        for j in members:
            if len(cuts[j]) > depth:
                longer.setdefault(names[j][: cuts[j][depth]], []).append(j)
        parts = [part for part in longer.values() if len(part) > 1]
        if not depth:  # values are looked at only where a name has company
            parts = [some for part in parts if len(some := columns.indicators(part)) > 1]
        waiting += [(depth + 1, part) for part in parts]
        rest = sorted(set(members) - {j for part in parts for j in part})
        if depth and 1 < len(rest) < len(members) and columns.exclude_each_other(rest):
            yield rest


def name_cuts(name: str) -> list[int]:
    """Return where a name may end and a level begin; neither of them is empty."""
    return [
        found.end() for found in _SEPARATOR.finditer(name) if 0 < found.start() < found.end() < len(name)
    ]  # fmt: skip


class _Columns:
    """The columns of a dense or sparse matrix, one at a time."""

    def __init__(self, X: Any):
        self._matrix = scipy.sparse.csc_array(X) if scipy.sparse.issparse(X) else np.asarray(X)
        self._used: dict[int, int] = {}

    def indicators(self, columns: Iterable[int]) -> list[int]:
        """Return those that have one value beside 0, or none."""
        found = []
        for j in columns:
            values = self._values(j)
            values = values[values != 0]
            if (values == values[:1]).all():
                found.append(j)
                self._used[j] = len(values)
        return found

    def exclude_each_other(self, indicators: list[int]) -> bool:
        """Tell whether no row has two of them."""
        # More entries than rows cannot be apart: most sets are refused by that alone.
        if len(indicators) < 2 or sum(self._used[j] for j in indicators) > self._matrix.shape[0]:
            return False
        rows = np.concatenate([self._rows(j) for j in indicators])
        return len(np.unique(rows)) == len(rows)

    def _values(self, j: int) -> Array:
        if isinstance(self._matrix, np.ndarray):
            return self._matrix[:, j]
        inside: Array = self._matrix.data[self._matrix.indptr[j] : self._matrix.indptr[j + 1]]
        return inside

    def _rows(self, j: int) -> Array:
        used = np.flatnonzero(self._values(j))
        if isinstance(self._matrix, np.ndarray):
            return used
        inside: Array = self._matrix.indices[self._matrix.indptr[j] + used]
        return inside
