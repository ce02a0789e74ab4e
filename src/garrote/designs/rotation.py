"""Groups of columns in coordinates of their own: within a group, uncorrelated columns of one length.

What a group of columns can fit does not depend on how they are coded, which level of a categorical
variable is left out, say; their coefficients do. In coordinates in which the group's columns are
orthogonal and of equal length it no longer matters. Coordinates take the places of the group's columns;
where these are linearly dependent, fewer are needed, and the places that are left over are empty.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats

# Directions in which a group varies by less than this share of its largest are rounding.
_NULL = 1e-9
# A coordinate that covariates explain up to this share of its length has nothing left to tell.
_EXPLAINED = 1e-7


class RotatedGroup(NamedTuple):
    """One group: its columns, the map from coordinates to their coefficients, and how many these are.

    ``turn`` (L x L) has a column for each coordinate, zeros where a place is empty.
    """

    members: Array
    turn: Floats
    rank: int


class Rotation:
    """The coordinates of all groups of two or more columns that have content; others are left alone.

    Parameters
    ----------
    groups : array of int
        The number of each column's group.
    curvature : array of shape (D,)
        The squared lengths of the columns; 0 for one without content.
    gram : callable
        From some columns to their cross products.
    length : float
        The squared length of every coordinate, that of a standardised column.
    beside : callable, optional
        As ``gram``, beside the covariates, where coordinates are to be orthogonal with them; they then
        have squared lengths of their own there.
    """

    def __init__(
        self,
        groups: Array,
        curvature: Floats,
        gram: Callable[[Array], Floats],
        length: float,
        beside: Callable[[Array], Floats] | None = None,
    ):
        self.groups, self.length, self.orthogonal = groups, length, beside is None
        self.curvature = curvature.copy()
        self.blocks: list[RotatedGroup] = []
        self._block_of = np.full(len(groups), -1)
        order = np.argsort(groups, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
            used = members[curvature[members] > 0]
            if len(used) > 1:
                self._add(used, gram(used))
                if beside is not None:
                    self._shorten(self.blocks[-1], beside(used))

    def _add(self, members: Array, products: Floats) -> None:
        values, vectors = np.linalg.eigh(0.5 * (products + products.T))
        kept = np.flatnonzero(values > _NULL * values[-1])[::-1]
        turn = np.zeros_like(products)
        turn[:, : len(kept)] = vectors[:, kept] * np.sqrt(self.length / values[kept])
        self.curvature[members] = np.where(np.arange(len(members)) < len(kept), self.length, 0.0)
        self._block_of[members] = len(self.blocks)
        self.blocks.append(RotatedGroup(members, turn, len(kept)))

    def _shorten(self, block: RotatedGroup, products: Floats) -> None:
        left_over = np.einsum("jk,jl,lk->k", block.turn, products, block.turn)
        left_over[left_over < _EXPLAINED * self.length] = 0.0
        self.curvature[block.members] = left_over

    def __bool__(self) -> bool:
        return bool(self.blocks)

    @property
    def rotated(self) -> Array:
        """Which places hold coordinates, or are empty, in place of columns."""
        return self._block_of >= 0

    def forward(self, products: Floats) -> Floats:
        """Return products with coordinates (... x D), in place, given those with columns."""
        for block in self.blocks:
            products[..., block.members] = products[..., block.members] @ block.turn
        return products

    def back(self, coef: Floats) -> Floats:
        """Return the coefficients of columns (... x D), given those of coordinates."""
        found = np.array(coef, dtype=np.float64)
        for block in self.blocks:
            found[..., block.members] = found[..., block.members] @ block.turn.T
        return found

    def sources(self, places: Array) -> Array:
        """Return the columns that some coordinates are made of."""
        inside = [self.blocks[b].members for b in np.unique(self._block_of[places]) if b >= 0]
        return np.unique(np.concatenate([places[self._block_of[places] < 0], *inside]))

    def pick(self, values: Floats, sources: Array, places: Array) -> Floats:
        """Return values of some coordinates (... x K), given those of the columns they are made of."""
        found = values[..., np.minimum(np.searchsorted(sources, places), len(sources) - 1)]
        for number in np.unique(self._block_of[places]):
            if number >= 0:
                members, turn, _ = self.blocks[number]
                here = np.flatnonzero(self._block_of[places] == number)
                part = turn[:, np.searchsorted(members, places[here])]
                found[..., here] = values[..., np.searchsorted(sources, members)] @ part
        return found
