"""Differences between neighbours, and the steps that they are differences of."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.designs.operators.base import Operator, as_shape


class Differences(Operator):
    """Differences between each entry and the next one along every axis, one axis after the other.

    A product is x[1:] - x[:-1] of a signal; of an image, first the differences down its columns and then
    those along its rows.

    Parameters
    ----------
    shape : int or tuple of int
        The length of a signal, or the sides of an image, whose entries are taken row by row.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.designs.operators import Differences
    >>> Differences(4) @ np.array([1.0, 1.0, 3.0, 2.0])
    array([ 0.,  2., -1.])
    """

    def __init__(self, shape: Any):
        self.sides = as_shape(shape)
        size = int(np.prod(self.sides))
        self._counts = [size // side * (side - 1) for side in self.sides]
        if not any(self._counts):
            raise ValueError(
                f"a signal of shape {self.sides} has no neighbours: give 2 entries or more"
            )
        super().__init__(sum(self._counts), size)

    def _matmat(self, X: Floats) -> Floats:
        signal = np.reshape(X, (*self.sides, -1))
        parts = [
            np.reshape(np.diff(signal, axis=axis), (count, -1))
            for axis, count in enumerate(self._counts)
        ]
        return np.concatenate(parts)

    def _rmatmat(self, X: Floats) -> Floats:
        found = np.zeros((*self.sides, X.shape[1]))
        starts = np.cumsum(self._counts)[:-1]
        for axis, part in enumerate(np.split(X, starts)):
            sides = list(self.sides)
            sides[axis] -= 1
            steps = np.moveaxis(np.reshape(part, (*sides, -1)), axis, 0)
            along = np.moveaxis(found, axis, 0)  # a view
            along[1:] += steps
            along[:-1] -= steps
        return np.reshape(found, (self.shape[1], -1))


class Steps(Operator):
    """Signals that are constant but for steps: a product is the running sum of the coefficients.

    Coefficient 0 is the level at which a signal begins, coefficient j the step from entry j - 1 to j.

    Parameters
    ----------
    length : int

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.designs.operators import Steps
    >>> Steps(5) @ np.array([1.0, 0.0, 2.0, 0.0, -3.0])
    array([1., 1., 3., 3., 0.])
    """

    def __init__(self, length: Any):
        sides = as_shape(length)
        if len(sides) > 1:
            raise ValueError(f"steps are of signals, got sides {sides}: take wavelets for images")
        super().__init__(*sides, *sides)

    def _matmat(self, X: Floats) -> Floats:
        return np.cumsum(X, axis=0)

    def _rmatmat(self, X: Floats) -> Floats:
        return np.cumsum(np.asarray(X)[::-1], axis=0)[::-1]
