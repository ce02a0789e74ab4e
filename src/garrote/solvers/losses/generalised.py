"""The smooth part of a problem with any likelihood of one linear predictor."""

from collections.abc import Generator
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.base import conjugate, majoriser, null_predictor
from garrote.likelihoods.coupled import (
    per_weight,
    weighted_curvature,
    weighted_gradient,
    weighted_log_likelihood,
    weighted_saturated,
)
from garrote.problem import Problem
from garrote.rules import Evaluated, is_elastic_net, restricted
from garrote.solvers.algebra.curved_gram import CurvedGram
from garrote.solvers.descent.optimality import beyond_rounding
from garrote.solvers.descent.working_block import OnWorkingBlock, WorkingBlock
from garrote.solvers.losses.newton_loss import INNER, LEAST_CURVATURE, Derivatives, NewtonLoss
from garrote.solvers.losses.row_sweeps import ROUNDS, Rows, sweep_rows
from garrote.solvers.penalised.minimising import minimise

# With so many rows at most, sweeps over them are tried before cross products are made: with 500 rows and
# 4000 columns they take half as long again.
_FEW_ROWS = 250
# Steps by a majoriser get nearer by a share only; so many of them bring out all digits.
_LAST_SMALL_STEPS, _LEAST_SMALL_GAIN = 40, 1e-13
# Newton's steps of this size have arrived: what the loss falls by them is its rounding.
_SMALL_SHIFT = 1e-7


