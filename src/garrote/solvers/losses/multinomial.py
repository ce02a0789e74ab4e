"""The smooth part of a problem with several classes: Newton's method on all of them together."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.rules import Evaluated, restricted
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.losses.newton_loss import INNER, LEAST_CURVATURE, Derivatives
from garrote.solvers.losses.several_outputs import SeveralOutputs
from garrote.solvers.penalised.minimising import minimise


class MultinomialLoss(SeveralOutputs):
    """The mean of minus the log probabilities, as a function of the coefficients of a working set."""

    def _derivatives(self, eta: Floats) -> Derivatives:
        mean = self.likelihood.mean(eta)
        slope = self.share * self.likelihood.gradient(self.y, eta)
        values, owner = self._values(np.arange(len(self.coef))), self.columns // self.count
        downhill = np.einsum("ij,ji->j", values, slope[owner])
        curvatures = self.share * mean * (1 - mean)
        diagonal = np.einsum("ij,ji,ij->j", values, curvatures[owner], values)
        return Derivatives(slope, downhill, diagonal, mean)

    def _newton(
        self, rule: Any, moving: Array, near: Derivatives, tolerance: float, renew: bool
    ) -> tuple[Array, Floats, Floats]:
        # The curvature of classes k and l in a row is p_k (1 if k = l else 0) - p_k p_l.
        mean, slope_sum = near.second, near.slope.sum(axis=1)
        values, owner = self._values(moving), self.columns[moving] // self.count
        spread = values * mean[owner].T
        weighted = spread * self.share[:, None]
        gram = -weighted.T @ spread
        for k in range(self.outputs):
            members = np.flatnonzero(owner == k)
            gram[np.ix_(members, members)] += weighted[:, members].T @ values[:, members]
        gram[np.diag_indices_from(gram)] += LEAST_CURVATURE * np.diag(gram).max(initial=0.0)
        right, shift = near.downhill[moving].copy(), np.zeros(self.outputs)
        if self.free_intercept:
            across = -weighted.T @ mean.T
            across[np.arange(len(moving)), owner] += weighted.sum(axis=0)
            inverse = np.linalg.pinv(self._intercept_curvature(mean), 1e-10, hermitian=True)
            gram -= across @ inverse @ across.T
            right -= across @ (inverse @ slope_sum)
        new = self.coef[moving].copy()
        minimise(restricted(rule, moving), gram, right, new, ActiveFactor(), INNER * tolerance)
        step = new - self.coef[moving]
        if self.free_intercept:
            shift = inverse @ (slope_sum - across.T @ step)
        return moving, step, shift

    def _intercept_curvature(self, mean: Floats) -> Floats:
        return np.diag(mean @ self.share) - (mean * self.share) @ mean.T

    def _row_curvatures(self, eta: Floats) -> Floats:
        mean = self.likelihood.mean(eta)
        return np.asarray(mean * (1 - mean))

    def _fit_intercept(self) -> None:
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
        slopes = self.likelihood.gradient(self.y, eta)
        # Slopes sum to 0 where intercepts are free, but for rounding.
        along = float(self.share @ (slopes * self._known()).sum(axis=0))

        def dual(share: float) -> float:
            moved = mean + (1 - share) * slopes
            return -float(self.share @ self.likelihood.entropy(moved)) - share * along

        return Evaluated(self._loss(eta), product, dual)
