"""How good a penalised fit is: its objective, the bound that duality gives, and violated optimality.

With F the loss of the linear predictor and P the penalty, Fenchel's dual of min F(Xw) + P(w) is
max -F*(-t) - P*(X't). The dual point is the gradient of F at the fit, times a share: all of it where P*
is finite there, else as much as makes it so.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.elastic_net import ElasticNetRule
from garrote.results import OptimalityCertificate
from garrote.solvers.quadratic import total_cost, violation

# Gradients below this share of the null model's largest are rounding.
_ROUNDING = 1e-12


class Evaluated(NamedTuple):
    """A fit seen from the data: its loss, the gradient of all columns (downhill), and the dual loss.

    ``dual(share)`` is -F*(-t) with t the gradient of the loss times a share between 0 and 1.
    """

    loss: float
    gradient: Floats
    dual: Callable[[float], float]


def certify(
    rule: Any, columns: Array, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated
) -> OptimalityCertificate:
    """Return how far the coefficients of some columns (0 elsewhere) are from the optimum."""
    everywhere = np.zeros(len(curvature))
    everywhere[columns] = coef
    off = violation(rule, seen.gradient, everywhere, curvature).max(initial=0.0)
    largest = float(np.abs(null.gradient).max(initial=0.0)) or 1.0
    gap = np.nan
    if isinstance(rule, ElasticNetRule):
        primal = seen.loss + total_cost(rule, columns, coef)
        # Without a penalty gradients are 0 at the optimum, up to rounding.
        rounding = (rule.threshold == 0) & (np.abs(seen.gradient) <= _ROUNDING * largest)
        gradient = np.where(rounding, 0.0, seen.gradient)
        share = _feasible_share(rule, gradient, curvature)
        dual = seen.dual(share) - _conjugate(rule, share * gradient, curvature)
        gap = max(primal - dual, 0.0) / (null.loss or 1.0)
    return OptimalityCertificate(float(gap), float(off) / largest)


def _feasible_share(rule: ElasticNetRule, gradient: Floats, curvature: Floats) -> float:
    """Return the largest share of the gradient at which the penalty's conjugate is finite."""
    unbounded = np.isinf(np.where(gradient > 0, rule.upper, -rule.lower))
    strict = (rule.ridge == 0) & (curvature > 0) & unbounded
    steep, size = rule.threshold[strict], np.abs(gradient[strict])
    beyond = size > steep
    return float(np.min(steep[beyond] / size[beyond], initial=1.0))


def _conjugate(rule: ElasticNetRule, gradient: Floats, curvature: Floats) -> float:
    """Return the supremum of gradient'w less the penalty of w."""
    beyond = np.maximum(np.abs(gradient) - rule.threshold, 0.0)
    # What rounding leaves beyond a threshold that was met on purpose counts for nothing.
    beyond[beyond <= 1e-14 * rule.threshold] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(beyond > 0, beyond / rule.ridge, 0.0)
    best = np.clip(np.sign(gradient) * size, rule.lower, rule.upper)
    best[(curvature <= 0) | ~np.isfinite(best)] = 0.0
    terms = gradient * best - rule.threshold * np.abs(best) - 0.5 * rule.ridge * best**2
    return float(terms.sum())
