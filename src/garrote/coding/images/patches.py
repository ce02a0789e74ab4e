"""Overlapping patches of a picture, a block of them at a time, and pictures put together from these."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from garrote.arrays import Array, Floats

# Numbers of patches that are held at a time: 16 MiB.
_MOST_NUMBERS = 2_000_000


class Patches(NamedTuple):
    """All patches of a picture, which overlap: a view of it, of shape (rows, columns, h, w, colours)."""

    windows: Array

    @classmethod
    def of(cls, values: Array, size: tuple[int, int]) -> "Patches":
        """Look at a picture of shape (height, width, colours) as patches."""
        return cls(sliding_window_view(values, size, axis=(0, 1)).transpose(0, 1, 3, 4, 2))

    @property
    def length(self) -> int:
        """How many numbers a patch has."""
        return int(np.prod(self.windows.shape[2:]))

    @property
    def number(self) -> int:
        """How many patches there are."""
        return int(np.prod(self.windows.shape[:2]))

    def some(self, chosen: Array) -> Array:
        """Return the patches of some numbers, one a row, its pixels row by row."""
        rows, columns = np.divmod(chosen, self.windows.shape[1])
        return np.ascontiguousarray(self.windows[rows, columns].reshape(len(chosen), -1))

    def blocks(self) -> Iterator[slice]:
        """Yield which rows of patches go together."""
        rows, columns = self.windows.shape[:2]
        together = max(1, _MOST_NUMBERS // (columns * self.length))
        for top in range(0, rows, together):
            yield slice(top, min(top + together, rows))

    def block(self, rows: slice) -> Array:
        """Return the patches of some rows, one a row."""
        return np.ascontiguousarray(self.windows[rows].reshape(-1, self.length))


def patch_shape(side: int, values: Array) -> tuple[int, int]:
    """Return height and width of patches: no more than the picture's."""
    return min(side, values.shape[0]), min(side, values.shape[1])


class Overlaps:
    """What overlapping patches say of each pixel: a weighted mean, and how much they differ.

    A pixel in k patches has k means and variances. Taken together as a mixture of laws, they have the
    mean of the means, and for a variance the mean of the variances and the variance of the means.
    """

    def __init__(self, shape: tuple[int, ...], size: tuple[int, int]):
        self.size = size
        self.weights, self.sums = np.zeros(shape), np.zeros(shape)
        self.inner, self.squares = np.zeros(shape), np.zeros(shape)

    def add(self, rows: slice, mean: Floats, variance: Floats, weight: Floats) -> None:
        """Add the patches of some rows."""
        high, wide = self.size
        count, width = rows.stop - rows.start, self.sums.shape[1] - wide + 1
        form = (count, width, high, wide, self.sums.shape[2])
        weighted = weight * mean
        parts = [
            each.reshape(form) for each in (weight, weighted, weight * variance, weighted * mean)
        ]
        totals = (self.weights, self.sums, self.inner, self.squares)
        for i in range(high):
            for j in range(wide):
                place = (slice(rows.start + i, rows.stop + i), slice(j, j + width))
                for total, part in zip(totals, parts, strict=True):
                    total[place] += part[:, :, i, j]

    def mean(self) -> Floats:
        """Return the picture."""
        return np.asarray(self.sums / self.weights)

    def variance(self) -> Floats:
        """Return how uncertain each pixel is."""
        between = np.maximum(self.squares / self.weights - self.mean() ** 2, 0.0)
        return np.asarray(self.inner / self.weights + between)
