"""Positive numbers with a long tail: inverse Gaussian, of mean exp(eta) and variance as its cube."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.likelihoods.base import (
    curvature,
    gradient,
    inverse_link,
    log_likelihood,
    majoriser,
    saturated,
)
from garrote.likelihoods.rates.log_link import LARGEST, LogLink, refuse_rows

# Cubes of rates are still numbers below this.
_MOST = LARGEST / 3.0


class _Named(NamedTuple):
    name: str = "inverse-gaussian"


class InverseGaussian(_Named, LogLink):
    """Positive y of mean mu = exp(eta) and variance in proportion to mu^3.

    The loss is half the unit deviance, (y - mu)^2 / (2 mu^2 y). It is not convex in eta where y is less
    than half of mu, so that fits are certified by how far coefficients are from their own optima, not by
    a duality gap; steps take the expected curvature where the loss has less.

    References
    ----------
    Chhikara, R. S. and Folks, J. L. (1989). The Inverse Gaussian Distribution. Marcel Dekker.

    Examples
    --------
    >>> from garrote.likelihoods import InverseGaussian
    >>> float(InverseGaussian().variance(2.0))
    8.0
    """

    noise_scale = None
    concave = False

    def check_response(self, y: Floats) -> None:
        """Refuse what is not positive."""
        remedy = "; family='tweedie' has zeros" if (y == 0).any() else ""
        refuse_rows(self.name, y, y > 0, "positive numbers", remedy)

    def variance(self, mean: Floats) -> Floats:
        """Return mu^3."""
        return mean**3


@log_likelihood.register
def _(likelihood: InverseGaussian, y, eta):
    inverse = np.exp(np.minimum(-eta, _MOST))
    return inverse - 0.5 * y * inverse**2


@saturated.register
def _(likelihood: InverseGaussian, y):
    return 0.5 / y


@inverse_link.register
def _(likelihood: InverseGaussian, eta):
    return np.exp(np.minimum(eta, LARGEST))


@gradient.register
def _(likelihood: InverseGaussian, y, eta):
    inverse = np.exp(np.minimum(-eta, _MOST))
    return inverse * (y * inverse - 1.0)


@curvature.register
def _(likelihood: InverseGaussian, y, eta):
    inverse = np.exp(np.minimum(-eta, _MOST))
    return inverse * (2.0 * y * inverse - 1.0)


@majoriser.register
def _(likelihood: InverseGaussian, y, eta):
    inverse = np.exp(np.minimum(-eta, _MOST))
    return inverse * np.maximum(2.0 * y * inverse - 1.0, 1.0)
