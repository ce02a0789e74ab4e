"""The smooth part of a Gaussian problem on a working set: cross products are computed once."""

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.rules import Evaluated, Structure, structure
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.algebra.growing_gram import GrowingGram
from garrote.solvers.descent.column_sweeps import ColumnSweeps, sweeping_columns_is_cheaper
from garrote.solvers.descent.optimality import beyond_rounding
from garrote.solvers.descent.working_block import WorkingBlock
from garrote.solvers.penalised.minimising import minimise, minimise_by_rows, suits_rows

# Columns whose cross products are made at once: many at a time would need as much memory again.
_AT_ONCE = 500


class _Fitted(NamedTuple):
    """Coefficients of some columns, and what they make of the rows."""

    columns: Array
    coef: Floats
    values: Floats


class WorkingSquares:
    """Half the mean squared residual on a working set, which has no columns at first."""

    intercept = 0.0
    wants_start = False  # a quadratic is solved at once from anywhere

    def __init__(self, problem: Problem):
        self.problem = problem
        self.columns = np.zeros(0, np.intp)
        self.inside = np.zeros(problem.n_features, dtype=bool)
        self.coef = np.zeros(0)
        self.curvature = problem.curvature / problem.n


class LeastSquares(WorkingSquares):
    """Half the mean squared residual, as a function of the coefficients of a growing working set."""

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self._gram = GrowingGram(problem.n_features)
        self._factor, self._before = ActiveFactor(), np.zeros(0)
        nothing = np.zeros(len(problem.response)) if problem.has_rows else np.zeros(0)
        self._last = _Fitted(self.columns, self.coef, nothing)
        self._fit_before: Floats | None = nothing
        # Dense copies of sparse columns would be far more than the matrix itself.
        dense = problem.has_rows and problem.table.keeps_blocks
        self._block = WorkingBlock(problem) if dense else None
        self.null = null_squares(problem)

    def grow(self, columns: Array) -> None:
        """Take more columns into the working set, with coefficients of 0."""
        if not len(columns):
            return
        self.columns = np.append(self.columns, columns)
        self.inside[columns] = True
        self.coef = np.append(self.coef, np.zeros(len(columns)))
        if self._block is not None:
            self._block.grow(columns)

    def keep(self, places: Array) -> None:
        """Let go of all columns but those at some places, in ascending order."""
        before = np.zeros(len(self.columns))
        before[: len(self._before)] = self._before
        self._before, self._fit_before = before[places], None
        self.columns, self.coef = self.columns[places], self.coef[places]
        self.inside[:] = False
        self.inside[self.columns] = True
        self._gram.keep(places[places < len(self._gram)])
        self._factor = ActiveFactor()
        if self._block is not None:
            self._block.keep(places)

    def solve(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        """Minimise the loss plus a penalty over the working set; return the rounds it took."""
        if self._block is not None and suits_rows(rule, self._block.values.shape):
            return self._solve_by_rows(rule, tolerance, max_rounds)
        sweeps = structure(rule) is Structure.SEPARATE
        sweeps = sweeps and sweeping_columns_is_cheaper(len(self.columns))
        if sweeps and self._block is None and self.problem.has_rows:
            return self._solve_by_columns(rule, tolerance, max_rounds)
        gram = self._products()
        gradient = self.problem.xty[self.columns] / self.problem.n - gram @ self.coef
        return minimise(rule, gram, gradient, self.coef, self._factor, tolerance, max_rounds)

    def _solve_by_rows(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        block = self._block
        assert block is not None
        if len(self._gram):  # it is not wanted any more: the working set does not shrink to suit it
            self._gram, self._factor = GrowingGram(self.problem.n_features), ActiveFactor()
        fitted = self._fitted()
        if self._fit_before is None:
            used = np.flatnonzero(self._before)
            self._fit_before = block.dot(used, self._before[used])
        ahead = 2.0 * self.coef, fitted - self._fit_before  # where a straight path would lead to
        ahead[0][: len(self._before)] -= self._before
        self._before, self._fit_before = self.coef.copy(), fitted
        residual = self.problem.response - fitted
        return minimise_by_rows(rule, block, residual, self.coef, ahead, tolerance, max_rounds)

    def _solve_by_columns(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        table, columns, share = self.problem.table, self.columns, 1.0 / self.problem.n
        sweeps = ColumnSweeps(
            table.stored.pick(columns), table.mean[columns], table.scale[columns],
            table.weights * share, self.curvature[columns],
        )  # fmt: skip
        residuals = self.problem.response - self._fitted()
        return sweeps.minimise(rule, residuals, self.coef, tolerance, max_rounds)

    def _fitted(self) -> Floats:
        """Return the fitted values; after a look at the solution the next one starts there."""
        used = np.flatnonzero(self.coef)
        columns, coef = self.columns[used], self.coef[used]
        if np.array_equal(columns, self._last.columns) and np.array_equal(coef, self._last.coef):
            return self._last.values
        if self._block is not None:
            values = self._block.dot(used, coef)
        else:
            values = self.problem.table.dot(columns, coef[:, None])[:, 0]
        self._last = _Fitted(columns, coef, values)
        return values

    def _products(self) -> Floats:
        """Return the cross products of the working set; those of new columns are made now."""
        known, size = len(self._gram), len(self.columns)
        self._gram.reserve(size)
        for first in range(known, size, _AT_ONCE):
            self._gram.append(self._across(first, min(first + _AT_ONCE, size)) / self.problem.n)
        return self._gram.values

    def _across(self, first: int, last: int) -> Floats:
        """Return the products of the first columns of the working set with the newest of them."""
        if not self.problem.has_rows:
            return self.problem.known_block(self.columns[:last])[:, first:]
        if self._block is None:
            return self.problem.table.gram(self.columns[:last], self.columns[first:last])
        values = self._block.values
        return values[:, :last].T @ (values[:, first:last] * self.problem.weights[:, None])

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients, from the data alone."""
        explained = float(self.coef @ self.problem.xty[self.columns])
        if self.problem.has_rows:
            residuals = self.problem.response - self._fitted()
            squared, gradient = yield from self.problem.evaluate_residuals(residuals[None, :])
        else:
            used = np.flatnonzero(self.coef)
            squared, gradient = yield from self.problem.evaluate(
                self.columns[used], self.coef[used][:, None]
            )
        return as_seen(self.problem, float(squared[0]), gradient[0], explained)


def null_squares(problem: Problem) -> Evaluated:
    """Return the fit without any column."""
    loss = 0.5 * problem.yty / problem.n
    curvature, spread = problem.curvature / problem.n, float(np.sqrt(2.0 * loss))
    gradient = beyond_rounding(problem.xty / problem.n, curvature, spread)
    return Evaluated(loss, gradient, lambda share: share * (2 - share) * loss)


def as_seen(problem: Problem, squared: float, gradient: Floats, explained: float) -> Evaluated:
    """Return a fit as seen from its squared residuals, X'Wr and w'X'Wy."""
    loss, along = 0.5 * squared / problem.n, (problem.yty - explained) / problem.n
    # The dual at a share of the residual: share * r'y / n - share^2 r'r / (2 n).
    return Evaluated(loss, gradient / problem.n, lambda share: share * (along - share * loss))
