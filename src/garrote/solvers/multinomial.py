"""The smooth part of a problem with several classes: Newton's method on all of them together.

Coefficients are numbered class by class: column j of class k is j + k D.
"""

from collections.abc import Generator
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.multinomial import Multinomial
from garrote.problem import Problem
from garrote.solvers.active_factor import ActiveFactor
from garrote.solvers.optimality import Evaluated, total_cost
from garrote.solvers.quadratic import Quadratic, restricted, violation
from garrote.solvers.working_block import WorkingBlock

# Curvatures are kept above this share of the largest: a certain prediction has none.
_LEAST_CURVATURE = 1e-8
_INNER = 0.1
_MOST_HALVINGS = 40


class MultinomialLoss:
    """The mean of minus the log probabilities, as a function of the coefficients of a working set."""

    def __init__(self, problem: Problem):
        self.problem, self.y = problem, problem.response
        self.likelihood: Multinomial = problem.likelihood
        self.classes, self.count = self.likelihood.classes, problem.n_features
        self.share = problem.weights / problem.n
        self.free_intercept = bool(problem.scale.intercept_count)
        self.block = WorkingBlock(problem)
        self.columns = np.zeros(0, np.intp)
        self.inside = np.zeros(self.classes * self.count, dtype=bool)
        self.coef = np.zeros(0)
        self.intercept: Any = np.zeros(self.classes)
        self._place = np.zeros(self.count, np.intp)
        self._settle_intercepts()
        eta = self._eta()
        mean = self.likelihood.mean(eta)
        bent = (mean * (1 - mean)) @ self.share
        self.curvature = np.concatenate([problem.curvature / problem.n * b for b in bent])
        rows = self.likelihood.gradient(self.y, eta)
        self.null = self._seen(eta, problem.table.tdot(rows).ravel() / problem.n)

    def grow(self, columns: Array) -> None:
        """Take more coefficients into the working set, with value 0."""
        if len(columns):
            own = np.unique(columns % self.count)
            self.block.grow(own[~self.block.inside[own]])
            self.columns = np.append(self.columns, columns)
            self.inside[columns] = True
            self.coef = np.append(self.coef, np.zeros(len(columns)))
            self._place[self.block.columns] = np.arange(len(self.block.columns))

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients, from the data alone."""
        self._settle_intercepts()
        eta = self._eta()
        rows = self.likelihood.gradient(self.y, eta)
        _, product = yield from self.problem.evaluate_rows(rows)
        return self._seen(eta, product.ravel() / self.problem.n)

    def solve(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        """Minimise the loss plus a penalty over the working set; return the rounds it took."""
        everyone = np.arange(len(self.coef))
        eta = self._eta()
        objective = self._loss(eta) + total_cost(rule, everyone, self.coef)
        for made in range(max_rounds):
            mean = self.likelihood.mean(eta)
            slope = self.share * self.likelihood.gradient(self.y, eta)
            values, owner = self._values(everyone), self.columns // self.count
            downhill = np.einsum("ij,ji->j", values, slope[owner])
            bent = self.share * mean * (1 - mean)
            off = violation(
                rule, downhill, self.coef, np.einsum("ij,ji,ij->j", values, bent[owner], values)
            )
            uphill = np.abs(slope.sum(axis=1)).max() if self.free_intercept else 0.0
            if max(off.max(initial=0.0), uphill) <= tolerance:
                return made
            moving = np.flatnonzero((self.coef != 0) | (off > 0))
            step, shift = self._newton(rule, moving, downhill, slope, mean, tolerance)
            change = self._predictors(moving, step) + shift[:, None]
            before, start = self.coef[moving].copy(), self.intercept
            for _ in range(_MOST_HALVINGS):
                self.coef[moving], self.intercept = before + step, start + shift
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
        mean: Floats,
        tolerance: float,
    ) -> tuple[Floats, Floats]:
        """Return the step of some coefficients and of the intercepts that minimises the quadratic.

        The curvature of classes k and l in a row is p_k (1 if k = l else 0) - p_k p_l.
        """
        values, owner = self._values(moving), self.columns[moving] // self.count
        spread = values * mean[owner].T
        weighted = spread * self.share[:, None]
        gram = -weighted.T @ spread
        for k in range(self.classes):
            own = np.flatnonzero(owner == k)
            gram[np.ix_(own, own)] += weighted[:, own].T @ values[:, own]
        gram[np.diag_indices_from(gram)] += _LEAST_CURVATURE * np.diag(gram).max(initial=0.0)
        right, shift = downhill[moving].copy(), np.zeros(self.classes)
        if self.free_intercept:
            across = -weighted.T @ mean.T
            across[np.arange(len(moving)), owner] += weighted.sum(axis=0)
            inverse = np.linalg.pinv(self._intercept_curvature(mean), 1e-10, hermitian=True)
            gram -= across @ inverse @ across.T
            right -= across @ (inverse @ slope.sum(axis=1))
        new = self.coef[moving].copy()
        Quadratic(gram, right, new, ActiveFactor()).solve(
            restricted(rule, moving), _INNER * tolerance
        )
        step = new - self.coef[moving]
        if self.free_intercept:
            shift = inverse @ (slope.sum(axis=1) - across.T @ step)
        return step, shift

    def _intercept_curvature(self, mean: Floats) -> Floats:
        return np.diag(mean @ self.share) - (mean * self.share) @ mean.T

    def _values(self, group: Array) -> Floats:
        return self.block.values[:, self._place[self.columns[group] % self.count]]

    def _eta(self) -> Floats:
        used = np.flatnonzero(self.coef)
        return self.intercept[:, None] + self._predictors(used, self.coef[used])

    def _predictors(self, group: Array, coef: Floats) -> Floats:
        """Return what some coefficients add to the linear predictors (classes x rows)."""
        predictors = np.zeros((self.classes, len(self.y)))
        owner = self.columns[group] // self.count
        for k in range(self.classes):
            own = np.flatnonzero(owner == k)
            if len(own):
                predictors[k] = self._values(group[own]) @ coef[own]
        return predictors

    def _loss(self, eta: Floats) -> float:
        return float(self.share @ self.likelihood.loss(self.y, eta))

    def _settle_intercepts(self) -> None:
        """Make the intercepts the best ones for the present coefficients, by Newton's method."""
        if not self.free_intercept:
            return
        eta = self._eta()
        for _ in range(100):
            mean = self.likelihood.mean(eta)
            slope = self.likelihood.gradient(self.y, eta) @ self.share
            # Equal shifts of all classes change nothing: the one of mean 0 is taken.
            step = np.linalg.pinv(self._intercept_curvature(mean), 1e-10, hermitian=True) @ slope
            while np.abs(step).max() > 1e-16 and self._loss(eta + step[:, None]) > self._loss(
                eta
            ) * (1 + 1e-15):
                step *= 0.5
            eta = eta + step[:, None]
            self.intercept = self.intercept + step
            if np.abs(step).max() <= 1e-14 * (1 + np.abs(self.intercept).max()):
                return

    def _seen(self, eta: Floats, product: Floats) -> Evaluated:
        mean = self.likelihood.mean(eta)
        indicator = mean + self.likelihood.gradient(self.y, eta)

        def dual(share: float) -> float:
            moved = (1 - share) * indicator + share * mean
            return -float(self.share @ self.likelihood.entropy(moved))

        return Evaluated(self._loss(eta), product, dual)
