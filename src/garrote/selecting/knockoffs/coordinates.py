"""Groups of columns in coordinates of their own, uncorrelated within a group and of variance 1.

A column that is a group by itself is divided by its standard deviation. Of a group of several, what is
found in these coordinates does not depend on how its columns are coded, and columns that are equal, or
that add up to another one of their group, give fewer coordinates than there are columns.
"""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats

# Directions of a group with a smaller share of its largest variance count as none.
_NOTHING = 1e-9


@dataclass(frozen=True)
class Coordinates:
    """The maps from columns to coordinates and back, and the group of each coordinate.

    Attributes
    ----------
    into : array of shape (D, R)
        Columns without their means, times this, are coordinates.
    back : array of shape (R, D)
        Coordinates times this are columns; columns without variation are 0.
    owner : array of int of shape (R,)
        The group that each coordinate is of.
    n_groups : int
    groups : array of int of shape (D,)
        The group of each column.
    correlation : array of shape (R, R)
        Of the coordinates.
    """

    into: Floats
    back: Floats
    owner: Array
    n_groups: int
    groups: Array
    correlation: Floats

    @classmethod
    def of(cls, covariance: Floats, groups: Array) -> "Coordinates":
        """Find the coordinates of groups, which have numbers from 0, by the columns' covariance."""
        count, n_groups = len(covariance), int(groups.max()) + 1
        deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        varying = deviation > 0
        unit = np.divide(1.0, deviation, out=np.zeros(count), where=varying)
        sizes = np.bincount(groups, minlength=n_groups)
        alone = varying & (sizes[groups] == 1)
        blocks = [_Block.single(int(j), unit[j]) for j in np.flatnonzero(alone)]
        for group in np.flatnonzero(sizes > 1):
            members = np.flatnonzero((groups == group) & varying)
            if len(members):
                blocks.append(_Block.of(members, covariance, unit[members]))
        blocks.sort(key=lambda block: int(block.members[0]))
        rank = sum(block.into.shape[1] for block in blocks)
        into, back = np.zeros((count, rank)), np.zeros((rank, count))
        owner, start = np.zeros(rank, dtype=np.intp), 0
        for block in blocks:
            places = np.arange(start, start + block.into.shape[1])
            into[np.ix_(block.members, places)] = block.into
            back[np.ix_(places, block.members)] = block.back
            owner[places] = groups[block.members[0]]
            start += len(places)
        correlation = into.T @ covariance @ into
        correlation[owner[:, None] == owner] = 0.0  # but for rounding they are 0 and 1
        np.fill_diagonal(correlation, 1.0)
        return cls(into, back, owner, n_groups, groups, (correlation + correlation.T) / 2)


@dataclass(frozen=True)
class _Block:
    """The columns of a group, and the maps to its coordinates and back."""

    members: Array
    into: Floats
    back: Floats

    @classmethod
    def single(cls, column: int, unit: float) -> "_Block":
        return cls(np.array([column]), np.array([[unit]]), np.array([[1.0 / unit]]))

    @classmethod
    def of(cls, members: Array, covariance: Floats, unit: Floats) -> "_Block":
        within = covariance[np.ix_(members, members)] * np.outer(unit, unit)
        variances, directions = np.linalg.eigh((within + within.T) / 2)
        kept = variances > _NOTHING * variances[-1]
        root, directions = np.sqrt(variances[kept]), directions[:, kept]
        return cls(members, unit[:, None] * directions / root, root[:, None] * directions.T / unit)
