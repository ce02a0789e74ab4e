"""The adaptive lasso: a weighted lasso whose weights come from a first fit."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty, Terms, steepest
from garrote.penalties.elastic_net import ElasticNetRule

FIRST_FITS = ("lasso", "ridge")


@dataclass(frozen=True)
class AdaptiveLasso(Penalty):
    """The lasso with factors 1 / abs(first)^power, by a first estimate of each coefficient (Zou 2006).

    The first fit is a lasso chosen by BIC, or, for a Gaussian response, a ridge chosen by generalised
    cross-validation; both criteria count rows, so that the scale of weights does not matter. Variables
    whose first estimate is 0 stay out. Given the weights the objective is
    convex, and its duality gap is the certificate. It is one round of EM for `NormalJeffreys`
    (Murphy 2012, section 13.6.2.1) when power = 1.
    """

    power: float = 1.0
    first: str = "lasso"
    name = "adaptive lasso"
    reference = "Zou (2006), The adaptive lasso and its oracle properties. JASA 101, 1418-1429"
    convex = True

    def __post_init__(self) -> None:
        if not 0 < self.power < np.inf:
            raise ValueError(f"power must be a finite number > 0, got {self.power}")
        if self.first not in FIRST_FITS:
            raise ValueError(f"first must be one of {FIRST_FITS}, got {self.first!r}")

    @property
    def for_squares(self) -> str:
        """A ridge as the first fit."""
        return "first='ridge'" if self.first == "ridge" else ""

    def weighted(self, terms: Terms, first: Floats) -> Terms:
        """Return terms with the factors that a first estimate gives."""
        out = (first == 0) & (terms.factor > 0)
        return Terms(
            terms.factor * np.where(first == 0, 1.0, np.abs(first)) ** -self.power,
            np.where(out, np.maximum(0.0, terms.lower), terms.lower),
            np.where(out, np.minimum(0.0, terms.upper), terms.upper),
        )

    def at(self, strength: float, terms: Terms) -> ElasticNetRule:
        """Return the scalar rule at one strength, for terms that carry the weights."""
        each = strength * terms.factor
        return ElasticNetRule(each, np.zeros(len(each)), terms.lower, terms.upper)

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised variable is in, given the null gradient."""
        return steepest(gradient, terms)
