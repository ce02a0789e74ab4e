"""Numbers that are 0 or positive: sums of a Poisson number of Gamma variables (Tweedie's laws)."""

from typing import Any, NamedTuple

import numpy as np

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
from garrote.settings import is_number

# Halvings of the interval that holds the predictor of a slope: all digits of it.
_HALVINGS = 200


class _Fields(NamedTuple):
    power: float = 1.5
    name: str = "tweedie"


class Tweedie(_Fields, LogLink):
    """y of 0 or above, of mean mu = exp(eta) and variance in proportion to mu^power, 1 < power < 2.

    Rainfall of a day and claims of a policy are of this kind: nothing at all in many rows, positive
    numbers in the others. The loss is half the unit deviance, which is convex in eta.

    Parameters
    ----------
    power : float between 1 and 2, default=1.5
        Near 1 the law is Poisson's (``family="poisson"``), at 2 it is Gamma's (``"gamma"``), which has
        no zeros; ``"inverse-gaussian"`` is that of power 3.

    References
    ----------
    Jorgensen, B. (1997). The Theory of Dispersion Models. Chapman & Hall.

    Examples
    --------
    >>> from garrote.likelihoods import Tweedie
    >>> float(Tweedie(power=1.5).variance(4.0))
    8.0
    """

    noise_scale = None

    def __new__(cls, power: float = 1.5, name: str = "tweedie") -> Any:
        """Refuse powers of other laws."""
        if not (is_number(power) and 1 < power < 2):
            raise ValueError(
                f"power of Tweedie must lie between 1 and 2, got {power!r}: family='poisson' has power "
                "1, 'gamma' 2 and 'inverse-gaussian' 3"
            )
        return super().__new__(cls, float(power), name)

    def check_response(self, y: Floats) -> None:
        """Refuse what is negative, and numbers that are all zero."""
        refuse_rows(self.name, y, y >= 0, "numbers of at least 0", "")
        if not y.any():
            raise ValueError("every number in y is 0: there is nothing to explain")

    def variance(self, mean: Floats) -> Floats:
        """Return mu^power."""
        return mean**self.power


@log_likelihood.register
def _(likelihood: Tweedie, y, eta):
    a, b = likelihood.power - 1.0, 2.0 - likelihood.power
    falling = np.exp(a * np.minimum(-eta, LARGEST))
    return -y * falling / a - np.exp(b * np.minimum(eta, LARGEST)) / b


@saturated.register
def _(likelihood: Tweedie, y):
    a, b = likelihood.power - 1.0, 2.0 - likelihood.power
    return -(y**b) / (a * b)


@inverse_link.register
def _(likelihood: Tweedie, eta):
    return np.exp(np.minimum(eta, LARGEST))


@gradient.register
def _(likelihood: Tweedie, y, eta):
    a, b = likelihood.power - 1.0, 2.0 - likelihood.power
    return y * np.exp(a * np.minimum(-eta, LARGEST)) - np.exp(b * np.minimum(eta, LARGEST))


@curvature.register
def _(likelihood: Tweedie, y, eta):
    a, b = likelihood.power - 1.0, 2.0 - likelihood.power
    falling = np.exp(a * np.minimum(-eta, LARGEST))
    return a * y * falling + b * np.exp(b * np.minimum(eta, LARGEST))


@conjugate.register
def _(likelihood: Tweedie, y, slope):
    y, slope = np.broadcast_arrays(np.asarray(y, np.float64), np.asarray(slope, np.float64))
    b, value = 2.0 - likelihood.power, np.full(y.shape, np.inf)
    # Of a 0 slopes are minus powers of the mean.
    zero = (y == 0) & (slope <= 0)
    fall = np.maximum(-slope[zero], 1e-300)
    value[zero] = (fall * np.log(fall) - fall) / b
    some = y > 0
    eta = _where_as_steep(likelihood, y[some], slope[some])
    value[some] = log_likelihood(likelihood, y[some], eta) - slope[some] * eta
    return value


def _where_as_steep(likelihood: Tweedie, y: Floats, slope: Floats) -> Floats:
    """Return the predictors at which gradients, which fall, are given slopes: Newton, between bounds."""
    a, b = likelihood.power - 1.0, 2.0 - likelihood.power
    level = np.log(y)
    # y / mu^a = slope + mu^b, with mu <= y where slopes are positive, and mu >= y elsewhere.
    low = np.where(slope > 0, -np.log((np.maximum(slope, 0.0) + y**b) / y) / a, level)
    high = np.where(slope < 0, np.log(np.maximum(-slope, 0.0) + y**b) / b, level)
    eta = np.where(slope > 0, low, high)
    for _ in range(_HALVINGS):
        left = gradient(likelihood, y, eta) - slope
        low, high = np.where(left > 0, eta, low), np.where(left > 0, high, eta)
        step = left / curvature(likelihood, y, eta)
        further = eta + step
        inside = (further > low) & (further < high)
        further = np.where(inside | (left == 0), further, 0.5 * (low + high))
        done = np.abs(further - eta) <= 1e-15 * (1.0 + np.abs(eta))
        eta = further
        if done.all():
            break
    return eta
