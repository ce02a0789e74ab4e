"""Basis pursuit: of all coefficients that match the response exactly, those of least l1 norm."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.penalties.base import Penalty, Terms
from garrote.penalties.elastic_net import ElasticNetRule


@dataclass(frozen=True)
class BasisPursuit(Penalty):
    """Minimise sum_j factor_j |w_j| over all w with y = b + Xw exactly (Chen, Donoho & Saunders 1998).

    It is for measurements without noise: a signal of few coefficients is found again from far fewer rows
    than columns. It is a linear programme, the limit of the lasso as its strength falls to 0, and has no
    strength of its own: its path has one, 0. Columns count in units of their standard deviation, unless
    ``standardize=False``; with an intercept, y and the columns are matched beside their means. Weights
    of rows do not matter, but that those of weight 0 need not be matched. A response that no
    coefficients match is refused: noise asks for the lasso (basis pursuit denoising).

    The certificate is the largest of two parts: "misfit", the length of y - b - Xw beside that of y, and
    the "duality gap" of the norm, by multipliers v of the rows with X'v within the factors.
    """

    name = "basis pursuit"
    reference = (
        "Chen, Donoho & Saunders (1998), Atomic decomposition by basis pursuit. "
        "SIAM J. Sci. Comput. 20, 33-61"
    )
    convex = True
    matches = True
    is_elastic_net = False
    for_squares = "y = b + Xw exactly"
    parabolas = ()

    def at(self, strength: float, terms: Terms) -> ElasticNetRule:
        """Return the norm as a scalar rule, which no strength changes."""
        return ElasticNetRule(terms.factor, np.zeros(len(terms.factor)), terms.lower, terms.upper)

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return 0, the only strength."""
        return 0.0
