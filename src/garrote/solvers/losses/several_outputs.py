"""Losses with several linear predictors a row: classes, or responses.

Coefficients are numbered output by output: column j of output k is j + k D.
"""

from collections.abc import Generator
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.rules import Evaluated
from garrote.solvers.descent.optimality import beyond_rounding
from garrote.solvers.descent.working_block import WorkingBlock
from garrote.solvers.losses.newton_loss import NewtonLoss


class SeveralOutputs(NewtonLoss):
    """The working set of a loss with several outputs; subclasses know its derivatives."""

    def __init__(self, problem: Problem):
        self.problem, self.y = problem, problem.response
        self.likelihood: Any = problem.likelihood
        self.outputs, self.count = self.likelihood.outputs, problem.n_features
        self.share = problem.weights / problem.n
        self.offset = problem.known_part
        self.free_intercept = bool(problem.scale.intercept_count)
        self.block = WorkingBlock(problem)
        self.columns = np.zeros(0, np.intp)
        self.inside = np.zeros(self.outputs * self.count, dtype=bool)
        self.coef = np.zeros(0)
        self.intercept: Any = np.zeros(self.outputs)
        self._place = np.zeros(self.count, np.intp)
        eta = self._fit_intercept()
        curvatures = self._row_curvatures(eta) @ self.share
        self.curvature = np.concatenate(
            [problem.curvature / problem.n * each for each in curvatures]
        )
        slopes = self.likelihood.gradient(self.y, eta)
        spreads, lengths = np.sqrt(slopes**2 @ self.share), problem.curvature / problem.n
        products = [
            beyond_rounding(product, lengths, float(spread))
            for product, spread in zip(problem.table.tdot(slopes) / problem.n, spreads, strict=True)
        ]
        self.null = self._seen(eta, np.concatenate(products))

    def grow(self, columns: Array) -> None:
        """Take more coefficients into the working set, with value 0."""
        if len(columns):
            needed = np.unique(columns % self.count)
            self.block.grow(needed[~self.block.inside[needed]])
            self.columns = np.append(self.columns, columns)
            self.inside[columns] = True
            self.coef = np.append(self.coef, np.zeros(len(columns)))
            self._place[self.block.columns] = np.arange(len(self.block.columns))

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients, from the data alone."""
        eta = self._fit_intercept()
        seen = self._seen(eta, np.zeros(0))  # before others have the loss go elsewhere
        slopes = self.likelihood.gradient(self.y, eta)
        _, product = yield from self.problem.evaluate_residuals(slopes)
        return seen._replace(gradient=product.ravel() / self.problem.n)

    def _change(self, moving: Array, step: Floats, shift: Floats) -> Floats:
        return self._predictors(moving, step) + shift[:, None]

    def _eta(self) -> Floats:
        used = np.flatnonzero(self.coef)
        return self._known() + self._predictors(used, self.coef[used])

    def _known(self) -> Floats:
        """Return the part of the linear predictors that no column has a share in."""
        return np.asarray(self.offset + self.intercept[:, None])

    def _predictors(self, group: Array, coef: Floats) -> Floats:
        """Return what some coefficients add to the linear predictors (outputs x rows)."""
        owner, column = np.divmod(self.columns[group], self.count)
        spread = np.zeros((self.outputs, len(self.block.columns)))
        spread[owner, self._place[column]] = coef
        return np.asarray(spread @ self.block.values.T)

    def _products(self, slope: Floats) -> Floats:
        """Return each coefficient's column times the slopes of its output (outputs x rows)."""
        owner, column = np.divmod(self.columns, self.count)
        return np.asarray((slope @ self.block.values)[owner, self._place[column]])

    def _loss(self, eta: Floats) -> float:
        return float(self.share @ self.likelihood.loss(self.y, eta))

    def _row_curvatures(self, eta: Floats) -> Floats:
        """Return each output's own second derivative in every row (outputs x rows)."""
        raise NotImplementedError

    def _seen(self, eta: Floats, product: Floats) -> Evaluated:
        """Return the present fit as seen, given the products of all columns with its slopes."""
        raise NotImplementedError
