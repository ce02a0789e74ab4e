"""Which columns are one variable, and what that variable is called."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array
from garrote.summaries import Shown


@dataclass(frozen=True, eq=False, repr=False)
class ColumnGroups(Shown):
    """A partition of the columns: the number of each column's group, and a label for each group.

    Attributes
    ----------
    labels : tuple of str
        One for each group, none of them twice.
    numbers : array of int of shape (D,)
        The group of each column, by its place among the labels.
    """

    labels: tuple[str, ...]
    numbers: Array

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def of_numbers(cls, numbers: Array) -> "ColumnGroups":
        """Take groups that have numbers from 0 on, which are their labels too."""
        found = np.asarray(numbers, dtype=np.int64)
        return cls(tuple(str(k) for k in range(int(found.max(initial=-1)) + 1)), found)

    @property
    def sizes(self) -> Array:
        """How many columns each group has."""
        return np.bincount(self.numbers, minlength=len(self.labels))

    @property
    def are_single(self) -> bool:
        """Whether every group is one column."""
        return bool((self.sizes <= 1).all())

    def columns(self, group: int) -> Array:
        """Return the columns of a group."""
        return np.flatnonzero(self.numbers == group)
