"""A quadratic plus a penalty, on a working set: sweeps, then Newton's method on what is not 0.

Sweeps find out which coefficients are 0, but creep along where columns are correlated. On those that are
not, the cost is smooth: one linear system gives the optimum for the present signs. The step ends where the
first coefficient would change its sign, and sweeps go on from there.
"""

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.designs.base import Residual
from garrote.designs.gram import GramColumns
from garrote.shrinkage import bend, shrink, slope, threshold
from garrote.solvers.active_factor import ActiveFactor
from garrote.solvers.sweep import sweep

_NOTHING = np.zeros(0)


class Quadratic:
    """A working set's quadratic: coefficients, the gradient there (downhill) and the cross products.

    The penalty is given to `solve`. All arrays are views of buffers that the working set grows into.
    """

    def __init__(self, gram: Floats, gradient: Floats, coef: Floats, factor: ActiveFactor):
        self.gram, self.gradient, self.coef, self.factor = gram, gradient, coef, factor
        self.curvature = np.ascontiguousarray(np.diag(gram))
        self._target = np.zeros(len(coef))

    def solve(self, rule: Any, tolerance: float, max_rounds: int = 1000) -> int:
        """Minimise until no coefficient's optimality is violated by more than ``tolerance``.

        Returns the rounds it took, each a Newton step and a sweep.
        """
        residual = Residual(self.gradient, np.zeros(1), _NOTHING)
        for made in range(max_rounds):
            self._newton(rule)
            off = violation(rule, self.gradient, self.coef, self.curvature)
            if off.max(initial=0.0) <= tolerance:
                return made
            lively = np.flatnonzero((off > tolerance) | (self.coef != 0.0))
            sweep(
                GramColumns(self.gram), rule, lively, self.coef, self._target, residual,
                self.curvature, 0.0,
            )  # fmt: skip
        return max_rounds

    def _newton(self, rule: Any) -> None:
        """Solve for the coefficients that are not 0, as far as their signs allow."""
        free = np.flatnonzero(self.coef)
        if not len(free):
            return
        slopes, bends = _derivatives(rule, free, self.coef)
        try:
            self.factor.match(self.gram, free, bends)
        except LinAlgError:
            return
        order = self.factor.members
        steepest = np.zeros(len(self.coef))
        steepest[free] = self.gradient[free] - slopes
        step = self.factor.solve(steepest[order])
        old = self.coef[order]
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = np.where(np.sign(old + step) != np.sign(old), -old / step, np.inf)
        share = min(1.0, float(crossing.min(initial=np.inf)))
        new = old + share * step
        new[crossing <= share] = 0.0
        change = np.zeros(len(self.coef))
        change[order] = new - old
        self.coef[order] = new
        self.gradient -= self.gram @ change


@kernel
def violation(rule, gradient, coef, curvature):
    """Return how far each coefficient is from its optimum given the others, in units of gradients."""
    off = np.zeros(coef.shape[0])
    for j in range(coef.shape[0]):
        if curvature[j] > 0.0:
            if coef[j] == 0.0 and abs(gradient[j]) <= threshold(rule, j):
                continue
            best = shrink(rule, j, coef[j] + gradient[j] / curvature[j], curvature[j])
            off[j] = abs(best - coef[j]) * curvature[j]
    return off


@kernel
def _derivatives(rule, columns, coef):
    """Return slopes and bends of the cost at some coefficients."""
    slopes, bends = np.zeros(columns.shape[0]), np.zeros(columns.shape[0])
    for k in range(columns.shape[0]):
        j = columns[k]
        slopes[k] = slope(rule, j, coef[j])
        bends[k] = bend(rule, j, coef[j])
    return slopes, bends
