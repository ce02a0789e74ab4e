"""The smooth part of a problem with any likelihood whose columns are sparse, and are kept so.

A Newton step is weighted least squares, as for dense columns. The weights change with the fit, and with
them what centring the columns means; both are left to the columns' moments, which cost their non-zeros.
"""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.rules import restricted, violation
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.descent.column_sweeps import ColumnSweeps, sweeping_columns_is_cheaper
from garrote.solvers.descent.working_block import SparseBlock
from garrote.solvers.losses.generalised import GeneralisedLoss
from garrote.solvers.losses.newton_loss import INNER, Derivatives
from garrote.solvers.penalised.minimising import minimise

# A Newton step is solved to this share of the violation that it starts from; the next one sees more.
_INEXACT = 1e-2
_MOST_SWEEPS = 1000


class SparseLoss(GeneralisedLoss):
    """Half the mean deviance, as a function of the coefficients of a growing set of sparse columns."""

    def _make_block(self, problem: Problem) -> SparseBlock:
        return SparseBlock(problem)

    def _newton(
        self, rule: Any, moving: Array, near: Derivatives, tolerance: float, renew: bool
    ) -> tuple[Array, Floats, float]:
        columns, weights = self.block.columns[moving], near.second
        table, stored = self.problem.table, self.block.pick(moving)
        total, slope_sum = float(weights.sum()), float(near.slope.sum())
        measured, scale = stored.moments(weights), table.scale[columns]
        squares = measured.deviation**2
        if self.centres:
            mean, level = measured.mean, slope_sum / total
        else:
            mean, level = np.zeros(len(columns)), 0.0
            squares = squares + measured.mean**2
        curvature = total * squares / scale**2
        local, new = restricted(rule, moving), self.coef[moving]
        downhill = near.downhill[moving] - level * total * (mean - table.mean[columns]) / scale
        off = violation(local, downhill, new, curvature).max(initial=0.0)
        accuracy = max(INNER * tolerance, _INEXACT * float(off))
        if sweeping_columns_is_cheaper(len(moving)):
            sweeps = ColumnSweeps(stored, mean, scale, weights, curvature)
            sweeps.minimise(local, near.slope / weights - level, new, accuracy, _MOST_SWEEPS)
        else:
            everyone = np.arange(len(moving))
            products = stored.gram(everyone, everyone, mean, scale, weights)
            minimise(local, products, downhill, new, ActiveFactor(), accuracy)
        step = new - self.coef[moving]
        return moving, step, level - float((mean - table.mean[columns]) / scale @ step)
