"""The shooting algorithm: one coefficient after the other is set to its best value, given all others.

Murphy 2012, Algorithm 13.1 (Fu 1998; Wu & Lange 2008), on cross products: with gradients kept up to date
a coefficient costs as many operations as there are columns. Coefficients come in turn ("cyclic"), in a
new random order each sweep ("random"), or always the one whose optimality is violated most ("greedy",
which looks at all gradients before each step). A sweep is as many steps as there are columns. All three
end at the same optimum. The algorithm begins with a ridge regression; here every strength starts from
the solution of the one before it, and the first from 0.

It is the textbook's algorithm, for lessons and comparisons: solver "coordinate" makes the same steps on
working sets, with Newton's method where sweeps would creep.
"""

from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.designs.gram import GramColumns
from garrote.limits.budgets import ENTRIES_KEPT, ENTRIES_PER_CALL
from garrote.penalties.base import Penalty
from garrote.problem import Problem
from garrote.rules import Residual, add_column, shrink
from garrote.solvers.classical.first_order import ClassicalSolver, Goal, Solution, Steps
from garrote.solvers.control import Control
from garrote.solvers.descent.sweep import sweep
from garrote.solvers.losses.whole_loss import WholeLoss

# The certificate is looked at every so many sweeps.
_CHECK = 5


class Shooting(ClassicalSolver):
    """Coordinate descent over all columns, in an order of its own: Gaussian responses."""

    takes_order = True

    @classmethod
    def suits(cls, penalty: Penalty, squares: bool) -> bool:
        """Tell whether a penalty is a case of the elastic net, for a Gaussian response."""
        return squares and penalty.is_elastic_net and penalty.charges

    def __init__(self, loss: WholeLoss, steps: Steps):
        super().__init__(loss, steps)
        self._gram = GramColumns(cross_products(loss.problem, "shooting"))
        self._usable = np.flatnonzero(loss.curvature > 0)
        self._order, self._rng = "cyclic", np.random.default_rng(0)

    def follow(self, control: Control) -> None:
        """Take note of the order, and of the seed of a random one."""
        self._order, self._rng = control.order, np.random.default_rng(control.seed)

    def solve(self, goal: Goal) -> Solution:
        """Minimise from the loss's present coefficients; return the fit as seen, and the sweeps."""
        seen = yield from self.loss.evaluate()
        if goal.reached(self.loss, seen, self.steps.steepness):
            return seen, 0
        for made in range(1, goal.max_iter + 1):
            if made % _CHECK == 1:  # gradients from the data: rounding must not add up
                coef = self.loss.coef.copy()
                residual = Residual(seen.gradient.copy(), np.zeros(1), np.zeros(0))
            self._sweep(goal.rule, coef, residual)
            if made % _CHECK == 0 or made == goal.max_iter:
                self.loss.place(coef, self.loss.product(coef))
                seen = yield from self.loss.evaluate()
                if goal.reached(self.loss, seen, self.steps.steepness):
                    break
        return seen, made

    def _sweep(self, rule: Any, coef: Floats, residual: Residual) -> None:
        """Make as many steps as there are columns."""
        curvature = self.loss.curvature
        at_once = max(1, ENTRIES_PER_CALL // (4 * max(len(coef), 1)))
        order: Array = self._usable
        if self._order == "random":
            order = self._rng.permutation(order)
        for first in range(0, len(order), at_once):
            part = order[first : first + at_once]
            if self._order == "greedy":
                _shoot_steepest(self._gram, rule, coef, residual, curvature, len(part))
            else:
                target = np.empty(len(coef))
                sweep(self._gram, rule, part, coef, target, residual, curvature, 0.0)


def cross_products(problem: Problem, solver: str) -> Floats:
    """Return X'WX / N; refuse more columns than a usual machine has room for the products of."""
    most = int(np.sqrt(ENTRIES_KEPT))
    if problem.n_features > most:
        raise ValueError(
            f"solver {solver!r} keeps the cross products of all columns, of which there may be "
            f"{most} and are {problem.n_features}: take solver 'coordinate'"
        )
    return np.ascontiguousarray(problem.whole_gram() / problem.n)


@kernel
def _shoot_steepest(design, rule, coef, residual, curvature, steps):
    """Set the coefficient that is farthest from its best value to that, again and again."""
    for _ in range(steps):
        most, which, best = 0.0, -1, 0.0
        for j in range(coef.shape[0]):
            if curvature[j] > 0.0:
                new = shrink(rule, j, coef[j] + residual.values[j] / curvature[j], curvature[j])
                off = abs(new - coef[j]) * curvature[j]
                if off > most:
                    most, which, best = off, j, new
        if which < 0:
            return
        step = coef[which] - best
        coef[which] = best
        add_column(design, which, step, residual)
