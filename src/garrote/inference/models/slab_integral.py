"""Integrals over an unknown slab variance: as far out as there is weight, as fine as it takes.

The trapezoidal rule is exact beyond all powers of its step where the integrand is smooth and vanishes
at both ends. It is taken in t, with log variance = a sinh(t / a): even steps near a variance of 1, and
wider ones far out, where the prior of the variance falls off slowly and little else happens. From a
coarse grid on, it goes outwards until what is left beyond the ends is negligible; then the step is
halved, wherever the integral has a part, until inclusion probabilities stay as they are.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from garrote.arrays import Floats
from garrote.priors.base import Slab

# Where steps in log variance begin to widen.
_EVEN = 4.0
# The first grid of t: its ends, its step, and how far out it may go.
_FIRST, _LAST, _STEP, _FURTHEST = -4.0, 6.0, 2.0, 16.0
# Ends are far enough out that have less than this share of the integral beyond them.
_NEGLIGIBLE = 1e-4
# Points with more than this share get neighbours halfway ...
_CARRYING = 1e-5
# ... as long as a probability changes by more than this, or a point has more than this share: a peak of
# Gaussian shape is then integrated to 1e-5.
_SETTLED = 7e-4
_RESOLVED = 0.5
# A change of the integral by a factor is one of odds by as much, and of a probability by a quarter of
# it: where what models leave of y is at its floor the integrand has a corner, and errors may hide from
# single probabilities.
_ODDS = 0.25
# Shares of the integral are known up to rounding.
_ROUNDING = 1e-12


class Point(NamedTuple):
    """One variance: the log weight of its slab, and what was found with it."""

    log_weight: float
    slab: Slab
    part: Any


def integrate_over_slab(
    slab: Slab,
    find: Callable[[Slab], Any],
    report: Callable[[int, int], None] | None = None,
    halvings: int = 6,
) -> tuple[list[Point], float]:
    """Find with slabs of known variance; return those that count, and the error that is left.

    What is found has ``log_total``, the logarithm of what is integrated, and ``inclusion``. The error is
    a bound on that of an inclusion probability: the largest change when the step was halved for the last
    time, many times the error that is left after it; with the shares of the integral beyond the ends,
    and of the points around which the step was not halved.
    """
    if not slab.variance_is_unknown:
        points = [Point(0.0, slab, find(slab))]
        if report is not None:
            report(1, 1)
        return points, 0.0
    known: dict[float, Any] = {}

    def weighed(places: Sequence[float]) -> list[Point]:
        for t in places:
            if t not in known:
                known[t] = find(slab.at(float(np.exp(_log_variance(t)))))
                if report is not None:  # how many there will be is not known
                    report(len(known), len(known) + 1)
        grid = np.array(sorted(known))
        logs = slab.log_density(_log_variance(grid)) + np.log(np.gradient(grid))
        logs += np.log(np.cosh(grid / _EVEN))
        return [
            Point(float(log), slab.at(float(np.exp(_log_variance(t)))), known[t])
            for log, t in zip(logs, grid, strict=True)
        ]

    points, beyond = _wide_enough(weighed, known, slab)
    change = left_out = np.inf
    for _ in range(halvings):
        before, integral = _inclusion(points), log_sum(points)
        places, left_out = _between(np.array(sorted(known)), shares(points))
        points = weighed(places)
        change = float(np.abs(_inclusion(points) - before).max(initial=0.0))
        grown = abs(log_sum(points) - integral)
        change = max(change, _ODDS * grown)
        if change <= _SETTLED and shares(points).max() <= _RESOLVED:
            break
    if report is not None:
        report(len(known), len(known))
    return points, change + beyond + left_out + _ROUNDING


def shares(points: Sequence[Point]) -> Floats:
    """Return the part of the integral that each point has."""
    logs = np.array([point.log_weight + point.part.log_total for point in points])
    # Which divides by their own sum: with logs of 1e16 that of it has no digits left.
    return np.asarray(softmax(logs))


def log_sum(points: Sequence[Point]) -> float:
    """Return the logarithm of the integral."""
    return float(logsumexp([point.log_weight + point.part.log_total for point in points]))


def averaged(points: Sequence[Point], name: str) -> Floats:
    """Return an average over the points of what was found with them, by its name."""
    each = zip(shares(points), points, strict=True)
    return np.asarray(sum(share * getattr(point.part, name) for share, point in each))


def _log_variance(t: Any) -> Any:
    return _EVEN * np.sinh(t / _EVEN)


def _inclusion(points: Sequence[Point]) -> Floats:
    return averaged(points, "inclusion")


def _wide_enough(
    weighed: Callable[[Sequence[float]], list[Point]], known: dict[float, Any], slab: Slab
) -> tuple[list[Point], float]:
    """Begin with a coarse grid and go on outwards; return also the share that is left beyond."""
    points = weighed(np.arange(_FIRST, _LAST + _STEP, _STEP).tolist())
    while True:
        below, above = _beyond(points, np.array(sorted(known)), slab)
        low, high = min(known), max(known)
        if below > _NEGLIGIBLE and low > -_FURTHEST:
            points = weighed([low - _STEP])
        elif above > _NEGLIGIBLE and high < _FURTHEST:
            points = weighed([high + _STEP])
        else:
            return points, below + above


def _beyond(points: Sequence[Point], grid: Floats, slab: Slab) -> tuple[float, float]:
    """Return bounds on the shares of the integral beyond both ends.

    Towards large variances the integrand falls at least as quickly as the prior, of which the density of
    the logarithm falls with the shape of its Gamma law; towards small ones ever more quickly, so that it
    falls at least as between the last two points.
    """
    log_share = np.log(np.maximum(shares(points), 1e-300))
    u = _log_variance(grid)
    density = log_share - np.log(np.gradient(grid) * np.cosh(grid / _EVEN))
    slope = (density[1] - density[0]) / (u[1] - u[0])
    below = np.exp(density[0]) / slope if slope > 0 else np.inf
    above = np.exp(density[-1]) / slab.law[0]
    return float(below), float(above)


def _between(grid: Floats, share: Floats) -> tuple[list[float], float]:
    """Return the places halfway between neighbours of which one has a part, and the others' share."""
    carrying = share > _CARRYING
    gaps = carrying[:-1] | carrying[1:]
    places = [float(t) for t in 0.5 * (grid[:-1] + grid[1:])[gaps]]
    return places, float(share[~carrying].sum())
