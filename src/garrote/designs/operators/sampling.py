"""A signal as it is, or some of its entries: what is measured where nothing is mixed."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.designs.operators.base import Operator, as_places, as_shape


class Rows(Operator):
    """Some entries of a signal: ``Rows(n, places) @ A`` are rows of any operator A with n of them.

    Parameters
    ----------
    length : int or tuple of int
        Of the signal; the sides of an image, whose entries are taken row by row.
    places : array of int, or mask

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.designs.operators import CosineTransform, Rows
    >>> partial = Rows(8, [1, 5]) @ CosineTransform(8)
    >>> partial.shape
    (2, 8)
    """

    def __init__(self, length: Any, places: Any):
        size = int(np.prod(as_shape(length)))
        found = np.asarray(places)
        self.places = as_places(found.ravel() if found.dtype == bool else found, size, "places")
        super().__init__(len(self.places), size)

    def _matmat(self, X: Floats) -> Floats:
        return np.asarray(X)[self.places]

    def _rmatmat(self, X: Floats) -> Floats:
        found = np.zeros((self.shape[1], X.shape[1]))
        np.add.at(found, self.places, X)
        return found


class Identity(Operator):
    """A signal as it is: the basis of signals that are sparse themselves."""

    def __init__(self, length: Any):
        size = int(np.prod(as_shape(length)))
        super().__init__(size, size)

    def _matmat(self, X: Floats) -> Floats:
        return np.array(X, dtype=np.float64)

    _rmatmat = _matmat
