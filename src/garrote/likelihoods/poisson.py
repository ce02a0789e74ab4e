"""Counts: y is Poisson with mean exp(eta)."""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from garrote.arrays import Floats
from garrote.likelihoods.base import (
    Likelihood,
    adapt_to_data,
    curvature,
    gradient,
    inverse_link,
    log_likelihood,
    saturated,
)
from garrote.likelihoods.uncertain import gaussian_mean
from garrote.limits.magnitudes import refuse_rates
from garrote.rules.integration import Integration

# Beyond this a rate is out of the range of any data; squares of it are still numbers.
_LARGEST = 300.0
# Logarithms of rates are at most this, beyond all that may be predicted: squares are still numbers.
_FURTHEST = 350.0
# Rates are this large at least when their logarithm is taken.
_LEAST = 1e-300


class _Named(NamedTuple):
    name: str = "poisson"


class Poisson(_Named, Likelihood):
    """y ~ Poisson(exp(eta)); exposures enter as offsets, their logarithms.

    Examples
    --------
    >>> from garrote.likelihoods import Poisson, inverse_link
    >>> float(inverse_link(Poisson(), 0.0))
    1.0
    """

    effect_scale = "log rate"
    integration = Integration.LAPLACE
    without_maximum = "a group has no counts"
    may_be_overdispersed = True

    def check_response(self, y: Floats) -> None:
        """Refuse what is no count, and counts that are all zero."""
        bad = np.flatnonzero(~((y >= 0) & (y == np.floor(y)) & np.isfinite(y)))
        if len(bad):
            raise ValueError(
                f"family='poisson' needs counts 0, 1, 2, ... in y, got {y[bad[0]]:g} at row {bad[0]} "
                f"({len(bad)} in all); rates per exposure are counts with offset log(exposure)"
            )
        if not y.any():
            raise ValueError("every count in y is 0: there is nothing to explain")

    def left_out(self, y: Floats) -> Floats:
        """Return log y!."""
        return np.asarray(gammaln(y + 1.0))

    def link(self, mean: Floats) -> Floats:
        """Return the logarithm."""
        return np.log(np.maximum(mean, _LEAST))

    def variance(self, mean: Floats) -> Floats:
        """Return the mean."""
        return mean

    def check_predictor(self, eta: Floats) -> None:
        """Refuse rates beyond e^300, naming the first row that has one."""
        refuse_rates(eta)


@adapt_to_data.register
def _(likelihood: Poisson, y, weights=None, offset=None):
    if offset is not None:
        spread = np.ptp(offset if weights is None else offset[weights > 0])
        if spread > _LARGEST:
            raise ValueError(
                f"offsets differ by {spread:.4g}, rates by a factor of exp({spread:.4g}), which no "
                "counts can have: give the logarithms of exposures"
            )
    return likelihood


@gaussian_mean.register
def _(likelihood: Poisson, eta, variance=None):
    log_rate = eta if variance is None else eta + 0.5 * variance
    return np.exp(np.minimum(log_rate, _FURTHEST))


@log_likelihood.register
def _(likelihood: Poisson, y, eta):
    return y * eta - np.exp(np.minimum(eta, _LARGEST))


@saturated.register
def _(likelihood: Poisson, y):
    return y * np.log(np.maximum(y, _LEAST)) - y


@inverse_link.register
def _(likelihood: Poisson, eta):
    return np.exp(np.minimum(eta, _LARGEST))


@gradient.register
def _(likelihood: Poisson, y, eta):
    return y - np.exp(np.minimum(eta, _LARGEST))


@curvature.register
def _(likelihood: Poisson, y, eta):
    return np.exp(np.minimum(eta, _LARGEST))
