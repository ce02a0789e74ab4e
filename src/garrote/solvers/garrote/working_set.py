"""The few columns that sweeps run on, with their cross products or their values at hand."""

from typing import Any

import numpy as np
from scipy.linalg import lstsq

from garrote.arrays import Array, Floats
from garrote.designs.base import Design
from garrote.designs.dense import DenseColumns
from garrote.designs.gram import GramColumns
from garrote.problem import Problem
from garrote.rules import Residual, moments_among
from garrote.solvers.algebra.growing_gram import GrowingGram
from garrote.solvers.descent.working_block import WorkingBlock
from garrote.solvers.garrote.sweeps import Noise, Start, sweep_to_fixed_point

# With at most this many columns in all, every column is in the set and none is ever screened.
SMALL = 256
# Sweeps made before the weights are solved for.
_PATIENCE = 300
# Covariance mode touches k numbers for each update, residual mode 2 N.
_COVARIANCE_PAYS = 2


class WorkingSet:
    """A growing set of columns of one problem.

    Covariance mode keeps the set's Gram block and sweeps on X'Wr; residual mode keeps the columns
    themselves and sweeps on the N residuals. The cheaper one is taken at each call.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.columns = np.zeros(0, dtype=np.intp)
        self.contains = np.zeros(problem.n_features, dtype=bool)
        self._gram = GrowingGram(problem.n_features)
        self._picked: Design | None = None
        design = problem.design
        self._has_block = design.keeps_blocks
        self._block = WorkingBlock(problem)
        usable = problem.usable
        self.outside = usable
        if len(usable) <= SMALL or not design.has_rows:
            self.add(usable)
        if not design.has_rows and len(usable) == problem.n_features:
            self._gram = GrowingGram.of(design.whole_gram())

    def __len__(self) -> int:
        return len(self.columns)

    def add(self, columns: Array) -> None:
        """Append columns; their products are computed when they are first needed."""
        columns = columns[~self.contains[columns]]
        if not len(columns):
            return
        if self._has_block:
            self._block.grow(columns)
        self.columns = np.concatenate([self.columns, columns])
        self.contains[columns] = True
        self.outside = self.outside[~self.contains[self.outside]]

    @property
    def block(self) -> Floats:
        """The set's columns as a dense array (N x k)."""
        return self._block.values

    def fitted_by(self, coef: Floats) -> Floats:
        """Return the fitted values of coefficients, one (k,) or several (k x K), for all rows."""
        if self._has_block:
            return (coef.T @ self.block.T).T
        several = coef[:, None] if coef.ndim == 1 else coef
        fitted = self.problem.table.dot(self.columns, several, self._stored_part())
        return fitted.reshape(-1, *coef.shape[1:])

    def products(self, residual: Floats) -> Floats:
        """Return X'Wr of the set's columns."""
        if self._has_block:
            return (residual * self.problem.weights) @ self.block
        return self.problem.table.products(self.columns, residual, self._stored_part())

    def gram(self) -> Floats:
        """The set's cross products: the first k rows and columns of a buffer."""
        if len(self._gram) < len(self.columns):
            self._gram.append(self._products(slice(len(self._gram), None)))
        return self._gram.room

    def _products(self, fresh: slice) -> Floats:
        if self._has_block:
            return self.block.T @ (self.problem.weights[:, None] * self.block[:, fresh])
        return self.problem.design.gram(self.columns, self.columns[fresh])

    def find_fixed_point(
        self,
        rule: Any,
        start: Start,
        other_variance: float,
        known_noise: bool,
        tolerance: float,
        max_sweeps: int,
        residual: Floats | None = None,
    ) -> tuple[Floats, Floats, int]:
        """Sweep over the set to a fixed point; ``residual`` is that at the start.

        Returns coefficients, the least-squares values that they are shrunk from, and how many sweeps it
        took. Where sweeps are slow, as with collinear columns, the weights are solved for in between.
        """
        problem = self.problem
        noise = Noise(problem.n, other_variance, problem.smallest_noise, known_noise)
        curvature = problem.curvature[self.columns]
        nothing = np.zeros(1)
        if self.prefers_residuals and residual is not None:
            weighted = Residual(residual * problem.weights, nothing, problem.weights)
            return sweep_to_fixed_point(
                self._readable(), rule, weighted, curvature, start, noise, tolerance, max_sweeps
            )[:3]
        design = GramColumns(self.gram())
        done = 0
        while True:
            products = Residual(start.gradient.copy(), nothing, nothing)
            count = min(_PATIENCE, max_sweeps - done)
            coef, target, made, converged = sweep_to_fixed_point(
                design, rule, products, curvature, start, noise, tolerance, count
            )
            done += made
            if converged or done >= max_sweeps or np.any(rule.sign):
                return coef, target, done
            start = self._solved(rule, start, target)

    def _solved(self, rule: Any, start: Start, target: Floats) -> Start:
        """Return the start with all coefficients solved for at once, given the inclusions (Eq. 9).

        That is the minimum of the free energy over w, so it can only help. In v = m w the system is
        symmetric: (G + diag(((1 - m) c + ridge) / m)) v = X'W(residual without the set). Humps pull.
        """
        size = len(self.columns)
        gram, c = self.gram()[:size, :size], self.problem.curvature[self.columns]
        each = [moments_among(rule, j, target, c) for j in range(size)]
        m = np.array([one[0] for one in each])
        inside = np.flatnonzero(m > 1e-9)
        without = right = start.gradient + gram @ start.coef
        if getattr(rule, "lift", 0.0):
            weight = np.array([one[1] for one in each])
            right = without + (c + rule.ridge) * weight - c * target
        system = gram[np.ix_(inside, inside)].copy()
        held = (1 - m[inside]) * c[inside] + getattr(rule, "ridge", 0.0)
        system[np.diag_indices_from(system)] += held / m[inside]
        coef = np.zeros(size)
        coef[inside] = lstsq(system, right[inside], cond=1e-14)[0]
        gradient = without - gram @ coef
        moved = coef - start.coef
        squared = max(start.squared_residual - float(moved @ (start.gradient + gradient)), 0.0)
        return Start(coef, gradient, squared)

    @property
    def prefers_residuals(self) -> bool:
        """Whether a column update costs less on the N residuals than on the k products."""
        cost = _COVARIANCE_PAYS * self.problem.design.column_cost
        return len(self) > max(cost, 0.0 if self._has_block else SMALL)

    def _readable(self) -> Any:
        """Return what kernels read of the set's columns."""
        if self._has_block:
            return DenseColumns(self.block)
        table, columns = self.problem.table, self.columns
        return self._stored_part().columns(table.mean[columns], table.scale[columns], table.weights)

    def _stored_part(self) -> Design:
        """Return the set's columns as they are stored, where blocks are not kept."""
        if self._picked is None or self._picked.shape[1] != len(self.columns):
            self._picked = self.problem.table.stored.pick(self.columns)
        return self._picked

    def start_from(self, coef: Floats) -> tuple[Start, Floats | None]:
        """Return the start of sweeps at given coefficients, and the residuals where they are kept."""
        problem = self.problem
        if self.prefers_residuals:
            return Start(coef, np.zeros(0), 0.0), problem.response - self.fitted_by(coef)
        xty = problem.xty[self.columns]
        used = np.flatnonzero(coef)
        gradient = xty - coef[used] @ self.gram()[used, : len(coef)]
        squared = max(problem.yty - float(coef @ (xty + gradient)), 0.0)
        return Start(coef, gradient, squared), None
