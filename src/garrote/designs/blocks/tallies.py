r"""Means and centred cross products of rows, added up a block at a time without loss of digits.

Each block is measured from a level near its columns' means, c, and centred by its own mean before it is
multiplied; two tallies join by

.. math:: S = S_a + S_b + \frac{W_a W_b}{W_a + W_b} (m_b - m_a)(m_b - m_a)',

so that no digits go to the offset of a column, however large.

Chan, T. F., Golub, G. H. and LeVeque, R. J. (1983). Algorithms for computing the sample variance.
American Statistician 37, 242-247.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk

from garrote.arrays import Array, Floats

# Up to so many columns the products of a block are formed apart: NumPy lets other threads run then.
_APART = 2048
# Columns that vary less, or more, are measured in a unit near their own: squares stay numbers.
_SMALL, _LARGE = 1e-100, 1e100


class Level(NamedTuple):
    """From where, and in which unit, columns are measured: numbers near their means, powers of 2.

    ``reach`` says how far the columns went in the first block, in these units.
    """

    shift: Floats
    unit: Floats | None
    reach: Floats

    @classmethod
    def of(cls, block: Array, beside: Floats) -> "Level":
        """Return a level for rows like those of the first block, and for the columns beside it."""
        # Rounded to few digits, so that whole numbers stay such.
        shift = np.concatenate([_middle(block), _middle(beside)])
        reach = np.concatenate([_reach(block), _reach(beside)])
        used = reach[reach > 0]
        if not len(used) or (used.min() >= _SMALL and used.max() <= _LARGE):
            return cls(shift, None, reach)
        unit = np.where(reach > 0, 2.0 ** np.round(np.log2(np.maximum(reach, 1e-300))), 1.0)
        return cls(shift, unit, reach / unit)


def _middle(block: Array) -> Floats:
    mean = block.mean(axis=0, dtype=np.float64)
    few = np.abs(mean) < 1e38
    return np.where(few, np.where(few, mean, 0.0).astype(np.float32), mean)


def _reach(block: Array) -> Floats:
    return np.ptp(block, axis=0).astype(np.float64)


class Tally:
    """Weight, mean and centred cross products of some rows, as far as they have been added.

    ``mean`` is measured from the level; only the lower triangle of ``products`` counts.
    """

    def __init__(self, count: int):
        self.rows, self.weight = 0, 0.0
        self.mean = np.zeros(count)
        self.products = np.zeros((count, count), order="F")

    def add(self, values: Floats, weights: Floats | None) -> None:
        """Add rows, measured from the level, and their weights; the rows are overwritten."""
        total = float(len(values)) if weights is None else float(weights.sum())
        share = np.full(len(values), 1.0 / total) if weights is None else weights / total
        mean = share @ values
        values -= mean
        # What rounding has left in the mean, which counts where columns are far from the level.
        rest = share @ values
        values -= rest
        if weights is not None:
            values *= np.sqrt(weights)[:, None]
        self._add_products(values)
        self._move(len(values), total, mean + rest)

    def join(self, other: "Tally") -> "Tally":
        """Add all rows of another tally; return this one."""
        if other.rows:
            self.products += other.products
            self._move(other.rows, other.weight, other.mean)
        return self

    def _move(self, rows: int, weight: float, mean: Floats) -> None:
        """Take in so many rows whose own centred products are there already."""
        change, total = mean - self.mean, self.weight + weight
        if self.rows:
            self._add_products((np.sqrt(self.weight / total * weight) * change)[None, :])
        self.mean = self.mean + change * (weight / total)
        self.rows, self.weight = self.rows + rows, total

    def _add_products(self, block: Floats) -> None:
        if len(self.mean) <= _APART:
            self.products += block.T @ block
        else:
            across = np.ascontiguousarray(block).T
            self.products = dsyrk(1.0, across, beta=1.0, c=self.products, lower=1, overwrite_c=1)


def measured(block: Array, beside: Floats, level: Level) -> Floats:
    """Return a copy of rows, and of what is beside them, measured from a level."""
    width = block.shape[1]
    # As the block lies in memory, which is what copying costs least.
    order: Any = "F" if block.flags.f_contiguous else "C"
    found = np.empty((len(block), width + beside.shape[1]), order=order)
    np.subtract(block, level.shift[:width], out=found[:, :width])
    np.subtract(beside, level.shift[width:], out=found[:, width:])
    if level.unit is not None:
        found /= level.unit
    return found
