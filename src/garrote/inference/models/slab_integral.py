"""Integrals over an unknown slab: all of its shapes, variances as far out and fine as it takes.

The trapezoidal rule is exact beyond all powers of its step where the integrand is smooth and vanishes
at both ends. It is taken in t, with log variance = a sinh(t / a): even steps near a variance of 1, and
wider ones far out, where the prior of the variance falls off slowly and little else happens. From a
coarse grid on, it goes outwards until what is left beyond the ends is negligible; then the step is
halved, wherever the integral has a part, until inclusion probabilities stay as they are.

What a model leaves of y counts as no less than its floor, so that the integrand has a corner at the
variance where the best model gets there, with a steep side. The rule is then taken in s with
t = corner + width sinh(s): steps shrink towards the corner, until they resolve the steep side.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from garrote.arrays import Floats
from garrote.priors.base import Slab

# Where steps in log variance begin to widen.
_EVEN = 4.0
# Around a corner: the first step of s, the step outwards, and the last t to begin with beyond it.
_CORNER_STEP, _OUTWARDS, _BEYOND_CORNER = 1.0, 0.5, 4.0
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
# Beside a corner errors fall with the square of the step only.
_SETTLED_BY_CORNER = 1e-4
# A change of the integral by a factor is one of odds by as much, and of a probability by a quarter of
# it: where what models leave of y is at its floor the integrand has a corner, and errors may hide from
# single probabilities.
_ODDS = 0.25
# Shares of the integral are known up to rounding.
_ROUNDING = 1e-12


class Corner(NamedTuple):
    """The log variance at which the integrand has a corner, and how little of it is resolved there."""

    log_variance: float
    width: float


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
    corner: Callable[[Point], Corner | None] = lambda best: None,
) -> tuple[list[Point], float]:
    """Find with slabs of known shape and variance; return those that count, and the error that is left.

    What is found has ``log_total``, the logarithm of what is integrated, and ``inclusion``. The error is
    a bound on that of an inclusion probability: the largest change when the step was halved for the last
    time, many times the error that is left after it; with the shares of the integral beyond the ends,
    and of the points around which the step was not halved. ``corner`` tells where the integrand has a
    corner, if it has one, from the point with the largest part of the integral.
    """
    parts = [
        (log, *_over_variance(shape, find, report, halvings, corner))
        for log, shape in slab.shapes()
    ]
    points = [
        point._replace(log_weight=log + point.log_weight)
        for log, found, _ in parts
        for point in found
    ]
    if len(parts) == 1:
        return points, parts[0][2]
    of_shape = np.repeat(np.arange(len(parts)), [len(found) for _, found, _ in parts])
    share = np.bincount(of_shape, shares(points))
    # The odds of shapes are off by what their own integrals are, beside what is within a shape.
    errors = np.array([error for *_, error in parts])
    return points, float(np.sum(share * (1.0 + (1.0 - share) / _ODDS) * errors))


def _over_variance(
    slab: Slab,
    find: Callable[[Slab], Any],
    report: Callable[[int, int], None] | None,
    halvings: int,
    corner: Callable[[Point], Corner | None],
) -> tuple[list[Point], float]:
    """Integrate over the variance of a slab of known shape."""
    if not slab.variance_is_unknown:
        points = [Point(0.0, slab, find(slab))]
        if report is not None:
            report(1, 1)
        return points, 0.0
    grid = _Grid(slab, find, report)
    points, beyond = _wide_enough(grid)
    at = corner(points[int(np.argmax(shares(points)))])
    if at is not None:
        grid = _Grid(slab, find, report, at)
        points, beyond = _wide_enough(grid)
    change = left_out = np.inf
    for _ in range(halvings):
        before, integral = _inclusion(points), log_sum(points)
        places, left_out = _between(grid.places, shares(points))
        points = grid.weighed(places)
        change = float(np.abs(_inclusion(points) - before).max(initial=0.0))
        grown = abs(log_sum(points) - integral)
        change = max(change, _ODDS * grown)
        enough = _SETTLED if at is None else _SETTLED_BY_CORNER
        if change <= enough and shares(points).max() <= _RESOLVED:
            break
    if report is not None:
        report(len(points), len(points))
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


class _Grid:
    """Places at which variances are tried, and what was found there.

    Without a corner places are t; with one they are s, of which 0 is the corner.
    """

    def __init__(
        self,
        slab: Slab,
        find: Callable[[Slab], Any],
        report: Callable[[int, int], None] | None,
        corner: Corner | None = None,
    ):
        self.slab, self.find, self.report, self.corner = slab, find, report, corner
        self.known: dict[float, Any] = {}

    @property
    def places(self) -> Floats:
        """Where variances were tried, ascending."""
        return np.array(sorted(self.known))

    def first(self) -> list[float]:
        """Return the places of a coarse grid."""
        if self.corner is None:
            return np.arange(_FIRST, _LAST + _STEP, _STEP).tolist()
        middle, width = self._middle, self.corner.width
        low = np.arcsinh((min(_FIRST, middle - _BEYOND_CORNER) - middle) / width)
        high = np.arcsinh((max(_LAST, middle + _BEYOND_CORNER) - middle) / width)
        steps = np.arange(np.ceil(low / _CORNER_STEP), np.floor(high / _CORNER_STEP) + 1)
        return (_CORNER_STEP * steps).tolist()

    def outwards(self, place: float, side: float) -> float | None:
        """Return the next place outwards, below (-1) or above (1); None where that is too far out."""
        other = place + side * (_STEP if self.corner is None else _OUTWARDS)
        return other if abs(self._t(other)) <= _FURTHEST else None

    def weighed(self, places: Sequence[float]) -> list[Point]:
        """Find at places; return all points so far, with the weights of the trapezoidal rule."""
        for place in places:
            if place not in self.known:
                self.known[place] = self.find(self._slab(place))
                if self.report is not None:  # how many there will be is not known
                    self.report(len(self.known), len(self.known) + 1)
        grid = self.places
        logs = self.slab.log_density(self.log_variance(grid)) + np.log(self.widths(grid))
        return [
            Point(float(log), self._slab(place), self.known[place])
            for log, place in zip(logs, grid, strict=True)
        ]

    def log_variance(self, place: Any) -> Any:
        """Return the log variance at a place."""
        return _EVEN * np.sinh(self._t(place) / _EVEN)

    def widths(self, grid: Floats) -> Floats:
        """Return how much of the log variance each place stands for."""
        widths = np.gradient(grid) * np.cosh(self._t(grid) / _EVEN)
        if self.corner is not None:
            widths *= self.corner.width * np.cosh(grid)
        return np.asarray(widths)

    def _slab(self, place: float) -> Slab:
        return self.slab.at(float(np.exp(self.log_variance(place))))

    def _t(self, place: Any) -> Any:
        if self.corner is None:
            return place
        return self._middle + self.corner.width * np.sinh(place)

    @property
    def _middle(self) -> float:
        assert self.corner is not None
        return _EVEN * float(np.arcsinh(self.corner.log_variance / _EVEN))


def _inclusion(points: Sequence[Point]) -> Floats:
    return averaged(points, "inclusion")


def _wide_enough(grid: _Grid) -> tuple[list[Point], float]:
    """Begin with a coarse grid and go on outwards; return also the share that is left beyond."""
    points = grid.weighed(grid.first())
    while True:
        below, above = _beyond(points, grid)
        low, high = grid.places[[0, -1]].tolist()
        lower, higher = grid.outwards(low, -1.0), grid.outwards(high, 1.0)
        if below > _NEGLIGIBLE and lower is not None:
            points = grid.weighed([lower])
        elif above > _NEGLIGIBLE and higher is not None:
            points = grid.weighed([higher])
        else:
            return points, below + above


def _beyond(points: Sequence[Point], grid: _Grid) -> tuple[float, float]:
    """Return bounds on the shares of the integral beyond both ends.

    Towards large variances the integrand falls at least as quickly as the prior, of which the density of
    the logarithm falls with the shape of its Gamma law; towards small ones ever more quickly, so that it
    falls at least as between the last two points.
    """
    log_share = np.log(np.maximum(shares(points), 1e-300))
    u = grid.log_variance(grid.places)
    density = log_share - np.log(grid.widths(grid.places))
    slope = (density[1] - density[0]) / (u[1] - u[0])
    below = np.exp(density[0]) / slope if slope > 0 else np.inf
    above = np.exp(density[-1]) / grid.slab.law[0]
    return float(below), float(above)


def _between(grid: Floats, share: Floats) -> tuple[list[float], float]:
    """Return the places halfway between neighbours of which one has a part, and the others' share."""
    carrying = share > _CARRYING
    gaps = carrying[:-1] | carrying[1:]
    places = [float(t) for t in 0.5 * (grid[:-1] + grid[1:])[gaps]]
    return places, float(share[~carrying].sum())
