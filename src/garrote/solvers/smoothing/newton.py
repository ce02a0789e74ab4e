"""Lassos and fused lassos by variational optimization: kinks are smoothed, over ever smaller widths.

The objective's average over coefficients drawn around mu, with deviation sigma, is smooth in mu, above
the objective's least, and convex where the objective is (Staines & Barber 2012, section 2). It is
minimised for a sigma that falls tenfold from round to round. Optima of the average have no coefficient
that is exactly 0: before a fit is certified those whose proximal point is 0 are set to 0, and those that
are equal there are made equal. What remains has no kink nearby, and goes to its optimum in one step.

Two other curves above |t| are there to be compared with: the integral of two sigmoids and
sqrt(t^2 + width^2) (Schmidt 2005), of the text's Table 1.
"""

from collections.abc import Generator
from typing import ClassVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty
from garrote.results.certificates import Certificate, with_smoothing
from garrote.rules import AbsoluteParts, Evaluated, absolute_parts, bounds, proximal_point
from garrote.solvers.classical.first_order import ClassicalSolver, Goal, Solution, Steps
from garrote.solvers.classical.iterated_ridge import typical_size
from garrote.solvers.classical.shooting import cross_products
from garrote.solvers.losses.whole_loss import WholeLoss
from garrote.solvers.smoothing.kinks import KINKS, Kink
from garrote.solvers.smoothing.smooth_squares import SmoothSquares

# The first and the last width, as shares of the largest coefficient that a variable alone would have,
# and by how much each is narrower than the one before.
_FIRST, _LAST, _NARROWER = 0.1, 1e-9, 0.1


class Smoothing(ClassicalSolver):
    """Newton's method on the average over normal coefficients: sums of absolute values, Gaussian y."""

    has_bounds = False
    name: ClassVar[str] = "smoothing"
    kink: ClassVar[Kink] = KINKS["gaussian"]

    @classmethod
    def suits(cls, penalty: Penalty, squares: bool) -> bool:
        """Tell whether a penalty is a sum of absolute values, for a Gaussian response."""
        return squares and penalty.sums_absolute_values and penalty.charges

    def __init__(self, loss: WholeLoss, steps: Steps):
        super().__init__(loss, steps)
        self._gram = cross_products(loss.problem, self.name)
        self._target = np.where(loss.curvature > 0, loss.problem.xty / loss.problem.n, 0.0)
        self._added = 0.0

    def solve(self, goal: Goal) -> Solution:
        """Minimise from the loss's present coefficients; return the fit as seen, and the steps."""
        loss, made = self.loss, 0
        seen = yield from loss.evaluate()
        if goal.reached(loss, seen, self.steps.steepness):
            return seen, made
        objective, inside = self._smoothed(goal)
        size = typical_size(loss)
        width, last = _FIRST * size, _LAST * size
        coef = loss.coef[inside]
        while made < goal.max_iter:
            coef, steps = objective.minimise(coef, width, goal.max_iter - made)
            made += max(steps, 1)
            seen = yield from self._place_with_ties(goal, objective, inside, coef)
            self._added = objective.error(width)
            if goal.reached(loss, seen, self.steps.steepness) or width <= last:
                break
            coef = objective.follow(coef, width, _NARROWER * width)
            width *= _NARROWER
        return seen, made

    def certificate(self, goal: Goal, seen: Evaluated) -> Certificate:
        """Return the duality gap, and beside it the most that smoothing at the last width adds."""
        fit = super().certificate(goal, seen)
        return with_smoothing(fit, self._added / (self.loss.null.loss or 1.0))

    def _smoothed(self, goal: Goal) -> tuple[SmoothSquares, Array]:
        """Return the objective over the coefficients that are not held at 0, and which these are."""
        parts = absolute_parts(goal.rule)
        lower, upper = bounds(goal.rule, self.loss.columns)
        held = (lower == 0.0) & (upper == 0.0)
        endless = np.isinf(parts.weight)
        held[parts.combinations[np.flatnonzero(endless)].indices] = True
        inside, kept = np.flatnonzero(~held), np.flatnonzero(~endless)
        combinations = parts.combinations[kept][:, inside]
        lengths = np.sqrt(np.asarray((combinations**2).sum(axis=1)))
        kept, some = kept[lengths > 0], np.flatnonzero(lengths > 0)
        parts = AbsoluteParts(combinations[some], parts.weight[kept], parts.ridge[inside])
        gram = self._gram if len(inside) == len(held) else self._gram[np.ix_(inside, inside)]
        return SmoothSquares(gram, self._target[inside], parts, lengths[some], self.kink), inside

    def _place_with_ties(
        self, goal: Goal, objective: SmoothSquares, inside: Array, coef: Floats
    ) -> Generator[Floats, Floats, Evaluated]:
        """Go to coefficients with the ties that their proximal point has; return the fit as seen."""
        loss, step = self.loss, 1.0 / self.steps.steepness
        everywhere = np.zeros(len(loss.coef))
        everywhere[inside] = coef
        loss.place(everywhere, loss.product(everywhere))
        seen = yield from loss.evaluate()
        near = proximal_point(goal.rule, everywhere + step * seen.gradient, step)
        tied = np.zeros(len(loss.coef))
        tied[inside] = objective.with_ties(coef, near[inside])
        loss.place(tied, loss.product(tied))
        return (yield from loss.evaluate())


class SigmoidSmoothing(Smoothing):
    """The same with the integral of two sigmoids for |t|."""

    name = "sigmoid"
    kink = KINKS["sigmoid"]


class RootSmoothing(Smoothing):
    """The same with sqrt(t^2 + width^2) for |t|."""

    name = "root"
    kink = KINKS["root"]
