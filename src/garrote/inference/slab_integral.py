"""Integrals over an unknown slab variance: as far out as there is weight, as fine as it takes.

The trapezoidal rule on the logarithm of the variance is evaluated on a coarse grid, further out until
the ends do not matter, and between the points that carry the integral until inclusion probabilities stay
as they are. What lies far out has the empty model and its like, which do not depend on the variance.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Floats
from garrote.priors.slab import GaussianSlab, Slab

# The first grid in logarithms: how far to both sides at least and at most, and its step.
_FIRST, _FURTHEST, _STEP = 6.0, 60.0, 2.0
# An end with less than this share of the integral is far enough out.
_NEGLIGIBLE = 1e-4
# Points with more than this share get neighbours halfway, so often at most ...
_CARRYING = 0.01
_HALVINGS = 3
# ... as long as a probability changes by more than this.
_SETTLED = 1e-3


class Point(NamedTuple):
    """One variance: the log weight of its slab, and what was found with it."""

    log_weight: float
    slab: Slab
    part: Any


def integrate_over_slab(
    slab: Slab, find: Callable[[Slab], Any], report: Callable[[int, int], None] | None = None
) -> tuple[list[Point], float]:
    """Find with slabs of known variance; return those that count, and the last change.

    What is found has ``log_total``, the logarithm of what is integrated, and ``inclusion``. The change
    is the largest one of an inclusion probability when points were added for the last time.
    """
    if not isinstance(slab, GaussianSlab) or slab.variance is not None:
        points = [Point(0.0, slab, find(slab))]
        if report is not None:
            report(1, 1)
        return points, 0.0
    known: dict[float, Any] = {}

    def weighed(places: Sequence[float]) -> list[Point]:
        for u in places:
            if u not in known:
                known[u] = find(replace(slab, variance=float(np.exp(u))))
                if report is not None:  # how many there will be is not known
                    report(len(known), len(known) + 1)
        grid = np.array(sorted(known))
        logs = slab.log_density(grid) + np.log(np.gradient(grid))
        return [
            Point(float(log), replace(slab, variance=float(np.exp(u))), known[u])
            for log, u in zip(logs, grid, strict=True)
        ]

    points = _wide_enough(weighed, known)
    change = np.inf
    for _ in range(_HALVINGS):
        before = _inclusion(points)
        points = weighed(_between(np.array(sorted(known)), shares(points)))
        change = float(np.abs(_inclusion(points) - before).max(initial=0.0))
        if change <= _SETTLED:
            break
    if report is not None:
        report(len(known), len(known))
    return points, change


def shares(points: Sequence[Point]) -> Floats:
    """Return the part of the integral that each point has."""
    logs = np.array([point.log_weight + point.part.log_total for point in points])
    return np.asarray(np.exp(logs - logsumexp(logs)))


def log_sum(points: Sequence[Point]) -> float:
    """Return the logarithm of the integral."""
    return float(logsumexp([point.log_weight + point.part.log_total for point in points]))


def averaged(points: Sequence[Point], name: str) -> Floats:
    """Return an average over the points of what was found with them, by its name."""
    each = zip(shares(points), points, strict=True)
    return np.asarray(sum(share * getattr(point.part, name) for share, point in each))


def _inclusion(points: Sequence[Point]) -> Floats:
    return averaged(points, "inclusion")


def _wide_enough(
    weighed: Callable[[Sequence[float]], list[Point]], known: dict[float, Any]
) -> list[Point]:
    """Begin with a coarse grid and go on outwards while an end has weight."""
    points = weighed(np.arange(-_FIRST, _FIRST + _STEP, _STEP).tolist())
    while True:
        share, low, high = shares(points), min(known), max(known)
        if share[0] > _NEGLIGIBLE and low > -_FURTHEST:
            points = weighed([low - _STEP])
        elif share[-1] > _NEGLIGIBLE and high < _FURTHEST:
            points = weighed([high + _STEP])
        else:
            return points


def _between(grid: Floats, share: Floats) -> list[float]:
    """Return the places halfway between neighbours of which one carries the integral."""
    carrying = share > _CARRYING
    gaps = np.flatnonzero(carrying[:-1] | carrying[1:])
    return [float(u) for u in 0.5 * (grid[gaps] + grid[gaps + 1])]
