"""Penalties that flatten out: large coefficients are shrunk less than by the lasso, or not at all.

Each is that of the lasso near 0 and concave beyond. Where a column's curvature is small beside the
penalty's, the scalar objective has two minima, at 0 and away from it; rules return the lower one.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty, Terms, cheaper, first_strength
from garrote.penalties.elastic_net import L1, ElasticNetRule
from garrote.rules import cost, second_derivative, shrink, slope


class MinimaxRule(NamedTuple):
    """threshold |w| - flattening w^2 / 2 up to where that is flat, and constant from there on."""

    threshold: Floats
    flattening: float
    lower: Floats
    upper: Floats


@shrink.register
def _(rule: MinimaxRule, j, z, curvature):
    threshold, size = rule.threshold[j], abs(z)
    if rule.flattening * size >= threshold:
        inner = size
    elif curvature > rule.flattening:
        inner = max(curvature * size - threshold, 0.0) / (curvature - rule.flattening)
    else:
        inner = 0.0
    return cheaper(rule, j, z, curvature, 0.0, np.sign(z) * inner)


@cost.register
def _(rule: MinimaxRule, j, coef):
    threshold, size = rule.threshold[j], abs(coef)
    if rule.flattening * size < threshold:
        return threshold * size - 0.5 * rule.flattening * size * size
    if threshold == 0.0:
        return 0.0
    return 0.5 * threshold * threshold / rule.flattening


@slope.register
def _(rule: MinimaxRule, j, coef):
    return np.sign(coef) * max(rule.threshold[j] - rule.flattening * abs(coef), 0.0)


@second_derivative.register
def _(rule: MinimaxRule, j, coef):
    return -rule.flattening if rule.flattening * abs(coef) < rule.threshold[j] else 0.0


@dataclass(frozen=True)
class MCP(Penalty):
    """The minimax concave penalty of Zhang (2010), for t = strength * factor.

        t |w| - w^2 / (2 gamma)  for |w| <= gamma t,  gamma t^2 / 2  beyond.

    gamma = inf is the lasso; gamma -> 0 approaches best subsets. Coefficients beyond gamma t are not
    shrunk at all.

    Examples
    --------
    >>> from garrote.penalties import MCP, thresholding
    >>> [round(float(w), 3) for w in thresholding(MCP(gamma=3), [0.5, 2.0, 4.0], strength=1.0)]
    [0.0, 1.5, 4.0]
    """

    gamma: float = 3.0
    name = "MCP"
    reference = (
        "Zhang (2010), Nearly unbiased variable selection under minimax concave penalty. "
        "Annals of Statistics 38, 894-942"
    )

    def __post_init__(self) -> None:
        if not self.gamma > 0:
            raise ValueError(f"gamma must be > 0, got {self.gamma}")

    @property
    def convex(self) -> bool:
        """Whether it is the lasso."""
        return self.gamma == np.inf

    def at(self, strength: float, terms: Terms) -> MinimaxRule | ElasticNetRule:
        """Return the scalar rule at one strength; that of the lasso for gamma = inf."""
        if self.convex:
            return L1().at(strength, terms)
        return MinimaxRule(strength * terms.factor, 1.0 / self.gamma, terms.lower, terms.upper)

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised variable is in, given the null gradient."""
        return _first_strength(1.0 / self.gamma, gradient, terms, curvature)


class ScadRule(NamedTuple):
    """threshold |w| up to the threshold, then flatter and flatter, constant from a thresholds on."""

    threshold: Floats
    a: float
    lower: Floats
    upper: Floats


@shrink.register
def _(rule: ScadRule, j, z, curvature):
    threshold, size, a = rule.threshold[j], abs(z), rule.a
    near = max(size - threshold / curvature, 0.0)
    if near > threshold:
        near = threshold
        if curvature * (a - 1.0) > 1.0:
            near = (curvature * size * (a - 1.0) - a * threshold) / (curvature * (a - 1.0) - 1.0)
    far = size if size >= a * threshold else near
    # Near 0 and unshrunk there may be a minimum each.
    inner = cheaper(rule, j, z, curvature, 0.0, np.sign(z) * near)
    return cheaper(rule, j, z, curvature, inner, np.sign(z) * far)


@cost.register
def _(rule: ScadRule, j, coef):
    threshold, size, a = rule.threshold[j], abs(coef), rule.a
    if size <= threshold:
        return threshold * size
    if size <= a * threshold:
        return (2.0 * a * threshold * size - size * size - threshold**2) / (2.0 * (a - 1.0))
    return 0.5 * threshold * threshold * (a + 1.0)


@slope.register
def _(rule: ScadRule, j, coef):
    threshold, size = rule.threshold[j], abs(coef)
    beyond = max(rule.a * threshold - size, 0.0) / (rule.a - 1.0)
    return np.sign(coef) * min(threshold, beyond)


