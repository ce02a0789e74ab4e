"""FISTA: proximal steps that start a little beyond the present fit, along its last change.

Beck & Teboulle (2009); Murphy (2012), Eqs. 13.83-13.85. The objective's distance from the least falls
like 1 / rounds^2. Momentum that has overshot is dropped: where a step turns back (O'Donoghue & Candes
2015), and where the objective rises. After that, convergence is linear where the problem is well
conditioned.

A round costs one product for the image of the new coefficients, most of which are 0, and one for the
gradient; the image of the point beyond is a combination of two that are known.
"""

from garrote.arrays import Floats
from garrote.solvers.classical.first_order import ClassicalSolver, Goal, Solution

# The first look at the certificate, which costs a product; and later ones, as a share of the rounds.
_FIRST, _SHARE = 10, 0.1
# The share of the objective that rounding may change it by.
_ROUNDING = 1e-13


class Fista(ClassicalSolver):
    """Accelerated proximal gradient descent with restarts."""

    def solve(self, goal: Goal) -> Solution:
        """Minimise from the loss's present coefficients; return the fit as seen, and the rounds."""
        loss, momentum, due = self.loss, 1.0, 0
        present, image = loss.coef, loss.image
        objective = loss.value() + goal.charge(loss, present)
        ahead, ahead_image = present, image
        for made in range(goal.max_iter + 1):
            looked = made == due or made == goal.max_iter
            if looked:
                loss.place(present, image)
                seen = yield from loss.evaluate()
                if goal.reached(loss, seen, self.steps.steepness) or made == goal.max_iter:
                    break
                due = made + max(_FIRST, int(_SHARE * made))
            if not looked or ahead is not present:
                loss.place(ahead, ahead_image)
                seen = yield from loss.evaluate()
            new, new_image = self.steps.take(goal.rule, ahead, ahead_image, seen.gradient)
            loss.place(new, new_image)
            reached = loss.value() + goal.charge(loss, new)
            if reached > objective + _ROUNDING * abs(objective) and ahead is not present:
                ahead, ahead_image, momentum = present, image, 1.0
                continue
            change: Floats = new - present
            if float((ahead - new) @ change) > 0.0:
                momentum = 1.0
            faster = 0.5 + (0.25 + momentum**2) ** 0.5
            beyond = (momentum - 1.0) / faster
            ahead, ahead_image = new + beyond * change, new_image + beyond * (new_image - image)
            present, image, objective, momentum = new, new_image, reached, faster
        return seen, made
