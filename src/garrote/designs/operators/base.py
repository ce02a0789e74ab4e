"""What all operators share: they multiply blocks of vectors, forwards and with their transpose."""

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from garrote.arrays import Array, Floats


class Operator(LinearOperator):
    """A real matrix known by its products, which SciPy's rules compose: ``A @ B``, ``A.T``, ``2 * A``.

    A subclass gives `_matmat` and `_rmatmat` of blocks whose columns are vectors.
    """

    def __init__(self, rows: int, columns: int):
        super().__init__(np.dtype(np.float64), (int(rows), int(columns)))

    def _matvec(self, x: Floats) -> Floats:
        return np.asarray(self._matmat(np.reshape(x, (-1, 1))))[:, 0]

    def _rmatvec(self, x: Floats) -> Floats:
        return np.asarray(self._rmatmat(np.reshape(x, (-1, 1))))[:, 0]


def as_shape(shape: Any) -> tuple[int, ...]:
    """Return the shape of a signal: its length, or the sides of an image."""
    sides = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    whole = [isinstance(side, int | np.integer) and side >= 1 for side in sides]
    if not sides or not all(whole):
        raise ValueError(f"shape must be a length or sides of at least 1, got {shape!r}")
    return tuple(int(side) for side in sides)


def as_places(places: Any, count: int, argument: str) -> Array:
    """Return places among ``count``, given as positions or as a mask."""
    found = np.asarray(places)
    if found.dtype == bool:
        if found.size != count:
            raise ValueError(f"{argument} is a mask of {found.size} for {count} places")
        return np.flatnonzero(found)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
        raise ValueError(f"{argument} must hold at least one position, or be a mask")
    bad = found[(found < 0) | (found >= count)]
    if len(bad):
        raise ValueError(f"{argument} has {bad[0]}, and there are places 0 to {count - 1}")
    return found.astype(np.intp)
