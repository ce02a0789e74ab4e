"""What standardising took off: how standardised coefficients read in the user's units."""

from dataclasses import dataclass

from garrote.arrays import Array, Floats
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class Scale(Shown):
    """How standardised coefficients read in the user's units."""

    column_mean: Floats
    column_scale: Floats
    response_mean: float
    response_scale: float
    covariates: Array
    covariate_response: Floats
    covariate_columns: Floats
    intercept_count: int = 1

    def coefficients(self, columns: Array, coef: Floats) -> Floats:
        """Return the coefficients of ``columns`` in the user's units."""
        return coef * (self.response_scale / self.column_scale[columns])

    def covariate_coefficients(self, columns: Array, coef: Floats) -> Floats:
        """Return the covariates' coefficients, in the user's units, beside those given."""
        coefficients = self.covariate_response - self.covariate_columns[:, columns] @ coef
        return self.coefficients(self.covariates, coefficients)

    def intercept(self, columns: Array, coef: Floats) -> float:
        """Return the intercept, in the user's units, beside the coefficients given."""
        taken = self.column_mean[columns] @ self.coefficients(columns, coef)
        also = self.column_mean[self.covariates] @ self.covariate_coefficients(columns, coef)
        return float(self.response_mean - taken - also)
