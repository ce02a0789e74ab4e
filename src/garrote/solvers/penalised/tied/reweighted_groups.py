"""Concave functions of groups' norms by a sequence of group lassos: each has the tangents at the last.

A tangent lies above a concave function and touches it, so that the objective falls with every group
lasso (Zou & Li 2008, of norms in place of sizes). A fit is stationary when it solves its own.
"""

from collections.abc import Generator
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty, Terms
from garrote.results.certificates import optimality
from garrote.results.fit import PenaltyFit
from garrote.rules import violation
from garrote.solvers.control import Control
from garrote.solvers.penalised.working_set_path import (
    Smooth,
    everywhere,
    explains_enough,
    solve_at,
    solved,
    tolerance_at,
)


def solve_group_tangents(
    smooth: Smooth, penalty: Penalty, strengths: Floats, terms: Terms, control: Control
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Solve for descending strengths, each from the solution before.

    Yields vectors to be multiplied with X; see `garrote.solvers.lockstep`.
    """
    points: list[PenaltyFit] = []
    largest = float(np.abs(smooth.null.gradient).max(initial=0.0)) or 1.0
    for step, strength in enumerate(strengths):
        rule: Any = penalty.at(float(strength), terms)
        tolerance, rounds = tolerance_at(smooth, float(strength), control), 0
        while True:
            touching = rule.touching(everywhere(smooth))
            seen, more = yield from solve_at(smooth, touching, tolerance, control.max_iter)
            rounds += more
            coef = everywhere(smooth)
            off = violation(rule, seen.gradient, coef, smooth.curvature).max(initial=0.0)
            if off <= tolerance or rounds >= control.max_iter:
                break
        certificate = optimality(np.nan, float(off) / largest)
        points.append(solved(smooth, float(strength), seen.loss, certificate, rounds))
        control.report("path", step + 1, len(strengths))
        if explains_enough(smooth, points[-1], control):
            break
    return points
