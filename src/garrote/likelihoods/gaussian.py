"""Gaussian responses: y = eta + noise, in units of the noise's deviation."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.likelihoods.base import (
    Likelihood,
    conjugate,
    curvature,
    gradient,
    inverse_link,
    largest_curvature,
    log_likelihood,
    saturated,
)
from garrote.rules.integration import Integration


class AroundItsMean(Likelihood):
    """What likelihoods of y - eta share: any finite number is possible, and eta is the mean."""

    additive = True
    effect_scale = ""

    def check_response(self, y: Floats) -> None:
        """Refuse responses that are not finite."""
        bad = np.flatnonzero(~np.isfinite(y))
        if len(bad):
            raise ValueError(f"y is not finite at row {bad[0]} ({len(bad)} in all)")

    def link(self, mean: Floats) -> Floats:
        """Return the mean itself."""
        return mean

    def variance(self, mean: Floats) -> Floats:
        """Return 1 for every mean."""
        return np.ones_like(mean)


class _Named(NamedTuple):
    name: str = "gaussian"


class Gaussian(_Named, AroundItsMean):
    """y ~ N(eta, 1).

    Examples
    --------
    >>> from garrote.likelihoods import Gaussian, log_likelihood
    >>> log_likelihood(Gaussian(), 3.0, 1.0)
    -2.0
    """

    least_squares = True
    integration = Integration.CLOSED_FORM
    noise_scale = None


@log_likelihood.register
def _(likelihood: Gaussian, y, eta):
    return -0.5 * (y - eta) ** 2


@saturated.register
def _(likelihood: Gaussian, y):
    return 0.0 * y


@inverse_link.register
def _(likelihood: Gaussian, eta):
    return 1.0 * eta


@gradient.register
def _(likelihood: Gaussian, y, eta):
    return y - eta


@curvature.register
def _(likelihood: Gaussian, y, eta):
    return 1.0 + 0.0 * eta


@conjugate.register
def _(likelihood: Gaussian, y, slope):
    # Its log likelihood has the term of y alone that an exponential family's has not.
    return 0.5 * slope**2 - slope * y


@largest_curvature.register
def _(likelihood: Gaussian):
    return 1.0
