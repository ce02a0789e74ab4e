"""Labels given the prior variances of their coefficients, by Laplace's approximation.

Given the variances the most probable coefficients are found by Newton's method, beside an intercept and
covariates that are not penalised (but for the slight prior of covariates). Around them the logistic
likelihood is taken for the Gaussian of a weighted regression, with weights p (1 - p): from there on
labels are numbers with noise variance 1, and the steps of `climbing` are the same (Murphy 2012, section
13.7.5). The weights move with the variances, so that no step is sure to raise the evidence.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from garrote.arrays import Array, Floats
from garrote.solvers.relevance.given_variances import ByColumns, ByRows, Data, Given

# Newton's method has converged when the log posterior moves by less than this.
_LEVEL = 1e-10
_MOST_STEPS = 100
# Rows that are predicted with certainty keep this much of a weight.
_LEAST_WEIGHT = 1e-10


class Working(NamedTuple):
    """The regression that stands for labels around some coefficients.

    ``data`` is beside the fixed columns; ``block`` and ``response`` are not, and have the roots of the
    rows' weights. ``basis`` times ``upper`` are the fixed columns, rows of pseudo-data for their priors
    last.
    """

    data: Data
    block: Floats
    response: Floats
    basis: Floats
    upper: Floats

    @property
    def log_fixed(self) -> float:
        """The log determinant of the fixed coefficients' precision."""
        return 2.0 * float(np.log(np.abs(np.diag(self.upper))).sum())

    def fixed_given(self, coef: Floats) -> Floats:
        """Return the fixed coefficients that fit best beside given others."""
        used = np.flatnonzero(coef)
        left = self.response - self.block[:, used] @ coef[used]
        return np.asarray(np.linalg.solve(self.upper, self.basis.T @ left))

    def fixed_shares(self, columns: Array) -> Floats:
        """Return what the fixed columns make up of some others: a column of coefficients for each."""
        return np.asarray(np.linalg.solve(self.upper, self.basis.T @ self.block[:, columns]))


class Fitted(NamedTuple):
    """The most probable coefficients, with their log posterior, and the regression there."""

    coef: Floats
    fixed: Floats
    log_posterior: float
    working: Working


class LabelledRows:
    """Columns with labels, weights and offsets, beside fixed columns with precisions of their own."""

    def __init__(
        self, block: Floats, fixed: Floats, held: Floats, y: Floats, weights: Floats, offset: Floats
    ):
        self.block, self.fixed, self.held = block, fixed, held
        self.y, self.weights, self.offset = y, weights, offset
        self._start = np.zeros(block.shape[1]), np.zeros(fixed.shape[1])

    def among(self, columns: Array) -> "LabelledRows":
        """Return the same labels with some of the columns."""
        found = LabelledRows(
            self.block[:, columns], self.fixed, self.held, self.y, self.weights, self.offset
        )
        found._start = self._start[0][columns], self._start[1]
        return found

    def given(self, variance: Floats, noise: float) -> Given:
        """Return what given variances make of it; the noise of the regression is 1."""
        fit = self.fit(variance)
        found = fit.working.data.given(variance, 1.0)
        # The evidence is Laplace's, not that of the regression.
        return found._replace(left=fit.working.log_fixed - 2.0 * fit.log_posterior)

    def fit(self, variance: Floats) -> Fitted:
        """Find the most probable coefficients given their prior variances."""
        coef, fixed = np.where(variance > 0, self._start[0], 0.0), self._start[1]
        value = self._log_posterior(coef, fixed, variance)
        for _ in range(_MOST_STEPS):
            working = self.working(coef, fixed)
            aim = working.data.given(variance, 1.0).mean
            fixed_aim = working.fixed_given(aim)
            for share in 0.5 ** np.arange(30):
                nearer = coef + share * (aim - coef), fixed + share * (fixed_aim - fixed)
                reached = self._log_posterior(*nearer, variance)
                if reached >= value:
                    coef, fixed = nearer
                    break
            gained, value = reached - value, max(reached, value)
            if gained <= _LEVEL * max(1.0, abs(value)):
                break
        self._start = coef, fixed
        return Fitted(coef, fixed, value, self.working(coef, fixed))

    def fixed_beside(self, coef: Floats) -> Floats:
        """Return the most probable fixed coefficients beside given others."""
        shift = self.offset + self.block @ coef
        alone = LabelledRows(
            np.zeros((len(shift), 0)), self.fixed, self.held, self.y, self.weights, shift
        )
        alone._start = np.zeros(0), self._start[1]
        return alone.fit(np.zeros(0)).fixed

    def predictor(self, coef: Floats, fixed: Floats) -> Floats:
        """Return the log odds of every row."""
        used = np.flatnonzero(coef)
        return np.asarray(self.offset + self.fixed @ fixed + self.block[:, used] @ coef[used])

    def _log_posterior(self, coef: Floats, fixed: Floats, variance: Floats) -> float:
        eta = self.predictor(coef, fixed)
        used = variance > 0
        prior = float((coef[used] ** 2 / variance[used]).sum() + self.held @ fixed**2)
        return float(self.weights @ (self.y * eta - np.logaddexp(0.0, eta))) - 0.5 * prior

    def working(self, coef: Floats, fixed: Floats) -> Working:
        """Return the weighted regression around some coefficients."""
        eta = self.predictor(coef, fixed)
        p = expit(eta)
        curvature = np.maximum(p * (1.0 - p), _LEAST_WEIGHT)
        root = np.sqrt(self.weights * curvature)
        held = np.flatnonzero(self.held > 0)
        pseudo = np.sqrt(self.held[held, None]) * np.eye(self.fixed.shape[1])[held]
        target = eta - self.offset + (self.y - p) / curvature
        response = np.concatenate([root * target, np.zeros(len(held))])
        block = np.zeros((len(response), self.block.shape[1]))
        np.multiply(root[:, None], self.block, out=block[: len(root)])
        basis, upper = np.linalg.qr(np.vstack([root[:, None] * self.fixed, pseudo]))
        beside, left = block - basis @ (basis.T @ block), response - basis @ (basis.T @ response)
        data: Data = ByRows(beside, left)
        if beside.shape[1] < len(left):
            data = ByColumns(beside.T @ beside, beside.T @ left, float(left @ left))
        return Working(data, block, response, basis, upper)
