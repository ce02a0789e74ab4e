"""Iterated ridge regression: a penalty is replaced by parabolas that touch it at the present fit.

A penalty p(|w|) that is concave in w^2 lies below the parabola with second derivative p'(|w|) / |w|
through its present value: each round is a ridge regression with a weight for every coefficient, and the
objective falls (Hunter & Li 2005; "iterated ridge regression" in Staines & Barber 2012). What is 0 has
an infinite weight and stays so; at every strength sizes are therefore blurred at first,
sqrt(w^2 + blur^2), less from round to round.

Coefficients only come near to 0, each by a factor of its own from round to round. A round is therefore
made longer by a power of these factors, as long as the objective falls the more for it. Those whose
proximal point is 0 are set to 0 before the fit is certified.
"""

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty
from garrote.problem import Problem
from garrote.rules import Evaluated, proximal_point, ridge_weights
from garrote.rules.parabolas import TINY
from garrote.solvers.classical.first_order import ClassicalSolver, Goal, Solution, Steps
from garrote.solvers.losses.whole_loss import WholeLoss

# Blurs, and the first and the last of them, as shares of the largest coefficient that a variable alone
# would have.
_BLURS, _FIRST, _LAST = 10, 0.1, 1e-4
# The logarithm by which a size may change beyond a round, at most; and the largest power.
_FASTEST, _LONGEST = 2.0, 1e6
# The certificate is looked at every so many rounds.
_CHECK = 5
# Weights are this large at least, as a share of the columns' curvatures: 0 is no ridge at all.
_LEAST_WEIGHT = 1e-12


class IteratedRidge(ClassicalSolver):
    """Ridge regressions whose weights are the slopes of the penalty by size: Gaussian responses."""

    has_bounds = False

    @classmethod
    def suits(cls, penalty: Penalty, squares: bool) -> bool:
        """Tell whether parabolas touch a penalty."""
        return squares and "iterated_ridge" in penalty.parabolas

    def __init__(self, loss: WholeLoss, steps: Steps):
        super().__init__(loss, steps)
        self._system = RidgeSystem(loss.problem)
        self._least = _LEAST_WEIGHT * float(loss.curvature.max(initial=0.0))

    def solve(self, goal: Goal) -> Solution:
        """Minimise from the loss's present coefficients; return the fit as seen, and the rounds."""
        seen = yield from self.loss.evaluate()
        if goal.reached(self.loss, seen, self.steps.steepness):
            return seen, 0
        blurs = typical_size(self.loss) * np.geomspace(_FIRST, _LAST, _BLURS)
        coef = self.loss.coef
        for blur in blurs:
            coef = self._round(goal.rule, coef, blur)
        return (yield from multiply(self.loss, self.steps, goal, coef, self._round))

    def _round(self, rule: Any, coef: Floats, blur: float = TINY) -> Floats:
        """Return the coefficients of the ridge regression that belongs to the present ones."""
        weights = ridge_weights(rule, np.hypot(coef, blur))
        return self._system.solve(np.maximum(weights, self._least))


def multiply(
    loss: WholeLoss,
    steps: Steps,
    goal: Goal,
    coef: Floats,
    make_round: Callable[[Any, Floats], Floats],
) -> Solution:
    """Make rounds that multiply sizes, each prolonged while that helps; return the fit and the rounds.

    ``make_round(rule, coef)`` returns new coefficients, given those before.
    """
    power = 1.0
    for made in range(1, goal.max_iter + 1):
        new = make_round(goal.rule, coef)
        grown = power * np.log(np.maximum(np.abs(new), TINY) / np.maximum(np.abs(coef), TINY))
        ahead = new * np.exp(np.clip(grown, -_FASTEST, _FASTEST))
        if _objective(loss, goal, ahead) <= _objective(loss, goal, new):
            coef, power = ahead, min(2.0 * power, _LONGEST)
        else:
            coef, power = new, 1.0
        if made % _CHECK == 0 or made == goal.max_iter:
            seen = yield from cleaned(loss, steps, goal, coef)
            if goal.reached(loss, seen, steps.steepness):
                break
    return seen, made


def _objective(loss: WholeLoss, goal: Goal, coef: Floats) -> float:
    loss.place(coef, loss.product(coef))
    return goal.objective(loss)


class RidgeSystem:
    """(X'WX / n + diag(weights)) w = X'Wy / n, in as many unknowns as the smaller of rows and columns.

    Both forms are scaled by 1 / sqrt(weights), so that infinite weights are no hazard.
    """

    def __init__(self, problem: Problem):
        self.problem, self.usable = problem, problem.usable
        self._rows: Floats | None = None
        if problem.has_rows and len(problem.response) < len(self.usable):
            root = np.sqrt(problem.weights / problem.n)
            self._rows = root[:, None] * problem.table.block(self.usable)
            self._right = root * problem.response
        else:
            self._gram = problem.known_block(self.usable) / problem.n
            self._right = problem.xty[self.usable] / problem.n

    def solve(self, weights: Floats) -> Floats:
        """Return the coefficients for weights, one for each column; infinite ones give 0."""
        spread = 1.0 / np.sqrt(weights[self.usable])
        coef = np.zeros(len(weights))
        if self._rows is not None:
            scaled = self._rows * spread
            system = scaled @ scaled.T
            coef[self.usable] = spread * (scaled.T @ _solved(system, self._right))
        else:
            system = self._gram * spread * spread[:, None]
            coef[self.usable] = spread * _solved(system, spread * self._right)
        return coef


def _solved(system: Floats, right: Floats) -> Floats:
    """Solve (system + I) x = right, in place."""
    system[np.diag_indices_from(system)] += 1.0
    return np.asarray(cho_solve(cho_factor(system, overwrite_a=True, check_finite=False), right))


def typical_size(loss: WholeLoss) -> float:
    """Return the largest coefficient that a variable alone would have; 1 if there is none."""
    usable: Array = loss.curvature > 0
    alone = np.abs(loss.null.gradient[usable] / loss.curvature[usable])
    return float(alone.max(initial=0.0)) or 1.0


def cleaned(
    loss: WholeLoss, steps: Steps, goal: Goal, coef: Floats
) -> Generator[Floats, Floats, Evaluated]:
    """Go to some coefficients, with those set to 0 whose proximal point is 0; return the fit as seen."""
    loss.place(coef, loss.product(coef))
    seen = yield from loss.evaluate()
    step = 1.0 / steps.steepness
    near = proximal_point(goal.rule, coef + step * seen.gradient, step)
    kept = np.where(near == 0.0, 0.0, coef)
    loss.place(kept, loss.product(kept))
    return (yield from loss.evaluate())
