"""Positive numbers whose standard deviation is in proportion to their mean, exp(eta): Gamma's law."""

from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from garrote.arrays import Floats
from garrote.likelihoods.base import (
    conjugate,
    curvature,
    gradient,
    inverse_link,
    log_likelihood,
    saturated,
)
from garrote.likelihoods.rates.log_link import LARGEST, LogLink, refuse_rows


class _Named(NamedTuple):
    name: str = "gamma"


class Gamma(_Named, LogLink):
    """Positive y of mean mu = exp(eta) and variance in proportion to mu^2: costs, durations, sizes.

    The loss is half the unit deviance, y / mu - log(y / mu) - 1; the shape divides it out, so that
    coefficients do not depend on it. Information criteria estimate it from the deviance.

    References
    ----------
    McCullagh, P. and Nelder, J. A. (1989). Generalized Linear Models, 2nd ed., chapter 8.

    Examples
    --------
    >>> from garrote.likelihoods import Gamma, gradient
    >>> float(gradient(Gamma(), 2.0, 0.0))
    1.0
    """

    noise_scale = None

    def check_response(self, y: Floats) -> None:
        """Refuse what is not positive."""
        remedy = "; family='tweedie' has zeros" if (y == 0).any() else ""
        refuse_rows(self.name, y, y > 0, "positive numbers", remedy)

    def variance(self, mean: Floats) -> Floats:
        """Return mu^2."""
        return mean**2


@log_likelihood.register
def _(likelihood: Gamma, y, eta):
    return -y * np.exp(np.minimum(-eta, LARGEST)) - eta


@saturated.register
def _(likelihood: Gamma, y):
    return -1.0 - np.log(y)


@inverse_link.register
def _(likelihood: Gamma, eta):
    return np.exp(np.minimum(eta, LARGEST))


@gradient.register
def _(likelihood: Gamma, y, eta):
    return y * np.exp(np.minimum(-eta, LARGEST)) - 1.0


@curvature.register
def _(likelihood: Gamma, y, eta):
    return y * np.exp(np.minimum(-eta, LARGEST))


@conjugate.register
def _(likelihood: Gamma, y, slope):
    # y / mu = 1 + slope at the best mu; what rounding puts below 0 is 0.
    ratio = 1.0 + np.asarray(slope)
    inside = np.maximum(ratio, 0.0)
    return np.where(ratio >= -1e-12, xlogy(inside, inside) - inside * (1.0 + np.log(y)), np.inf)
