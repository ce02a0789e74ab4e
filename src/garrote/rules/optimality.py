"""How good coefficients are: what a rule charges for them, how far they are from optimal, and a bound.

With F the loss of the linear predictor and P the penalty, Fenchel's dual of min F(Xw) + P(w) is
max -F*(-t) - P*(X't). The dual point is the gradient of F at the fit, times a share: all of it where P*
is finite there, else as much as makes it so. A coefficient that nothing penalises or bounds would need a
gradient of exactly 0; it is taken to lie within ten times what the data can ask for.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.rules.coefficients import cost, shrink

# Coefficients without a penalty are no larger than so many times the largest that is seen.
REACH = 10.0


class Evaluated(NamedTuple):
    """A fit seen from the data: its loss, the gradient of all columns (downhill), and the dual loss.

    ``dual(share)`` is -F*(-t) with t the gradient of the loss times a share between 0 and 1.
    """

    loss: float
    gradient: Floats
    dual: Callable[[float], float]


@singledispatch
def violation(rule: Any, gradient: Floats, coef: Floats, curvature: Floats) -> Floats:
    """Return how far each coefficient is from its optimum given the others, in units of gradients."""
    return _violation(rule, gradient, coef, curvature)


@singledispatch
def total_cost(rule: Any, columns: Array, coef: Floats) -> float:
    """Return the penalty of some coefficients."""
    return _total_cost(rule, columns, coef)


@singledispatch
def bounds(rule: Any, columns: Array) -> tuple[Floats, Floats]:
    """Return the least and the largest values that a rule allows some coefficients.

    These are its fields ``lower`` and ``upper``; one without such fields has no bounds.
    """
    if not hasattr(rule, "lower"):
        return np.full(len(columns), -np.inf), np.full(len(columns), np.inf)
    return rule.lower[columns], rule.upper[columns]


@singledispatch
def is_convex(rule: Any) -> bool:
    """Tell whether a rule is known to charge coefficients by a convex function."""
    return False


@singledispatch
def dual_bound(
    rule: Any, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated
) -> float:
    """Return a value that no coefficients can go below; NaN where duality gives none."""
    return np.nan


def reach(coef: Floats, free: Array, curvature: Floats, null: Evaluated) -> float:
    """Return the largest size that `dual_bound` allows the ``free`` coefficients, which have no penalty.

    Without a limit there would be no bound. It is ten times the largest present coefficient, or the
    largest that a free one would have if it were fitted alone.
    """
    alone = np.abs(null.gradient[free] / curvature[free]).max(initial=0.0)
    return REACH * max(float(alone), float(np.abs(coef).max(initial=0.0)))


@kernel
def _violation(rule, gradient, coef, curvature):
    off = np.zeros(coef.shape[0])
    for j in range(coef.shape[0]):
        if curvature[j] > 0.0:
            best = shrink(rule, j, coef[j] + gradient[j] / curvature[j], curvature[j])
            off[j] = abs(best - coef[j]) * curvature[j]
    return off


@kernel
def _total_cost(rule, columns, coef):
    total = 0.0
    for k in range(columns.shape[0]):
        total += cost(rule, columns[k], coef[k])
    return total
