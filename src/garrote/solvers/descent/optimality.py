"""How good a penalised fit is: its objective, the bound that duality gives, and violated optimality.

With F the loss of the linear predictor and P the penalty, Fenchel's dual of min F(Xw) + P(w) is
max -F*(-t) - P*(X't). The dual point is the gradient of F at the fit, times a share: all of it where P*
is finite there, else as much as makes it so. A coefficient that nothing penalises or bounds would need a
gradient of exactly 0; it is taken to lie within ten times what the data can ask for.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.bridge import BridgeRule
from garrote.penalties.elastic_net import ElasticNetRule
from garrote.results.certificates import Certificate, optimality
from garrote.solvers.descent.quadratic import total_cost, violation

# Coefficients without a penalty are no larger than so many times the largest that is seen.
REACH = 10.0
# Products of columns with rows are not exact beyond this share of their lengths.
_ROUNDING = 1e-14


class Evaluated(NamedTuple):
    """A fit seen from the data: its loss, the gradient of all columns (downhill), and the dual loss.

    ``dual(share)`` is -F*(-t) with t the gradient of the loss times a share between 0 and 1.
    """

    loss: float
    gradient: Floats
    dual: Callable[[float], float]


def beyond_rounding(gradient: Floats, curvature: Floats, spread: float) -> Floats:
    """Return a gradient with 0 where it is but the rounding of rows of some spread.

    Columns without content, and responses that no column explains, would else set the scale of
    a whole path. ``curvature`` is the mean square of each column.
    """
    rounding = _ROUNDING * spread * np.sqrt(curvature)
    return np.where((curvature > 0) & (np.abs(gradient) > rounding), gradient, 0.0)


def certify(
    rule: Any, columns: Array, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated
) -> Certificate:
    """Return how far the coefficients of some columns (0 elsewhere) are from the optimum."""
    everywhere = np.zeros(len(curvature))
    everywhere[columns] = coef
    off = violation(rule, seen.gradient, everywhere, curvature).max(initial=0.0)
    largest = float(np.abs(null.gradient).max(initial=0.0)) or 1.0
    primal = seen.loss + total_cost(rule, columns, coef)
    dual = dual_bound(rule, everywhere, seen, curvature, null)
    gap = max(primal - dual, 0.0) / (null.loss or 1.0)
    return optimality(float(gap), float(off) / largest)


@singledispatch
def dual_bound(
    rule: Any, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated
) -> float:
    """Return a value that no coefficients can go below; NaN where duality gives none."""
    return np.nan


@dual_bound.register
def _(
    rule: ElasticNetRule, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated
) -> float:
    free = (rule.threshold == 0) & (rule.ridge == 0)
    rule = _within_reach(rule, free, coef, curvature, null)
    share = _feasible_share(rule, seen.gradient, curvature)
    return seen.dual(share) - _conjugate(rule, share * seen.gradient, curvature)


@dual_bound.register
def _(rule: BridgeRule, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated) -> float:
    if rule.power <= 1:
        return np.nan
    rule = _within_reach(rule, rule.threshold == 0, coef, curvature, null)
    return seen.dual(1.0) - _power_conjugate(rule, seen.gradient, curvature)


def _power_conjugate(rule: BridgeRule, gradient: Floats, curvature: Floats) -> float:
    """Return the supremum of gradient'w less the penalty of w, |w|^b with b > 1."""
    used = (curvature > 0) & (gradient != 0)
    gradient, threshold = gradient[used], rule.threshold[used]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        size = (np.abs(gradient) / (rule.power * threshold)) ** (1.0 / (rule.power - 1.0))
        best = np.clip(np.sign(gradient) * size, rule.lower[used], rule.upper[used])
        value = float((gradient * best - threshold * np.abs(best) ** rule.power).sum())
    return value if np.isfinite(value) else np.inf


def _within_reach(rule: Any, free: Array, coef: Floats, curvature: Floats, null: Evaluated) -> Any:
    """Return the rule with bounds for coefficients that have neither a penalty nor bounds."""
    free = free & (curvature > 0)
    if not free.any():
        return rule
    alone = np.abs(null.gradient[free] / curvature[free]).max()
    reach = REACH * max(float(alone), float(np.abs(coef).max(initial=0.0)))
    return rule._replace(
        lower=np.where(free, np.maximum(rule.lower, -reach), rule.lower),
        upper=np.where(free, np.minimum(rule.upper, reach), rule.upper),
    )


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
    if not beyond.any() and (rule.lower <= 0).all() and (rule.upper >= 0).all():
        return 0.0  # at w = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(beyond > 0, beyond / rule.ridge, 0.0)
    best = np.clip(np.sign(gradient) * size, rule.lower, rule.upper)
    best[(curvature <= 0) | ~np.isfinite(best)] = 0.0
    terms = gradient * best - rule.threshold * np.abs(best) - 0.5 * rule.ridge * best**2
    return float(terms.sum())
