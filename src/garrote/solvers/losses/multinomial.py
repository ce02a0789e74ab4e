"""The smooth part of a problem with several classes: Newton's method on all of them together."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.rules import Evaluated, restricted
from garrote.solvers.algebra.class_gram import ClassGram
from garrote.solvers.losses.newton_loss import INNER, Derivatives
from garrote.solvers.losses.several_outputs import SeveralOutputs
from garrote.solvers.penalised.minimising import minimise

# Newton's steps of this size have arrived: what the loss falls by them is its rounding.
_SMALL_STEP = 1e-7
# After a step of this size, as a share, second derivatives are what they were before.
_STILL = 1e-3


class MultinomialLoss(SeveralOutputs):
    """The mean of minus the log probabilities, as a function of the coefficients of a working set."""

    _kept: ClassGram | None = None

    def _derivatives(self, eta: Floats) -> Derivatives:
        mean = self.likelihood.mean(eta)
        slope = self.share * self.likelihood.gradient_at(self.y, mean)
        # Only a unit to measure violations in: columns of equal length have about equal curvatures.
        owner, column = np.divmod(self.columns, self.count)
        spread = (mean * (1 - mean)) @ self.share
        typical = self.problem.curvature[column] / self.problem.n * spread[owner]
        return Derivatives(slope, self._products(slope), typical, mean)

    def _newton(
        self, rule: Any, moving: Array, near: Derivatives, tolerance: float, renew: bool
    ) -> tuple[Array, Floats, Floats]:
        if self._kept is None or renew:
            self._kept = ClassGram(near.second, self.share, self.free_intercept)
        kept, slopes = self._kept, near.slope.sum(axis=1)
        owner, column = np.divmod(self.columns, self.count)
        kept.take(moving, owner, self._place[column], self.block.values)
        places = kept.places
        right, new = near.downhill[places] - kept.explained(slopes), self.coef[places]
        local = restricted(rule, places)
        minimise(local, kept.products, right, new, kept.factor, INNER * tolerance)
        step = new - self.coef[places]
        return places, step, kept.shift(slopes, step)

    def _intercept_curvature(self, mean: Floats) -> Floats:
        return np.diag(mean @ self.share) - (mean * self.share) @ mean.T

    def _row_curvatures(self, eta: Floats) -> Floats:
        mean = self.likelihood.mean(eta)
        return np.asarray(mean * (1 - mean))

    def _fit_intercept(self) -> Floats:
        """Make the intercepts the best ones by Newton's method; return the linear predictors."""
        eta, before = self._eta(), np.inf
        inverse: Any = None
        if not self.free_intercept:
            return eta
        for _ in range(100):
            mean = self.likelihood.mean(eta)
            slope = self.likelihood.gradient_at(self.y, mean) @ self.share
            if before > _STILL:
                # Equal shifts of all classes change nothing: the one of mean 0 is taken.
                inverse = np.linalg.pinv(self._intercept_curvature(mean), 1e-10, hermitian=True)
            step = inverse @ slope
            if np.abs(step).max() > _SMALL_STEP:
                step = self._shortened(eta, step)
            eta = eta + step[:, None]
            self.intercept = self.intercept + step
            size = np.abs(step).max() / (1 + np.abs(self.intercept).max())
            # Newton's steps shrink ever faster, until they are rounding.
            if size <= 1e-14 or (size >= 0.5 * before and before < 1e-8):
                break
            before = size
        return eta

    def _shortened(self, eta: Floats, step: Floats) -> Floats:
        """Return a shift of all rows, halved until the loss does not rise by it."""
        loss = self._loss(eta)
        while np.abs(step).max() > 1e-16 and self._loss(eta + step[:, None]) > loss * (1 + 1e-15):
            step = 0.5 * step
        return step

    def _seen(self, eta: Floats, product: Floats) -> Evaluated:
        mean = self.likelihood.mean(eta)
        slopes = self.likelihood.gradient_at(self.y, mean)
        # Slopes sum to 0 where intercepts are free, but for rounding.
        along = float(self.share @ (slopes * self._known()).sum(axis=0))

        def dual(share: float) -> float:
            moved = mean + (1 - share) * slopes
            return -float(self.share @ self.likelihood.entropy(moved)) - share * along

        return Evaluated(self._loss(eta), product, dual)
