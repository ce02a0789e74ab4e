"""What the classical solvers share: one strength's goal, and proximal steps of a safe length."""

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from garrote.arrays import Floats
from garrote.likelihoods.base import largest_curvature
from garrote.likelihoods.coupled import per_weight, weighted_curvature
from garrote.penalties.base import Penalty, Terms
from garrote.results.certificates import Certificate
from garrote.rules import Evaluated, proximal_point, total_cost
from garrote.solvers.algebra.steepness import largest_eigenvalue
from garrote.solvers.control import Control
from garrote.solvers.descent.optimality import certify
from garrote.solvers.losses.whole_loss import WholeLoss

# Beyond the steepness that was measured on a step, by this share.
_MARGIN = 1.02
# Where steepness has no bound, steps may grow again by this much each time.
_RELAX = 0.9

Solution = Generator[Floats, Floats, tuple[Evaluated, int]]


@dataclass(frozen=True)
class Goal:
    """A penalty at one strength, and when to stop.

    ``tol`` is for the certificate's value: the duality gap of a convex problem, else the violation.
    """

    penalty: Penalty
    terms: Terms
    strength: float
    tol: float
    max_iter: int

    @cached_property
    def rule(self) -> Any:
        """The penalty's rule at the strength."""
        return self.penalty.at(self.strength, self.terms)

    def charge(self, loss: WholeLoss, coef: Floats) -> float:
        """Return what the penalty charges for all coefficients."""
        return float(total_cost(self.rule, loss.columns, coef))

    def objective(self, loss: WholeLoss) -> float:
        """Return what is minimised, at the loss's present coefficients."""
        return loss.value() + self.charge(loss, loss.coef)

    def certificate(self, loss: WholeLoss, seen: Evaluated, steepness: float) -> Certificate:
        """Return how far the loss's present coefficients are from the optimum.

        Where the penalty is not convex, a fit can be a fixed point of proximal steps although one
        coefficient alone could do better by a long way: the violation is then that of a proximal step.
        """
        steep = loss.curvature
        if not self.penalty.convex:
            steep = np.where(steep > 0, np.maximum(steep, steepness), 0.0)
        used = np.flatnonzero(loss.coef)
        return certify(self.rule, used, loss.coef[used], seen, steep, loss.null)

    def reached(self, loss: WholeLoss, seen: Evaluated, steepness: float) -> bool:
        """Tell whether the present coefficients are good enough."""
        return self.certificate(loss, seen, steepness).value <= self.tol


class Steps:
    """Proximal steps w <- prox(w - g / L), with L as large as the loss is steep along the step.

    Where steepness is not ``bounded``, it is tried lower again after every step. Changes below a share
    ``rounding`` of the coefficients tell nothing about it. Nothing here but the loss knows of which
    library the arrays are; see `garrote.solvers.classical.array_descent`.
    """

    def __init__(
        self, loss: WholeLoss, steepness: float, bounded: bool = True, rounding: float = 1e-11
    ):
        self.loss, self.steepness = loss, steepness
        self._bounded, self._rounding = bounded, rounding

    def take(
        self, rule: Any, coef: Floats, image: Floats, downhill: Floats
    ) -> tuple[Floats, Floats]:
        """Return the coefficients (and their image) of a step that lowers the objective."""
        if not self._bounded:
            self.steepness *= _RELAX
        while True:
            new = proximal_point(rule, coef + downhill / self.steepness, 1.0 / self.steepness)
            change, reached = new - coef, self.loss.product(new)
            moved = float(change @ change)
            if moved <= self._rounding**2 * float(new @ new):
                return new, reached
            along = self.loss.curvature_along(change, image, reached)
            if not along > self.steepness * moved * (1.0 + 1e-10):
                return new, reached
            self.steepness = min(_MARGIN * along / moved, 10.0 * self.steepness)


class ClassicalSolver:
    """A classical solver, made for one loss and the steps that it allows, and used along a path.

    ``has_bounds`` tells whether it keeps coefficients between bounds, ``takes_order`` whether it goes
    through coordinates in an order that may be chosen.
    """

    has_bounds: ClassVar[bool] = True
    takes_order: ClassVar[bool] = False

    @classmethod
    def suits(cls, penalty: Penalty, squares: bool) -> bool:
        """Tell whether it can fit a penalty, to a Gaussian response (``squares``) or to any other."""
        return True

    def __init__(self, loss: WholeLoss, steps: Steps):
        self.loss, self.steps = loss, steps

    def follow(self, control: Control) -> None:
        """Take note of settings beyond a goal, if there are any for it."""

    def solve(self, goal: Goal) -> Solution:
        """Minimise from the loss's present coefficients; return the fit as seen, and the rounds."""
        raise NotImplementedError

    def certificate(self, goal: Goal, seen: Evaluated) -> Certificate:
        """Return how far the loss's present coefficients are from the optimum."""
        return goal.certificate(self.loss, seen, self.steps.steepness)


def make_steps(loss: WholeLoss) -> Generator[Floats, Floats, Steps]:
    """Return steps as long as the loss allows everywhere; where it has no bound, at the null model."""
    design = yield from largest_eigenvalue(loss.problem)
    problem = loss.problem
    steepest = float(largest_curvature(problem.likelihood))
    bounded = bool(np.isfinite(steepest))
    if not bounded:
        known = loss.intercept + problem.known_part
        eta = np.broadcast_to(known, problem.response.shape)
        rows = weighted_curvature(problem.likelihood, problem.response, problem.weights, eta)
        steepest = float(per_weight(rows, problem.weights).max())
    return Steps(loss, steepest * design or 1.0, bounded)