@second_derivative.register
def _(rule: ScadRule, j, coef):
    threshold, size = rule.threshold[j], abs(coef)
    return -1.0 / (rule.a - 1.0) if threshold < size < rule.a * threshold else 0.0


@dataclass(frozen=True)
class SCAD(Penalty):
    """The smoothly clipped absolute deviation of Fan & Li (2001), for t = strength * factor.

    Its slope is t up to |w| = t, falls linearly to 0 at |w| = a t, and is 0 beyond.

    Examples
    --------
    >>> from garrote.penalties import SCAD, thresholding
    >>> [round(float(w), 3) for w in thresholding(SCAD(a=3), [1.5, 2.5, 4.0], strength=1.0)]
    [0.5, 2.0, 4.0]
    """

    a: float = 3.7
    name = "SCAD"
    reference = (
        "Fan & Li (2001), Variable selection via nonconcave penalized likelihood and its "
        "oracle properties. JASA 96, 1348-1360"
    )

    def __post_init__(self) -> None:
        if not 1 < self.a < np.inf:
            raise ValueError(f"a must be a finite number > 1, got {self.a}")

    def at(self, strength: float, terms: Terms) -> ScadRule:
        """Return the scalar rule at one strength."""
        return ScadRule(strength * terms.factor, self.a, terms.lower, terms.upper)

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised variable is in, given the null gradient."""
        # Away from 0 the cost is at most (a + 1) t^2 / 2, that of an MCP with gamma = a + 1.
        return _first_strength(1.0 / (self.a + 1.0), gradient, terms, curvature)


def _first_strength(
    flattening: float, gradient: Floats, terms: Terms, curvature: Floats | None
) -> float:
    """Return the largest strength of a variable alone, where a penalty flattens out so fast."""

    def wanted(size: Floats, each: Floats, columns: Array) -> Floats:
        if curvature is None or flattening == 0.0:  # no column's own, or the lasso
            return size
        # A flat column jumps away from 0 before its gradient reaches the threshold.
        return size / np.sqrt(np.clip(each / flattening, 1e-12, 1.0))

    return first_strength(wanted, gradient, terms, curvature)


class LogRule(NamedTuple):
    """threshold * eps * log(1 + |w| / eps)."""

    threshold: Floats
    eps: float
    lower: Floats
    upper: Floats


@shrink.register
def _(rule: LogRule, j, z, curvature):
    size = abs(z)
    # The larger root of curvature (w - |z|) (eps + w) + threshold eps = 0.
    inside = (size + rule.eps) ** 2 - 4.0 * rule.threshold[j] * rule.eps / curvature
    inner = 0.0
    if inside > 0.0:
        inner = max(0.5 * (size - rule.eps + np.sqrt(inside)), 0.0)
    return cheaper(rule, j, z, curvature, 0.0, np.sign(z) * inner)


@cost.register
def _(rule: LogRule, j, coef):
    return rule.threshold[j] * rule.eps * np.log1p(abs(coef) / rule.eps)


@slope.register
def _(rule: LogRule, j, coef):
    return np.sign(coef) * rule.threshold[j] * rule.eps / (rule.eps + abs(coef))


@second_derivative.register
def _(rule: LogRule, j, coef):
    return -rule.threshold[j] * rule.eps / (rule.eps + abs(coef)) ** 2


@dataclass(frozen=True)
class LogSum(Penalty):
    """eps log(1 + |w| / eps), whose slope at 0 is 1 (Candes, Wakin & Boyd 2008).

    eps = inf would be the lasso. With (a + 1) / b times its strength and eps = b it is the penalty of
    the hierarchical adaptive lasso (Murphy 2012, Eq. 13.143).

    Examples
    --------
    >>> from garrote.penalties import LogSum, thresholding
    >>> [round(float(w), 3) for w in thresholding(LogSum(eps=0.5), [0.5, 2.0, 4.0], strength=1.0)]
    [0.0, 1.781, 3.886]
    """

    eps: float = 0.1
    name = "log-sum"
    reference = (
        "Candes, Wakin & Boyd (2008), Enhancing sparsity by reweighted l1 minimization. "
        "Journal of Fourier Analysis and Applications 14, 877-905"
    )

    def __post_init__(self) -> None:
        if not 0 < self.eps < np.inf:
            raise ValueError(f"eps must be a finite number > 0, got {self.eps}")

    def at(self, strength: float, terms: Terms) -> LogRule:
        """Return the scalar rule at one strength."""
        return LogRule(strength * terms.factor, self.eps, terms.lower, terms.upper)

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised variable is in, given the null gradient."""
        return first_strength(self._first_strength, gradient, terms, curvature)

    def _first_strength(self, size: Floats, curvature: Floats, columns: Array) -> Floats:
        # Beyond this the larger root is at 0 or complex: no other minimum than 0.
        alone = size / curvature
        gone = np.where(alone > self.eps, curvature * (alone + self.eps) ** 2 / (4 * self.eps), 0.0)
        return np.maximum(gone, size)
