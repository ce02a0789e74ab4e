"""The number of variables, for any number of columns: hard thresholding, a fast heuristic."""

from dataclasses import dataclass

from garrote.arrays import Floats
from garrote.penalties.base import Terms
from garrote.penalties.subset import PriceRule, forbidding_price


@dataclass(frozen=True)
class L0:
    """1 for each coefficient that is not 0, by hard thresholding (Murphy 2012, Eq. 13.71).

    The strength is the price of a variable. Fits are local optima: with ``solver="coordinate"`` (for a
    Gaussian response) no single variable would better go, come or move. With "ista", "fista" or
    "sparsa", for any response, they are fixed points of proximal steps (iterative hard thresholding,
    Blumensath & Davies 2008), which is weaker: where columns are correlated, variables come in at lower
    prices only. `BestSubset` finds the best of all, for few columns.

    Examples
    --------
    >>> from garrote.penalties import L0, thresholding
    >>> [float(w) for w in thresholding(L0(), [-3.0, 1.9, 2.1], strength=2.0)]
    [-3.0, 0.0, 2.1]
    """

    name: str = "l0"
    convex = False
    reference = (
        "Blumensath & Davies (2008), Iterative thresholding for sparse approximations. J. Fourier Anal. "
        "Appl. 14, 629-654"
    )

    def at(self, strength: float, terms: Terms) -> PriceRule:
        """Return the scalar rule at one strength."""
        return PriceRule(strength * terms.factor, terms.lower, terms.upper)

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least price at which no variable alone pays, given the null gradient."""
        return forbidding_price(gradient, terms, curvature)
