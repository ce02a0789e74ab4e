"""ISTA: a gradient step of the loss, then the penalty's proximal operator; again and again.

With the largest step that is safe, 1 / L: the Lecture's gamma = n / (2 ||X'X||) for its loss
||y - Xw||^2 / n, section 6.3 (its printed iteration has the gradient's sign wrong). The objective falls
with every round, and its distance from the least like 1 / rounds.
"""

from garrote.solvers.classical.first_order import Method, Solution, Task

# The certificate is looked at every so many rounds.
_CHECK = 10


class Ista(Method):
    """Iterative shrinkage and thresholding (Daubechies et al. 2004)."""

    def solve(self, task: Task) -> Solution:
        """Minimise from the loss's present coefficients; return the fit as seen, and the rounds."""
        loss, steps = self.loss, self.steps
        for made in range(task.max_iter + 1):
            seen = yield from loss.evaluate()
            due = made % _CHECK == 0 or made == task.max_iter
            if due and (task.reached(loss, seen, steps.steepness) or made == task.max_iter):
                break
            loss.place(*steps.take(task.rule, loss.coef, loss.image, seen.gradient))
        return seen, made
