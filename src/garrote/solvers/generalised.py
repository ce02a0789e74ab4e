"""The smooth part of a problem with any likelihood: Newton's method on a working set.

At the present linear predictor the loss is replaced by its quadratic (weighted least squares), which is
minimised together with the penalty; a line search makes sure that the objective falls.
"""

from collections.abc import Generator
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.base import curvature, gradient, log_likelihood, saturated
from garrote.problem import Problem
from garrote.solvers.active_factor import ActiveFactor
from garrote.solvers.optimality import Evaluated, total_cost
from garrote.solvers.quadratic import Quadratic, restricted, violation
from garrote.solvers.working_block import WorkingBlock

# Curvatures are kept above this share of the largest: a certain prediction has none.
_LEAST_CURVATURE = 1e-8
# The quadratic is solved to this share of the tolerance.
_INNER = 0.1
# A step has to bring this share of what the quadratic promises, or is halved, so often at most.
_DESCENT = 1e-4
_MOST_HALVINGS = 40


class GeneralisedLoss:
    """Half the mean deviance, as a function of the coefficients of a growing working set."""

    def __init__(self, problem: Problem):
        self.problem, self.likelihood, self.y = problem, problem.likelihood, problem.response
        self.block = WorkingBlock(problem)
        self.coef = np.zeros(0)
        self.share = problem.weights / problem.n
        self.offset = np.zeros(len(self.y)) if problem.offset is None else problem.offset
        self.free_intercept = bool(problem.scale.intercept_count)
        self.level = float(self.share @ saturated(self.likelihood, self.y))
        self.intercept = 0.0
        self._settle_intercept()
        eta = self._eta()
        bent = float(self.share @ curvature(self.likelihood, self.y, eta))
        self.curvature = problem.curvature / problem.n * bent
        rows = gradient(self.likelihood, self.y, eta)
        self.null = self._seen(eta, problem.table.tdot(rows[None, :])[0] / problem.n)

    @property
    def columns(self) -> Array:
        """The columns of the working set."""
        return self.block.columns

    @property
    def inside(self) -> Array:
        """Which columns are in it."""
        return self.block.inside

    def grow(self, columns: Array) -> None:
        """Take more columns into the working set, with coefficients of 0."""
        if len(columns):
            self.block.grow(columns)
            self.coef = np.append(self.coef, np.zeros(len(columns)))

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients, from the data alone."""
        self._settle_intercept()
        eta = self._eta()
        rows = gradient(self.likelihood, self.y, eta)
        _, product = yield from self.problem.evaluate_rows(rows[None, :])
        return self._seen(eta, product[0] / self.problem.n)

    def solve(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        """Minimise the loss plus a penalty over the working set; return the rounds it took."""
        everyone = np.arange(len(self.coef))
        eta = self._eta()
        objective = self._loss(eta) + total_cost(rule, everyone, self.coef)
        for made in range(max_rounds):
            slope = self.share * gradient(self.likelihood, self.y, eta)
            bent = self._bent(eta)
            values = self.block.values
            downhill = values.T @ slope
            off = violation(
                rule, downhill, self.coef, np.einsum("ij,i,ij->j", values, bent, values)
            )
            uphill = abs(slope.sum()) if self.free_intercept else 0.0
            if max(off.max(initial=0.0), uphill) <= tolerance:
                return made
            moving = np.flatnonzero((self.coef != 0) | (off > 0))
            step, shift = self._newton(
                restricted(rule, moving), moving, downhill, slope, bent, tolerance
            )
            change = values[:, moving] @ step + shift
            before, start = self.coef[moving].copy(), self.intercept
            for _ in range(_MOST_HALVINGS):
                self.coef[moving] = before + step
                self.intercept = start + shift
                reached = self._loss(eta + change) + total_cost(rule, everyone, self.coef)
                if reached <= objective + 1e-15 * abs(objective):
                    break
                step, shift, change = 0.5 * step, 0.5 * shift, 0.5 * change
            else:
                self.coef[moving], self.intercept = before, start
                return made
            if reached >= objective * (1 - 1e-16) and uphill <= tolerance:
                return made
            eta, objective = eta + change, reached
        return max_rounds

    def _newton(
        self,
        rule: Any,
        moving: Array,
        downhill: Floats,
        slope: Floats,
        bent: Floats,
        tolerance: float,
    ) -> tuple[Floats, float]:
        """Return the step of some coefficients and of the intercept that minimises the quadratic."""
        values = self.block.values[:, moving]
        weighted = values * bent[:, None]
        gram, right = weighted.T @ values, downhill[moving].copy()
        if self.free_intercept:
            along, total = weighted.sum(axis=0), bent.sum()
            gram -= np.outer(along, along) / total
            right -= along * (slope.sum() / total)
        new = self.coef[moving].copy()
        Quadratic(gram, right, new, ActiveFactor()).solve(rule, _INNER * tolerance)
        step = new - self.coef[moving]
        shift = (slope.sum() - along @ step) / total if self.free_intercept else 0.0
        return step, float(shift)

    def _eta(self) -> Floats:
        used = np.flatnonzero(self.coef)
        return self.offset + self.intercept + self.block.values[:, used] @ self.coef[used]

    def _loss(self, eta: Floats) -> float:
        return self.level - float(self.share @ log_likelihood(self.likelihood, self.y, eta))

    def _bent(self, eta: Floats) -> Floats:
        bent = self.share * curvature(self.likelihood, self.y, eta)
        return np.maximum(bent, _LEAST_CURVATURE * bent.max(initial=0.0))

    def _settle_intercept(self) -> None:
        """Make the intercept the best one for the present coefficients, by Newton's method."""
        if not self.free_intercept:
            return
        eta = self._eta()
        loss = self._loss(eta)
        for _ in range(100):
            slope = float(self.share @ gradient(self.likelihood, self.y, eta))
            shift = slope / float(self._bent(eta).sum())
            while abs(shift) > 1e-16 and not self._loss(eta + shift) <= loss * (1 + 1e-15):
                shift *= 0.5
            eta, loss = eta + shift, self._loss(eta + shift)
            self.intercept += shift
            if abs(shift) <= 1e-14 * (1 + abs(self.intercept)):
                return

    def _seen(self, eta: Floats, product: Floats) -> Evaluated:
        mean = self.y - gradient(self.likelihood, self.y, eta)

        def dual(share: float) -> float:
            """The conjugate of a likelihood of the exponential family is its saturated value."""
            moved = (1 - share) * self.y + share * mean
            inside = saturated(self.likelihood, moved) - (moved - self.y) * self.offset
            return self.level - float(self.share @ inside)

        return Evaluated(self._loss(eta), product, dual)
