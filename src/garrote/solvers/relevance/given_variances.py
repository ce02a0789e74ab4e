"""A regression given the prior variances of its coefficients: their means, and the evidence.

With w_j ~ N(0, t_j) and noise of variance s the data have covariance C = s I + X diag(t) X' (Murphy
2012, Eq. 13.152). All that relevance determination asks for are S_j = x_j'C^-1 x_j and Q_j = x_j'C^-1 y:
the posterior mean of a coefficient is t_j Q_j, and t_j S_j, between 0 and 1, is how much of it the data
determine (gamma_j of Eq. 13.171). They come from a factor of I + X diag(t) X' / s, by columns or by
rows, whichever are fewer; neither divides by a variance, so that these may be 0.
"""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import solve_triangular

from garrote.arrays import Array, Floats
from garrote.limits.budgets import BLOCK_BYTES
from garrote.problem import Problem


class Given(NamedTuple):
    """What follows from given variances.

    ``mean`` are the coefficients, ``strength`` the S_j and ``pull`` the Q_j above, ``log_determinant``
    is log |C / s| and ``left`` is y'C^-1 y.
    """

    mean: Floats
    strength: Floats
    pull: Floats
    log_determinant: float
    left: float


class Data(Protocol):
    """A regression on some columns, by its cross products or by its rows."""

    def given(self, variance: Floats, noise: float) -> Given:
        """Return what given variances make of it."""

    def among(self, columns: Array) -> "Data":
        """Return the regression on some of the columns."""


class ByColumns(NamedTuple):
    """A regression by X'X, X'y and y'y."""

    gram: Floats
    xty: Floats
    yty: float

    def given(self, variance: Floats, noise: float) -> Given:
        """Return what given variances make of it."""
        inside = np.flatnonzero(variance > 0)
        return implied(self, self.gram[inside], inside, variance[inside], noise)

    @property
    def curvature(self) -> Floats:
        """The diagonal of X'X."""
        return np.diag(self.gram)

    def among(self, columns: Array) -> "ByColumns":
        """Return the regression on some of the columns."""
        return ByColumns(self.gram[np.ix_(columns, columns)], self.xty[columns], self.yty)


class ByRows(NamedTuple):
    """A regression by its rows, each times the root of its weight."""

    block: Floats
    response: Floats

    def given(self, variance: Floats, noise: float) -> Given:
        """Return what given variances make of it."""
        inside = np.flatnonzero(variance > 0)
        scaled = self.block[:, inside] * np.sqrt(variance[inside] / noise)
        system = scaled @ scaled.T
        system[np.diag_indices_from(system)] += 1.0
        lower = np.linalg.cholesky(system)
        half = solve_triangular(lower, self.block, lower=True)
        along = solve_triangular(lower, self.response, lower=True)
        pull = along @ half / noise
        strength = np.einsum("ij,ij->j", half, half) / noise
        determinant = 2.0 * float(np.log(np.diag(lower)).sum())
        return Given(variance * pull, strength, pull, determinant, float(along @ along) / noise)

    def among(self, columns: Array) -> "ByRows":
        """Return the regression on some of the columns."""
        return ByRows(self.block[:, columns], self.response)


class Moments(Protocol):
    """What a regression is known by: the diagonal of X'X, X'y and y'y."""

    @property
    def curvature(self) -> Floats:
        """The diagonal of X'X."""

    @property
    def xty(self) -> Floats:
        """X'y."""

    @property
    def yty(self) -> float:
        """Y'y."""


def implied(
    moments: Moments, gram: Floats, columns: Array, variance: Floats, noise: float
) -> Given:
    """Return what variances of a few columns imply for all, given these columns' rows of X'X."""
    root, lower = factorised(gram[:, columns], variance, noise)
    half = solve_triangular(lower, root[:, None] * gram, lower=True, check_finite=False)
    along = solve_triangular(lower, root * moments.xty[columns], lower=True, check_finite=False)
    strength = (moments.curvature - np.einsum("ij,ij->j", half, half)) / noise
    pull = (moments.xty - along @ half) / noise
    determinant = 2.0 * float(np.log(np.diag(lower)).sum())
    left = max(moments.yty - float(along @ along), 0.0) / noise
    mean = np.zeros(len(pull))
    mean[columns] = variance * pull[columns]
    return Given(mean, np.maximum(strength, 0.0), pull, determinant, left)


def factorised(gram: Floats, variance: Floats, noise: float) -> tuple[Floats, Floats]:
    """Return R, with R^2 the variances over the noise, and the factor of I + R X'X R."""
    root = np.sqrt(variance / noise)
    system = gram * np.outer(root, root)
    system[np.diag_indices_from(system)] += 1.0
    return root, np.linalg.cholesky(system)


def regression_of(problem: Problem, method: str) -> Data:
    """Return the usable columns of a problem of numbers, by columns or by rows, whichever are fewer."""
    columns = problem.usable
    if not problem.has_rows or problem.compressible or len(columns) <= len(problem.response):
        _check_room(8 * len(columns) ** 2, method)
        return ByColumns(
            np.ascontiguousarray(problem.known_block(columns)), problem.xty[columns], problem.yty
        )
    _check_room(8 * len(columns) * len(problem.response), method)
    root = np.sqrt(problem.weights)
    return ByRows(root[:, None] * problem.table.block(columns), root * problem.response)


def _check_room(needed: int, method: str) -> None:
    if needed > BLOCK_BYTES:
        raise ValueError(
            f"method={method!r} needs a dense matrix of {needed / 2**30:.1f} GiB, more than the "
            f"{BLOCK_BYTES / 2**30:.0f} GiB allowed: use method='sequential', or screen the columns"
        )
