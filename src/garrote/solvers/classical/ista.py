"""ISTA: a gradient step of the loss, then the penalty's proximal operator; again and again.

With the largest step that is safe, 1 / L: the Lecture's gamma = n / (2 ||X'X||) for its loss
||y - Xw||^2 / n, section 6.3 (its printed iteration has the gradient's sign wrong). The objective falls
with every round, and its distance from the least like 1 / rounds.
"""

from garrote.solvers.classical.first_order import ClassicalSolver, Goal, Solution

# The certificate is looked at every so many rounds.
_CHECK = 10


class Ista(ClassicalSolver):
    """Iterative shrinkage and thresholding (Daubechies et al. 2004)."""

    def solve(self, goal: Goal) -> Solution:
        """Minimise from the loss's present coefficients; return the fit as seen, and the rounds."""
        loss, steps = self.loss, self.steps
        for made in range(goal.max_iter + 1):
            seen = yield from loss.evaluate()
            due = made % _CHECK == 0 or made == goal.max_iter
            if due and (goal.reached(loss, seen, steps.steepness) or made == goal.max_iter):
                break
            loss.place(*steps.take(goal.rule, loss.coef, loss.image, seen.gradient))
        return seen, made
