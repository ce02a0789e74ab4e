"""Least squares of several responses at once: the same cross products for each of them."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.rules import Evaluated, restricted
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.losses.newton_loss import INNER, Derivatives
from garrote.solvers.losses.several_outputs import SeveralOutputs
from garrote.solvers.penalised.minimising import minimise


class SeveralLeastSquares(SeveralOutputs):
    """Half the mean squared residual, summed over responses."""

    def _derivatives(self, eta: Floats) -> Derivatives:
        slope = self.share * self.likelihood.gradient(self.y, eta)
        return Derivatives(slope, self._products(slope), self.curvature[self.columns], self.share)

    def _newton(
        self, rule: Any, moving: Array, near: Derivatives, tolerance: float, renew: bool
    ) -> tuple[Array, Floats, Floats]:
        owner, column = self.columns[moving] // self.count, self.columns[moving] % self.count
        present, place = np.unique(column, return_inverse=True)
        values = self.block.values[:, self._place[present]]
        products = values.T @ (values * self.share[:, None])
        gram = products[np.ix_(place, place)]
        gram[owner[:, None] != owner] = 0.0
        new = self.coef[moving].copy()
        local, right = restricted(rule, moving), near.downhill[moving].copy()
        minimise(local, gram, right, new, ActiveFactor(), INNER * tolerance)
        # Columns are centred: the intercepts have nothing to do with them.
        shift = near.slope.sum(axis=1) if self.free_intercept else np.zeros(self.outputs)
        return moving, new - self.coef[moving], shift / self.share.sum()

    def _row_curvatures(self, eta: Floats) -> Floats:
        return np.ones_like(eta)

    def _fit_intercept(self) -> Floats:
        if self.free_intercept:
            left = self.likelihood.gradient(self.y, self._eta())
            self.intercept = self.intercept + left @ self.share / self.share.sum()
        return self._eta()

    def _seen(self, eta: Floats, product: Floats) -> Evaluated:
        residuals, centred = self.likelihood.gradient(self.y, eta), self.y.T - self._known()
        along, loss = float((residuals * centred).sum(axis=0) @ self.share), self._loss(eta)
        return Evaluated(loss, product, lambda share: share * (along - share * loss))
