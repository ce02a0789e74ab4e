"""Which columns are one variable: levels of a word, bends of a curve, products of two words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.summaries import Shown

KINDS = ("column", "levels", "curve", "interaction", "term")
"""What a variable may be: one column, the levels of a word, what bends in the effect of a number, a
product of other variables, or another term of a formula."""


@dataclass(frozen=True, repr=False)
class VariableGroups(Shown):
    """Variables of one or several columns, which are in or out together.

    Attributes
    ----------
    names : tuple of G str
        Of the variables; one of a single column is called as the column is.
    number : array of int of shape (D,)
        The variable of each column, in the order of ``names``.
    kinds : tuple of G str
        "column", "levels", "curve", "interaction" or "term".
    references : tuple of G str or None
        The level that levels are compared with, if known.
    labels : tuple of D str
        What each column is called below its variable: the level alone.
    parents : dict
        Name -> names of the variables that must be in for this one to be.

    Examples
    --------
    >>> from garrote.results.selections.groups import VariableGroups
    >>> groups = VariableGroups.of_labels(["age", "site", "site"], ["age", "site=B", "site=C"])
    >>> groups.names, groups.labels
    (('age', 'site'), ('age', 'B', 'C'))
    """

    names: tuple[str, ...]
    number: Array
    kinds: tuple[str, ...]
    references: tuple[str | None, ...]
    labels: tuple[str, ...]
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of_labels(
        cls, owner: Any, columns: Any, parents: Mapping[str, tuple[str, ...]] | None = None
    ) -> "VariableGroups":
        """Return groups of columns by the label that each column has; columns of a label are levels."""
        owner, columns = [str(one) for one in owner], [str(name) for name in columns]
        order = list(dict.fromkeys(owner))
        place = {one: k for k, one in enumerate(order)}
        number = np.array([place[one] for one in owner], dtype=np.int64)
        alone = np.bincount(number, minlength=len(order)) == 1
        shown = {
            one: name if alone[place[one]] else one
            for one, name in zip(owner, columns, strict=True)
        }
        return cls(
            names=tuple(shown[one] for one in order),
            number=number,
            kinds=tuple("column" if single else "levels" for single in alone),
            references=(None,) * len(order),
            labels=tuple(
                name if alone[place[one]] else _level(name, one)
                for one, name in zip(owner, columns, strict=True)
            ),
            parents={shown[k]: tuple(shown[p] for p in v) for k, v in (parents or {}).items()},
        )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def several(self) -> bool:
        """Whether a variable has more than one column."""
        return len(self.names) < len(self.number)

    @property
    def first(self) -> Array:
        """The first column of each variable."""
        return np.asarray(np.unique(self.number, return_index=True)[1])

    def columns(self, group: int) -> Array:
        """Return the columns of a variable."""
        return np.flatnonzero(self.number == group)

    def any_of(self, flags: Array) -> Array:
        """Return which variables have a column of which something is true (the last axis)."""
        return self.most(flags.astype(np.int64)) > 0

    def most(self, values: Array) -> Array:
        """Return the largest value among the columns of each variable (the last axis)."""
        order = np.argsort(self.number, kind="stable")
        starts = np.searchsorted(self.number[order], np.arange(len(self.names)))
        return np.asarray(np.fmax.reduceat(values[..., order], starts, axis=-1))

    def alone(self, values: Floats) -> Floats:
        """Return the values of variables of one column; NaN for the others."""
        single = np.bincount(self.number, minlength=len(self.names)) == 1
        return np.where(single, values[..., self.first], np.nan)

    def to_dict(self, group: int) -> dict[str, Any]:
        """Return what one variable is, as plain values."""
        name = self.names[group]
        return {
            "kind": self.kinds[group],
            "reference": self.references[group],
            "parents": list(self.parents.get(name, ())),
        }


def _level(column: str, variable: str) -> str:
    """Return the level alone, of a column called as "site=B" or "site_B" is."""
    rest = column.removeprefix(variable)
    return rest.lstrip("=_[.:|- ") or column if rest != column else column
