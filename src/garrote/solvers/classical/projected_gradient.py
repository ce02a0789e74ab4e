"""Projected gradient: w = u - v with u, v >= 0 makes the lasso smooth, with bounds.

The penalty threshold (u + v) + ridge w^2 / 2 is then smooth, and what is not allowed is taken back by a
projection (Murphy 2012, exercise 13.11; GPSR of Figueiredo et al. 2007). Steps have Barzilai and
Borwein's length.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty
from garrote.solvers.classical.first_order import ClassicalSolver, Goal, Solution
from garrote.solvers.classical.spectral_descent import descend


class ProjectedGradient(ClassicalSolver):
    """Gradient projection for sparse reconstruction: the lasso, the elastic net, ridge."""

    @classmethod
    def suits(cls, penalty: Penalty, squares: bool) -> bool:
        """Tell whether a penalty is linear in the parts of the coefficients, but for a ridge."""
        return penalty.is_elastic_net

    def solve(self, goal: Goal) -> Solution:
        """Minimise from the loss's present coefficients; return the fit as seen, and the rounds."""
        return (yield from descend(self.loss, goal, SplitCoefficients(goal.rule), self.steps))


class SplitCoefficients(NamedTuple):
    """Positive and negative parts of the coefficients, one row each."""

    rule: Any

    def of(self, coef: Floats) -> Floats:
        """Return both parts."""
        return np.maximum(np.stack([coef, -coef]), 0.0)

    def coef(self, values: Floats) -> Floats:
        """Return their difference."""
        return np.asarray(values[0] - values[1])

    def slope(self, values: Floats, downhill: Floats) -> Floats:
        """Return the gradient (upwards) of the loss and the penalty."""
        smooth = self.rule.ridge * self.coef(values) - downhill
        return self.rule.threshold + np.stack([smooth, -smooth])

    def move(self, values: Floats, slope: Floats, steepness: float) -> Floats:
        """Return the parts after a gradient step, projected between 0 and the bounds.

        Where both are positive, less of both is the same coefficient for a smaller penalty.
        """
        ends = np.stack([self.rule.upper, -self.rule.lower])
        moved = np.clip(values - slope / steepness, 0.0, ends)
        return moved - np.minimum(moved[0], moved[1])

    def charge(self, values: Floats) -> float:
        """Return the penalty."""
        coef = self.coef(values)
        return float(self.rule.threshold @ values.sum(axis=0) + 0.5 * self.rule.ridge @ coef**2)
