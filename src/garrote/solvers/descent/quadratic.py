"""A quadratic plus a penalty, on a working set: sweeps, then Newton's method on what is not 0.

Sweeps find out which coefficients are 0, but creep along where columns are correlated. On those that are
not, the cost is smooth: one linear system gives the optimum for the present signs. Coefficients that
would change their sign or pass a bound stay at it, and sweeps go on from there.
"""

from enum import Enum
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.designs.gram import GramColumns
from garrote.rules import (
    Residual,
    bounds,
    is_convex,
    second_derivative,
    slope,
    total_cost,
    violation,
)
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.descent.sweep import sweep

_NOTHING = np.zeros(0)
# A sweep may let in again what a Newton step has put out, for ever where columns are nearly dependent:
# from this round on sweeps wait until steps have arrived.
_PATIENCE = 3
# What is added to the diagonal of a system without a solution, as shares of the largest entry.
_RIDGES = (0.0, 1e-11, 1e-8)
# Where a cost is concave, sweeps go first until they move coefficients by this share of what the first
# one did, but no more than so many of them.
_CALM, _MOST_SWEEPS = 0.1, 200


class Step(Enum):
    """How a Newton step ended: at its goal, where a coefficient is 0 or at a bound, or not at all."""

    ARRIVED = "arrived"
    STOPPED = "stopped"
    REFUSED = "refused"


