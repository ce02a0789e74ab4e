"""The lasso, the elastic net and ridge regression: convex, and one rule for all of them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Terms, check_share, steepest
from garrote.rules import bend, cost, shrink, slope

_ZOU_HASTIE = (
    "Zou & Hastie (2005), Regularization and variable selection via the elastic net. "
    "JRSS B 67, 301-320"
)
_REFERENCES = {
    1.0: "Tibshirani (1996), Regression shrinkage and selection via the lasso. JRSS B 58, 267-288",
    0.0: "Hoerl & Kennard (1970), Ridge regression: biased estimation for nonorthogonal problems. "
    "Technometrics 12, 55-67",
}


class ElasticNetRule(NamedTuple):
    """threshold_j |w| + ridge_j w^2 / 2, and w between bounds."""

    threshold: Floats
    ridge: Floats
    lower: Floats
    upper: Floats


@shrink.register
def _(rule: ElasticNetRule, j, z, curvature):
    size = abs(z) * curvature - rule.threshold[j]
    if size <= 0.0:
        new = 0.0
    else:
        new = np.sign(z) * size / (curvature + rule.ridge[j])
    return min(max(new, rule.lower[j]), rule.upper[j])


@cost.register
def _(rule: ElasticNetRule, j, coef):
    return rule.threshold[j] * abs(coef) + 0.5 * rule.ridge[j] * coef * coef


@slope.register
def _(rule: ElasticNetRule, j, coef):
    return rule.threshold[j] * np.sign(coef) + rule.ridge[j] * coef


@bend.register
def _(rule: ElasticNetRule, j, coef):
    return rule.ridge[j]


@dataclass(frozen=True)
class ElasticNet:
    """l1_ratio |w| + (1 - l1_ratio) w^2 / 2 (Zou & Hastie 2005).

    l1_ratio = 1 is the lasso, 0 ridge regression. ``corrected`` undoes the shrinkage of the second
    term: with a strength a, coefficients are multiplied by 1 + a (1 - l1_ratio), the text's 1 +
    lambda_2 for columns of mean square 1 (Murphy 2012, Eq. 13.125; its columns have length 1). For
    others of mean square c the factor is 1 + a (1 - l1_ratio) / c. The certificate is that of the fit
    before; bounds other than 0 would be broken, and are refused.
    """

    l1_ratio: float = 0.5
    name: str = "elastic net"
    corrected: bool = False
    convex = True

    def __post_init__(self) -> None:
        check_share(self.l1_ratio, of_all=True)

    @property
    def reference(self) -> str:
        """Where it comes from."""
        return _REFERENCES.get(self.l1_ratio, _ZOU_HASTIE)

    def at(self, strength: float, terms: Terms) -> ElasticNetRule:
        """Return the scalar rule at one strength."""
        if self.corrected:
            _check_signs_alone(terms)
        each = strength * terms.factor
        return ElasticNetRule(
            self.l1_ratio * each, (1.0 - self.l1_ratio) * each, terms.lower, terms.upper
        )

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised variable is in, given the null gradient."""
        # A ridge has none: one that shrinks a thousandfold is taken, as in glmnet.
        return steepest(gradient, terms, max(self.l1_ratio, 1e-3))


def _check_signs_alone(terms: Terms) -> None:
    bounds = np.concatenate([terms.lower, terms.upper])
    if (np.isfinite(bounds) & (bounds != 0)).any():
        raise ValueError(
            "corrected=True multiplies the coefficients of an elastic net after the fit, which would "
            "break bounds other than 0: leave out lower and upper, or take corrected=False"
        )


def L1() -> ElasticNet:
    """Return |w|, the lasso (Tibshirani 1996)."""
    return ElasticNet(1.0, "lasso")


def Ridge() -> ElasticNet:
    """Return w^2 / 2, ridge regression."""
    return ElasticNet(0.0, "ridge")
