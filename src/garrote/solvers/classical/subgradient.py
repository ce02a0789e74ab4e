"""The subgradient method: steps along any slope of the objective, ever shorter.

At w_j != 0 the penalty has a slope; at 0 the one that leaves least of the gradient is taken. Steps of
length 1 / (L sqrt(k)) do not settle otherwise, since slopes jump at 0: a coefficient that has left 0
does not come back to it exactly. The objective's distance from the least falls like 1 / sqrt(rounds):
two or three digits are all that it is good for, and the best fit so far is kept. It is here to be
compared with.
"""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty
from garrote.solvers.classical.first_order import ClassicalSolver, Goal, Solution

# The certificate is looked at every so many rounds.
_CHECK = 10


class Subgradient(ClassicalSolver):
    """Subgradient descent with diminishing steps (Shor 1985): the lasso and the elastic net."""

    @classmethod
    def suits(cls, penalty: Penalty, squares: bool) -> bool:
        """Tell whether a penalty is an elastic net, and there is one.

        Steps of a length set in advance take too long where nothing holds coefficients back.
        """
        return penalty.is_elastic_net and penalty.charges

    def solve(self, goal: Goal) -> Solution:
        """Minimise from the loss's present coefficients; return the best fit as seen, and the rounds."""
        loss, rule = self.loss, goal.rule
        # A ridge is as steep as it is strong, beside the loss.
        steepness = self.steps.steepness + float(rule.ridge.max(initial=0.0))
        best, best_objective = (loss.coef, loss.image), np.inf
        for made in range(goal.max_iter):
            seen = yield from loss.evaluate()
            objective = seen.loss + goal.charge(loss, loss.coef)
            if objective < best_objective:
                best, best_objective = (loss.coef, loss.image), objective
                if made % _CHECK == 0 and goal.reached(loss, seen, self.steps.steepness):
                    return seen, made
            length = 1.0 / (steepness * np.sqrt(made + 1.0))
            new = loss.coef + length * _downhill(rule, loss.coef, seen.gradient)
            new = np.clip(new, rule.lower, rule.upper)
            loss.place(new, loss.product(new))
        loss.place(*best)
        seen = yield from loss.evaluate()
        return seen, goal.max_iter


def _downhill(rule: Any, coef: Floats, gradient: Floats) -> Floats:
    """Return minus a subgradient of the objective; at 0 the shortest one."""
    smooth = gradient - rule.ridge * coef
    left = np.sign(smooth) * np.maximum(np.abs(smooth) - rule.threshold, 0.0)
    return np.where(coef == 0.0, left, smooth - rule.threshold * np.sign(coef))
