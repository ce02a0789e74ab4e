"""A quadratic plus a penalty on many sparse columns: sweeps over them, on the residuals of the rows.

A column of few non-zeros costs less to sweep over than a row of cross products costs to make, and linear
systems of thousands of columns more than all sweeps together. Where sweeps creep, they are extrapolated.
"""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design
from garrote.limits.budgets import ENTRIES_PER_CALL
from garrote.rules import Residual, bounds, total_cost
from garrote.solvers.descent.extrapolation import Extrapolation
from garrote.solvers.descent.sweep import sweep

# Beyond so many sparse columns sweeps over them cost less than their cross products.
_MANY = 500
# Sweeps over the coefficients that are not 0 before all are looked at again.
_SWEEPS_INSIDE = 20


def sweeping_columns_is_cheaper(columns: int) -> bool:
    """Tell whether so many sparse columns are better swept over than multiplied with each other."""
    return columns > _MANY


class ColumnSweeps:
    """Half the weighted sum of squared residuals, as a function of the coefficients of some columns.

    Parameters
    ----------
    columns : Design
        The columns, as they are stored.
    mean, scale : arrays, one entry a column
        What they are centred and divided by.
    weights : array of shape (N,)
        Those of the rows.
    curvature : array
        The diagonal of the cross products of standardised columns.
    """

    def __init__(
        self, columns: Design, mean: Floats, scale: Floats, weights: Floats, curvature: Floats
    ):
        self._stored, self._mean, self._scale, self._weights = columns, mean, scale, weights
        self._curvature = curvature
        self._readable = columns.columns(mean, scale, weights)
        self._at_once = max(1, int(ENTRIES_PER_CALL / max(1.0, columns.column_cost)))

    def minimise(
        self, rule: Any, residuals: Floats, coef: Floats, tolerance: float, max_rounds: int
    ) -> int:
        """Minimise from ``coef``, in place, with the ``residuals`` there; return the sweeps made.

        Ends once no coefficient's optimality is violated by more than ``tolerance``, as far as
        a sweep can tell.
        """
        residual = Residual(residuals * self._weights, np.zeros(1), self._weights)
        everything = np.arange(len(coef))
        made = 0
        while made < max_rounds:
            made += 1
            if self._sweep(rule, everything, coef, residual) <= tolerance:
                break
            active = np.flatnonzero(coef)
            made += self._sweep_active(rule, active, coef, residual, tolerance, max_rounds - made)
        return made

    def _sweep_active(
        self,
        rule: Any,
        active: Array,
        coef: Floats,
        residual: Residual,
        tolerance: float,
        max_rounds: int,
    ) -> int:
        """Sweep over coefficients that are not 0 until they rest, or for some time."""
        ahead = Extrapolation()
        for made in range(min(_SWEEPS_INSIDE, max_rounds)):
            before = coef[active]
            if self._sweep(rule, active, coef, residual) <= tolerance:
                return made + 1
            proposed = ahead.next(before, coef[active])
            if ahead.jumped and not self._jump(rule, active, proposed, coef, residual):
                ahead.restart()
        return min(_SWEEPS_INSIDE, max_rounds)

    def _sweep(self, rule: Any, columns: Array, coef: Floats, residual: Residual) -> float:
        """Update each of some coefficients once; return the largest violation met on the way."""
        target = np.empty(len(coef))
        before = coef[columns]
        for first in range(0, len(columns), self._at_once):
            part = columns[first : first + self._at_once]
            sweep(self._readable, rule, part, coef, target, residual, self._curvature, 0.0)
        moved = np.abs(coef[columns] - before) * self._curvature[columns]
        return float(moved.max(initial=0.0))

    def _jump(
        self, rule: Any, columns: Array, new: Floats, coef: Floats, residual: Residual
    ) -> bool:
        """Set some coefficients, provided that the objective falls."""
        old = coef[columns]
        new = np.clip(new, *bounds(rule, columns))
        scaled = (new - old) / self._scale[columns]
        change = self._stored.dot(columns, scaled[:, None])[:, 0] - self._mean[columns] @ scaled
        weighted = self._weights * change
        now = residual.values + residual.shift[0] * self._weights
        gain = change @ (now - 0.5 * weighted)
        gain += total_cost(rule, columns, old) - total_cost(rule, columns, new)
        if not gain > 0:
            return False
        coef[columns] = new
        residual.values[:] = now - weighted
        residual.shift[0] = 0.0
        return True
