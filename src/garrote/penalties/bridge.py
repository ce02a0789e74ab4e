"""Bridge regression, |w|^b: from best subsets (b -> 0) over the lasso (1) to ridge regression (2)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.penalties.base import (
    Penalty,
    Terms,
    cheaper,
    first_strength,
    steepest,
    within_reach,
)
from garrote.penalties.elastic_net import L1, ElasticNetRule
from garrote.rules import (
    Evaluated,
    cost,
    dual_bound,
    is_convex,
    second_derivative,
    shrink,
    slope,
)

# A power of a coefficient near 0 has no end; a Newton step is stopped by this much as well.
_LARGEST = 1e100
# Powers of what is smaller than this may overflow before they are multiplied.
_LEAST = 1e-100


class BridgeRule(NamedTuple):
    """threshold_j |w|^power, and w between bounds."""

    threshold: Floats
    power: float
    lower: Floats
    upper: Floats


@shrink.register
def _(rule: BridgeRule, j, z, curvature):
    size, threshold = abs(z), rule.threshold[j]
    if size == 0.0 or threshold == 0.0:
        inner = size
    else:
        # In units of |z| the condition is s + pull s^(power - 1) = 1.
        if size > _LEAST:
            pull = rule.power * threshold / curvature * size ** (rule.power - 2.0)
        else:
            log_pull = np.log(threshold) + (rule.power - 2.0) * np.log(size)
            pull = rule.power / curvature * np.exp(min(log_pull, 600.0))
        inner = size * _share(rule.power, pull)
    return cheaper(rule, j, z, curvature, 0.0, np.sign(z) * inner)


@kernel(inline=True)
def _share(power, pull):
    """Return the largest s with s + pull s^(power - 1) = 1, or 0 where there is none."""
    if power > 1.0:
        # With u = s^(power - 1) the function is convex: Newton's method descends to the root.
        u, p = min(1.0, 1.0 / pull), 1.0 / (power - 1.0)
        for _ in range(200):
            step = (u**p + pull * u - 1.0) / (p * u ** (p - 1.0) + pull)
            u -= step
            if abs(step) <= 1e-16 * u:
                break
        return max(u, 0.0) ** p
    # The least of s + pull s^(power - 1); to its right the function rises.
    least = (pull * (1.0 - power)) ** (1.0 / (2.0 - power))
    if least >= 1.0 or least + pull * least ** (power - 1.0) >= 1.0:
        return 0.0
    s = 1.0
    for _ in range(200):
        steep = pull * s ** (power - 2.0)
        step = (s + steep * s - 1.0) / (1.0 + (power - 1.0) * steep)
        s -= step
        if abs(step) <= 1e-16 or s <= least:
            break
    return max(s, least)


@cost.register
def _(rule: BridgeRule, j, coef):
    return rule.threshold[j] * abs(coef) ** rule.power


@slope.register
def _(rule: BridgeRule, j, coef):
    if coef == 0.0:
        return 0.0
    return np.sign(coef) * rule.threshold[j] * rule.power * abs(coef) ** (rule.power - 1.0)


@second_derivative.register
def _(rule: BridgeRule, j, coef):
    power = rule.power
    steep = rule.threshold[j] * power * (power - 1.0) * abs(coef) ** (power - 2.0)
    return min(max(steep, -_LARGEST), _LARGEST)


@is_convex.register
def _(rule: BridgeRule) -> bool:
    return rule.power >= 1


@dual_bound.register
def _(rule: BridgeRule, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated) -> float:
    if rule.power <= 1:
        return np.nan
    rule = within_reach(rule, rule.threshold == 0, coef, curvature, null)
    return seen.dual(1.0) - _conjugate(rule, seen.gradient, curvature)


def _conjugate(rule: BridgeRule, gradient: Floats, curvature: Floats) -> float:
    """Return the supremum of gradient'w less the penalty of w, |w|^b with b > 1."""
    used = (curvature > 0) & (gradient != 0)
    gradient, threshold = gradient[used], rule.threshold[used]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        size = (np.abs(gradient) / (rule.power * threshold)) ** (1.0 / (rule.power - 1.0))
        best = np.clip(np.sign(gradient) * size, rule.lower[used], rule.upper[used])
        value = float((gradient * best - threshold * np.abs(best) ** rule.power).sum())
    return value if np.isfinite(value) else np.inf


@dataclass(frozen=True)
class Bridge(Penalty):
    """abs(w)^b for 0 < b <= 2 (Frank & Friedman 1993; Murphy 2012, Eq. 13.131).

    b = 1 is the lasso; b = 2 at a strength is ridge regression, w^2 / 2, at twice that strength. For b
    < 1 a coefficient jumps away from 0: it is 0 or at least (2 (1 - b) strength)^(1 / (2 - b)), for a
    curvature of 1. For b > 1 none is 0.

    Examples
    --------
    >>> from garrote.penalties import Bridge, thresholding
    >>> [round(float(w), 3) for w in thresholding(Bridge(b=0.5), [1.0, 1.5, 1.6], strength=1.0)]
    [0.0, 0.0, 1.13]
    """

    b: float = 0.5
    name = "bridge"
    reference = (
        "Frank & Friedman (1993), A statistical view of some chemometrics regression tools. "
        "Technometrics 35, 109-135"
    )

    def __post_init__(self) -> None:
        if not 0 < self.b <= 2:
            raise ValueError(f"b must lie in (0, 2], got {self.b}")

    @property
    def convex(self) -> bool:
        """Whether b >= 1."""
        return self.b >= 1

    @property
    def singular(self) -> bool:
        """Whether b < 1."""
        return self.b < 1

    def at(self, strength: float, terms: Terms) -> BridgeRule | ElasticNetRule:
        """Return the scalar rule at one strength; that of the lasso for b = 1."""
        if self.b == 1:
            return L1().at(strength, terms)
        return BridgeRule(strength * terms.factor, self.b, terms.lower, terms.upper)

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised variable is in, given the null gradient."""
        if self.b == 1:
            return steepest(gradient, terms)
        return first_strength(self._first_strength, gradient, terms, curvature)

    def _first_strength(self, size: Floats, curvature: Floats, columns: Array) -> Floats:
        if self.b < 1:  # a coefficient jumps to this share of its least-squares value
            jump = (2 - 2 * self.b) / (2 - self.b) * size / curvature
            return curvature * jump ** (2 - self.b) / (2 - 2 * self.b)
        # None is ever 0: a strength that shrinks them a thousandfold, as for a ridge.
        return curvature * (size / curvature) ** (2 - self.b) * 1e3 ** (self.b - 1) / self.b
