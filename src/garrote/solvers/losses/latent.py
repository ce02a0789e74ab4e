"""Probit models by EM: a latent normal variable, and least squares of what is expected of it.

y is 1 where z ~ N(eta, 1) is positive. The E step has the mean of z given y, that of a truncated normal
distribution, E[z] = eta + d log p(y | eta) / d eta; the M step is penalised least squares of E[z]
(Murphy 2012, exercise 13.9; Figueiredo 2003). Its cross products are those of the columns, whatever the
fit is, so that they are computed once.

EM lowers the objective with every round, but creeps where predictions are nearly certain. Each round
therefore starts a little beyond the fit before, along the last change (Nesterov 1983); where the
objective would rise, the round is made again from the fit itself.
"""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.base import gradient
from garrote.problem import Problem
from garrote.rules import violation
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.algebra.growing_gram import GrowingGram
from garrote.solvers.losses.generalised import GeneralisedLoss
from garrote.solvers.losses.newton_loss import INNER
from garrote.solvers.penalised.minimising import minimise

# The share of the objective that rounding may change it by.
_ROUNDING = 1e-14


class LatentLeastSquares(GeneralisedLoss):
    """Half the mean deviance of a probit model, whose coefficients move by EM."""

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self._gram = GrowingGram(problem.n_features)
        self._factor = ActiveFactor()

    def grow(self, columns: Array) -> None:
        """Take more columns into the working set, and their cross products."""
        super().grow(columns)
        if len(columns):
            values = self.block.values
            across = values.T @ (values[:, -len(columns) :] * self.share[:, None])
            self._gram.append(across)

    def solve(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        """Minimise the loss plus a penalty over the working set; return the rounds it took."""
        objective = self._objective(rule, self._eta())
        before, speed = (self.coef.copy(), self.intercept), 1.0
        curvature = np.ascontiguousarray(np.diag(self._gram.values))
        for made in range(max_rounds):
            slope = self.share * gradient(self.likelihood, self.y, self._eta())
            off = violation(rule, self.block.values.T @ slope, self.coef, curvature)
            intercept_off = abs(slope.sum()) if self.free_intercept else 0.0
            if max(off.max(initial=0.0), intercept_off) <= tolerance:
                return made
            present, faster = (self.coef.copy(), self.intercept), 0.5 + np.sqrt(0.25 + speed**2)
            self._start_beyond(before, (speed - 1.0) / faster)
            self._expect_and_maximise(rule, tolerance)
            reached = self._objective(rule, self._eta())
            # Near the optimum rounding alone may raise it.
            if reached > objective * (1.0 + _ROUNDING):
                faster = 1.0
                self.coef[:], self.intercept = present
                self._expect_and_maximise(rule, tolerance)
                reached = self._objective(rule, self._eta())
            before, speed, objective = present, faster, reached
        return max_rounds

    def _start_beyond(self, before: tuple[Floats, Any], share: float) -> None:
        """Move on along the last change, by some share of it."""
        self.coef += share * (self.coef - before[0])
        self.intercept += share * (self.intercept - before[1])

    def _expect_and_maximise(self, rule: Any, tolerance: float) -> None:
        """Take one round of EM: expect the latent variables, and fit them by penalised least squares."""
        eta = self._eta()
        expected = eta + gradient(self.likelihood, self.y, eta)
        left = self.share * (expected - eta)
        new = self.coef.copy()
        slope = self.block.values.T @ left
        minimise(rule, self._gram.values, slope, new, self._factor, INNER * tolerance)
        self.coef[:] = new
        if self.free_intercept:  # columns are centred: it is fitted by itself
            self.intercept += float(left.sum() / self.share.sum())
