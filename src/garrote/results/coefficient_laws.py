"""In what form a posterior knows its coefficients: models, states of chains, independent variables."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats


@dataclass(frozen=True)
class Intercepts:
    """The intercepts of models that have their own, as those of a generalised linear model do.

    At its ``center`` (a point of the model's variables) a model's linear predictor has ``variance`` and
    is independent of the coefficients; ``value`` is the predictor where all variables are 0. ``mean``
    is the average of that over all models.
    """

    value: Floats
    center: tuple[Floats, ...]
    variance: Floats
    mean: float | None = None


@dataclass(frozen=True)
class Models:
    """Models that stand for all, each with the law of its coefficients.

    The first ``listed`` are the most probable ones, best first, with their own probabilities. Others are
    drawn from all that are not listed, each with an equal part of what these have together (or several
    parts, where it was drawn as often), so that averages over the whole list are those over all models.
    Given a model and the noise variance s the coefficients are Gaussian with its ``mean`` and
    covariance s times its ``spread``; 1 / s is Gamma with ``noise_shape`` and the model's
    ``noise_rate``. A shape of infinity means a known noise variance, which is then the rate.
    ``intercepts`` are there where centring does not give them.
    """

    members: tuple[Array, ...]
    probability: Floats
    mean: tuple[Floats, ...]
    spread: tuple[Floats, ...]
    noise_rate: Floats
    noise_shape: float
    intercepts: Intercepts | None = None
    listed: int | None = None

    @property
    def best(self) -> int:
        """How many models are listed with their own probabilities."""
        return len(self.members) if self.listed is None else self.listed

    @property
    def mean_intercept(self) -> float:
        """The average of the intercepts of models that have their own."""
        own = self.intercepts
        assert own is not None, "models of labels and counts have intercepts"
        if own.mean is not None:
            return own.mean
        return float(self.probability @ own.value / self.probability.sum())

    @property
    def noise_means(self) -> Floats:
        """The mean of the noise variance in each model."""
        known = np.isinf(self.noise_shape)
        return self.noise_rate if known else self.noise_rate / (self.noise_shape - 1.0)

    def draw_noise(self, model: int, count: int, rng: np.random.Generator) -> Floats:
        """Draw noise variances given a model."""
        if np.isinf(self.noise_shape):
            return np.full(count, self.noise_rate[model])
        return np.asarray(self.noise_rate[model] / rng.gamma(self.noise_shape, size=count))


@dataclass(frozen=True)
class States:
    """States of chains: intercepts, and coefficients with a row for each, in the user's units."""

    intercept: Floats
    coefficients: scipy.sparse.csr_array


@dataclass(frozen=True)
class FactorisedPredictor:
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


@dataclass(frozen=True)
class CovariatesLaw:
    """The coefficients of covariates given those of some other columns, in the user's units.

    Gaussian with ``covariance``, around their means less ``explained`` (a row for each covariate) times
    what the others have beyond their own means: columns that covariates explain take from them.
    """

    columns: Array
    explained: Floats
    covariance: Floats

    def draw(self, others: Floats, rng: np.random.Generator) -> Floats:
        """Draw what covariates have beyond their means, given the same of the others, row by row."""
        zero = np.zeros(len(self.explained))
        own = rng.multivariate_normal(zero, self.covariance, len(others), "ignore", method="eigh")
        return np.asarray(own - others @ self.explained.T)

    def joint_covariance(self, others: Floats) -> Floats:
        """Return the covariance of covariates and other columns, from that of the others."""
        between = -self.explained @ others
        own = self.covariance - between @ self.explained.T
        return np.block([[own, between], [between.T, others]])
