"""SpaRSA: proximal steps of Barzilai and Borwein's length, by way of stronger penalties.

Wright, Nowak & Figueiredo (2009); Murphy (2012), Algorithm 13.2, which calls it ISTA. Far from the
optimum the penalty is first as strong as half of what would empty the model, given what is left to
explain, and falls from there (continuation); along a path the strengths are close enough already.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from garrote.arrays import Floats
from garrote.rules import proximal_point
from garrote.solvers.classical.first_order import ClassicalSolver, Goal, Solution
from garrote.solvers.classical.spectral_descent import descend
from garrote.solvers.losses.whole_loss import WholeLoss

# The next strength, as a share of what would empty the model.
_SHARE = 0.5
# Stronger penalties on the way are fitted so roughly, as a share of the null model's objective.
_ROUGH = 1e-2


class Sparsa(ClassicalSolver):
    """Sparse reconstruction by separable approximation."""

    def solve(self, goal: Goal) -> Solution:
        """Minimise from the loss's present coefficients; return the fit as seen, and the rounds."""
        loss, rounds = self.loss, 0
        seen = yield from loss.evaluate()
        before = goal.strength * 1e300
        while rounds < goal.max_iter:
            left = goal.penalty.largest_strength(seen.gradient, goal.terms, loss.curvature)
            strength = min(max(_SHARE * left, goal.strength), _SHARE * before)
            if not strength > goal.strength:
                break
            on_the_way = replace(
                goal, strength=strength, tol=max(_ROUGH, goal.tol), max_iter=goal.max_iter - rounds
            )
            seen, made = yield from self._descend(on_the_way)
            rounds, before = rounds + made, strength
        seen, made = yield from self._descend(replace(goal, max_iter=goal.max_iter - rounds))
        return seen, rounds + made

    def _descend(self, goal: Goal) -> Solution:
        variables = Coefficients(self.loss, goal)
        return (yield from descend(self.loss, goal, variables, self.steps))


class Coefficients(NamedTuple):
    """The coefficients themselves, moved by proximal steps."""

    loss: WholeLoss
    goal: Goal

    def of(self, coef: Floats) -> Floats:
        """Return the coefficients."""
        return coef

    def coef(self, values: Floats) -> Floats:
        """Return them again."""
        return values

    def slope(self, values: Floats, downhill: Floats) -> Floats:
        """Return the gradient (upwards) of the loss."""
        return -downhill

    def move(self, values: Floats, slope: Floats, steepness: float) -> Floats:
        """Return the proximal point of a gradient step."""
        return proximal_point(self.goal.rule, values - slope / steepness, 1.0 / steepness)

    def charge(self, values: Floats) -> Any:
        """Return the penalty."""
        return self.goal.charge(self.loss, values)
