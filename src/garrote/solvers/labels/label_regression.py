"""The regression that stands for labels once rows have weights, beside intercept and covariates.

The intercept is flat. A covariate has N(0, 100) in standard deviations, which is one row of
pseudo-data: 0.1 in its own column, 0 in all others and in the response. Both are integrated out with
the weights of the moment, so they are projected out of the response and of all columns.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import pinvh

from garrote.arrays import Array, Floats
from garrote.designs import DenseDesign
from garrote.limits.budgets import ENTRIES_KEPT
from garrote.problem import Problem

# Precision of a covariate's coefficient in standard deviations: proper, so that none runs to infinity.
COVARIATE_PRECISION = 0.01
# A column that the fixed ones explain up to this share of its square has nothing left to tell.
_EXPLAINED = 1e-7


class LabelRegression(NamedTuple):
    """A weighted regression beside the fixed columns.

    ``task`` is the regression on what they leave, ``inverse`` the covariance of their coefficients,
    ``explained`` how they make up each column, ``level`` their coefficients where all others are 0, and
    ``log_determinant`` that of ``inverse``.
    """

    task: Problem
    inverse: Floats
    explained: Floats
    level: Floats
    log_determinant: float


class BesideFixed(NamedTuple):
    """Some columns under weights of the rows.

    ``inverse`` is the covariance of the fixed columns' coefficients, ``explained`` how these columns
    make up each of the others, ``left`` what they leave of them.
    """

    inverse: Floats
    explained: Floats
    left: Floats
    weights: Floats

    @property
    def lengths(self) -> Floats:
        """The squares of what is left of each column, in the rows' weights."""
        return np.einsum("ij,ij,i->j", self.left, self.left, self.weights)

    @property
    def products(self) -> Floats:
        """The cross products of what is left."""
        return np.asarray(self.left.T @ (self.left * self.weights[:, None]))


class LabelColumns:
    """Standardised columns of a problem as a dense block that only grows, beside the fixed ones."""

    def __init__(self, problem: Problem):
        self.problem = problem
        fixed, held = fixed_columns(problem)
        self.rows, self.count = fixed.shape
        self.pseudo = int(np.count_nonzero(held))
        pad = np.zeros((self.pseudo, self.count))
        pad[:, self.count - self.pseudo :] = np.sqrt(COVARIATE_PRECISION) * np.eye(self.pseudo)
        self._fixed = np.vstack([fixed, pad])
        self._block = np.zeros((len(self._fixed), 0), order="F")
        self.columns = np.zeros(0, dtype=np.intp)

    @property
    def fixed(self) -> Floats:
        """The fixed columns of the data's rows."""
        return self._fixed[: self.rows]

    def add(self, columns: Array) -> None:
        """Take in more columns."""
        entries = len(self._fixed) * (len(self.columns) + len(columns))
        if entries > ENTRIES_KEPT:
            raise ValueError(
                f"{len(self.columns) + len(columns):,} of {self.problem.n_features:,} columns matter at "
                f"these prior odds, a dense block of {8e-9 * entries:.3g} GB: lower the prior odds, or "
                "screen the columns first"
            )
        block = self.problem.table.block(columns, projected=False)
        pad = np.zeros((self.pseudo, len(columns)))
        self._block = np.asfortranarray(np.hstack([self._block, np.vstack([block, pad])]))
        self.columns = np.concatenate([self.columns, columns])
        self._order = np.argsort(self.columns, kind="stable")
        self._sorted = self.columns[self._order]

    @property
    def others(self) -> Array:
        """The usable columns that are not in the block."""
        outside = np.ones(self.problem.n_features, dtype=bool)
        outside[self.columns] = False
        return np.asarray(self.problem.usable[outside[self.problem.usable]])

    def places(self, columns: Array) -> Array:
        """Return where some columns are in the block."""
        if not len(columns):
            return np.zeros(0, dtype=np.intp)
        return self._order[np.searchsorted(self._sorted, columns)]

    def regression(self, response: Floats, weights: Floats) -> LabelRegression:
        """Return the regression of a response of the data's rows on all columns, given weights."""
        response = np.append(response, np.zeros(self.pseudo))
        weights = np.append(weights, np.ones(self.pseudo))
        inverse, explained, log_determinant = self._beside_fixed(weights, self._block)
        level = inverse @ (self._fixed.T @ (weights * response))
        # By rows of the transposes: both are in Fortran order then, and nothing is copied.
        block = (self._block.T - explained.T @ self._fixed.T).T
        whole = np.einsum("ij,ij,i->j", self._block, self._block, weights)
        left = np.einsum("ij,ij,i->j", block, block, weights)
        block[:, left <= _EXPLAINED * whole] = 0.0
        if not len(self.columns):  # a column of nothing stands for none
            block = np.zeros((len(block), 1))
        task = Problem.from_rows(
            DenseDesign(np.asfortranarray(block)), response - self._fixed @ level, weights,
            fit_intercept=False, standardize=False, scale_response=False,
        )  # fmt: skip
        return LabelRegression(task, inverse, explained, level, log_determinant)

    def beside_fixed(self, weights: Floats, columns: Array) -> BesideFixed:
        """Return some columns beside the fixed ones, under other weights of the data's rows."""
        weights = np.append(weights, np.ones(self.pseudo))
        block = self._block[:, self.places(columns)]
        inverse, explained, _ = self._beside_fixed(weights, block)
        return BesideFixed(inverse, explained, block - self._fixed @ explained, weights)

    def _beside_fixed(self, weights: Floats, block: Floats) -> tuple[Floats, Floats, float]:
        if not self.count:
            return np.zeros((0, 0)), np.zeros((0, block.shape[1])), 0.0
        held = (self._fixed * weights[:, None]).T
        products = held @ self._fixed
        inverse = pinvh(products) if self.count > 1 else 1.0 / products
        return inverse, inverse @ (held @ block), -float(np.linalg.slogdet(products)[1])


def fixed_columns(problem: Problem) -> tuple[Floats, Floats]:
    """Return the intercept and standardised covariates (N x f), and the precisions of their priors."""
    design = problem.table
    first = np.ones((design.shape[0], problem.scale.intercept_count))
    covariates = design.block(problem.scale.covariates, projected=False)
    held = np.repeat([0.0, COVARIATE_PRECISION], [first.shape[1], covariates.shape[1]])
    return np.hstack([first, covariates]), held
