"""A standardised design whose groups of columns are seen in coordinates of their own."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design
from garrote.designs.rotation import Rotation
from garrote.designs.standardized import SharedProduct, StandardizedDesign


class RotatedDesign(StandardizedDesign):
    """The columns of a standardised design, those of groups rotated as a `Rotation` says.

    Products with all columns run on the stored matrix and are rotated afterwards; blocks of columns are
    rotated after they are standardised.
    """

    def __init__(self, straight: StandardizedDesign, rotation: Rotation):
        self.__dict__.update(straight.__dict__)
        self.straight, self.rotation = straight, rotation
        self.__dict__["curvature"] = rotation.curvature
        self.__dict__.pop("covariate_products", None)
        empty = rotation.rotated & ~(self.curvature > 0)
        self.constant = np.where(rotation.rotated, empty, straight.constant)

    def in_columns(self) -> "RotatedDesign":
        """Return the same columns, stored as column-wise methods read them best."""
        straight = self.straight.in_columns()
        return self if straight is self.straight else RotatedDesign(straight, self.rotation)

    def columns(self) -> Any:
        """Return nothing: columns of groups are not stored as they are seen."""
        return None

    @property
    def keeps_blocks(self) -> bool:
        """Whether dense blocks of columns are kept, which rotated ones have to be."""
        return True

    def dot(self, columns: Array, coef: Floats, picked: Design | None = None) -> Floats:
        """Return the fitted values of ``coef`` (one column each), centred and projected."""
        whole = np.zeros((coef.shape[1], self.shape[1]))
        whole[:, columns] = coef.T
        sources = self.rotation.sources(columns)
        return self.straight.dot(sources, self.rotation.back(whole)[:, sources].T)

    def tdot(self, residuals: Floats) -> Floats:
        """Return residuals @ W @ X for residuals (K x N) that are orthogonal to the covariates."""
        return self.rotation.forward(self.straight.tdot(residuals))

    def tdot_steps(self, residuals: Floats) -> SharedProduct:
        """Yield the product that the stored matrix has to do, so that several callers can share it."""
        product = yield from self.straight.tdot_steps(residuals)
        return self.rotation.forward(product)

    def products(self, columns: Array, residuals: Floats, picked: Design | None = None) -> Floats:
        """Return residuals @ W @ X for some columns, of one vector."""
        sources = self.rotation.sources(columns)
        return self.rotation.pick(self.straight.products(sources, residuals), sources, columns)

    def _standardize(self, columns: Array) -> Floats:
        sources = self.rotation.sources(columns)
        return self.rotation.pick(self.straight._standardize(sources), sources, columns)

    def gram(self, left: Array, right: Array, projected: bool = True) -> Floats:
        """Return the cross products of two sets of columns."""
        rows, others = self.rotation.sources(left), self.rotation.sources(right)
        product = self.rotation.pick(self.straight.gram(rows, others, projected), others, right)
        return np.ascontiguousarray(self.rotation.pick(product.T, rows, left).T)

    def max_rank(self, n: float) -> int:
        """Return how many columns suffice to interpolate."""
        return self.straight.max_rank(n)

    def whole_gram(self) -> Floats:
        """Return all cross products."""
        return rotated_gram(self.straight.whole_gram(), self.rotation)


def rotated_gram(gram: Floats, rotation: Rotation) -> Floats:
    """Return cross products of coordinates, given those of all columns."""
    rotated = rotation.forward(rotation.forward(gram.copy()).T)
    # Within a group as they are meant to be, not up to rounding.
    for block in rotation.blocks if rotation.orthogonal else ():
        rotated[np.ix_(block.members, block.members)] = np.diag(rotation.curvature[block.members])
    return np.ascontiguousarray(rotated)
