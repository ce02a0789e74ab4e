"""Cross products of columns that come one after the other."""

import numpy as np

from garrote.arrays import Array, Floats


class GrowingGram:
    """A symmetric matrix in a room that grows by a quarter, so that newcomers seldom cost a copy.

    ``most`` is the largest number of columns that there can be.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._room = np.zeros((0, 0))
        self._size = 0

    @classmethod
    def of(cls, values: Floats) -> "GrowingGram":
        """Return what has all its columns already, without a copy."""
        whole = cls(len(values))
        whole._room, whole._size = values, len(values)
        return whole

    def __len__(self) -> int:
        return self._size

    @property
    def room(self) -> Floats:
        """An array in one piece whose first rows and columns are the products."""
        return self._room

    @property
    def values(self) -> Floats:
        """The products of all columns so far."""
        return self._room[: self._size, : self._size]

    def reserve(self, size: int) -> None:
        """Make room for so many columns."""
        if size > len(self._room):
            room = max(64, size + size // 4)
            room = room if self._most is None else min(room, self._most)
            larger = np.zeros((room, room))
            larger[: self._size, : self._size] = self.values
            self._room = larger

    def append(self, across: Floats) -> None:
        """Take in the products of all columns, the newest last, with the newest."""
        k, m = self._size, len(across)
        self.reserve(m)
        self._room[:m, k:m], self._room[k:m, :m] = across, across.T
        self._size = m

    def keep(self, places: Array) -> None:
        """Let go of all columns but those at some places, in ascending order."""
        self._room, self._size = self.values[np.ix_(places, places)], len(places)