class Quadratic:
    """A working set's quadratic: its cross products, coefficients and the gradient there (downhill).

    ``coef`` and ``gradient`` are changed in place. The penalty is given to `solve`.
    """

    def __init__(self, gram: Floats, gradient: Floats, coef: Floats, factor: ActiveFactor):
        self.gram, self.gradient, self.coef, self.factor = gram, gradient, coef, factor
        self.curvature = np.ascontiguousarray(np.diag(gram))
        self._target = np.zeros(len(coef))

    def solve(self, rule: Any, tolerance: float, max_rounds: int = 1000) -> int:
        """Minimise until no coefficient's optimality is violated by more than ``tolerance``.

        Returns the rounds it took, each a Newton step and a sweep over what it left violated.
        """
        residual = Residual(self.gradient, np.zeros(1), _NOTHING)
        pause, again = 1, 0
        if not is_convex(rule):
            self._calm_down(rule, residual, tolerance)
        for made in range(max_rounds):
            steps = 1 if made < _PATIENCE else len(self.coef) + 1
            if made >= again and not self._descend(rule, steps):
                # A concave cost may leave no system to solve: ask less and less often.
                pause *= 2
                again = made + pause
            off = violation(rule, self.gradient, self.coef, self.curvature)
            if off.max(initial=0.0) <= tolerance:
                return made
            self._sweep(rule, np.flatnonzero(off > tolerance), residual)
        return max_rounds

    def _calm_down(self, rule: Any, residual: Residual, tolerance: float) -> None:
        """Sweep over all coefficients until they move little.

        A Newton step may lead from one valley into another that is no deeper. Sweeps look at all values
        of a coefficient, and end in better optima than steps that are taken before they have settled.
        """
        usable, first = np.flatnonzero(self.curvature > 0), 0.0
        for _ in range(_MOST_SWEEPS):
            before = self.coef.copy()
            self._sweep(rule, usable, residual)
            moved = float((np.abs(self.coef - before) * self.curvature).max(initial=0.0))
            first = first or moved
            if moved <= max(_CALM * first, tolerance):
                return

    def _sweep(self, rule: Any, columns: Array, residual: Residual) -> None:
        sweep(
            GramColumns(self.gram),
            rule,
            columns,
            self.coef,
            self._target,
            residual,
            self.curvature,
            0.0,
        )

    def _descend(self, rule: Any, steps: int) -> bool:
        """Solve for the coefficients that are not 0, until none of them would pass 0 or a bound.

        Tells whether that was possible and did no harm.
        """
        for _ in range(steps):
            outcome = self._newton(rule)
            if outcome is not Step.STOPPED:
                return outcome is Step.ARRIVED
        return True

    def _newton(self, rule: Any) -> "Step":
        """Solve for the coefficients that are not 0, as far as their signs and bounds allow."""
        free = self._free(rule)
        if not len(free):
            return Step.ARRIVED
        slopes, seconds = _derivatives(rule, free, self.coef)
        if not self._factorise(free, seconds):
            return Step.REFUSED
        order = self.factor.members
        downhill = np.zeros(len(self.coef))
        downhill[free] = self.gradient[free] - slopes
        step = self.factor.solve(downhill[order])
        old = self.coef[order]
        ends = _limits(rule, order, old, step)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(step == 0.0, np.inf, (ends - old) / step)
        share = min(1.0, float(reach.min(initial=np.inf)))
        if share < 1.0:
            # All that would pass their ends stop there, if that is better than to stop at the first.
            along = (share - 0.5 * share**2) * float(downhill[order] @ step)
            if self._move(rule, order, np.where(reach <= 1.0, ends, old + step), along):
                return Step.STOPPED
        # With a concave cost the system holds here, and need not where the step ends.
        least = 0.0 if seconds.min() < 0 else -np.inf
        if not self._move(rule, order, np.where(reach <= share, ends, old + share * step), least):
            return Step.REFUSED
        return Step.STOPPED if share < 1.0 else Step.ARRIVED

    def _factorise(self, free: Array, seconds: Floats) -> bool:
        """Make the factor that of some coefficients; tell whether that was possible.

        Columns that depend on each other get a little ridge: steps then go far along what they have
        in common, until one of them is out.
        """
        largest = float(self.curvature[free].max())
        ridges = _RIDGES if seconds.min() >= 0 else _RIDGES[:1]  # it would not undo a concave cost
        for ridge in ridges:
            try:
                self.factor.match(self.gram, free, seconds + ridge * largest)
                return True
            except LinAlgError:
                continue
        return False

    def _move(self, rule: Any, columns: Array, new: Floats, least: float) -> bool:
        """Set some coefficients, provided that the objective falls by ``least`` at least."""
        change = np.zeros(len(self.coef))
        change[columns] = new - self.coef[columns]
        moved = self.gram @ change
        if least > -np.inf:
            gain = change @ (self.gradient - 0.5 * moved)
            gain += total_cost(rule, columns, self.coef[columns]) - total_cost(rule, columns, new)
            if not gain >= least:
                return False
        self.coef[columns] = new
        self.gradient -= moved
        return True

    def _free(self, rule: Any) -> Array:
        """Return the coefficients that are neither 0 nor at a bound that the gradient presses on."""
        inside = np.flatnonzero(self.coef)
        coef, gradient = self.coef[inside], self.gradient[inside]
        lower, upper = bounds(rule, inside)
        held = ((coef == upper) & (gradient > 0)) | ((coef == lower) & (gradient < 0))
        return inside[~held]


def _limits(rule: Any, columns: Array, coef: Floats, step: Floats) -> Floats:
    """Return where a step has to end for each coefficient: at 0 or at a bound."""
    ends = np.where(coef * step < 0, 0.0, np.copysign(np.inf, step))
    lower, upper = bounds(rule, columns)
    # A bound may lie on this side of 0.
    ends = np.where(step > 0, np.minimum(ends, np.where(upper >= coef, upper, np.inf)), ends)
    return np.where(step < 0, np.maximum(ends, np.where(lower <= coef, lower, -np.inf)), ends)


@kernel
def _derivatives(rule, columns, coef):
    """Return the first and second derivatives of the cost at some coefficients."""
    slopes, seconds = np.zeros(columns.shape[0]), np.zeros(columns.shape[0])
    for k in range(columns.shape[0]):
        j = columns[k]
        slopes[k] = slope(rule, j, coef[j])
        seconds[k] = second_derivative(rule, j, coef[j])
    return slopes, seconds
