"""The smooth part of a problem with several classes: Newton's method, class by class.

Coefficients are numbered class by class: column j of class k is j + k D. The quadratic of one class, the
others held, is minimised together with the penalty; a line search makes sure that the objective falls.
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
            self._place = np.zeros(self.count, np.intp)
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
        owner = self.columns // self.count
        groups = [np.flatnonzero(owner == k) for k in range(self.classes)]
        eta = self._eta()
        for made in range(max_rounds):
            worst = 0.0
            for k, group in enumerate(groups):
                worst = max(worst, self._improve(rule, k, group, eta, tolerance))
            if worst <= tolerance:
                return made
        return max_rounds

    def _improve(self, rule: Any, k: int, group: Array, eta: Floats, tolerance: float) -> float:
        """Make one Newton step for one class; return how much its optimality was violated before."""
        values = self._values(group)
        mean = self.likelihood.mean(eta)[k]
        slope = self.share * ((self.y == k) - mean)
        bent = self.share * mean * (1 - mean)
        bent = np.maximum(bent, _LEAST_CURVATURE * bent.max(initial=0.0))
        own = restricted(rule, group)
        downhill, coef = values.T @ slope, self.coef[group]
        off = violation(own, downhill, coef, np.einsum("ij,i,ij->j", values, bent, values))
        uphill = abs(slope.sum()) if self.free_intercept else 0.0
        worst = max(float(off.max(initial=0.0)), uphill)
        if worst <= tolerance:
            return worst
        moving = np.flatnonzero((coef != 0) | (off > 0))
        weighted = values[:, moving] * bent[:, None]
        gram, right = weighted.T @ values[:, moving], downhill[moving].copy()
        along, total = weighted.sum(axis=0), bent.sum()
        if self.free_intercept:
            gram -= np.outer(along, along) / total
            right -= along * (slope.sum() / total)
        new = coef[moving].copy()
        Quadratic(gram, right, new, ActiveFactor()).solve(
            restricted(own, moving), _INNER * tolerance
        )
        step = new - coef[moving]
        shift = (slope.sum() - along @ step) / total if self.free_intercept else 0.0
        self._take(own, k, group, moving, step, shift, values[:, moving] @ step + shift, eta)
        return worst

    def _take(
        self, own: Any, k: int, group: Array, moving: Array, step: Floats, shift: float,
        change: Floats, eta: Floats,
    ) -> None:  # fmt: skip
        """Take a step of one class, as much of it as makes the objective fall."""
        everyone = np.arange(len(group))
        coef = self.coef[group]
        before = self._loss(eta) + total_cost(own, everyone, coef)
        for _ in range(_MOST_HALVINGS):
            moved, ahead = coef.copy(), eta.copy()
            moved[moving] += step
            ahead[k] += change
            if self._loss(ahead) + total_cost(own, everyone, moved) <= before * (1 + 1e-15):
                self.coef[group], eta[k] = moved, ahead[k]
                self.intercept[k] += shift
                return
            step, shift, change = 0.5 * step, 0.5 * shift, 0.5 * change

    def _values(self, group: Array) -> Floats:
        return self.block.values[:, self._place[self.columns[group] % self.count]]

    def _eta(self) -> Floats:
        eta = np.repeat(self.intercept[:, None], len(self.y), axis=1)
        owner = self.columns // self.count
        for k in range(self.classes):
            used = np.flatnonzero((owner == k) & (self.coef != 0))
            if len(used):
                eta[k] += self._values(used) @ self.coef[used]
        return eta

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
            system = np.diag(mean @ self.share) - (mean * self.share) @ mean.T
            # Equal shifts of all classes change nothing: the one of mean 0 is taken.
            step = np.linalg.pinv(system, rcond=1e-10, hermitian=True) @ slope
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
