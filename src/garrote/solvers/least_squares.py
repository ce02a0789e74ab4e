"""The smooth part of a Gaussian problem on a working set: cross products are computed once."""

from collections.abc import Generator
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.solvers.active_factor import ActiveFactor
from garrote.solvers.optimality import Evaluated
from garrote.solvers.quadratic import Quadratic
from garrote.solvers.working_block import WorkingBlock


class LeastSquares:
    """Half the mean squared residual, as a function of the coefficients of a growing working set."""

    intercept = 0.0

    def __init__(self, problem: Problem):
        self.problem = problem
        self.columns = np.zeros(0, np.intp)
        self.inside = np.zeros(problem.n_features, dtype=bool)
        self.coef = np.zeros(0)
        self.curvature = problem.curvature / problem.n
        self._gram = np.zeros((0, 0))
        self._factor = ActiveFactor()
        self._block = WorkingBlock(problem) if problem.has_rows else None

    @property
    def null(self) -> Evaluated:
        """The fit without any column."""
        n, loss = self.problem.n, 0.5 * self.problem.yty / self.problem.n
        return Evaluated(loss, self.problem.xty / n, lambda share: share * (2 - share) * loss)

    def grow(self, columns: Array) -> None:
        """Take more columns into the working set, with coefficients of 0."""
        if not len(columns):
            return
        k, m = len(self.columns), len(self.columns) + len(columns)
        if m > len(self._gram):
            larger = np.zeros((max(64, 2 * m), max(64, 2 * m)))
            larger[:k, :k] = self._gram[:k, :k]
            self._gram = larger
        self.columns = np.append(self.columns, columns)
        self.inside[columns] = True
        across = self._products(columns) / self.problem.n
        self._gram[:m, k:m], self._gram[k:m, :m] = across, across.T
        self.coef = np.append(self.coef, np.zeros(len(columns)))

    def _products(self, new: Array) -> Floats:
        """Return the products of the whole working set with its newest columns."""
        if self._block is None:
            return self.problem.known_block(self.columns)[:, -len(new) :]
        self._block.grow(new)
        values = self._block.values
        return values.T @ (values[:, -len(new) :] * self.problem.weights[:, None])

    def solve(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        """Minimise the loss plus a penalty over the working set; return the rounds it took."""
        k = len(self.columns)
        gram = self._gram[:k, :k]
        gradient = self.problem.xty[self.columns] / self.problem.n - gram @ self.coef
        quadratic = Quadratic(gram, gradient, self.coef, self._factor)
        return quadratic.solve(rule, tolerance, max_rounds)

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients, from the data alone."""
        used = np.flatnonzero(self.coef)
        fitted = None
        if self._block is not None:
            fitted = self._block.dot(used, self.coef[used])[:, None]
        squared, gradient = yield from self.problem.evaluate(
            self.columns[used], self.coef[used][:, None], fitted
        )
        explained = float(self.coef @ self.problem.xty[self.columns])
        return as_seen(self.problem, float(squared[0]), gradient[0], explained)


def as_seen(problem: Problem, squared: float, gradient: Floats, explained: float) -> Evaluated:
    """Return a fit as seen from its squared residuals, X'Wr and w'X'Wy."""
    loss, along = 0.5 * squared / problem.n, (problem.yty - explained) / problem.n
    # The dual at a share of the residual: share * r'y / n - share^2 r'r / (2 n).
    return Evaluated(loss, gradient / problem.n, lambda share: share * (along - share * loss))
