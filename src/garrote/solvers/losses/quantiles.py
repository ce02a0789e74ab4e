"""The loss of quantiles on a working set: a linear programme, its vertex and its dual.

The interior point ends next to a vertex. Coefficients whose dual is inside its bounds are 0 there, rows
whose dual is inside theirs are met exactly: as many as there are free coefficients, by which these are
solved for. The dual is the slope of every row, a number between tau - 1 and tau, from which gradients,
screening and the duality gap are computed as for any other loss.
"""

from collections.abc import Generator
from contextlib import suppress
from typing import Any

import numpy as np
from scipy.linalg import lstsq

from garrote.arrays import Array, Floats
from garrote.likelihoods.base import conjugate, log_likelihood, null_mean
from garrote.problem import Problem
from garrote.rules import Evaluated, bounds, restricted, total_cost
from garrote.solvers.descent.working_block import OnWorkingBlock, WorkingBlock
from garrote.solvers.losses.interior_point import Programme, Solution, solve_programme

# Programmes are solved to a gap of this share of the null model's loss, and not beyond the second.
_LOOSE, _TIGHT = 1e-7, 1e-11


class QuantileLoss(OnWorkingBlock):
    """The mean cost of residuals, as a function of the coefficients of a growing working set."""

    wants_start = False

    def __init__(self, problem: Problem):
        self.problem, self.likelihood, self.y = problem, problem.likelihood, problem.response
        self.block, self.coef = WorkingBlock(problem), np.zeros(0)
        self.share = problem.weights / problem.n
        self.free_intercept = bool(problem.scale.intercept_count)
        level = null_mean(self.likelihood, self.y, self.share) if self.free_intercept else 0.0
        self._level = self.intercept = level
        self._slopes = self._null_slopes(level)
        spread = float(self.share @ np.abs(self.y - level)) or 1.0
        # Only a unit: the loss has no curvature, but its mean over residuals of some spread has.
        self.curvature = problem.curvature / problem.n / (4.0 * spread)
        product = problem.table.tdot(self._slopes[None, :])[0] / problem.n
        self.null = self._seen(np.full(len(self.y), level), product)

    def solve(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        """Minimise the loss plus an elastic net over the working set; return the steps it took."""
        if self._is_null(rule):
            self._stay()
            return 0
        first, used = int(self.free_intercept), np.flatnonzero(self.share > 0)
        values = self.block.values[used]
        # No slopes of the rows give a larger gradient: what costs more is out.
        ends = max(self.likelihood.tau, 1.0 - self.likelihood.tau)
        most = ends * (self.share[used] @ np.abs(values))
        open_to = np.flatnonzero(rule.threshold < most)
        table = np.column_stack([np.ones((len(used), first)), values[:, open_to]])
        inside = restricted(rule, open_to)
        programme = self._programme(inside, table, used, 2.0 * float(most.max(initial=1.0)))
        steep = float(np.max(inside.threshold, initial=0.0))
        share = tolerance / steep if steep > 0 else _TIGHT
        accuracy = self.null.loss * min(max(share, _TIGHT), _LOOSE)
        start = np.concatenate([np.full(first, self.intercept), self.coef[open_to]])
        found = solve_programme(programme, accuracy, start)
        coef = self._at_vertex(inside, programme, found)
        self.coef = np.zeros(len(self.coef))
        self.coef[open_to] = coef[first:]
        if first:
            self.intercept = float(coef[0])
        self._slopes = np.zeros(len(self.y))
        self._slopes[used] = self._as_slopes(found.dual[: len(used)], used)
        return found.steps

    def _is_null(self, rule: Any) -> bool:
        """Tell whether no coefficients do better than none: at knots of a path others do as well."""
        if self.null.loss == 0.0 or not len(self.coef) + self.free_intercept:
            return True
        lower, upper = bounds(rule, np.arange(len(self.coef)))
        steep = np.abs(self.null.gradient[self.columns])
        return bool(((steep <= rule.threshold) & (lower <= 0) & (upper >= 0)).all())

    def _stay(self) -> None:
        """Go to the null model: there is nothing else, or nothing better."""
        self.coef[:] = 0.0
        self.intercept = self._level
        self._slopes = self._null_slopes(self._level)

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients, from the data and the dual of the last solution."""
        eta = self._eta()
        slopes = self._slopes
        seen = self._seen(eta, np.zeros(0))  # before others have the loss go elsewhere
        _, product = yield from self.problem.evaluate_residuals(slopes[None, :])
        return seen._replace(gradient=product[0] / self.problem.n)

    def _programme(self, rule: Any, table: Floats, used: Array, wall: float) -> Programme:
        """Return the rows of the data, those of the penalty, and those of bounds, beyond a wall."""
        first, tau, share = int(self.free_intercept), self.likelihood.tau, self.share[used]
        count = len(rule.threshold)
        charged = np.flatnonzero(rule.threshold > 0)
        lower, upper = bounds(rule, np.arange(count))
        low, high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
        steep = rule.threshold[charged]
        none_low, none_high = np.zeros(len(low)), np.zeros(len(high))
        # A residual of the row of a bound is the bound less the coefficient: one sign of it is barred.
        # The other costs next to nothing, so that both duals have room.
        return Programme(
            table,
            np.concatenate([charged, low, high]) + first,
            np.concatenate([self.y[used], np.zeros(len(charged)), lower[low], upper[high]]),
            np.concatenate([tau * share, steep, none_low + wall, none_high]),
            np.concatenate([(1.0 - tau) * share, steep, none_low, none_high + wall]),
            np.concatenate([np.zeros(first), np.broadcast_to(rule.ridge, count)]),
        )

    def _at_vertex(self, rule: Any, programme: Programme, found: Solution) -> Floats:
        """Return the solution with zeros, and with rows that are met, if that is no worse."""
        n = programme.dense.shape[0]
        over, under = programme.above - found.dual, programme.below + found.dual
        wide = max(float(found.up.max()), float(found.down.max()), 1e-300)
        # Of a residual and what its dual leaves one is next to 0: the smaller, in its unit.
        whole = np.maximum(programme.above + programme.below, 1e-300)
        met = (found.up / wide < over / whole) & (found.down / wide < under / whole)
        coef = found.coef.copy()
        held = programme.owner[met[n:]]
        coef[held] = programme.y[n:][met[n:]]
        free = np.setdiff1d(np.arange(len(coef)), held)
        rows = np.flatnonzero(met[:n])
        if not len(free) or len(rows) < len(free) or programme.ridge.any():
            return coef
        polished = coef.copy()
        polished[free] = 0.0
        target = programme.y[rows] - programme.dense[rows] @ polished
        polished[free] = _solved(programme.dense[np.ix_(rows, free)], target)
        better = self._objective(rule, programme, polished)
        return polished if better <= self._objective(rule, programme, coef) else coef

    def _objective(self, rule: Any, programme: Programme, coef: Floats) -> float:
        n, first = programme.dense.shape[0], int(self.free_intercept)
        left = programme.y[:n] - programme.dense @ coef
        loss = np.maximum(left, 0.0) @ programme.above[:n]
        loss += np.maximum(-left, 0.0) @ programme.below[:n]
        return float(loss) + float(total_cost(rule, np.arange(len(coef) - first), coef[first:]))

    def _as_slopes(self, dual: Floats, used: Array) -> Floats:
        """Return the dual per unit of weight, between its ends, and adding to 0 beside an intercept."""
        tau, share = self.likelihood.tau, self.share[used]
        slopes = np.clip(dual / share, tau - 1.0, tau)
        if self.free_intercept:
            # What rounding leaves is taken from rows that have room for it.
            extra = float(share @ slopes)
            room = np.where(extra > 0, slopes - (tau - 1.0), tau - slopes)
            slopes = slopes - extra * room / max(float(share @ room), 1e-300)
        return np.asarray(slopes)

    def _null_slopes(self, level: float) -> Floats:
        """Return the slopes at one level: what makes them add to 0 is shared by rows that are met."""
        tau, left = self.likelihood.tau, self.y - level
        slopes = np.where(left > 0, tau, np.where(left < 0, tau - 1.0, 0.0))
        met = (left == 0) & (self.share > 0)
        if self.free_intercept and met.any():
            slopes[met] = np.clip(-(self.share @ slopes) / self.share[met].sum(), tau - 1.0, tau)
        return np.asarray(slopes)

    def _eta(self) -> Floats:
        used = np.flatnonzero(self.coef)
        return np.asarray(self.intercept + self.block.dot(used, self.coef[used]))

    def _seen(self, eta: Floats, product: Floats) -> Evaluated:
        slopes, level = self._slopes, self.intercept
        loss = -float(self.share @ log_likelihood(self.likelihood, self.y, eta))

        def dual(share: float) -> float:
            slope = share * slopes
            inside = conjugate(self.likelihood, self.y, slope) + slope * level
            return -float(self.share @ inside)

        return Evaluated(loss, product, dual)


def _solved(matrix: Floats, target: Floats) -> Floats:
    """Return the solution of as many equations as there are numbers, or the best one of more."""
    if matrix.shape[0] == matrix.shape[1]:
        with suppress(np.linalg.LinAlgError):
            return np.asarray(np.linalg.solve(matrix, target), dtype=np.float64)
    return np.asarray(lstsq(matrix, target, lapack_driver="gelsy", check_finite=False)[0])
