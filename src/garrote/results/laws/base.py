"""What every law of coefficients answers: draws, the spread of new responses, their means."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.likelihoods import Likelihood
from garrote.results.credible_sets import CredibleSet, Inclusions, Substitutes, sets_of_models
from garrote.results.optima import Optima
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class Spread(Shown):
    """Standard deviations and correlations of some coefficients, in the user's units.

    The two are kept apart: their product may leave the range of numbers.
    """

    columns: Array
    standard_error: Floats
    correlation: Floats

    @classmethod
    def of(cls, columns: Array, covariance: Floats) -> "Spread":
        """Take a covariance apart."""
        error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        apart = np.where(error > 0, error, 1.0)
        correlation = covariance / np.outer(apart, apart)
        np.fill_diagonal(correlation, 1.0)
        return cls(columns, error, correlation)

    @property
    def covariance(self) -> Floats:
        """Their covariance."""
        return self.correlation * np.outer(self.standard_error, self.standard_error)

    def variance_along(self, rows: Floats) -> Floats:
        """Return the variance of sums of the coefficients, with the factors of one sum in each row."""
        scaled = rows * self.standard_error
        return np.maximum(np.sum((scaled @ self.correlation) * scaled, axis=1), 0.0)


@dataclass(frozen=True, repr=False)
class Anchor(Shown):
    """Where the intercept holds the linear predictors of numbers: at the means of the columns.

    ``spent`` is the share of the noise variance that the level there is uncertain by: one over the total
    weight, or 0 where there is no intercept, as ``center`` then is.
    """

    center: Floats
    spent: float


class Turn(Protocol):
    """The way from coordinates of groups of columns to the columns, in the user's units."""

    @property
    def matrix(self) -> scipy.sparse.csr_array:
        """What takes coefficients of all coordinates to those of all columns (D x D)."""

    def expanded(self, columns: Array) -> Array:
        """Return the columns that some coordinates, whole groups of them, stand for."""

    def block(self, to: Array, columns: Array) -> Floats:
        """Return what takes coefficients of some coordinates to those of some columns."""


class CoefficientLaw(Shown):
    """A law of coefficients.

    ``models`` (those that stand for all) and ``sign_probability`` (of draws of all coefficients) are
    None in laws that have none.
    """

    models: Any = None
    sign_probability: Any = None
    # What intervals are, where signs have probabilities and inclusion has none.
    intervals_in_words: ClassVar[str] = (
        "intervals are equal-tailed, of draws of all coefficients together; the prior leaves no "
        "variable out, and the probability is that of the effect's sign"
    )

    @property
    def in_words(self) -> str:
        """What is in, where inclusion has no probabilities."""
        return "all are in, and shrunk"

    @property
    def mean_intercept(self) -> float | None:
        """The intercept averaged over the law, where centring does not give it."""
        return None

    @property
    def mixes(self) -> bool:
        """Whether columns that cannot be told apart share their probability."""
        return self.models is not None

    @property
    def compared_columns(self) -> Array | None:
        """The columns that credible sets compare; None for those of some inclusion probability."""
        return None

    def of_columns(self, turn: Turn) -> Self:
        """Return the law of the columns' coefficients, given that of their groups' coordinates."""
        raise NotImplementedError(f"{type(self).__name__} is a law of columns alone")

    def sample(self, n: int, mean: Floats, rng: np.random.Generator) -> Floats:
        """Draw coefficients, one set in each of n rows; ``mean`` is the mean of all D."""
        raise NotImplementedError

    def variance(self, count: int, spread: Spread) -> Floats:
        """Return the variance of every one of ``count`` coefficients; 0 outside of the spread."""
        variance = np.zeros(count)
        variance[spread.columns] = spread.standard_error**2
        return variance

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return equal-tailed intervals of all coefficients, where they are known by draws."""
        raise ValueError(
            "this posterior has no draws of its own: see `standard_error`, or count from sample(n)"
        )

    def inclusions(self, columns: Array, optima: Optima, count: int) -> Inclusions:
        """Return independent inclusions that mix to this law, for some of ``count`` columns."""
        return Inclusions(columns, optima.weights, optima.probabilities(count)[:, columns])

    def credible_sets(
        self, substitutes: Substitutes, names: Sequence[str], coverage: float, min_purity: float
    ) -> tuple[CredibleSet, ...]:
        """Return sets of variables of which at least one is in."""
        assert substitutes.inclusions is not None
        return sets_of_models(
            substitutes.inclusions, substitutes.likeness, names, coverage, min_purity
        )

    def response_variance(
        self, X: Any, mean: Floats, noise: float, spread: Spread, anchor: Anchor
    ) -> Floats:
        """Return the variance of new responses, numbers, at rows of X.

        ``mean`` are the averaged coefficients, ``noise`` is the noise variance and ``spread`` that of
        the coefficients that matter.
        """
        block = dense_columns(X, spread.columns) - anchor.center[spread.columns]
        return noise * (1.0 + anchor.spent) + spread.variance_along(block)

    def response_moments(
        self,
        likelihood: Likelihood,
        X: Any,
        mean: Floats,
        covariates: Array,
        offset: Floats,
        integrated: bool = True,
    ) -> tuple[Floats, Floats]:
        """Return the mean and the variance of new labels or counts at rows of X.

        ``integrated`` says that models predict averaged over the law of their coefficients, and not at
        their maximum, where they are fitted one by one.
        """
        raise NotImplementedError

    def mean_response(
        self,
        likelihood: Likelihood,
        X: Any,
        mean: Floats,
        covariates: Array,
        offset: Floats,
        integrated: bool = True,
    ) -> Floats:
        """Return the first of the `response_moments`."""
        return self.response_moments(likelihood, X, mean, covariates, offset, integrated)[0]


def dense_columns(X: Any, columns: Array) -> Floats:
    """Return some columns of an array or a sparse matrix as float64."""
    block = X[:, columns]
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block, np.float64)