class GeneralisedLoss(OnWorkingBlock, NewtonLoss):
    """Half the mean deviance, as a function of the coefficients of a growing working set."""

    block: Any  # the columns: dense copies here, sparse in a subclass

    def __init__(self, problem: Problem):
        self.problem, self.likelihood, self.y = problem, problem.likelihood, problem.response
        self.block = self._make_block(problem)
        self.coef = np.zeros(0)
        self.share = problem.weights / problem.n
        self.offset = problem.known_part
        # The size of a linear predictor: 1, but for likelihoods in units of the response.
        self.unit = float(self.likelihood.noise_scale or 1.0)
        self.free_intercept = bool(problem.scale.intercept_count) and self.likelihood.has_level
        self.level = weighted_saturated(self.likelihood, self.y, self.share)
        # Whether steps may shift all predictors: coupled rows do not feel that.
        self.centres = self.free_intercept or self.likelihood.coupled
        self.intercept = 0.0
        if self.free_intercept and self.offset.any():
            # Beside a large offset Newton's method would take long from 0.
            known = null_predictor(self.likelihood, self.y, self.share, self.offset)
            self.intercept = float(known[0] - self.offset[0])
        self._kept: CurvedGram | None = None
        if not self.likelihood.concave:
            self.last_steps, self.least_gain = _LAST_SMALL_STEPS, _LEAST_SMALL_GAIN
        eta = self._fit_intercept()
        self.curvature = problem.curvature / problem.n * self._mean_curvature(eta)
        slopes = self._slopes(eta)
        product = problem.table.tdot(slopes[None, :])[0] / problem.n
        spread = float(np.sqrt(self.share @ slopes**2))
        product = beyond_rounding(product, problem.curvature / problem.n, spread)
        self.null = self._seen(eta, slopes, product)

    def _make_block(self, problem: Problem) -> Any:
        return WorkingBlock(problem)

    def solve(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        """Minimise the loss plus a penalty over the working set; return the rounds it took."""
        made = 0
        if self._suits_rows(rule):
            made, arrived = self._solve_by_rows(rule, tolerance, min(max_rounds, ROUNDS))
            if arrived:
                return made
        return made + super().solve(rule, tolerance, max_rounds - made)

    def _suits_rows(self, rule: Any) -> bool:
        """Tell whether rows are few, and sweeps over them compiled."""
        if len(self.y) > _FEW_ROWS or not isinstance(self.block, WorkingBlock):
            return False
        known = self.likelihood
        by_rows = known.in_kernels and known.concave and not known.coupled
        return is_elastic_net(rule) and by_rows

    def _solve_by_rows(self, rule: Any, tolerance: float, rounds: int) -> tuple[int, bool]:
        """Sweep over rows; return the rounds it took, and whether that sufficed."""
        lengths = self.problem.curvature[self.columns] / self.problem.n
        rows = Rows(self.block.values, lengths, self.y, self.share, self.free_intercept, self.level)
        change, made, arrived = sweep_rows(
            self.likelihood, rule, rows, self.coef, self._eta(), tolerance, rounds
        )
        self.intercept += change
        return int(made), bool(arrived)

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients, from the data alone."""
        eta = self._fit_intercept()
        slopes = self._slopes(eta)
        seen = self._seen(eta, slopes, np.zeros(0))  # before others have the loss go elsewhere
        _, product = yield from self.problem.evaluate_residuals(slopes[None, :])
        return seen._replace(gradient=product[0] / self.problem.n)

    def _derivatives(self, eta: Floats) -> Derivatives:
        slope = weighted_gradient(self.likelihood, self.y, self.share, eta)
        row_curvatures = self._row_curvatures(eta)
        # Only a unit to measure violations in: columns of equal length have about equal curvatures.
        typical = self.problem.curvature[self.columns] * (row_curvatures.sum() / self.problem.n)
        return Derivatives(slope, self.block.tdot(slope), typical, row_curvatures)

    def _newton(
        self, rule: Any, moving: Array, near: Derivatives, tolerance: float, renew: bool
    ) -> tuple[Array, Floats, float]:
        if self._kept is None or renew:
            self._kept = self._make_gram(moving, near)
        kept = self._kept
        kept.take(self.block.values, moving)
        places, slope_sum = kept.places, float(near.slope.sum())
        right = near.downhill[places]
        if self.free_intercept:
            right = right - kept.sums * (slope_sum / kept.total)
        new = self.coef[places]
        minimise(
            restricted(rule, places), kept.products, right, new, kept.factor, INNER * tolerance
        )
        step = new - self.coef[places]
        shift = (slope_sum - float(kept.sums @ step)) / kept.total if self.free_intercept else 0.0
        return places, step, shift

    def _make_gram(self, moving: Array, near: Derivatives) -> CurvedGram:
        """Return the second derivatives of some columns."""
        return CurvedGram(self.block.values, moving, near.second, self.free_intercept)

    def _change(self, moving: Array, step: Floats, shift: float) -> Floats:
        return self.block.dot(moving, step) + shift

    def _eta(self) -> Floats:
        used = np.flatnonzero(self.coef)
        return self.offset + self.intercept + self.block.dot(used, self.coef[used])

    def _loss(self, eta: Floats) -> float:
        return self.level - weighted_log_likelihood(self.likelihood, self.y, self.share, eta)

    def _slopes(self, eta: Floats) -> Floats:
        """Return the slope of the log likelihood for every row, by its weight."""
        slopes = weighted_gradient(self.likelihood, self.y, self.share, eta)
        return per_weight(slopes, self.share)

    def _mean_curvature(self, eta: Floats) -> float:
        return float(self.share @ majoriser(self.likelihood, self.y, eta))

    def _row_curvatures(self, eta: Floats) -> Floats:
        if self.likelihood.concave:
            each = weighted_curvature(self.likelihood, self.y, self.share, eta)
        else:
            each = self.share * majoriser(self.likelihood, self.y, eta)
        largest = each.max(initial=0.0)
        if largest == 0.0:  # all rows lie where the loss is straight
            above = np.asarray(majoriser(self.likelihood, self.y, eta), dtype=np.float64)
            return self.share * np.maximum(above, LEAST_CURVATURE)
        return np.maximum(each, LEAST_CURVATURE * largest)

    def _fit_intercept(self) -> Floats:
        """Make the intercept the best one by Newton's method; return the linear predictor."""
        eta = self._eta()
        if not self.free_intercept:
            return eta
        for _ in range(100):
            slope = float(weighted_gradient(self.likelihood, self.y, self.share, eta).sum())
            shift = slope / float(self._row_curvatures(eta).sum())
            if not np.isfinite(shift):
                break  # coefficients beyond all numbers leave nothing to settle
            if abs(shift) > _SMALL_SHIFT * self.unit:
                shift = self._shortened(eta, shift)
            eta = eta + shift
            self.intercept += shift
            if abs(shift) <= 1e-14 * (self.unit + abs(self.intercept)):
                break
        return eta

    def _shortened(self, eta: Floats, shift: float) -> float:
        """Return a shift of all linear predictors, halved until the loss does not rise by it."""
        loss = self._loss(eta)
        while abs(shift) > 1e-16 * self.unit and not self._loss(eta + shift) <= loss * (1 + 1e-15):
            shift *= 0.5
        return shift

    def _seen(self, eta: Floats, slopes: Floats, product: Floats) -> Evaluated:
        # Slopes sum to 0 where the intercept is free, but for rounding, which a large one would raise.
        known = self.offset + self.intercept

        def dual(share: float) -> float:
            if not self.likelihood.concave:
                return np.nan
            slope = share * slopes
            inside = conjugate(self.likelihood, self.y, slope) + slope * known
            return self.level - float(self.share @ inside)

        return Evaluated(self._loss(eta), product, dual)
