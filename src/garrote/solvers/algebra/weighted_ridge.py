"""Ridge regression with a penalty for each coefficient, solved at once: by columns or by rows.

The coefficients v minimise ||y - Xv||^2 + sum v_j^2 / spread_j, so that v_j = spread_j x_j'r. Columns of
negligible spread follow from that; the others are solved for in a symmetric system of their own number
or, where there are fewer rows, of the rows' number (Woodbury's identity), which needs no X'X. With a
``pull`` of each coefficient, v_j = spread_j (x_j'r + pull_j).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from garrote.arrays import Array, Floats
from garrote.designs.base import block_width
from garrote.designs.dense import DenseColumns
from garrote.designs.gram import GramColumns
from garrote.limits.budgets import BLOCK_BYTES
from garrote.problem import Problem
from garrote.rules import Residual

# A column with so little spread beside its size takes nothing off the residual that could be seen.
_NEGLIGIBLE = 1e-13


class Ridge(NamedTuple):
    """Coefficients, x'r of every column, the squared residual, and the residuals themselves.

    ``residuals`` are weighted by the roots of the rows' weights; without rows they are x'r.
    """

    coef: Floats
    gradient: Floats
    squared_residual: float
    residuals: Floats


class WeightedRidge:
    """One problem's usable columns, dense or by their cross products."""

    def __init__(self, problem: Problem):
        self.columns: Array = problem.usable
        self.curvature = problem.curvature[self.columns]
        self.xty, self.yty = problem.xty[self.columns], problem.yty
        self._gram: Floats | None = None
        if problem.compressible or not problem.has_rows:
            self._gram = np.ascontiguousarray(problem.known_block(self.columns))
            return
        needed = 8 * len(self.columns) * len(problem.response)
        if needed > BLOCK_BYTES:
            raise ValueError(
                f"method='em' needs X as a dense block of {needed / 2**30:.1f} GiB, more than the "
                f"{BLOCK_BYTES / 2**30:.0f} GiB allowed: use method='mean-field'"
            )
        roots = np.sqrt(problem.weights)
        self._block = np.asfortranarray(problem.table.block(self.columns))
        self._block *= roots[:, None]
        self._response = roots * problem.response

    def solve(self, spread: Floats, pull: Floats | None = None) -> Ridge:
        """Return the minimum for given spreads, which may be 0, and pulls, which are 0 unless given."""
        inside = np.flatnonzero(spread * self.curvature > _NEGLIGIBLE)
        root = np.sqrt(spread[inside])
        xty = self.xty if pull is None else self.xty + pull
        if self._gram is not None:
            system = self._gram[np.ix_(inside, inside)]
            solved = _solve_scaled(system, xty[inside], root)
            gradient = self.xty - self._gram[:, inside] @ solved
            residuals = gradient
        elif len(inside) <= len(self._response):
            block = self._block[:, inside]
            solved = _solve_scaled(block.T @ block, xty[inside], root)
            residuals = self._response - block @ solved
            gradient = self._block.T @ residuals
        else:
            pulled = np.zeros(0) if pull is None else spread[inside] * pull[inside]
            residuals = self._unexplained(inside, root, pulled)
            gradient = self._block.T @ residuals
            solved = spread[inside] * gradient[inside]
            if pull is not None:
                solved += pulled
        coef = spread * (gradient if pull is None else gradient + pull)
        coef[inside] = solved
        return self._with_norm(coef, gradient, residuals)

    def _unexplained(self, inside: Array, root: Floats, pulled: Floats) -> Floats:
        """Return the residuals (1 + X spread X')^-1 y, from columns and the roots of their spreads.

        Of what pulls alone would leave, where there are any.
        """
        response = self._response
        if len(pulled):
            response = response - self._block[:, inside] @ pulled
        system = np.eye(len(self._response))
        width = block_width(len(system))
        for start in range(0, len(inside), width):  # in pieces: X is large beside the system
            part = slice(start, start + width)
            scaled = self._block[:, inside[part]]
            scaled *= root[part]
            system += scaled @ scaled.T
        return np.asarray(cho_solve(cho_factor(system, overwrite_a=True), response))

    def at(self, coef: Floats) -> Ridge:
        """Return the residuals of any coefficients."""
        if self._gram is not None:
            gradient = self.xty - self._gram @ coef
            return self._with_norm(coef, gradient, gradient)
        residuals = self._response - self._block @ coef
        return self._with_norm(coef, self._block.T @ residuals, residuals)

    def _with_norm(self, coef: Floats, gradient: Floats, residuals: Floats) -> Ridge:
        if self._gram is None:
            return Ridge(coef, gradient, float(residuals @ residuals), residuals)
        squared = self.yty - float(coef @ (self.xty + gradient))
        return Ridge(coef, gradient, max(squared, 0.0), residuals)

    def readable(self, residuals: Floats) -> tuple[GramColumns | DenseColumns, Residual]:
        """Return the columns and the residual as a sweep reads and changes them."""
        nothing = np.zeros(1)
        if self._gram is not None:
            return GramColumns(self._gram), Residual(residuals.copy(), nothing, nothing)
        return DenseColumns(self._block), Residual(
            residuals.copy(), nothing, np.ones(len(residuals))
        )


def _solve_scaled(gram: Floats, xty: Floats, root: Floats) -> Floats:
    """Solve (G + 1 / root^2) v = X'y as (1 + root G root) u = root X'y, v = root u."""
    system = gram * root
    system *= root[:, None]
    system[np.diag_indices_from(system)] += 1.0
    return np.asarray(root * cho_solve(cho_factor(system, overwrite_a=True), root * xty))
