"""Coefficients that are polynomials over pieces: trend filtering of order 0, 1 or 2."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty, Terms
from garrote.penalties.fusion.trend_rule import TrendRule, feasible_share
from garrote.proximal.tied.trend_differences import check_order, check_positions
from garrote.proximal.tied.trend_newton import Trend


@dataclass(frozen=True, eq=False)
class TrendFilter(Penalty):
    r"""sum_i \|(D w)_i\|, D the differences of order + 1: coefficients are polynomials over pieces.

    Order 0 is the fused lasso along a chain, of constant pieces; order 1 has lines that bend, order 2
    parabolas whose curvature jumps (Kim, Koh, Boyd & Gorinevsky 2009). Where they bend is found. Places
    may be at unequal distances (Tibshirani 2014).

    With X = I it smooths a signal: `garrote.paths.signals.filter_trend` does so with weights and
    gaps. With other columns it is for effects that change smoothly along an order, as those of
    wavelengths, ages or lags. `SparseRegressor` and `SparseClassifier` leave columns in the units
    of X with this penalty.

    Parameters
    ----------
    order : {0, 1, 2}, default=1
        The degree of the pieces.
    positions : array of shape (D,), optional
        Where each column is, in rising order; at equal distances by default. Differences are in units of
        the mean distance of neighbours.

    Notes
    -----
    Polynomials of the order are not charged: with alpha large enough they are the fit. No coefficient
    is 0, so that nothing is selected: what is found are the places that bend. There are no factors of
    the penalty and no bounds.

    References
    ----------
    Kim, S.-J. et al. (2009). l1 trend filtering. SIAM Review 51, 339-360.
    Tibshirani, R. J. (2014). Adaptive piecewise polynomial estimation via trend filtering. Annals of
    Statistics 42, 285-323.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.penalties import Terms, TrendFilter
    >>> rule = TrendFilter(order=1).at(2.0, Terms.equal(4))
    >>> rule.charge(np.array([0.0, 1.0, 2.0, 2.5]))
    1.0
    """

    order: int = 1
    positions: Any = None
    name = "trend filtering"
    convex = True
    structured = True
    compares = True
    parabolas = ()
    l1_ratio = 0.0
    equal_pieces = False
    reference = "Kim, Koh, Boyd & Gorinevsky (2009), l1 trend filtering. SIAM Review 51, 339-360"

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", check_order(self.order))
        if self.positions is not None:
            given = check_positions(self.positions, np.size(self.positions), self.order)
            object.__setattr__(self, "positions", given)

    @property
    def least_weight(self) -> float:
        """The least share of a sum of sizes that forces at the places can come to."""
        spread = 1.0
        for trend in self._trends.values():
            spread = max(spread, float(np.prod([(1.0 / s).sum() for s in trend.slopes])))
        return 1.0 / spread

    def resolved(self, count: int, names: Array | None = None, X: Any = None) -> "TrendFilter":
        """Return the same for so many columns; refuse places of others."""
        check_positions(self.positions, count, self.order)
        made = TrendFilter(self.order, self.positions)
        made._trend(count)
        return made

    def at(self, strength: float, terms: Terms) -> TrendRule:
        """Return the rule at one strength."""
        if np.isfinite(terms.lower).any() or np.isfinite(terms.upper).any():
            raise ValueError(
                "trend filtering has no bounds: leave them out, or take a penalty of single coefficients"
            )
        if (terms.factor != 1.0).any():
            raise ValueError(
                "trend filtering compares all columns with their neighbours: penalty_factor cannot take "
                "one out; leave it out of X, and give what it explains as the offset"
            )
        return TrendRule(self._trend(len(terms.factor)), strength)

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which a polynomial is the fit, given its gradient."""
        share = feasible_share(self.at(1.0, terms), gradient, np.inf)
        return 1.0 / share if share < np.inf else 0.0

    def count_pieces(self, columns: Array, coef: Floats, count: int) -> int:
        """Return how many numbers describe the fit: those of a polynomial, and one for each bend.

        That is an unbiased estimate of the degrees of freedom (Tibshirani & Taylor 2011).
        """
        everywhere = np.zeros(count)
        everywhere[columns] = coef
        rule = self.at(1.0, Terms.equal(count))
        return rule.levels + int(np.count_nonzero(rule.bends(everywhere)))

    @cached_property
    def _trends(self) -> dict[int, Trend]:
        return {}

    def _trend(self, count: int) -> Trend:
        """Return the trend of the columns; every output has its own."""
        if count not in self._trends:
            one = min(
                self._trends, default=count if self.positions is None else len(self.positions)
            )
            if count != one and count % one == 0:
                self._trends[count] = self._trend(one).repeated(count // one)
            else:
                places = check_positions(self.positions, count, self.order)
                self._trends[count] = Trend.at(places, self.order)
        return self._trends[count]
