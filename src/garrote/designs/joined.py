"""Designs side by side: their columns one after the other, each stored in its own way."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design, Moments


class JoinedDesign(Design):
    """The columns of several designs with the same rows, such as genotypes and covariates.

    Parameters
    ----------
    parts : sequence of Design

    Attributes
    ----------
    names : tuple of str or None
        Those of the columns, where all parts have names.
    """

    def __init__(self, parts: Sequence[Any]):
        rows = {part.shape[0] for part in parts}
        if len(rows) != 1:
            raise ValueError(f"designs side by side need the same rows, got {sorted(rows)} of them")
        self.parts = tuple(parts)
        widths = [part.shape[1] for part in parts]
        self._starts = np.concatenate([[0], np.cumsum(widths)])
        self.shape = rows.pop(), int(self._starts[-1])
        self.nbytes = sum(part.nbytes for part in parts)
        shares = [part.column_cost * part.shape[1] for part in parts]
        self.column_cost = float(sum(shares) / max(1, self.shape[1]))
        names = [getattr(part, "names", ()) for part in parts]
        self.names = tuple(name for some in names for name in some) if all(names) else None

    def _owned(self, columns: Array) -> Iterator[tuple[Any, Array, Array]]:
        """Yield each part, which of some columns are its own, and which of its columns these are."""
        columns = np.asarray(columns, dtype=np.intp)
        owner = np.searchsorted(self._starts, columns, side="right") - 1
        for k, part in enumerate(self.parts):
            places = np.flatnonzero(owner == k)
            if len(places):
                yield part, places, columns[places] - self._starts[k]

    def dot(self, columns: Array, coef: Floats) -> Floats:
        product = np.zeros((self.shape[0], coef.shape[1]))
        for part, places, own in self._owned(columns):
            product += part.dot(own, np.ascontiguousarray(coef[places]))
        return product

    def tdot(self, left: Floats) -> Floats:
        return np.hstack([part.tdot(left) for part in self.parts])

    def take(self, columns: Array, mean: Floats) -> Floats:
        block = np.empty((self.shape[0], len(columns)), order="F")
        for part, places, own in self._owned(columns):
            means = np.zeros(part.shape[1])
            means[own] = mean[np.asarray(columns)[places]]
            block[:, places] = part.take(own, means)
        return block

    def moments(self, weights: Floats) -> Moments:
        found = [part.moments(weights) for part in self.parts]
        return Moments(*(np.concatenate(values) for values in zip(*found, strict=True)))

    def some_rows(self, rows: Array) -> Floats:
        return np.hstack([part.some_rows(rows) for part in self.parts])
