"""What comes into a model and leaves it as one: single columns, or groups of them."""

import numpy as np

from garrote.arrays import Array


class ColumnUnits:
    """Columns in units that are in or out together; without ``groups`` each column is one.

    Parameters
    ----------
    n_features : int
    groups : array of int of shape (D,), optional
        The number of each column's group.
    """

    def __init__(self, n_features: int, groups: Array | None = None):
        alone = groups is None or len(np.unique(groups)) == n_features
        self.owner = np.arange(n_features) if alone or groups is None else np.asarray(groups)
        self._lists: list[Array] | None = None
        if not alone:
            order = np.argsort(self.owner, kind="stable")
            ends = np.cumsum(np.bincount(self.owner))
            self._lists = np.split(order, ends[:-1])

    @property
    def single(self) -> bool:
        """Whether every unit is one column, with the same number."""
        return self._lists is None

    def __len__(self) -> int:
        return len(self.owner) if self._lists is None else len(self._lists)

    def columns(self, unit: int) -> Array:
        """Return the columns of a unit."""
        return np.array([unit]) if self._lists is None else self._lists[unit]

    def of(self, columns: Array) -> Array:
        """Return the units that have some of these columns, ascending."""
        return np.unique(self.owner[columns])
