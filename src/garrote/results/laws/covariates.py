"""Intercept and covariates, which are always in: how sure they are beside the other coefficients."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class CovariatesLaw(Shown):
    """The coefficients of covariates given those of some other columns, in the user's units.

    Gaussian with ``covariance``, around their means less ``explained`` (a row for each covariate) times
    what the others have beyond their own means: columns that covariates explain take from them.
    """

    covariates: Array
    columns: Array
    explained: Floats
    covariance: Floats

    def fill(self, draws: Floats, mean: Floats, rng: np.random.Generator) -> None:
        """Put the covariates' coefficients into rows of draws of the others; ``mean`` is of all."""
        others = draws[:, self.columns] - mean[self.columns]
        zero = np.zeros(len(self.explained))
        alone = rng.multivariate_normal(zero, self.covariance, len(others), "ignore", method="eigh")
        draws[:, self.covariates] = mean[self.covariates] + (alone - others @ self.explained.T)

    def joint_covariance(self, others: Floats) -> Floats:
        """Return the covariance of covariates and other columns, from that of the others."""
        between = -self.explained @ others
        alone = self.covariance - between @ self.explained.T
        return np.block([[alone, between], [between.T, others]])


@dataclass(frozen=True, repr=False)
class FactorisedPredictor(Shown):
    """How sure a linear predictor is whose variables are independent of each other, in the user's units.

    With f = (1, covariates), or the covariates alone where there is no intercept, its variance at x
    is f' ``fixed_covariance`` f plus the sum over ``columns`` of (x_j - f' ``explained``_j)^2
    ``variance``_j: the fixed columns take back what they explain of the others. ``intercept`` is its
    mean where all variables are 0.
    """

    intercept: float
    columns: Array
    variance: Floats
    fixed_covariance: Floats
    explained: Floats

    def with_intercept(self, covariates: Floats) -> Floats:
        """Return f for every row, given its covariates."""
        if len(self.fixed_covariance) == covariates.shape[1]:
            return covariates
        return np.column_stack([np.ones(len(covariates)), covariates])
