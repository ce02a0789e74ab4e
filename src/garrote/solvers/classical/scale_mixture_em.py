"""EM for the lasso and its kin: each coefficient is normal, with a variance that is not known.

The Laplace prior is a mixture of normal ones (Murphy 2012, section 13.4.4). The E step expects the
precisions given the present coefficients: threshold / |w_j| for the lasso (Eq. 13.91), more by the ridge
for the elastic net (13.129), weight_g / ||w_g|| for groups (13.112). The M step is the mean of w under
these, in the form of Eq. 13.96, which holds where precisions are infinite and needs the decomposition of
X only once:

    w = Psi V (V' Psi V + n D^-2)^-1 D^-2 V'X'Wy,   X'WX = V D^2 V',   Psi = 1 / precision.

The noise is held fixed, such that the prior's scale is the strength; `learned_noise` learns it. It is
iterated ridge regression without a blur, in another form; it starts at every strength from sizes that
are not 0, since a 0 would stay (section 13.4.4.5).
"""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from garrote.arrays import Floats
from garrote.penalties.base import Penalty
from garrote.problem import Problem
from garrote.rules import expected_spread, first_guess
from garrote.solvers.classical.first_order import ClassicalSolver, Goal, Solution, Steps
from garrote.solvers.classical.iterated_ridge import multiply, typical_size
from garrote.solvers.losses.whole_loss import WholeLoss

# Sizes at the start of a strength, at least, as a share of the largest a variable alone would have.
START = 0.1
# Directions in which X has less than this share of its largest variance have none.
_FLAT = 1e-13


class ScaleMixtureEM(ClassicalSolver):
    """Expectation-maximisation over the variances of a scale mixture: Gaussian responses."""

    has_bounds = False

    @classmethod
    def suits(cls, penalty: Penalty, squares: bool) -> bool:
        """Tell whether a penalty is that of a scale mixture."""
        return squares and "em" in penalty.parabolas

    def __init__(self, loss: WholeLoss, steps: Steps):
        super().__init__(loss, steps)
        self._directions, self._squares = _decomposed(loss.problem)
        right = loss.problem.xty @ self._directions
        self._along = right / np.maximum(self._squares, 1e-300)

    def solve(self, goal: Goal) -> Solution:
        """Minimise from the loss's present coefficients; return the fit as seen, and the rounds."""
        seen = yield from self.loss.evaluate()
        if goal.reached(self.loss, seen, self.steps.steepness):
            return seen, 0
        coef = first_guess(goal.rule, self.loss.coef, START * typical_size(self.loss))
        return (yield from multiply(self.loss, self.steps, goal, coef, self.maximise))

    def maximise(self, rule: Any, coef: Floats) -> Floats:
        """Return the coefficients' mean, given the precisions that the present ones let expect."""
        spread = expected_spread(rule, coef, self._directions)
        system = self._directions.T @ spread
        system[np.diag_indices_from(system)] += self.loss.problem.n / self._squares
        factor = cho_factor(system, overwrite_a=True, check_finite=False)
        return np.asarray(spread @ cho_solve(factor, self._along))


def _decomposed(problem: Problem) -> tuple[Floats, Floats]:
    """Return V (D x r) and the diagonal of D^2, where X'WX = V D^2 V'."""
    if problem.has_rows and len(problem.response) < len(problem.usable):
        block = np.sqrt(problem.weights)[:, None] * problem.table.block(problem.usable)
        squares, left = np.linalg.eigh(block @ block.T)
        kept = squares > _FLAT * squares.max(initial=0.0)
        squares, right = squares[kept], (block.T @ left[:, kept]) / np.sqrt(squares[kept])
    else:
        squares, right = np.linalg.eigh(problem.known_block(problem.usable))
        kept = squares > _FLAT * squares.max(initial=0.0)
        squares, right = squares[kept], right[:, kept]
    directions = np.zeros((problem.n_features, len(squares)))
    directions[problem.usable] = right
    return directions, squares
