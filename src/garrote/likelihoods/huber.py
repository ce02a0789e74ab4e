"""Numbers with outliers: squared residuals up to a corner, beyond it their size (Huber 1964)."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from garrote.arrays import Floats
from garrote.likelihoods.base import (
    adapt_to_data,
    conjugate,
    curvature,
    gradient,
    inverse_link,
    largest_curvature,
    log_likelihood,
    majoriser,
    null_mean,
    saturated,
)
from garrote.likelihoods.gaussian import AroundItsMean

# What makes the median and the mean of absolute deviations estimate a normal standard deviation.
_PER_MEDIAN, _PER_MEAN = 1.482602218505602, 1.2533141373155001


@dataclass(frozen=True)
class Huber(AroundItsMean):
    """Residuals r cost r^2 / 2 up to the edge e = corner x scale, and e |r| - e^2 / 2 beyond it.

    With a corner of 1.345, and a scale that is the noise's standard deviation, 95 % of the efficiency of
    least squares is kept where the noise is normal. With a large corner it is least squares, at the same
    alpha.

    Parameters
    ----------
    corner : float, default=1.345
        Where residuals begin to count as outliers, in units of ``scale``.
    scale : float, optional
        The unit, in units of y. By default the spread of y (less the offset) around its median: 1.4826
        times the median of the absolute deviations. That is the noise's where columns explain little;
        where they explain much it is larger, and fewer residuals count as outliers: then give the
        noise's, or a smaller corner.

    References
    ----------
    Huber, P. J. (1964). Robust estimation of a location parameter. Ann. Math. Statist. 35, 73-101.

    Examples
    --------
    >>> from garrote.likelihoods import Huber, gradient
    >>> gradient(Huber(corner=2.0, scale=1.0), 0.0, [-0.5, -10.0]).tolist()
    [0.5, 2.0]
    """

    name = "huber"
    from_data = ("scale",)
    corner: float = 1.345
    scale: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("corner", self.corner), ("scale", self.scale)):
            if name == "scale" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise ValueError(f"{name} of Huber must be a positive number, got {value!r}")
            if not (np.isfinite(value) and value > 0):
                raise ValueError(f"{name} of Huber must be positive and finite, got {value!r}")

    @property
    def noise_scale(self) -> float | None:
        """The unit of the corner."""
        return self.scale

    @property
    def edge(self) -> float:
        """The size of residuals, in units of y, beyond which they count as outliers."""
        if self.scale is None:
            raise ValueError(
                "Huber() takes its scale from y: call adapt_to_data(likelihood, y) first"
            )
        return self.corner * self.scale


@log_likelihood.register
def _(likelihood: Huber, y, eta):
    size = np.abs(np.subtract(y, eta))
    inside = np.minimum(size, likelihood.edge)
    return -inside * (size - 0.5 * inside)


@saturated.register
def _(likelihood: Huber, y):
    return 0.0 * y


@inverse_link.register
def _(likelihood: Huber, eta):
    return 1.0 * eta


@gradient.register
def _(likelihood: Huber, y, eta):
    return np.clip(np.subtract(y, eta), -likelihood.edge, likelihood.edge)


@curvature.register
def _(likelihood: Huber, y, eta):
    return np.where(np.abs(np.subtract(y, eta)) <= likelihood.edge, 1.0, 0.0)


@majoriser.register
def _(likelihood: Huber, y, eta):
    return likelihood.edge / np.maximum(np.abs(np.subtract(y, eta)), likelihood.edge)


@conjugate.register
def _(likelihood: Huber, y, slope):
    # What rounding puts beyond the edge is on it.
    possible = np.abs(slope) <= likelihood.edge * (1.0 + 1e-12)
    return np.where(possible, 0.5 * np.square(slope) - slope * y, np.inf)


@adapt_to_data.register
def _(likelihood: Huber, y, weights=None, offset=None):
    if likelihood.scale is not None:
        return likelihood
    left = np.asarray(y, dtype=np.float64) - (0.0 if offset is None else offset)
    weights = np.ones(len(left)) if weights is None else np.asarray(weights, dtype=np.float64)
    away = np.abs(left - _median(left, weights))
    scale = _PER_MEDIAN * _median(away, weights)
    if not scale > 0:  # more than half of all responses are one number
        scale = _PER_MEAN * float(np.average(away, weights=weights)) or 1.0
    return replace(likelihood, scale=scale)


@null_mean.register
def _(likelihood: Huber, y, weights=None):
    weights = np.ones(len(y)) if weights is None else weights
    used = np.asarray(y, dtype=np.float64)[weights > 0]
    lowest, highest = float(used.min()), float(used.max())
    if lowest == highest:
        return lowest

    def pull(mean: float) -> float:
        return float(weights @ gradient(likelihood, y, mean))

    return float(brentq(pull, lowest, highest, xtol=1e-14 * (highest - lowest)))


def _median(values: Floats, weights: Floats) -> float:
    """Return the median of values, each repeated as often as its weight says."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    half = 0.5 * reached[-1]
    lower = np.searchsorted(reached, half * (1.0 - 1e-12))
    upper = np.searchsorted(reached, half * (1.0 + 1e-12), side="right")
    return float(0.5 * (values[order[lower]] + values[order[min(upper, len(order) - 1)]]))


@largest_curvature.register
def _(likelihood: Huber):
    return 1.0
