"""What a penalty makes of a least-squares value when columns are orthogonal."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty, Terms
from garrote.rules import shrink


def thresholding(penalty: Penalty, values: Any, strength: float, curvature: float = 1.0) -> Floats:
    """Return the coefficients that minimise curvature (w - value)^2 / 2 + strength * penalty(w).

    Murphy (2012), Eq. 13.146 and Figure 13.19. Where the penalty is infinitely low at 0, its minimum
    away from 0, if there is one.

    Parameters
    ----------
    penalty : Penalty
    values : array
        Least-squares values.
    strength, curvature : float

    Returns
    -------
    array

    Examples
    --------
    >>> from garrote.penalties import L1, thresholding
    >>> [float(w) for w in thresholding(L1(), [-2.0, 0.5, 3.0], strength=1.0)]
    [-1.0, 0.0, 2.0]
    """
    values = np.asarray(values, dtype=np.float64)
    rule = penalty.at(strength, Terms.equal(1))
    return np.array([shrink(rule, 0, z, curvature) for z in values.ravel()]).reshape(values.shape)
