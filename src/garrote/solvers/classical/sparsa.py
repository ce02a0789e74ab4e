"""SpaRSA: proximal steps of Barzilai and Borwein's length, by way of stronger penalties.

Wright, Nowak & Figueiredo (2009); Murphy (2012), Algorithm 13.2, which calls it ISTA. Far from the
optimum the penalty is first as strong as half of what would empty the model, given what is left to
explain, and falls from there (continuation); along a path the strengths are close enough already.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from garrote.arrays import Floats
from garrote.rules import proximal_point
from garrote.solvers.classical.first_order import Method, Solution, Task
from garrote.solvers.classical.spectral_descent import descend
from garrote.solvers.losses.whole_loss import WholeLoss

# The next strength, as a share of what would empty the model.
_SHARE = 0.5
# Stronger penalties on the way are fitted so roughly, as a share of the null model's objective.
_ROUGH = 1e-2


class Sparsa(Method):
    """Sparse reconstruction by separable approximation."""

    def solve(self, task: Task) -> Solution:
        """Minimise from the loss's present coefficients; return the fit as seen, and the rounds."""
        loss, rounds = self.loss, 0
        seen = yield from loss.evaluate()
        before = task.strength * 1e300
        while rounds < task.max_iter:
            left = task.penalty.largest_strength(seen.gradient, task.terms, loss.curvature)
            strength = min(max(_SHARE * left, task.strength), _SHARE * before)
            if not strength > task.strength:
                break
            on_the_way = replace(
                task, strength=strength, tol=max(_ROUGH, task.tol), max_iter=task.max_iter - rounds
            )
            seen, made = yield from self._descend(on_the_way)
            rounds, before = rounds + made, strength
        seen, made = yield from self._descend(replace(task, max_iter=task.max_iter - rounds))
        return seen, rounds + made

    def _descend(self, task: Task) -> Solution:
        variables = Coefficients(self.loss, task)
        return (yield from descend(self.loss, task, variables, self.steps))


class Coefficients(NamedTuple):
    """The coefficients themselves, moved by proximal steps."""

    loss: WholeLoss
    task: Task

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
        return proximal_point(self.task.rule, values - slope / steepness, 1.0 / steepness)

    def charge(self, values: Floats) -> Any:
        """Return the penalty."""
        return self.task.charge(self.loss, values)
