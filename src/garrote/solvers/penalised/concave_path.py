"""Paths of penalties that are not convex: from strong to weak, and back.

Which of several optima is found depends on where a fit starts. On the way down it starts from a sparser
one, on the way back from a denser one, which has let in what the way down may have missed; at every
strength the lower objective is kept. So that there is a way back to the last strength too, the way down
goes a few steps beyond it.
"""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty, Terms
from garrote.results.fit import PenaltyFit
from garrote.rules import restricted, total_cost
from garrote.solvers.control import Control
from garrote.solvers.penalised.idle_columns import let_go
from garrote.solvers.penalised.minimising import sharpness
from garrote.solvers.penalised.working_set_path import (
    Smooth,
    certified,
    explains_enough,
    solve_at,
    solve_path,
    tolerance_at,
)

# Steps beyond the last strength, each to this share of the one before; where columns have to be looked
# for, a long step would take very many of them in.
_BEYOND, _SHARE, _SHARE_WIDE = 3, 0.7, 0.9
# A gap that is small enough for them, and rounds that are enough: they are but a start.
_ROUGH, _ROUNDS = 0.01, 200
# They end where so much of the deviance is explained: beyond it a fit but follows the data.
_ENOUGH = 0.999
# So few columns are all in the working set from the start. What is swept with what, and in which order,
# decides between optima; columns that join late find the others settled.
_FEW = 200
# Objectives are lower by this share at least, and coefficients differ by this share of the largest.
_LOWER, _SAME = 1e-9, 1e-6


def solve_concave_path(
    smooth: Smooth, penalty: Penalty, strengths: Floats, terms: Terms, control: Control
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Solve for descending strengths, each from the sparser and from the denser fit beside it.

    Yields vectors to be multiplied with X; see `garrote.solvers.lockstep`.
    """
    if len(smooth.curvature) <= _FEW:
        smooth.grow(np.flatnonzero(smooth.curvature > 0))
    points = yield from solve_path(smooth, penalty, strengths, terms, control)
    turning = yield from _beyond(smooth, penalty, points[-1], terms, control)
    both = yield from _way_back(smooth, penalty, points + turning, terms, control)
    return both[: len(points)]


def _beyond(
    smooth: Smooth, penalty: Penalty, last: PenaltyFit, terms: Terms, control: Control
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Go on to weaker penalties than were asked for, and back; return the fit next to the last.

    It is where the way back starts from, and no answer.
    """
    quiet = replace(
        control, callback=None, stop_at=control.stop_at or _ENOUGH, tol=max(control.tol, _ROUGH),
        max_iter=min(control.max_iter, _ROUNDS),
    )  # fmt: skip
    if last.strength == 0 or explains_enough(smooth, last, quiet):
        return []
    share = _SHARE if len(smooth.curvature) <= _FEW else _SHARE_WIDE
    weaker = np.array([last.strength * share**step for step in range(1, _BEYOND + 1)])
    further = yield from solve_path(smooth, penalty, weaker, terms, quiet)
    return (yield from _way_back(smooth, penalty, further, terms, quiet))[:1]


def _way_back(
    smooth: Smooth, penalty: Penalty, points: list[PenaltyFit], terms: Terms, control: Control
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Solve once more for all strengths but the last, each from the weaker one; keep what is lower."""
    kept = points[-1:]
    for point in points[-2::-1]:
        rule = penalty.at(point.strength, terms)
        tolerance = tolerance_at(smooth, point.strength, control, sharpness(rule))
        _gather(smooth, kept[-1], point)
        _place(smooth, kept[-1])
        inside = restricted(rule, smooth.columns)
        rounds = 1 + smooth.solve(inside, tolerance, control.max_iter)
        if _is_at(smooth, point):  # a look at all columns would tell nothing new
            kept.append(point)
        else:
            seen, more = yield from solve_at(smooth, rule, tolerance, control.max_iter)
            other = certified(smooth, rule, point.strength, seen, rounds + more)
            kept.append(_lower(rule, point, other, control.tol))
        control.report("way back", len(kept), len(points))
    return kept[::-1]


def _gather(smooth: Smooth, *points: PenaltyFit) -> None:
    """Make the working set hold the columns of some solutions, and not many that are idle."""
    needed = np.zeros(len(smooth.curvature), dtype=bool)
    needed[np.concatenate([point.columns for point in points])] = True
    smooth.coef[~needed[smooth.columns]] = 0.0
    let_go(smooth, needed)
    smooth.grow(np.flatnonzero(needed & ~smooth.inside))


def _place(smooth: Smooth, point: PenaltyFit) -> None:
    """Go to a solution that was found before."""
    everywhere = np.zeros(len(smooth.curvature))
    everywhere[point.columns] = point.coef
    smooth.coef[:] = everywhere[smooth.columns]
    smooth.intercept = np.copy(point.intercept)[()]


def _is_at(smooth: Smooth, point: PenaltyFit) -> bool:
    """Tell whether the present coefficients are those of a solution."""
    there = np.zeros(len(smooth.curvature))
    there[point.columns] = point.coef
    far = np.abs(smooth.coef - there[smooth.columns]).max(initial=0.0)
    return bool(far <= _SAME * np.abs(there).max(initial=0.0))


def _lower(rule: Any, point: PenaltyFit, other: PenaltyFit, tol: float) -> PenaltyFit:
    """Return the solution of lower objective; the first unless the other is as well certified."""
    first, second = (one.loss + total_cost(rule, one.columns, one.coef) for one in (point, other))
    sure = other.certificate.value <= max(tol, point.certificate.value)
    return other if sure and second < first * (1.0 - _LOWER) else point
