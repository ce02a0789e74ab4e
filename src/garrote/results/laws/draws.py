"""Coefficients known by draws: of all of them, or the few that each state of a chain has in."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.likelihoods import Likelihood, inverse_link
from garrote.limits.budgets import ROWS_AT_ONCE
from garrote.results.laws.base import Anchor, CoefficientLaw, Spread, Turn, dense_columns
from garrote.results.laws.models import Models


@dataclass(frozen=True, repr=False)
class Draws(CoefficientLaw):
    """Draws under a prior that shrinks and leaves nothing out.

    Attributes
    ----------
    draws : array of shape (S, D)
        Coefficients, in order, chain by chain.
    sign_probability : array of shape (D,)
        The probability of each coefficient's likelier sign, 1 less its local false sign rate.
    shrinkage : array of shape (D,)
        The mean share of its least-squares value that the prior takes away from a coefficient (were its
        column alone), kappa of Carvalho et al. (2010).
    intercept : array of shape (S,), optional
        Drawn with them, where centring does not give it: of labels.
    """

    draws: Floats
    sign_probability: Floats = field()  # not None, as laws of other kinds have it
    shrinkage: Floats
    intercept: Floats | None = None

    @property
    def mean_intercept(self) -> float | None:
        """The average of the intercepts, where there are any."""
        return None if self.intercept is None else float(self.intercept.mean())

    def sample(self, n: int, mean: Floats, rng: np.random.Generator) -> Floats:
        """Draw from the draws, with replacement."""
        return np.asarray(self.draws[rng.integers(len(self.draws), size=n)])

    def variance(self, count: int, spread: Spread) -> Floats:
        """Return the variances of the draws."""
        return np.asarray(self.draws.var(axis=0))

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return equal-tailed intervals of all coefficients."""
        lower, upper = np.quantile(self.draws, [0.5 - level / 2, 0.5 + level / 2], axis=0)
        return lower, upper

    def response_variance(
        self, X: Any, mean: Floats, noise: float, spread: Spread, anchor: Anchor
    ) -> Floats:
        """Return the variance of new responses, the linear predictor's counted from the draws."""
        off = self.draws - self.draws.mean(axis=0)
        linear = ((X @ off.T) - off @ anchor.center).var(axis=1)
        return np.asarray(linear + noise * (1.0 + anchor.spent))

    def response_moments(
        self,
        likelihood: Likelihood,
        X: Any,
        mean: Floats,
        covariates: Array,
        offset: Floats,
        integrated: bool = True,
    ) -> tuple[Floats, Floats]:
        """Return the mean and the variance of new responses, over the draws."""
        level = np.zeros(len(self.draws)) if self.intercept is None else self.intercept
        used = np.arange(self.draws.shape[1])
        return _moments(likelihood, dense_columns(X, used), self.draws, level, offset)


@dataclass(frozen=True, repr=False)
class States(CoefficientLaw):
    """States of chains: intercepts, and coefficients with a row for each, in the user's units.

    ``models`` are the most probable ones, each with the law that Laplace gives its coefficients.
    """

    intercept: Floats
    coefficients: scipy.sparse.csr_array
    models: Models = field()  # not None, as laws of other kinds have it

    def of_columns(self, turn: Turn) -> Self:
        """Return the states of the columns' coefficients, and the law of the models beside them."""
        rows = (self.coefficients @ turn.matrix.T).tocsr()
        models: Any = None if self.models is None else self.models.of_columns(turn)
        return replace(self, coefficients=rows, models=models)

    @property
    def mean_intercept(self) -> float:
        """The average of the intercepts."""
        return float(self.intercept.mean())

    def sample(self, n: int, mean: Floats, rng: np.random.Generator) -> Floats:
        """Draw from the states, with replacement."""
        chosen = rng.integers(self.coefficients.shape[0], size=n)
        return np.asarray(self.coefficients[chosen].toarray())

    def response_moments(
        self,
        likelihood: Likelihood,
        X: Any,
        mean: Floats,
        covariates: Array,
        offset: Floats,
        integrated: bool = True,
    ) -> tuple[Floats, Floats]:
        """Return the mean and the variance of new responses, over the states."""
        used = np.unique(self.coefficients.indices)
        values = self.coefficients[:, used].toarray()
        return _moments(likelihood, dense_columns(X, used), values, self.intercept, offset)


def _moments(
    likelihood: Likelihood, block: Floats, values: Floats, intercept: Floats, offset: Floats
) -> tuple[Floats, Floats]:
    """Return moments of responses of dense rows, over sets of coefficients with intercepts."""
    mean, uncertainty = np.empty((2, len(block)))
    for first in range(0, len(block), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        eta = block[rows] @ values.T + intercept + offset[rows, None]
        means = inverse_link(likelihood, eta)
        mean[rows], uncertainty[rows] = means.mean(axis=1), means.var(axis=1)
    return mean, likelihood.predictive_variance(mean, uncertainty)
