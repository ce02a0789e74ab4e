"""Newton's method for a loss plus a penalty, on a working set: what all likelihoods share.

At the present linear predictor the loss is replaced by its quadratic (weighted least squares), which is
minimised together with the penalty; a line search makes sure that the objective falls.
"""

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.rules import Evaluated, total_cost, violation

# Curvatures are kept above this share of the largest: a certain prediction has none.
LEAST_CURVATURE = 1e-8
# The quadratic is solved to this share of the tolerance.
INNER = 0.1
_MOST_HALVINGS = 40
# Where a step leaves more than this share of the violation, second derivatives are taken anew.
_SLOW = 0.35
# Once the objective does not fall any more, so many steps bring out all digits that there are.
_LAST_STEPS = 3
# A sum of slopes is not exact beyond this share of their sizes.
_ROUNDING = 1e-15


class Derivatives(NamedTuple):
    """The loss near a linear predictor.

    ``slope`` is that of every row (and class), downhill; ``downhill`` and ``curvature`` are those of the
    coefficients. ``second`` is what a loss makes its second derivatives of.
    """

    slope: Floats
    downhill: Floats
    curvature: Floats
    second: Floats


class NewtonLoss:
    """A loss whose coefficients move by Newton steps; subclasses know its derivatives."""

    coef: Floats
    intercept: Any
    free_intercept: bool
    curvature: Floats
    wants_start = True
    last_steps = _LAST_STEPS
    # A step that lowers the objective by a smaller share has not lowered it.
    least_gain = 1e-16

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients, from the data alone."""
        raise NotImplementedError

    def solve(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        """Minimise the loss plus a penalty over the working set; return the rounds it took."""
        eta = self._eta()
        objective, stalled, before, renew = self._objective(rule, eta), 0, np.inf, False
        for made in range(max_rounds):
            near = self._derivatives(eta)
            off = violation(rule, near.downhill, self.coef, near.curvature)
            left = max(float(off.max(initial=0.0)), self._intercept_violation(near))
            if left <= tolerance or stalled == self.last_steps:
                return made
            renew, before = renew or left > _SLOW * before, left
            moving = np.flatnonzero((self.coef != 0) | (off > 0))
            moving, step, shift = self._newton(rule, moving, near, tolerance, renew)
            found = self._search(rule, eta, objective, moving, step, shift)
            if found is None and renew:
                return made
            renew = found is None
            if found is not None:
                eta, reached = found
                stalled = (
                    stalled + 1 if reached >= objective - self.least_gain * abs(objective) else 0
                )
                objective = reached
        return max_rounds

    def _intercept_violation(self, near: Derivatives) -> float:
        """Return how far the intercepts are from their optimum; 0 where that is only rounding."""
        if not self.free_intercept:
            return 0.0
        total, sizes = np.abs(near.slope.sum(axis=-1)), np.abs(near.slope).sum(axis=-1)
        return float(np.where(total > _ROUNDING * sizes, total, 0.0).max())

    def _search(
        self, rule: Any, eta: Floats, objective: float, moving: Array, step: Floats, shift: Any
    ) -> tuple[Floats, float] | None:
        """Go along a step as far as the objective falls; return where that is, None if nowhere."""
        change = self._change(moving, step, shift)
        before, start = self.coef[moving].copy(), self.intercept
        for _ in range(_MOST_HALVINGS):
            self.coef[moving], self.intercept = before + step, start + shift
            reached = self._objective(rule, eta + change)
            if reached <= objective + 1e-15 * abs(objective):
                return eta + change, reached
            step, shift, change = 0.5 * step, 0.5 * shift, 0.5 * change
        self.coef[moving], self.intercept = before, start
        return None

    def _objective(self, rule: Any, eta: Floats) -> float:
        return self._loss(eta) + float(total_cost(rule, np.arange(len(self.coef)), self.coef))

    def _fit_intercept(self) -> Floats:
        """Make the intercept (one for each output) the best one for the present coefficients.

        Returns the linear predictor with it.
        """
        raise NotImplementedError

    def _eta(self) -> Floats:
        """Return the present linear predictor."""
        raise NotImplementedError

    def _loss(self, eta: Floats) -> float:
        """Return the loss of a linear predictor."""
        raise NotImplementedError

    def _derivatives(self, eta: Floats) -> Derivatives:
        """Return slopes and curvatures at a linear predictor."""
        raise NotImplementedError

    def _newton(
        self, rule: Any, moving: Array, near: Derivatives, tolerance: float, renew: bool
    ) -> tuple[Array, Floats, Any]:
        """Return which coefficients move, their step and the intercept's that minimise the quadratic.

        Without ``renew`` the second derivatives may be those of a step before.
        """
        raise NotImplementedError

    def _change(self, moving: Array, step: Floats, shift: Any) -> Floats:
        """Return by how much a step changes the linear predictor."""
        raise NotImplementedError
