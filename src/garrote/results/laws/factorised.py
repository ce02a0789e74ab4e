"""Variables that are in or out independently of each other: one such law, and mixtures of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods import Likelihood, curvature, inverse_link
from garrote.likelihoods.uncertain import gaussian_mean
from garrote.results.credible_sets import Inclusions
from garrote.results.laws.base import CoefficientLaw, dense_columns
from garrote.results.laws.covariates import CovariatesLaw, FactorisedPredictor
from garrote.results.optima import Optima


class Factorised(CoefficientLaw):
    """A law of variables, beside which the covariates and the intercept have laws of their own.

    ``beside`` says how coefficients of covariates go by those of the others; ``predictor``, for labels,
    how sure linear predictors are.
    """

    beside: CovariatesLaw | None
    predictor: FactorisedPredictor | None

    @property
    def mean_intercept(self) -> float | None:
        """The mean of the linear predictor where all variables are 0."""
        return None if self.predictor is None else self.predictor.intercept

    def fill(self, draws: Floats, rng: np.random.Generator) -> None:
        """Put draws of the variables' coefficients into rows of zeros."""
        raise NotImplementedError

    def variance_beyond(self, columns: Array, away: Floats) -> Floats:
        """Return what the variance of linear predictors has beyond that of independent variables.

        ``away`` has the columns of every row, less what intercept and covariates explain of them.
        """
        raise NotImplementedError

    def sample(self, n: int, mean: Floats, rng: np.random.Generator) -> Floats:
        """Draw the variables, then the covariates given these."""
        draws = np.zeros((n, len(mean)))
        self.fill(draws, rng)
        if self.beside is not None:
            self.beside.fill(draws, mean, rng)
        return draws

    def response_moments(
        self,
        likelihood: Likelihood,
        X: Any,
        mean: Floats,
        covariates: Array,
        offset: Floats,
        integrated: bool = True,
    ) -> tuple[Floats, Floats]:
        """Return the mean and the variance of new responses, linear predictors taken for Gaussian."""
        predictor = self.predictor
        assert predictor is not None, "a factorised law of labels has a predictor"
        fixed = predictor.with_intercept(dense_columns(X, covariates))
        eta = np.asarray(X @ mean + predictor.intercept, dtype=np.float64) + offset
        away = dense_columns(X, predictor.columns) - fixed @ predictor.explained
        alone = np.einsum("if,fg,ig->i", fixed, predictor.fixed_covariance, fixed)
        variance = np.maximum(alone, 0.0) + away**2 @ predictor.variance
        variance += self.variance_beyond(predictor.columns, away)
        found = gaussian_mean(likelihood, eta, variance)
        slope = curvature(likelihood, inverse_link(likelihood, eta), eta)
        return found, likelihood.predictive_variance(found, slope**2 * variance)


@dataclass(frozen=True, repr=False)
class SoftSupport(Factorised):
    """One solution: each of its variables is in with a probability, and Gaussian given that.

    ``mean`` and ``deviation`` are those of the coefficients given that they are in, ``correlation`` is
    that of the Gaussian. Columns of one ``switch`` are in together; with None each has its own.
    """

    columns: Array
    probability: Floats
    mean: Floats
    deviation: Floats
    correlation: Floats
    beside: CovariatesLaw | None = None
    predictor: FactorisedPredictor | None = None
    switch: Array | None = None

    def fill(self, draws: Floats, rng: np.random.Generator) -> None:
        """Draw the Gaussian, then inclusion switch by switch."""
        if not len(self.columns):
            return
        zero = np.zeros(len(self.columns))
        unit = rng.multivariate_normal(zero, self.correlation, size=len(draws), method="eigh")
        drawn = rng.random((len(draws), len(zero)))
        if self.switch is not None:
            drawn = drawn[:, np.unique(self.switch, return_index=True)[1][self.switch]]
        inside = drawn < self.probability
        draws[:, self.columns] = (self.mean + unit * self.deviation) * inside

    def variance_beyond(self, columns: Array, away: Floats) -> Floats:
        """Return what columns that share a switch vary together, which are left out elsewhere."""
        variance = np.zeros(len(away))
        if self.switch is None:
            return variance
        places = {int(column): k for k, column in enumerate(columns)}
        for number in np.flatnonzero(np.bincount(self.switch) > 1):
            here = np.flatnonzero(self.switch == number)
            rows = away[:, [places[int(column)] for column in self.columns[here]]]
            m, scaled = self.probability[here[0]], rows * self.deviation[here]
            square = np.sum((scaled @ self.correlation[np.ix_(here, here)]) * scaled, axis=1)
            variance += m * np.maximum(square, 0.0) + m * (1.0 - m) * (rows @ self.mean[here]) ** 2
        return variance


