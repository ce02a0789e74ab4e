"""Concave penalties by a sequence of lassos: each takes the penalty's tangents at the fit before.

A tangent lies above a concave penalty and touches it at the present coefficient, so that the objective
falls with every lasso (Zou & Li 2008). For priors that are scale mixtures this is EM: the tangent's
slope is the E step, the lasso the M step (Murphy 2012, section 13.6.2.1). A fit is stationary for the
concave objective when it solves the lasso of its own tangents; how far it is from that is its
certificate.

Where a penalty is infinitely steep at 0, no variable would ever come in. Such paths start, at every
strength, from a penalty that is blurred by a size added to |w|, which is then taken away step by step
(Chartrand & Yin 2008).
"""

from collections.abc import Generator
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty, Terms
from garrote.penalties.elastic_net import tangent
from garrote.results.certificates import optimality
from garrote.results.fit import PenaltyFit
from garrote.rules import Evaluated, restricted, violation
from garrote.solvers.control import Control
from garrote.solvers.descent.extrapolation import Extrapolation
from garrote.solvers.penalised.working_set_path import (
    Smooth,
    everywhere,
    explains_enough,
    foremost,
    solve_at,
    solved,
    tolerance_at,
)

# The size added to |w|, as shares of the largest coefficient that a variable alone would have.
_BLURS = np.geomspace(1.0, 1e-4, 9)


def solve_reweighted(
    smooth: Smooth, penalty: Penalty, strengths: Floats, terms: Terms, control: Control
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Solve for descending strengths, each from the solution before or from a blurred penalty.

    Yields vectors to be multiplied with X; see `garrote.solvers.lockstep`.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(smooth.curvature > 0, smooth.null.gradient / smooth.curvature, 0.0)
    typical = float(np.abs(alone).max(initial=0.0)) or 1.0
    blurs = typical * _BLURS if penalty.singular else np.zeros(0)
    points = []
    for step, strength in enumerate(strengths):
        rule = penalty.at(float(strength), terms)
        tolerance = tolerance_at(smooth, float(strength), control)
        size = np.zeros(len(smooth.curvature))
        for blur in blurs:
            blurred = tangent(rule, size + blur)
            yield from solve_at(smooth, blurred, tolerance, control.max_iter)
            size = np.abs(everywhere(smooth))
        seen, rounds = yield from solve_tangents(smooth, rule, tolerance, control.max_iter)
        points.append(stationary(smooth, rule, float(strength), seen, rounds + len(blurs)))
        control.report("path", step + 1, len(strengths))
        if explains_enough(smooth, points[-1], control):
            break
    return points


def solve_tangents(
    smooth: Smooth, rule: Any, tolerance: float, max_iter: int
) -> Generator[Floats, Floats, tuple[Evaluated, int]]:
    """Solve lassos of tangents from the present coefficients until they are their own solution."""
    rounds = 0
    while True:
        rounds += _solve_inside(
            smooth, restricted(rule, smooth.columns), tolerance, max_iter - rounds
        )
        seen = yield from smooth.evaluate()
        off = _off(smooth, rule, seen)
        violating = foremost(smooth, np.where(off > tolerance, off, 0.0))
        if not len(violating) or rounds >= max_iter:
            return seen, rounds
        smooth.grow(violating)


def _solve_inside(smooth: Smooth, rule: Any, tolerance: float, max_iter: int) -> int:
    """Solve lassos on the working set until tangents hardly change; return the rounds it took."""
    rounds, lasso = 0, tangent(rule, np.abs(smooth.coef))
    creep, kept = Extrapolation(), smooth.coef != 0
    while True:
        before = smooth.coef.copy()
        rounds += 1 + smooth.solve(lasso, tolerance, max_iter - rounds)
        present = tangent(rule, np.abs(smooth.coef))
        inside = smooth.coef != 0
        # What is 0 stays so, as its own tangent is the steepest; unless a jump went beyond that.
        moving = inside | (lasso.threshold > present.threshold)
        change = np.abs(present.threshold - lasso.threshold)[moving].max(initial=0.0)
        # Where nothing moves any more, as in fits that interpolate, numbers end before the tolerance;
        # but a jump may have led to where the same coefficients are the answer, and tells nothing.
        still = np.array_equal(before, smooth.coef) and not creep.jumped
        if change <= tolerance or rounds >= max_iter or still:
            return rounds
        # Beyond the knee of a flat penalty there is no slope, and nothing to follow.
        steep = inside & (present.threshold > 0) & (lasso.threshold > 0)
        if not np.array_equal(steep, kept):
            creep.restart()
            kept = steep
        ahead = creep.next(np.log(lasso.threshold[steep]), np.log(present.threshold[steep]))
        present.threshold[steep] = np.exp(ahead)
        lasso = present


def stationary(
    smooth: Smooth, rule: Any, strength: float, seen: Evaluated, rounds: int
) -> PenaltyFit:
    """Return the present coefficients with how far they are from solving their own tangents' lasso."""
    largest = float(np.abs(smooth.null.gradient).max(initial=0.0)) or 1.0
    off = float(_off(smooth, rule, seen).max(initial=0.0))
    certificate = optimality(np.nan, off / largest)
    return solved(smooth, strength, seen.loss, certificate, rounds)


def _off(smooth: Smooth, rule: Any, seen: Evaluated) -> Floats:
    """Return each column's violation of the lasso of the present tangents."""
    coef = everywhere(smooth)
    return violation(tangent(rule, np.abs(coef)), seen.gradient, coef, smooth.curvature)
