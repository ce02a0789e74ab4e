"""Two classes: y is 1 where a latent normal variable of mean eta and variance 1 is positive, else 0."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr, ndtri

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
from garrote.likelihoods.binomial import check_labels

# Probabilities are this far from 0 and 1 at least when normal quantiles are taken of them.
_LEAST = 1e-15
# Below it m + t is taken from a continued fraction: the sum of two numbers of size |t| has lost digits.
_DEEP = -10.0
_TERMS = 40
_LOG_ROOT_2_PI = 0.5 * np.log(2.0 * np.pi)
# Newton's steps for the predictor of a given slope; 1e-300 and 1e8 need some 12.
_MOST_STEPS = 50


@dataclass(frozen=True)
class Probit(Likelihood):
    """P(y = 1) = Phi(eta), the normal distribution's, for labels 0 and 1.

    Its curvature is that of the log likelihood, not the expected one: the log likelihood is concave, and
    Newton's method needs its own second derivative to converge at the end as fast as it can.

    Examples
    --------
    >>> from garrote.likelihoods import Probit, inverse_link
    >>> round(float(inverse_link(Probit(), 1.96)), 3)
    0.975
    """

    name = "probit"
    latent_normal = True

    def check_response(self, y: Floats) -> None:
        """Refuse labels other than 0 and 1, and labels of one class only."""
        check_labels(self.name, y)

    def of_classes(self, count: int) -> Likelihood:
        """Return the likelihood of labels of two classes."""
        if count == 2:
            return self
        raise ValueError(
            f"Only binary classification is supported with family='probit', but y has {count} classes: "
            "take family='multinomial', which has any number of them"
        )

    def left_out(self, y: Floats) -> Floats:
        """Return zeros: the log likelihood is the log probability of a label."""
        return np.zeros_like(y)

    def link(self, mean: Floats) -> Floats:
        """Return normal quantiles."""
        return np.asarray(ndtri(np.clip(mean, _LEAST, 1.0 - _LEAST)))

    def variance(self, mean: Floats) -> Floats:
        """Return p (1 - p)."""
        return mean * (1.0 - mean)


def mills(t: Any) -> Any:
    """Return phi(t) / Phi(t), the derivative of log Phi, with all digits in both tails."""
    # erfcx(x) = exp(x^2) erfc(x) is finite where Phi(t) is not a number above 0 any more.
    return np.sqrt(2.0 / np.pi) / erfcx(-np.asarray(t) / np.sqrt(2.0))


def _excess(t: Floats) -> Floats:
    """Return mills(t) + t, which is positive and goes to -1 / t in the lower tail."""
    total = np.asarray(mills(t) + t)
    deep = np.asarray(t) < _DEEP
    if deep.any():
        # Laplace's continued fraction: 1 / (x + 2 / (x + 3 / (x + ...))) with x = -t.
        x = -np.asarray(t)[deep]
        below = x.copy()
        for k in range(_TERMS, 1, -1):
            below = x + k / below
        total[deep] = 1.0 / below
    return total


def _signed(y: Any, value: Any) -> Any:
    """Return a value as it is for label 1, and with its sign changed for label 0."""
    return np.where(np.asarray(y) > 0.5, value, np.negative(value))


@log_likelihood.register
def _(likelihood: Probit, y, eta):
    return log_ndtr(_signed(y, eta))


@saturated.register
def _(likelihood: Probit, y):
    return 0.0 * y


@inverse_link.register
def _(likelihood: Probit, eta):
    return ndtr(eta)


@gradient.register
def _(likelihood: Probit, y, eta):
    return _signed(y, mills(_signed(y, eta)))


@curvature.register
def _(likelihood: Probit, y, eta):
    t = _signed(y, eta)
    return mills(t) * _excess(t)


@conjugate.register
def _(likelihood: Probit, y, slope):
    steep = np.asarray(_signed(y, slope), dtype=np.float64)
    t = _where_as_steep(np.maximum(steep, 1e-300))
    value = log_ndtr(t) - steep * t
    return np.where(steep > 0, value, np.where(steep == 0, 0.0, np.inf))


def _where_as_steep(steep: Floats) -> Floats:
    """Return t with mills(t) = steep, by Newton's method in log mills.

    That is concave and falls: from the first step on all points lie on one side of the solution and move
    towards it.
    """
    # The upper tail has mills(t) near phi(t), the lower one near -t.
    upper = np.sqrt(np.maximum(-2.0 * (np.log(steep) + _LOG_ROOT_2_PI), 0.0))
    t = np.where(steep < 0.3, upper, 1.0 - steep)
    for _ in range(_MOST_STEPS):
        step = (_log_mills(t) - np.log(steep)) / _excess(t)
        t = t + step
        if (np.abs(step) <= 1e-14 * (1.0 + np.abs(t))).all():
            break
    return t


def _log_mills(t: Floats) -> Floats:
    """Return the logarithm of mills, which itself would be 0 far up."""
    above = np.maximum(t, 0.0)
    high = -0.5 * above**2 - _LOG_ROOT_2_PI - log_ndtr(above)
    return np.where(t > 0, high, np.log(mills(np.minimum(t, 0.0))))


@largest_curvature.register
def _(likelihood: Probit):
    return 1.0
