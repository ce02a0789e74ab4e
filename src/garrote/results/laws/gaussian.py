"""Coefficients that are Gaussian together, all others being out: the law where variances are chosen."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.stats import norm

from garrote.arrays import Array, Floats
from garrote.likelihoods import Likelihood, curvature, inverse_link
from garrote.likelihoods.uncertain import gaussian_mean
from garrote.results.laws.base import CoefficientLaw, Spread, dense_columns


@dataclass(frozen=True, repr=False)
class JointGaussian(CoefficientLaw):
    """One Gaussian for the coefficients that are in, in the user's units; the others are 0.

    Attributes
    ----------
    columns : array of int
        Those that are in, covariates among them.
    covariance : array of shape (k, k)
        Of their coefficients.
    sign_probability : array of shape (D,)
        The probability of each coefficient's likelier sign; 0.5 for those that are out.
    deviation : array of shape (D,)
        Standard deviations of all coefficients; 0 for those that are out.
    mean : array of shape (D,)
    intercept : float, optional
        Of labels: the log odds where all variables are 0.
    with_intercept : array of shape (k + 1,), optional
        Of labels: the intercept's variance, and its covariances with the coefficients.
    """

    columns: Array
    covariance: Floats
    sign_probability: Floats = field()  # not None, as laws of other kinds have it
    deviation: Floats
    mean: Floats
    intercept: float | None = None
    with_intercept: Floats | None = None
    intervals_in_words: ClassVar[str] = (
        "intervals hold the variances that the evidence chose for known, and are too narrow for what "
        "was chosen by luck; the probability is that of the effect's sign"
    )

    @classmethod
    def of(
        cls,
        columns: Array,
        mean: Floats,
        covariance: Floats,
        intercept: float | None = None,
        with_intercept: Floats | None = None,
    ) -> "JointGaussian":
        """Return the law of some columns, given the means of all."""
        deviation = np.zeros(len(mean))
        deviation[columns] = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        known = np.where(mean != 0, 1.0, 0.5)
        with np.errstate(divide="ignore", invalid="ignore"):
            sign = np.where(deviation > 0, norm.cdf(np.abs(mean) / deviation), known)
        return cls(columns, covariance, sign, deviation, mean, intercept, with_intercept)

    @property
    def in_words(self) -> str:
        """How many coefficients are in."""
        return f"{len(self.columns):,} are in, each with a variance that the evidence chose"

    @property
    def mean_intercept(self) -> float | None:
        """The intercept of labels."""
        return self.intercept

    def sample(self, n: int, mean: Floats, rng: np.random.Generator) -> Floats:
        """Draw the coefficients that are in."""
        draws = np.zeros((n, len(mean)))
        if len(self.columns):
            draws[:, self.columns] = rng.multivariate_normal(
                mean[self.columns], self.covariance, n, check_valid="ignore", method="eigh"
            )
        return draws

    def variance(self, count: int, spread: Spread) -> Floats:
        """Return the variances of all coefficients."""
        return np.asarray(self.deviation**2)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return equal-tailed intervals of all coefficients; of those that are out, 0 to 0."""
        reach = float(norm.ppf(0.5 + level / 2)) * self.deviation
        return self.mean - reach, self.mean + reach

    def response_moments(
        self,
        likelihood: Likelihood,
        X: Any,
        mean: Floats,
        covariates: Array,
        offset: Floats,
        integrated: bool = True,
    ) -> tuple[Floats, Floats]:
        """Return mean and variance of new labels, averaged over the Gaussian law of their log odds."""
        eta = np.asarray(X @ mean + (self.intercept or 0.0), dtype=np.float64) + offset
        block = dense_columns(X, self.columns)
        spread = np.sum((block @ self.covariance) * block, axis=1)
        if self.with_intercept is not None:
            spread += self.with_intercept[0] + 2.0 * block @ self.with_intercept[1:]
        spread = np.maximum(spread, 0.0)
        found = gaussian_mean(likelihood, eta, spread if integrated else None)
        slope = curvature(likelihood, inverse_link(likelihood, eta), eta)
        return found, likelihood.predictive_variance(found, slope**2 * spread)
