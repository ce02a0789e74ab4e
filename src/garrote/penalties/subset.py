"""Least squares without a penalty, and with a price for each variable: the ends of Table 13.1."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty, Terms, cheaper, first_strength
from garrote.penalties.elastic_net import ElasticNetRule
from garrote.rules import cost, second_derivative, shrink, slope


@dataclass(frozen=True)
class NoPenalty(Penalty):
    """Nothing: least squares, the one of least norm where several fit as well; maximum likelihood.

    Its path has one strength, 0.
    """

    name = "no penalty"
    reference = (
        "McCullagh & Nelder (1989), Generalized Linear Models, 2nd edition. Chapman and Hall"
    )
    convex = True
    charges = False
    quadratic = True
    parabolas = ()

    def at(self, strength: float, terms: Terms) -> ElasticNetRule:
        """Return the scalar rule at one strength."""
        nothing = np.zeros(len(terms.factor))
        return ElasticNetRule(nothing, nothing, terms.lower, terms.upper)

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return 0, the only strength."""
        return 0.0


class PriceRule(NamedTuple):
    """price_j for every coefficient that is not 0."""

    price: Floats
    lower: Floats
    upper: Floats


@shrink.register
def _(rule: PriceRule, j, z, curvature):
    return cheaper(rule, j, z, curvature, 0.0, z)


@cost.register
def _(rule: PriceRule, j, coef):
    return rule.price[j] if coef != 0.0 else 0.0


@slope.register
def _(rule: PriceRule, j, coef):
    return 0.0 * coef


@second_derivative.register
def _(rule: PriceRule, j, coef):
    return 0.0 * coef


class Priced(Penalty):
    """What penalties have in common whose strength is the price of a variable."""

    has_slope = False
    parabolas = ()

    def at(self, strength: float, terms: Terms) -> PriceRule:
        """Return the scalar rule at one strength."""
        return PriceRule(strength * terms.factor, terms.lower, terms.upper)

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least price at which no variable alone is worth it, given the null gradient."""
        return first_strength(
            lambda size, each, _: size**2 / (2 * each), gradient, terms, curvature
        )


@dataclass(frozen=True)
class BestSubset(Priced):
    """1 for each coefficient that is not 0, and at most ``size`` of them: best subsets, exactly.

    The strength is the price of a variable; at 0 the best subset of ``size`` variables is found. All
    subsets are searched, by branch and bound, which takes some 30 columns; the response is Gaussian.
    """

    size: int | None = None
    name = "best subset"
    reference = (
        "Furnival & Wilson (1974), Regressions by leaps and bounds. Technometrics 16, 499-511"
    )
    singular = True
    of_subsets = True
    for_squares = "all subsets"

    def __post_init__(self) -> None:
        if self.size is not None and self.size < 0:
            raise ValueError(f"size must be >= 0, got {self.size}")
