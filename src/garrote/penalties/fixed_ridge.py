"""The lasso beside a ridge that stays: the elastic net as a path of alphas alone."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty, Terms, steepest
from garrote.penalties.elastic_net import ElasticNetRule


@dataclass(frozen=True)
class L1WithRidge(Penalty):
    """|w| times the path's strength, and ridge w^2 / 2 that does not change along the path.

    Zou & Hastie's (2005) own form of the elastic net (Murphy 2012, Eq. 13.122, with lambda_2 = N ridge
    and lambda_1 = 2 N strength). Only with it is the path piecewise linear: LARS-EN.
    """

    ridge: float = 0.1
    name = "lasso with a ridge"
    reference = (
        "Zou & Hastie (2005), Regularization and variable selection via the elastic net. JRSS "
        "B 67, 301-320"
    )
    convex = True

    def __post_init__(self) -> None:
        if not (self.ridge >= 0 and np.isfinite(self.ridge)):
            raise ValueError(f"ridge must be a finite number >= 0, got {self.ridge}")

    def at(self, strength: float, terms: Terms) -> ElasticNetRule:
        """Return the scalar rule at one strength."""
        return ElasticNetRule(
            strength * terms.factor, self.ridge * terms.factor, terms.lower, terms.upper
        )

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised variable is in, given the null gradient."""
        return steepest(gradient, terms)
