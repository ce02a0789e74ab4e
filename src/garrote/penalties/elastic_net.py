"""The lasso, the elastic net and ridge regression: convex, and one rule for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import eye_array

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.penalties.base import Penalty, Terms, check_share, steepest, within_reach
from garrote.rules import (
    AbsoluteParts,
    Evaluated,
    absolute_parts,
    cost,
    dual_bound,
    is_convex,
    is_elastic_net,
    second_derivative,
    shrink,
    slope,
    slopes,
)

# Slopes are taken this far from 0 at least: they may be infinite there.
_LEAST = 1e-300
# A threshold that is passed by this share of it, or less, is met.
_MET = 1e-14
# No gradient is beyond this; infinite slopes could not be compared.
_STEEPEST = 1e305

_ZOU_HASTIE = (
    "Zou & Hastie (2005), Regularization and variable selection via the elastic net. "
    "JRSS B 67, 301-320"
)
_NAMES = {1.0: "lasso", 0.0: "ridge"}
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


@second_derivative.register
def _(rule: ElasticNetRule, j, coef):
    return rule.ridge[j]


@is_convex.register
@is_elastic_net.register
def _(rule: ElasticNetRule) -> bool:
    return True


@absolute_parts.register
def _(rule: ElasticNetRule) -> AbsoluteParts:
    charged = rule.threshold > 0
    singles = eye_array(len(charged), format="csr")[np.flatnonzero(charged)]
    return AbsoluteParts(singles, rule.threshold[charged], rule.ridge)


@dual_bound.register
def _(
    rule: ElasticNetRule, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated
) -> float:
    free = (rule.threshold == 0) & (rule.ridge == 0)
    rule = within_reach(rule, free, coef, curvature, null)
    share = _feasible_share(rule, seen.gradient, curvature)
    return seen.dual(share) - _conjugate(rule, share, seen.gradient, curvature)


@kernel
def _feasible_share(rule, gradient, curvature):
    """Return the largest share of the gradient at which the penalty's conjugate is finite."""
    share = 1.0
    for j in range(gradient.shape[0]):
        size, steep = abs(gradient[j]), rule.threshold[j]
        if size > steep and rule.ridge[j] == 0.0 and curvature[j] > 0.0:
            end = rule.upper[j] if gradient[j] > 0.0 else -rule.lower[j]
            share = min(share, steep / size) if end == np.inf else share
    return share


@kernel
def _conjugate(rule, share, gradient, curvature):
    """Return the supremum of a share of gradient'w less the penalty of w."""
    total = 0.0
    for j in range(gradient.shape[0]):
        along, steep, ridge = share * gradient[j], rule.threshold[j], rule.ridge[j]
        beyond = abs(along) - steep
        # What rounding leaves beyond a threshold that was met on purpose counts for nothing.
        best = np.sign(along) * beyond / ridge if beyond > _MET * steep else 0.0
        best = min(max(best, rule.lower[j]), rule.upper[j])
        if curvature[j] > 0.0 and np.isfinite(best):
            total += along * best - steep * abs(best) - 0.5 * ridge * best * best
    return total


def tangent(rule: Any, size: Floats) -> ElasticNetRule:
    """Return the lasso whose thresholds are the slopes of a penalty at coefficients of some size."""
    with np.errstate(over="ignore"):
        steep = np.minimum(slopes(rule, np.maximum(size, _LEAST)), _STEEPEST)
    return ElasticNetRule(steep, np.zeros(len(size)), rule.lower, rule.upper)


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """l1_ratio |w| + (1 - l1_ratio) w^2 / 2 (Zou & Hastie 2005).

    l1_ratio = 1 is the lasso, 0 ridge regression. ``corrected`` undoes the shrinkage of the second
    term: with a strength a, coefficients are multiplied by 1 + a (1 - l1_ratio), the text's 1 +
    lambda_2 for columns of mean square 1 (Murphy 2012, Eq. 13.125; its columns have length 1). For
    others of mean square c the factor is 1 + a (1 - l1_ratio) / c. The certificate is that of the fit
    before; bounds other than 0 would be broken, and are refused.

    A list of several l1_ratio is for estimators, which choose one of them with alpha: by the least error
    of a cross-validation, or by an information criterion. Each has a grid of its own.
    """

    l1_ratio: float | Sequence[float] = 0.5
    corrected: bool = False
    convex = True

    def __post_init__(self) -> None:
        given: Any = self.l1_ratio
        if np.ndim(given) != 1 or not len(given):
            check_share(given, of_all=True)
            return
        shares = tuple(check_share(share, of_all=True) for share in given)
        if len(set(shares)) < len(shares):
            raise ValueError(f"l1_ratio lists a number twice: {list(shares)}")
        object.__setattr__(self, "l1_ratio", shares)

    @property
    def _listed(self) -> tuple[float, ...]:
        """The several l1_ratio that are given; none where it is one number."""
        return self.l1_ratio if isinstance(self.l1_ratio, tuple) else ()

    @property
    def candidates(self) -> tuple[Penalty, ...]:
        """One for each l1_ratio."""
        return tuple(replace(self, l1_ratio=share) for share in self._listed) or (self,)

    @property
    def single_share(self) -> float:
        """The one l1_ratio; refuse a list."""
        if self._listed:
            raise ValueError(
                f"l1_ratio lists {len(self._listed)} numbers, among which SparseRegressor and "
                "SparseClassifier choose by alpha='cv', 'bic' or 'ebic': give one number here"
            )
        share: Any = self.l1_ratio
        return float(share)

    @property
    def name(self) -> str:
        """What messages call it: by its two ends where it is one of them."""
        return "elastic net" if self._listed else _NAMES.get(self.single_share, "elastic net")

    @property
    def quadratic(self) -> bool:
        """Whether it is a ridge."""
        return self.l1_ratio == 0

    @property
    def for_squares(self) -> str:
        """The closed form that undoes the ridge."""
        return "corrected=True" if self.corrected else ""

    @property
    def reference(self) -> str:
        """Where it comes from."""
        return _ZOU_HASTIE if self._listed else _REFERENCES.get(self.single_share, _ZOU_HASTIE)

    def at(self, strength: float, terms: Terms) -> ElasticNetRule:
        """Return the scalar rule at one strength."""
        if self.corrected:
            _check_signs_alone(terms)
        each = strength * terms.factor
        return ElasticNetRule(
            self.single_share * each, (1.0 - self.single_share) * each, terms.lower, terms.upper
        )

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised variable is in, given the null gradient."""
        # A ridge has none: one that shrinks a thousandfold is taken, as in glmnet.
        return steepest(gradient, terms, max(self.single_share, 1e-3))


def _check_signs_alone(terms: Terms) -> None:
    bounds = np.concatenate([terms.lower, terms.upper])
    if (np.isfinite(bounds) & (bounds != 0)).any():
        raise ValueError(
            "corrected=True multiplies the coefficients of an elastic net after the fit, which would "
            "break bounds other than 0: leave out lower and upper, or take corrected=False"
        )


def L1() -> ElasticNet:
    """Return |w|, the lasso (Tibshirani 1996)."""
    return ElasticNet(1.0)


def Ridge() -> ElasticNet:
    """Return w^2 / 2, ridge regression."""
    return ElasticNet(0.0)