@dataclass(frozen=True, repr=False)
class Mixture(Factorised):
    """Components under each of which variables are in or out independently, in the user's units.

    A component has a ``weight``; under it column j is in with ``probability``, and given that its
    coefficient is Gaussian with ``mean`` and ``deviation``. What components disagree on makes
    coefficients depend on each other: where one of two copies is in, the other is out.
    """

    columns: Array
    weight: Floats
    probability: Floats
    mean: Floats
    deviation: Floats
    beside: CovariatesLaw | None = None
    predictor: FactorisedPredictor | None = None

    @property
    def mixes(self) -> bool:
        """Whether columns that cannot be told apart share their probability: they do."""
        return True

    def inclusions(self, columns: Array, optima: Optima, count: int) -> Inclusions:
        """Return the components of the mixture."""
        place = np.searchsorted(self.columns, columns)
        return Inclusions(columns, self.weight, self.probability[:, place])

    @property
    def centers(self) -> Floats:
        """The mean coefficients under each component."""
        return self.probability * self.mean

    @property
    def within(self) -> Floats:
        """The variances of the coefficients under each component."""
        square = self.probability * (self.mean**2 + self.deviation**2)
        return np.asarray(np.maximum(square - self.centers**2, 0.0))

    @property
    def covariance(self) -> Floats:
        """The covariance of the coefficients: between components, and within them."""
        centers = self.centers
        away = centers - self.weight @ centers
        return np.asarray(
            (self.weight[:, None] * away).T @ away + np.diag(self.weight @ self.within)
        )

    @property
    def deviation_given_inclusion(self) -> Floats:
        """The standard deviations of coefficients given that they are in."""
        inside = np.maximum(self.weight @ self.probability, np.finfo(np.float64).tiny)
        first = self.weight @ self.centers / inside
        square = self.weight @ (self.probability * (self.mean**2 + self.deviation**2)) / inside
        return np.asarray(np.sqrt(np.maximum(square - first**2, 0.0)))

    def variance_along(self, rows: Floats) -> Floats:
        """Return the variance of sums of the coefficients, with the factors of one sum in each row."""
        centers = rows @ self.centers.T
        away = centers - (centers @ self.weight)[:, None]
        return np.asarray(away**2 @ self.weight + rows**2 @ (self.weight @ self.within))

    def variance_beyond(self, columns: Array, away: Floats) -> Floats:
        """Return the mixture's variance: near copies, one of which each component has, add little."""
        return self.variance_along(away[:, np.searchsorted(columns, self.columns)])

    def fill(self, draws: Floats, rng: np.random.Generator) -> None:
        """Draw a component, then each of the coefficients on its own."""
        shape = (len(draws), len(self.columns))
        chosen = rng.choice(len(self.weight), size=len(draws), p=self.weight)
        inside = rng.random(shape) < self.probability[chosen]
        drawn = self.mean[chosen] + self.deviation[chosen] * rng.standard_normal(shape)
        draws[:, self.columns] = np.where(inside, drawn, 0.0)
