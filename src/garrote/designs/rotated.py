"""A design whose columns are combined within groups: the same spans, in other coordinates."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design


class Block(NamedTuple):
    """Columns of one group, and the matrix that they are multiplied with: a new column in each place."""

    columns: Array
    combination: Floats


class RotatedDesign(Design):
    """A stored design, each group of whose columns is multiplied with a square matrix.

    Nothing is copied: products are rotated. Columns that are in no block stay as they are.

    Parameters
    ----------
    stored : Design
    blocks : sequence of Block
        Groups of columns that do not overlap.
    center : array of shape (D,)
        Where the stored columns are, about: what is added up of them is taken from there.
    """

    def __init__(self, stored: Design, blocks: Sequence[Block], center: Floats):
        self.stored, self.blocks, self.center = stored, tuple(blocks), center
        self.shape, self.nbytes = stored.shape, stored.nbytes
        self.keeps_blocks = stored.keeps_blocks
        self._block = np.full(stored.shape[1], -1)
        self._place = np.zeros(stored.shape[1], dtype=np.intp)
        for number, block in enumerate(self.blocks):
            self._block[block.columns] = number
            self._place[block.columns] = np.arange(len(block.columns))

    def dot(self, columns: Array, coef: Floats) -> Floats:
        """Return X[:, columns] @ coef."""
        columns = np.asarray(columns)
        needed = self._needed(columns)
        spread = np.zeros((len(needed), *coef.shape[1:]))
        for one, own, matrix in self._parts(columns):
            spread[np.searchsorted(needed, own)] = (
                coef[one] if matrix is None else matrix @ coef[one]
            )
        return self.stored.dot(needed, np.ascontiguousarray(spread))

    def tdot(self, left: Floats) -> Floats:
        """Return left @ X (K x D), of K vectors of length N."""
        product = np.array(self.stored.tdot(left), dtype=np.float64)
        for block in self.blocks:
            product[:, block.columns] = product[:, block.columns] @ block.combination
        return product

    def take(self, columns: Array, mean: Floats) -> Floats:
        """Return columns as a dense float64 block of their own, less their means."""
        columns = np.asarray(columns)
        needed = self._needed(columns)
        known = np.where(self._block < 0, mean, self.center)
        raw = self.stored.take(needed, known)
        taken = np.empty((self.shape[0], len(columns)))
        for one, own, matrix in self._parts(columns):
            block = raw[:, np.searchsorted(needed, own)]
            if matrix is not None:
                block = block @ matrix + (self.center[own] @ matrix - mean[columns[one]])
            taken[:, one] = block
        return taken

    def _needed(self, columns: Array) -> Array:
        """Return the stored columns that some columns are made of, ascending."""
        touched = np.unique(self._block[columns])
        of_blocks = [self.blocks[b].columns for b in touched if b >= 0]
        return np.unique(np.concatenate([columns[self._block[columns] < 0], *of_blocks]))

    def _parts(self, columns: Array) -> list[tuple[Array, Array, Floats | None]]:
        """Return places among some columns, the stored columns these are made of, and how.

        None stands for columns as they are.
        """
        of_block = self._block[columns]
        single = np.flatnonzero(of_block < 0)
        parts: list[tuple[Array, Array, Floats | None]] = []
        if len(single):
            parts.append((single, columns[single], None))
        for number in np.unique(of_block[of_block >= 0]):
            block, places = self.blocks[number], np.flatnonzero(of_block == number)
            matrix = block.combination[:, self._place[columns[places]]]
            parts.append((places, block.columns, matrix))
        return parts
