"""Counts that vary more than Poisson's law allows: their variance is mu + dispersion mu^2."""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, gammaln, xlog1py, xlogy

from garrote.arrays import Floats
from garrote.likelihoods.base import (
    adapt_to_data,
    conjugate,
    curvature,
    gradient,
    inverse_link,
    learn_from_fit,
    log_likelihood,
    null_predictor,
    saturated,
)
from garrote.likelihoods.rates.log_link import (
    LARGEST,
    LEAST,
    LogLink,
    refuse_counts,
    refuse_far_offsets,
)
from garrote.rules.integration import Integration
from garrote.settings import is_number

# A dispersion is looked for between these; at the least of them counts are Poisson's, to all digits.
_LEAST_DISPERSION, _MOST_DISPERSION = 1e-6, 1e6


class _Fields(NamedTuple):
    dispersion: float | None = None
    name: str = "negative-binomial"


class NegativeBinomial(_Fields, LogLink):
    """Counts of mean mu = exp(eta) and variance mu + dispersion mu^2, Poisson's at a dispersion of 0.

    Such are counts whose rates vary from row to row by a Gamma law of shape 1 / dispersion, beyond what
    the columns say of them. The log likelihood is concave in eta, with a duality gap, at any dispersion.

    Parameters
    ----------
    dispersion : float, optional
        By default it is estimated along with the coefficients: both are fitted in turn, the dispersion
        by maximum likelihood at the fitted means, until it stays. MASS has theta = 1 / dispersion.

    References
    ----------
    Lawless, J. F. (1987). Negative binomial and mixed Poisson regression. Canadian Journal of Statistics
    15, 209-225.

    Examples
    --------
    >>> from garrote.likelihoods import NegativeBinomial
    >>> float(NegativeBinomial(dispersion=0.5).variance(2.0))
    4.0
    """

    effect_scale = "log rate"
    integration = Integration.LAPLACE
    without_maximum = "a group has no counts"
    from_data = ("dispersion",)

    def __new__(cls, dispersion: float | None = None, name: str = "negative-binomial") -> Any:
        """Refuse what is no dispersion."""
        if dispersion is not None and not (is_number(dispersion) and dispersion > 0):
            raise ValueError(
                f"dispersion of NegativeBinomial must be positive and finite, got {dispersion!r}: "
                "family='poisson' is for a dispersion of 0"
            )
        value = None if dispersion is None else float(dispersion)
        return super().__new__(cls, value, name)

    def check_response(self, y: Floats) -> None:
        """Refuse what is no count, and counts that are all zero."""
        remedy = "rates per exposure are counts with offset log(exposure)"
        refuse_counts(self.name, y, remedy)

    def left_out(self, y: Floats) -> Floats:
        """Return log y! and what else makes a probability of the log likelihood."""
        size = 1.0 / self.known
        return np.asarray(gammaln(y + 1.0) + gammaln(size) - gammaln(y + size) + xlogy(y, size))

    def variance(self, mean: Floats) -> Floats:
        """Return mu + dispersion mu^2."""
        return mean * (1.0 + self.known * mean)

    @property
    def known(self) -> float:
        """The dispersion, given or taken from the data."""
        if self.dispersion is None:
            raise ValueError(
                "NegativeBinomial() takes its dispersion from y: call adapt_to_data(likelihood, y) first"
            )
        return self.dispersion


@log_likelihood.register
def _(likelihood: NegativeBinomial, y, eta):
    below = np.minimum(eta, LARGEST)
    spread = np.log1p(likelihood.dispersion * np.exp(below))
    return y * (below - spread) - spread / likelihood.dispersion


@saturated.register
def _(likelihood: NegativeBinomial, y):
    spread = np.log1p(likelihood.dispersion * y)
    return y * (np.log(np.maximum(y, LEAST)) - spread) - spread / likelihood.dispersion


@inverse_link.register
def _(likelihood: NegativeBinomial, eta):
    return np.exp(np.minimum(eta, LARGEST))


@gradient.register
def _(likelihood: NegativeBinomial, y, eta):
    mean = np.exp(np.minimum(eta, LARGEST))
    return (y - mean) / (1.0 + likelihood.dispersion * mean)


@curvature.register
def _(likelihood: NegativeBinomial, y, eta):
    mean = np.exp(np.minimum(eta, LARGEST))
    spread = 1.0 + likelihood.dispersion * mean
    return mean / spread * ((1.0 + likelihood.dispersion * y) / spread)


@conjugate.register
def _(likelihood: NegativeBinomial, y, slope):
    # With p = a mu / (1 + a mu) at the best mu: y - slope = (y + 1 / a) p. Slopes are in (-1 / a, y].
    a = likelihood.known
    up, down = np.subtract(y, slope), 1.0 + a * np.asarray(slope)
    # What rounding puts beyond an end is on it.
    rounding = 1e-12 * (1.0 + np.abs(slope))
    possible = (up >= -rounding) & (down >= -a * rounding)
    up, down = np.maximum(up, 0.0), np.maximum(down, 0.0)
    whole = 1.0 + a * np.asarray(y)
    # down / whole is 1 - p, whose logarithm has all digits where p is small.
    value = xlogy(up, up / whole) + xlog1py(down, -a * up / whole) / a
    return np.where(possible, value, np.inf)


@adapt_to_data.register
def _(likelihood: NegativeBinomial, y, weights=None, offset=None):
    refuse_far_offsets(weights, offset)
    if likelihood.dispersion is not None:
        return likelihood
    # At Poisson's fit of the null model: that of any dispersion is the same but for offsets.
    level = null_predictor(NegativeBinomial(1.0), y, weights, offset)
    return _estimated(y, level, weights)


@learn_from_fit.register
def _(likelihood: NegativeBinomial, y, eta, weights=None):
    return _estimated(y, eta, weights)


def _estimated(y: Floats, eta: Floats, weights: Floats | None) -> NegativeBinomial:
    """Return the likelihood with the most likely dispersion at some linear predictors."""
    y, mean = np.asarray(y, dtype=np.float64), np.exp(np.minimum(eta, LARGEST))
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)

    def slope(log_dispersion: float) -> float:
        """Return the derivative of the log likelihood in log 1 / dispersion, per unit of weight."""
        size = float(np.exp(-log_dispersion))
        each = digamma(y + size) - digamma(size) - np.log1p(mean / size)
        each += (mean - y) / (size + mean)
        return float(weights @ each) * size

    low, high = np.log(_LEAST_DISPERSION), np.log(_MOST_DISPERSION)
    # A likelihood that falls with the dispersion from the least on is that of Poisson's counts, or less.
    if slope(low) >= 0:
        return NegativeBinomial(_LEAST_DISPERSION)
    if slope(high) <= 0:
        return NegativeBinomial(_MOST_DISPERSION)
    return NegativeBinomial(float(np.exp(brentq(slope, low, high, xtol=1e-13))))
