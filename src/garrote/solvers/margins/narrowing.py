"""Widths that shrink: Newton steps at a width until it is what keeps the machine from the best.

Kinks begin about as wide as margins are, and are made narrower by a factor whenever what a step promises
is small beside what the smooth loss has too much (Staines & Barber's shrinking variance, section 3.2).
With many rows a part of them comes first, and then more, at the width that the part has reached: the
rows near the margin, which Newton's equations are about, are few from there on (Chapelle 2007).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.solvers.margins.duality import Gap, allowed, gap
from garrote.solvers.margins.losses import Margins
from garrote.solvers.margins.newton import Smoothed, Step, step
from garrote.solvers.margins.spaces import Point, Space
from garrote.solvers.smoothing.kinks import Kink

# A width is done with when a step promises this share of what the smooth loss has too much.
_DONE_WITH = 0.3
# ... or this share, where the next width turned out to be far from it.
_EXACT = 1e-3
# Where a last width is given, a whole step there must promise less than this share of the tolerance.
_LEVEL = 0.01
# A first step that is cut to less than this share came from too wide a width: the factor is moved
# halfway to 1, up to this; and back again where steps are whole.
_SHORT, _SLOWEST, _BOLDER = 0.03, 0.95, 2.0
# A step of lines at the pulls that is cut to this share is compared with one of Newton's own.
_WHOLE_ENOUGH = 0.7
# So many short steps in a row lead nowhere either.
_STUCK = 6
# The first part has at most so many rows; every next part this many times as many.
_FIRST_PART, _MORE = 1000, 4
# A part of the rows is solved to this gap.
_GAP_OF_PARTS = 0.1
# Below this share of the first width double precision has nothing more to tell kinks by.
_NARROWEST = 1e-10


@dataclass(frozen=True)
class Narrowing:
    """How widths shrink.

    Attributes
    ----------
    first : float, optional
        The first width; None takes how far rows are from their kinks at the start.
    factor : float
        What a width is multiplied by when it is done with.
    last : float, optional
        The width at whose optimum to end; None ends at the gap ``tol``, however narrow that is.
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at most.
    """

    first: float | None = None
    factor: float = 0.2
    last: float | None = None
    tol: float = 1e-4
    max_iter: int = 300


class Trained(NamedTuple):
    """A machine and its pulls, the width at which it was found, its gap, and the steps made.

    It has ``converged`` where the gap is small, or where the optimum of a given last width is reached.
    """

    point: Point
    pull: Floats
    width: float
    gap: Gap
    steps: int
    converged: bool


def train(
    space: Space,
    margins: Margins,
    kink: Kink,
    scales: Floats,
    narrowing: Narrowing,
    report: Callable[[int, float], None] | None = None,
) -> Trained:
    """Minimise w'w + the loss of margins.

    Parameters
    ----------
    space : Space
    margins : Margins
    kink : Kink
    scales : array of shape (N,)
        Widths of the rows are this times the width.
    narrowing : Narrowing
    report : callable, optional
        Told the number of steps and the gap whenever a width is done with.
    """
    count = len(margins.cost)
    start = space.start(margins.best_intercept(np.zeros(count)))
    width = narrowing.first
    if width is None:
        width = _typical(margins.distance(start.f), margins.cost) / _typical(scales, margins.cost)
    width = max(width, narrowing.last or 0.0)
    runner = _Runner(kink, narrowing, width, report or (lambda steps, gap: None))
    coarse = replace(runner, narrowing=replace(narrowing, last=None, tol=_GAP_OF_PARTS))
    for rows in _parts(count) if space.by_rows else []:
        part = space.among(rows)
        beginning = part.start(start.intercept)
        found = coarse.run(part, margins.among(rows), scales[rows], beginning, width)
        start, width = space.widen(found.point, rows), max(found.width, narrowing.last or 0.0)
    return runner.run(space, margins, scales, start, width)


def _typical(values: Floats, cost: Floats) -> float:
    """Return a positive mean of values, rows counting as much as they cost."""
    found = float(values @ cost / cost.sum())
    return found if found > 0 else 1.0


def _parts(count: int) -> list[Array]:
    """Return the parts of many rows that come first, as positions; none where there are few."""
    order, sizes, size = np.random.default_rng(0).permutation(count), [], count
    while size > _FIRST_PART:
        size //= _MORE
        sizes.append(size)
    return [np.sort(order[:size]) for size in reversed(sizes)]


class _Solved(NamedTuple):
    """Where a width that is done with has ended."""

    point: Point
    pull: Floats
    width: float


@dataclass(frozen=True)
class _Runner:
    """Newton steps at widths that shrink, on all rows or a part of them."""

    kink: Kink
    narrowing: Narrowing
    widest: float
    report: Callable[[int, float], None]

    def run(
        self, space: Space, margins: Margins, scales: Floats, point: Point, width: float
    ) -> Trained:
        """Make steps until the gap is small, the width as narrow as it may be, or all are made."""
        factor, pull, share = self.narrowing.factor, space.pull_of(point), _DONE_WITH
        solved, best, fresh, begun, short = None, None, True, False, 0
        for made in range(1, self.narrowing.max_iter + 1):
            smoothed = Smoothed(space, margins, self.kink, width * scales)
            reached = self._step(smoothed, point, pull, begun)
            last = made == self.narrowing.max_iter
            short = short + 1 if reached.share < _SHORT else 0
            if not last and ((short and fresh) or short >= _STUCK):
                short = 0
                if solved is not None and factor < _SLOWEST:
                    point, pull, width = solved.point, solved.pull, solved.width
                    if share > _EXACT:  # solve the width before better
                        share, fresh = _EXACT, False
                    else:
                        factor **= 0.5
                        width *= factor
                    continue
                if solved is None and width < self.widest:
                    width = min(width / self.narrowing.factor, self.widest)
                    continue
            fresh, begun, point, pull = False, True, reached.point, reached.pull
            done = self._is_done_with(smoothed, reached, width, share)
            if not (last or done):
                continue
            found = self._state(smoothed, reached, width, made)
            self.report(made, found.gap.relative)
            if self.narrowing.last is not None:
                best = found._replace(converged=done and width == self.narrowing.last)
            elif best is None or found.gap.relative < best.gap.relative:
                best = found
            if best.converged or last or width <= _NARROWEST * self.widest:
                return best._replace(steps=made)
            solved, fresh = _Solved(point, pull, width), True
            if reached.share == 1.0:
                factor, share = max(factor**_BOLDER, self.narrowing.factor), _DONE_WITH
            width = max(width * factor, self.narrowing.last or 0.0)
        raise AssertionError("the last step returns")

    def _step(self, smoothed: Smoothed, point: Point, pull: Floats, begun: bool) -> Step:
        """Make a step by lines where the pulls are, and where that is cut short Newton's, if better."""
        f = point.f
        places = smoothed.margins.places(pull, f, self.kink, smoothed.widths) if begun else f
        reached = step(smoothed, point, pull, places)
        if not begun or reached.share > _WHOLE_ENOUGH:
            return reached
        other = step(smoothed, point, pull, f)
        values = (smoothed.value(reached.point), smoothed.value(other.point))
        return other if values[1] < values[0] else reached

    def _is_done_with(self, smoothed: Smoothed, reached: Step, width: float, share: float) -> bool:
        """Tell whether more steps at this width would gain little that counts."""
        if width != self.narrowing.last:
            return reached.promised <= share * smoothed.surplus(reached.point)
        # Steps that are cut short may promise little wherever they are.
        slight = _LEVEL * self.narrowing.tol * smoothed.value(reached.point)
        return reached.share == 1.0 and reached.promised <= slight

    def _state(self, smoothed: Smoothed, reached: Step, width: float, made: int) -> Trained:
        """Return the machine that is stated, with the best intercept, and its gap."""
        space, margins = smoothed.space, smoothed.margins
        pull = allowed(margins, reached.pull)
        stated = space.stated(reached.point, pull)
        stated = stated._replace(intercept=margins.best_intercept(stated.fitted))
        found = gap(space, margins, stated, pull)
        return Trained(stated, pull, width, found, made, found.relative <= self.narrowing.tol)
