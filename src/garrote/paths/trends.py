"""One signal made a polynomial over pieces: trend filtering with weights, gaps and unequal places."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.paths.signals import masses
from garrote.proximal.inputs import as_strength
from garrote.proximal.tied.trend_differences import check_order, check_positions
from garrote.proximal.tied.trend_newton import Trend, objective, solve_trend
from garrote.summaries import Shown


@dataclass(frozen=True, eq=False, repr=False)
class TrendSignal(Shown):
    """A signal that is a polynomial over pieces, and how far it is from the optimum.

    Attributes
    ----------
    values : array
        Of the shape of the signal, without gaps.
    bends : array of int
        Places where it bends: the last that belong to the piece before (order 0), or the corners.
    gap : float
        The duality gap, divided by the objective of the best polynomial.
    """

    values: Floats
    bends: Array
    gap: float

    @property
    def n_pieces(self) -> int:
        """How many pieces there are."""
        return len(self.bends) + 1


def filter_trend(
    y: Any,
    strength: float,
    order: int = 1,
    positions: Any = None,
    sample_weight: Any = None,
) -> TrendSignal:
    """Make a signal a polynomial over pieces, where it may have gaps, weights and unequal distances.

    ::

        argmin_z sum_i sample_weight_i (y_i - z_i)^2 / 2 + strength sum_i |(D z)_i|

    D are the differences of order + 1: of neighbours (0), of slopes (1), of curvatures (2). With places
    at unequal distances these are divided differences, in units of the mean distance. Where y is
    NaN nothing is known: the piece goes on through the place. In linear time but for the last step, a
    regression on as many columns as there are bends.

    Parameters
    ----------
    y : array of shape (N,)
    strength : float
    order : {0, 1, 2}, default=1
    positions : array of shape (N,), optional
        In rising order.
    sample_weight : array of shape (N,), optional

    Notes
    -----
    Numbers end before long signals of order 2 do: beyond some 2000 places under strong smoothing the
    gap says that the optimum was not reached.

    References
    ----------
    Kim, S.-J., Koh, K., Boyd, S. & Gorinevsky, D. (2009). l1 trend filtering. SIAM Review 51, 339-360.
    Tibshirani, R. J. (2014). Adaptive piecewise polynomial estimation via trend filtering. Annals of
    Statistics 42, 285-323.

    Examples
    --------
    >>> from garrote.paths.trends import filter_trend
    >>> found = filter_trend([0.0, 1.1, 1.9, 3.0, 2.1, 0.9, 0.1], 0.3)
    >>> found.values.round(2).tolist()
    [0.13, 1.04, 1.94, 2.85, 1.95, 1.05, 0.15]
    >>> found.bends.tolist()
    [3]
    """
    values = np.asarray(y, dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"y must be a signal, got an array of shape {values.shape}")
    order = check_order(order)
    trend = Trend.at(check_positions(positions, len(values), order), order)
    mass = masses(values, sample_weight)
    if np.count_nonzero(mass) <= order:
        raise ValueError(f"y has {np.count_nonzero(mass)} numbers: a polynomial needs {order + 1}")
    limits = np.full(trend.matrix.shape[0], as_strength(strength))
    return _filtered(trend, mass, values, limits)


def _filtered(trend: Trend, mass: Floats, values: Floats, limits: Floats) -> TrendSignal:
    """Describe the signal of the lowest objective."""
    known = np.where(mass > 0, values, 0.0)
    centre = float(mass @ known / mass.sum())  # numbers far from 0 lose no digits
    pull = mass * np.where(mass > 0, known - centre, 0.0)
    found, bends = solve_trend(trend, mass, pull, limits)
    gap = _gap(trend, mass, pull, limits, found)
    return TrendSignal(found + centre, bends + (trend.order + 1) // 2, gap)


def _gap(trend: Trend, mass: Floats, pull: Floats, limits: Floats, found: Floats) -> float:
    """Return how much lower the objective could be, as a share of that of the best polynomial.

    The dual point u, cut to its limits, makes a bound of a quadratic that is known where there is mass.
    """
    force = np.clip(trend.forces(pull - mass * found), -limits, limits)
    rest = pull - trend.matrix.T @ force
    lost = mass <= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = -0.5 * float(np.where(lost, 0.0, rest**2 / mass).sum())
    # Where nothing is known the dual would have to be 0; values there are taken to be in reach.
    bound -= 10.0 * float(np.abs(found).max(initial=0.0) * np.abs(rest[lost]).sum())
    straight = solve_trend(trend, mass, pull, 1e300 * np.ones(len(limits)))[0]
    unit = objective(trend, mass, pull, 0 * limits, straight)
    best = 0.5 * float(np.where(lost, 0.0, pull**2 / np.where(lost, 1.0, mass)).sum())
    reached = objective(trend, mass, pull, limits, found)
    return max(reached - bound, 0.0) / max(unit + best, np.finfo(float).eps * best, 1e-300)
