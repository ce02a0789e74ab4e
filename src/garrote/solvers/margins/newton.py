"""Newton's method on norm + smooth loss, along lines that are searched.

The objective w'w + sum of cost_n kink(at_n - side_n f_n) is convex and, but for the intercept, strictly
so. A full step is taken where the slope at its end is small beside that at its beginning; where it is
not, the place where the slope vanishes is bracketed. Rows far from every kink bend by nothing that
counts, and are left out of the equations: so the cost of a step is that of the rows near the margin
(Chapelle 2007, whose Eq. 39 in Staines & Barber cannot be solved where no row is near: there the nearest
ones stand in).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.solvers.margins.losses import Lines, Margins
from garrote.solvers.margins.spaces import Point, Space
from garrote.solvers.smoothing.kinks import Kink

# Rows count that bend the objective by this much, where the norm bends it by 2;
_LEAST_CURVATURE = 1e-3
# where none does, those whose distance is within this much of the nearest.
_NEAREST = 1.0 + 1e-6
# A step is as long as it should be where the slope has fallen to this share.
_FLAT_ENOUGH = 0.3
_MOST_TRIALS = 30
# What a step promises counts beyond this share of the objective.
ROUNDING = 1e-13


class Smoothed(NamedTuple):
    """An objective made smooth: where the machine lives, what margins cost, and how wide kinks are."""

    space: Space
    margins: Margins
    kink: Kink
    widths: Floats

    def value(self, point: Point) -> float:
        """Return the smooth objective."""
        smooth = self.margins.smooth_value(point.f, self.kink, self.widths)
        return self.space.norm(point) + smooth

    def surplus(self, point: Point) -> float:
        """Return by how much the smooth loss is above the loss."""
        f = point.f
        smooth = self.margins.smooth_value(f, self.kink, self.widths)
        return max(smooth - self.margins.value(f), 0.0)


class Step(NamedTuple):
    """A Newton step: where it ends, the pulls there, what it promised to gain, how much of it was made.

    Pulls are those of which the coefficients are made, w = sum of pull_n phi(x_n) / 2. A step that leads
    uphill promises less than nothing, and none of it is made.
    """

    point: Point
    pull: Floats
    promised: float
    share: float


def step(smoothed: Smoothed, point: Point, pull: Floats, places: Floats) -> Step:
    """Make one Newton step from a point and its pulls.

    Every row's loss gives way to a line at its place: Newton's method has them at what the machine says.
    """
    lines = smoothed.margins.lines(places, smoothed.kink, smoothed.widths)
    aim = smoothed.space.newton(point, lines, _curved(smoothed, lines))
    there, promised, share = _along(smoothed, point, aim.point)
    # A step that gains nothing ends where it begins, but for rounding: its pulls are the better ones.
    level = abs(promised) <= ROUNDING * smoothed.value(point)
    ahead = aim.pull if level or share == 1.0 else pull + share * (aim.pull - pull)
    return Step(there, ahead, abs(promised) if level else promised, share)


def _curved(smoothed: Smoothed, lines: Lines) -> Array:
    """Return the rows that curve; where none does, the nearest are made to, as if at their kinks."""
    curved = np.flatnonzero(lines.curvature * smoothed.space.lengths > _LEAST_CURVATURE)
    if len(curved):
        return curved
    margins, widths = smoothed.margins, smoothed.widths
    most = margins.cost * smoothed.kink.curvature(np.zeros(len(widths)), widths)
    curved = np.flatnonzero(lines.curvature > _LEAST_CURVATURE * most)
    if len(curved):  # rows so short that they bend the intercept alone
        return curved
    distance = margins.distance(lines.places) / widths
    curved = np.flatnonzero(distance <= _NEAREST * distance.min())
    lines.curvature[curved] = most[curved]
    return curved


def _along(smoothed: Smoothed, start: Point, aim: Point) -> tuple[Point, float, float]:
    """Return the point of the line from start to aim where the objective is least, about."""
    space, margins = smoothed.space, smoothed.margins
    change = Point(
        aim.coef - start.coef, aim.fitted - start.fitted, aim.intercept - start.intercept
    )
    moved, f = change.f, start.f
    tilt, growth = 2.0 * space.inner(start, change), 2.0 * space.norm(change)

    def slope(share: float) -> float:
        reached = margins.pull(f + share * moved, smoothed.kink, smoothed.widths)
        return tilt + share * growth - float(reached @ moved)

    first = slope(0.0)
    if not first < 0.0:
        return start, -0.5 * first, 0.0
    share = _level_share(slope, first)
    if share == 1.0:
        return aim, -0.5 * first, 1.0
    there = Point(
        start.coef + share * change.coef,
        start.fitted + share * change.fitted,
        start.intercept + share * change.intercept,
    )
    return there, -0.5 * first, share


def _level_share(slope: Callable[[float], float], first: float) -> float:
    """Return how far along a line its slope, negative at 0, has vanished, or 1 where it need not."""
    low, high, at_low, at_high = 0.0, 1.0, first, slope(1.0)
    if at_high <= -_FLAT_ENOUGH * first:
        return 1.0
    share = 1.0
    for _ in range(_MOST_TRIALS):
        share = low + (high - low) * at_low / (at_low - at_high)
        found = slope(share)
        if abs(found) <= -_FLAT_ENOUGH * first:
            break
        if found < 0.0:
            # Halving the other end's value keeps one end from standing still (the Illinois rule).
            low, at_low, at_high = share, found, 0.5 * at_high
        else:
            high, at_high, at_low = share, found, 0.5 * at_low
    return share
