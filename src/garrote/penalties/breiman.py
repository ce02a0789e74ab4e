"""Breiman's non-negative garrote: a first fit whose coefficients are shrunk, each by a factor >= 0."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.adaptive import AdaptiveLasso
from garrote.penalties.base import Terms

GARROTE_FITS = ("ols", "ridge", "lasso")


@dataclass(frozen=True)
class BreimanGarrote(AdaptiveLasso):
    """The sum of the factors c >= 0 by which the coefficients of a first fit are shrunk (Breiman 1995).

    The coefficients are c_j first_j, so that |w_j| / |first_j| is charged and no sign changes: a lasso
    with bounds at 0 on columns times their first coefficients. The first fit is least squares, a ridge
    chosen by generalised cross-validation or a lasso chosen by BIC.
    """

    power: float = 1.0
    first: str = "ols"
    name = "non-negative garrote"
    reference = (
        "Breiman (1995), Better subset regression using the nonnegative garrote. Technometrics 37, "
        "373-384"
    )

    def __post_init__(self) -> None:
        if self.power != 1.0:
            raise ValueError(f"the garrote shrinks by factors: power must be 1, got {self.power!r}")
        if self.first not in GARROTE_FITS:
            raise ValueError(f"first must be one of {GARROTE_FITS}, got {self.first!r}")

    @property
    def for_squares(self) -> str:
        """Least squares, or a ridge, as the first fit."""
        return "" if self.first == "lasso" else f"first={self.first!r}"

    @property
    def bounded(self) -> bool:
        """Whether it has bounds: no sign changes."""
        return True

    def weighted(self, terms: Terms, first: Floats) -> Terms:
        """Return terms with the factors of a first estimate, and bounds that keep its signs."""
        factor, lower, upper = super().weighted(terms, first)
        charged = terms.factor > 0
        return Terms(
            factor,
            np.where(charged & (first > 0), np.maximum(lower, 0.0), lower),
            np.where(charged & (first < 0), np.minimum(upper, 0.0), upper),
        )
