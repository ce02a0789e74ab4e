"""Signals that are polynomials over pieces: what each place where they bend contributes."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.designs.operators.base import Operator, as_shape
from garrote.proximal.tied.trend_differences import (
    check_order,
    check_positions,
    products_of,
    signal_of,
    slopes_of,
)


class Trends(Operator):
    """Signals that bend where coefficients are not 0: a product is order + 1 running sums.

    The first order + 1 coefficients are where the signal and its lower differences begin, and the others
    are its differences of order + 1: the inverse of the matrix of trend filtering (Tibshirani 2014,
    Lemma 2), which is never made. Order 0 is `Steps`. In place of X it makes single effects Bayesian
    trend filtering (susieR's ``susie_trendfilter``; Wang et al. 2020, section 6): each effect is one
    bend, and its credible set says where it may be.

    Parameters
    ----------
    length : int
    order : {0, 1, 2}, default=1
    positions : array of shape (length,), optional
        Where the signal was observed, in rising order; at equal distances by default.

    References
    ----------
    Tibshirani, R. J. (2014). Adaptive piecewise polynomial estimation via trend filtering. Annals of
    Statistics 42, 285-323.
    Wang, G., Sarkar, A., Carbonetto, P. & Stephens, M. (2020). A simple new approach to variable
    selection in regression. JRSS B 82, 1273-1300.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.designs.operators import Trends
    >>> Trends(6, order=1) @ np.array([1.0, 1.0, 0.0, -2.0, 0.0, 0.0])
    array([1., 2., 3., 2., 1., 0.])
    """

    def __init__(self, length: Any, order: int = 1, positions: Any = None):
        sides = as_shape(length)
        if len(sides) > 1:
            raise ValueError(f"trends are of signals, got sides {sides}: take wavelets for images")
        self.order = check_order(order)
        self.positions = check_positions(positions, sides[0], self.order)
        self._slopes = slopes_of(self.positions, self.order)
        super().__init__(*sides, *sides)

    def _matmat(self, X: Floats) -> Floats:
        return signal_of(np.asarray(X), self._slopes)

    def _rmatmat(self, X: Floats) -> Floats:
        return products_of(np.asarray(X), self._slopes)

    def _matvec(self, x: Floats) -> Floats:
        return np.asarray(self._matmat(np.reshape(x, (-1, 1))))[:, 0]

    def _rmatvec(self, x: Floats) -> Floats:
        return np.asarray(self._rmatmat(np.reshape(x, (-1, 1))))[:, 0]
