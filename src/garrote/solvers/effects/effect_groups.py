"""What a single effect is of: a column, or a group of columns that have it together."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats


class EffectGroups(NamedTuple):
    """Groups of columns, each of which may be the one with an effect.

    Columns are coordinates of the groups, orthogonal within each (`garrote.designs.rotation`), and
    ``of_column`` has the number of every column's group. ``rank`` are how many each group has that are
    not empty.
    """

    of_column: Array
    rank: Floats

    @classmethod
    def of(cls, groups: Array, curvature: Floats) -> "EffectGroups":
        """Number the groups of columns from 0 on; columns without content count for nothing."""
        _, numbers = np.unique(groups, return_inverse=True)
        return cls(numbers, np.asarray(np.bincount(numbers, curvature > 0), dtype=np.float64))


class Basis(NamedTuple):
    """Other coordinates of some groups: where they are, and the orthogonal matrix that leads from them.

    Rows of labels have other weights each time, under which the coordinates of a group are no longer
    orthogonal; these are.
    """

    places: tuple[Array, ...]
    turns: tuple[Floats, ...]

    def into(self, values: Floats) -> Floats:
        """Return values in these coordinates."""
        found = values.copy()
        for places, turn in zip(self.places, self.turns, strict=True):
            found[places] = turn.T @ values[places]
        return found

    def back(self, values: Floats) -> Floats:
        """Return values in the coordinates of the groups."""
        found = values.copy()
        for places, turn in zip(self.places, self.turns, strict=True):
            found[places] = turn @ values[places]
        return found


def summed(values: Floats, units: EffectGroups | None) -> Floats:
    """Return values of units, given those of columns."""
    if units is None:
        return values
    return np.asarray(np.bincount(units.of_column, values, len(units.rank)), dtype=np.float64)


def of_columns(values: Floats, units: EffectGroups | None) -> Floats:
    """Return for each column what its unit has."""
    return values if units is None else values[units.of_column]


def members(chosen: Array, units: EffectGroups | None) -> Array:
    """Return the columns of some units."""
    if units is None:
        return chosen
    inside = np.zeros(len(units.rank), dtype=bool)
    inside[chosen] = True
    return np.flatnonzero(inside[units.of_column])


def shared_places(units: EffectGroups) -> tuple[Array, ...]:
    """Return the columns of each group that has several."""
    shared = np.flatnonzero(np.bincount(units.of_column, minlength=len(units.rank)) > 1)
    return tuple(np.flatnonzero(units.of_column == number) for number in shared)
