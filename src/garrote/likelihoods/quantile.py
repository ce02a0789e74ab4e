"""Quantiles of y in place of its mean: residuals cost tau above the fit, and 1 - tau below it."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.likelihoods.base import (
    conjugate,
    curvature,
    gradient,
    inverse_link,
    log_likelihood,
    majoriser,
    null_mean,
    saturated,
)
from garrote.likelihoods.gaussian import AroundItsMean
from garrote.settings import is_number

# Sums of weights reach a share of them but for this.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Quantile(AroundItsMean):
    """Residuals r cost tau r above the fit, and (tau - 1) r below it (Koenker & Bassett 1978).

    The fit is that below which a share of tau of the responses lie: for 0.5 the median, whose loss is
    half the absolute residual. The loss has a kink and no curvature: penalised fits are linear
    programmes, solved by an interior point method, with a duality gap.

    Parameters
    ----------
    tau : float between 0 and 1, default=0.5

    References
    ----------
    Koenker, R. and Bassett, G. (1978). Regression quantiles. Econometrica 46, 33-50.

    Examples
    --------
    >>> from garrote.likelihoods import Quantile, gradient
    >>> gradient(Quantile(0.9), 0.0, [-0.5, 10.0]).round(1).tolist()
    [0.9, -0.1]
    """

    name = "quantile"
    kinked = True
    noise_scale = None
    loss_is_scale = True
    tau: float = 0.5

    def __post_init__(self) -> None:
        if not (is_number(self.tau) and 0 < self.tau < 1):
            raise ValueError(f"tau of Quantile must lie between 0 and 1, got {self.tau!r}")


@log_likelihood.register
def _(likelihood: Quantile, y, eta):
    left = np.subtract(y, eta)
    return -left * np.where(left > 0, likelihood.tau, likelihood.tau - 1.0)


@saturated.register
def _(likelihood: Quantile, y):
    return 0.0 * y


@inverse_link.register
def _(likelihood: Quantile, eta):
    return 1.0 * eta


@gradient.register
def _(likelihood: Quantile, y, eta):
    left = np.subtract(y, eta)
    # At the kink 0 is as good as any slope between the two.
    return np.where(left > 0, likelihood.tau, np.where(left < 0, likelihood.tau - 1.0, 0.0))


@curvature.register
def _(likelihood: Quantile, y, eta):
    return 0.0 * np.subtract(y, eta)


@majoriser.register
def _(likelihood: Quantile, y, eta):
    # The parabola that touches |r| / 2 at a residual (Hunter & Lange 2000).
    return 0.5 / np.maximum(np.abs(np.subtract(y, eta)), 1e-300)


@conjugate.register
def _(likelihood: Quantile, y, slope):
    steep = np.asarray(slope)
    # What rounding puts beyond an end is on it.
    possible = (steep <= likelihood.tau + _ROUNDING) & (steep >= likelihood.tau - 1.0 - _ROUNDING)
    return np.where(possible, -steep * y, np.inf)


@null_mean.register
def _(likelihood: Quantile, y, weights=None):
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    return weighted_quantile(np.asarray(y, dtype=np.float64), weights, likelihood.tau)


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return the middle of the numbers below which a share of the weights lies."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    part = share * reached[-1]
    lower = np.searchsorted(reached, part * (1.0 - _ROUNDING))
    upper = np.searchsorted(reached, part * (1.0 + _ROUNDING), side="right")
    return float(0.5 * (values[order[lower]] + values[order[min(upper, len(order) - 1)]]))
