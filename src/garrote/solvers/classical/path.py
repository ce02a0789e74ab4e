"""Paths by the classical solvers: every strength starts from the one before, and all are certified."""

from collections.abc import Generator

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty, Terms
from garrote.problem import Problem
from garrote.results.fit import PenaltyFit
from garrote.solvers.classical.first_order import ClassicalSolver, Goal, make_steps
from garrote.solvers.classical.fista import Fista
from garrote.solvers.classical.ista import Ista
from garrote.solvers.classical.iterated_ridge import IteratedRidge
from garrote.solvers.classical.projected_gradient import ProjectedGradient
from garrote.solvers.classical.scale_mixture_em import ScaleMixtureEM
from garrote.solvers.classical.shooting import Shooting
from garrote.solvers.classical.sparsa import Sparsa
from garrote.solvers.classical.subgradient import Subgradient
from garrote.solvers.control import Control
from garrote.solvers.losses.whole_loss import whole_loss
from garrote.solvers.penalised.working_set_path import explains_enough, solved
from garrote.solvers.smoothing.newton import RootSmoothing, SigmoidSmoothing, Smoothing

# A new solver is a new row here.
CLASSICAL_SOLVERS: dict[str, type[ClassicalSolver]] = {
    "ista": Ista,
    "fista": Fista,
    "sparsa": Sparsa,
    "projected_gradient": ProjectedGradient,
    "em": ScaleMixtureEM,
    "iterated_ridge": IteratedRidge,
    "subgradient": Subgradient,
    "shooting": Shooting,
    "smoothing": Smoothing,
    "sigmoid": SigmoidSmoothing,
    "root": RootSmoothing,
}


def solve_classically(
    name: str,
    problem: Problem,
    penalty: Penalty,
    strengths: Floats,
    terms: Terms,
    control: Control,
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Solve for descending strengths by the method of some name.

    Yields vectors to be multiplied with X; see `garrote.solvers.lockstep`.
    """
    open_ended = np.isinf(terms.lower) & np.isinf(terms.upper)
    out = (terms.lower == 0.0) & (terms.upper == 0.0)
    if not CLASSICAL_SOLVERS[name].has_bounds and not (open_ended | out).all():
        others = [repr(other) for other, method in CLASSICAL_SOLVERS.items() if method.has_bounds]
        raise ValueError(
            f"solver {name!r} has no bounds on coefficients: take 'coordinate' or "
            f"{', '.join(others)}, or leave out the bounds"
        )
    loss = whole_loss(problem)
    steps = yield from make_steps(loss)
    method = CLASSICAL_SOLVERS[name](loss, steps)
    method.follow(control)
    points = []
    for done, strength in enumerate(strengths):
        goal = Goal(penalty, terms, float(strength), control.tol, control.max_iter)
        seen, rounds = yield from method.solve(goal)
        certificate = method.certificate(goal, seen)
        points.append(solved(loss, float(strength), seen.loss, certificate, rounds))
        control.report("path", done + 1, len(strengths))
        if explains_enough(loss, points[-1], control):
            break
    return points
