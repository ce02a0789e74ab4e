"""Several numbers a row: y_k = eta_k + noise. Arrays of eta have a row for each of them."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.likelihoods.base import Likelihood, largest_curvature


@dataclass(frozen=True)
class SeveralResponses(Likelihood):
    """y_k ~ N(eta_k, 1), each response with coefficients of its own.

    Responses are the columns of a matrix (N x K). A penalty of groups is what makes them one problem: a
    variable is then in or out for all of them (multi-task regression).
    """

    classes: int
    name = "several gaussian"
    several = True
    additive = True
    noise_scale = None
    effect_scale = ""

    @property
    def outputs(self) -> int:
        """A linear predictor for each."""
        return self.classes

    def check_response(self, y: Floats) -> None:
        """Refuse responses that are not finite."""
        bad = np.argwhere(~np.isfinite(y))
        if len(bad):
            raise ValueError(f"y is not finite at row {bad[0][0]}, column {bad[0][1]}")

    def mean(self, eta: Floats) -> Floats:
        """Return the expected responses (K x N)."""
        return eta

    def loss(self, y: Floats, eta: Floats) -> Floats:
        """Return half the squared error of every row, summed over responses."""
        return np.asarray(0.5 * ((y.T - eta) ** 2).sum(axis=0))

    def gradient(self, y: Floats, eta: Floats) -> Floats:
        """Return the derivative of the log likelihood in every linear predictor (K x N)."""
        return np.asarray(y.T - eta)


@largest_curvature.register
def _(likelihood: SeveralResponses):
    return 1.0
