"""What comes out of a fit at one strength: frozen values, for standardised columns."""

from dataclasses import dataclass
from typing import Any

from garrote.arrays import Array, Floats
from garrote.results.certificates import UNKNOWN, Certificate
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class Fit(Shown):
    """One stationary point of a mean field at one strength, in standardised units.

    Columns that are not listed have inclusion probabilities too small to matter; the certificate and
    the free energy cover them all the same. ``intercept`` is beside the mean response.
    ``covariate_coef`` are the covariates' coefficients of a model of labels, whose rows have other
    weights at each strength; None where covariates are projected out and `Scale` has them.

    Examples
    --------
    >>> from garrote import VariationalGarrote
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> model = VariationalGarrote().fit(data.X, data.y)
    >>> fit = model.posterior_.optima[0]
    >>> fit.columns[fit.probability > 0.5].tolist() == model.get_support(indices=True).tolist()
    True
    """

    strength: float
    columns: Array
    probability: Floats
    weight: Floats
    noise_variance: float
    free_energy: float
    expected_size: float
    certificate: Certificate
    n_iter: int
    message: str = ""
    intercept: float = 0.0
    covariate_coef: Floats | None = None

    @classmethod
    def uncertified(
        cls,
        strength: float,
        columns: Array,
        probability: Floats,
        weight: Floats,
        noise_variance: float,
        n_iter: int = 0,
        expected_size: float = float("nan"),
    ) -> "Fit":
        """Return a solution that has not been certified yet."""
        energy = float("nan")
        return cls(
            float(strength), columns, probability, weight, float(noise_variance), energy,
            expected_size, UNKNOWN, n_iter,
        )  # fmt: skip

    @property
    def coef(self) -> Floats:
        """The coefficients m w of the listed columns."""
        return self.probability * self.weight

    @property
    def precision(self) -> float:
        """One over the noise variance."""
        return 1.0 / self.noise_variance

    @property
    def selected(self) -> Array:
        """The columns that are more likely in the model than not."""
        return self.columns[self.probability > 0.5]


@dataclass(frozen=True, repr=False)
class PenaltyFit(Shown):
    """One fit: the coefficients that are not 0, for standardised columns, and what it reached.

    ``loss`` is half the mean deviance (for a Gaussian response half the mean squared residual).
    ``pieces`` counts runs of equal coefficients that are not 0, where the penalty makes such, and
    ``freedom`` the numbers that describe the fit, where these are neither pieces nor coefficients.
    """

    strength: float
    columns: Array
    coef: Floats
    intercept: Any
    loss: float
    certificate: Certificate
    n_iter: int
    pieces: int | None = None
    freedom: int | None = None

    @property
    def covariate_coef(self) -> None:
        """None: covariates are projected out, and `Scale` has their coefficients."""
        return None

    @property
    def expected_size(self) -> float:
        """How many coefficients are not 0."""
        return float(len(self.columns))
