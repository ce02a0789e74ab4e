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
from garrote.solvers.newton_loss import INNER, LEAST_CURVATURE, Derivatives, NewtonLoss
from garrote.solvers.optimality import Evaluated
from garrote.solvers.quadratic import minimise, restricted
from garrote.solvers.working_block import WorkingBlock


class MultinomialLoss(NewtonLoss):
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

    def _derivatives(self, eta: Floats) -> Derivatives:
        mean = self.likelihood.mean(eta)
        slope = self.share * self.likelihood.gradient(self.y, eta)
        values, owner = self._values(np.arange(len(self.coef))), self.columns // self.count
        downhill = np.einsum("ij,ji->j", values, slope[owner])
        bent = self.share * mean * (1 - mean)
        own = np.einsum("ij,ji,ij->j", values, bent[owner], values)
        return Derivatives(slope, downhill, own, mean)

    def _newton(
        self, rule: Any, moving: Array, near: Derivatives, tolerance: float, renew: bool
    ) -> tuple[Array, Floats, Floats]:
        # The curvature of classes k and l in a row is p_k (1 if k = l else 0) - p_k p_l.
        mean, uphill = near.rows, near.slope.sum(axis=1)
        values, owner = self._values(moving), self.columns[moving] // self.count
        spread = values * mean[owner].T
        weighted = spread * self.share[:, None]
        gram = -weighted.T @ spread
        for k in range(self.classes):
            own = np.flatnonzero(owner == k)
            gram[np.ix_(own, own)] += weighted[:, own].T @ values[:, own]
        gram[np.diag_indices_from(gram)] += LEAST_CURVATURE * np.diag(gram).max(initial=0.0)
        right, shift = near.downhill[moving].copy(), np.zeros(self.classes)
        if self.free_intercept:
            across = -weighted.T @ mean.T
            across[np.arange(len(moving)), owner] += weighted.sum(axis=0)
            inverse = np.linalg.pinv(self._intercept_curvature(mean), 1e-10, hermitian=True)
            gram -= across @ inverse @ across.T
            right -= across @ (inverse @ uphill)
        new = self.coef[moving].copy()
        own = restricted(rule, moving)
        minimise(own, gram, right, new, ActiveFactor(), INNER * tolerance)
        step = new - self.coef[moving]
        if self.free_intercept:
            shift = inverse @ (uphill - across.T @ step)
        return moving, step, shift

    def _change(self, moving: Array, step: Floats, shift: Floats) -> Floats:
        return self._predictors(moving, step) + shift[:, None]

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
        eta, before = self._eta(), np.inf
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
            size = np.abs(step).max() / (1 + np.abs(self.intercept).max())
            # Newton's steps shrink ever faster, until they are rounding.
            if size <= 1e-14 or (size >= 0.5 * before and before < 1e-8):
                return
            before = size

    def _seen(self, eta: Floats, product: Floats) -> Evaluated:
        mean = self.likelihood.mean(eta)
        indicator = mean + self.likelihood.gradient(self.y, eta)

        def dual(share: float) -> float:
            moved = (1 - share) * indicator + share * mean
            return -float(self.share @ self.likelihood.entropy(moved))

        return Evaluated(self._loss(eta), product, dual)
