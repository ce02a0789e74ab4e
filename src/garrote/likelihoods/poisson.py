"""Counts: y is Poisson with mean exp(eta)."""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from garrote.arrays import Floats
from garrote.likelihoods.base import (
    curvature,
    gradient,
    inverse_link,
    log_likelihood,
    saturated,
)
from garrote.likelihoods.rates.log_link import LARGEST, LEAST, LogLink, refuse_counts
from garrote.rules.integration import Integration


class _Named(NamedTuple):
    name: str = "poisson"


class Poisson(_Named, LogLink):
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
        remedy = "rates per exposure are counts with offset log(exposure)"
        refuse_counts(self.name, y, remedy)

    def left_out(self, y: Floats) -> Floats:
        """Return log y!."""
        return np.asarray(gammaln(y + 1.0))

    def variance(self, mean: Floats) -> Floats:
        """Return the mean."""
        return mean


@log_likelihood.register
def _(likelihood: Poisson, y, eta):
    return y * eta - np.exp(np.minimum(eta, LARGEST))


@saturated.register
def _(likelihood: Poisson, y):
    return y * np.log(np.maximum(y, LEAST)) - y


@inverse_link.register
def _(likelihood: Poisson, eta):
    return np.exp(np.minimum(eta, LARGEST))


@gradient.register
def _(likelihood: Poisson, y, eta):
    return y - np.exp(np.minimum(eta, LARGEST))


@curvature.register
def _(likelihood: Poisson, y, eta):
    return np.exp(np.minimum(eta, LARGEST))
