"""A law of coefficients that mixes those of several tables, each with its gaps filled in anew."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods import Likelihood
from garrote.results.laws.base import Anchor, CoefficientLaw, Spread

# Draws that intervals are counted from.
_DRAWS = 4000


@dataclass(frozen=True, repr=False)
class Pooled(CoefficientLaw):
    """An equal mixture of posteriors; `garrote.impute.pool` makes it.

    Variances are the mean within posteriors plus (1 + 1/m) times that between their means, as only m
    fillings of the gaps were seen (Rubin 1987). Draws are those of the mixture itself.

    Parameters
    ----------
    posteriors : tuple of Posterior
    intercepts : array of shape (m,)
    """

    posteriors: tuple[Any, ...]  # of Posterior, which is made of laws
    intercepts: Floats

    @property
    def mean_intercept(self) -> float | None:
        """The mean of the intercepts."""
        return float(self.intercepts.mean())

    @property
    def sign_probability(self) -> Floats | None:
        """The probability of the likelier sign in the mixture, where no variable is ever out."""
        signs = [posterior.sign_probability for posterior in self.posteriors]
        if any(sign is None for sign in signs):
            return None
        positive = np.mean(
            [np.where(p.mean >= 0, s, 1 - s) for p, s in zip(self.posteriors, signs, strict=True)],
            axis=0,
        )
        return np.maximum(positive, 1 - positive)

    def sample(self, n: int, mean: Floats, rng: np.random.Generator) -> Floats:
        """Draw a table for each row, then coefficients by its posterior."""
        chosen = rng.integers(len(self.posteriors), size=n)
        draws = np.empty((n, len(mean)))
        for k, posterior in enumerate(self.posteriors):
            rows = np.flatnonzero(chosen == k)
            if len(rows):
                draws[rows] = posterior.law.sample(len(rows), posterior.mean, rng)
        return draws

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return equal-tailed intervals, counted from draws of the mixture."""
        draws = self.sample(_DRAWS, self.posteriors[0].mean, np.random.default_rng(0))
        lower, upper = np.quantile(draws, (0.5 - level / 2, 0.5 + level / 2), axis=0)
        return lower, upper

    def response_variance(
        self, X: Any, mean: Floats, noise: float, spread: Spread, anchor: Anchor
    ) -> Floats:
        """Return the variance of new responses: within posteriors, and between their predictions."""
        within = [
            p.law.response_variance(X, p.mean, p.noise_variance, p.spread, anchor)
            for p in self.posteriors
        ]
        levels = [
            np.asarray(X @ p.mean) + b
            for p, b in zip(self.posteriors, self.intercepts, strict=True)
        ]
        return pooled_variance(np.array(within), np.array(levels))

    def mean_response(
        self,
        likelihood: Likelihood,
        X: Any,
        mean: Floats,
        covariates: Array,
        offset: Floats,
        integrated: bool = True,
    ) -> Floats:
        """Return the mean of labels or counts, averaged over the posteriors."""
        each = [p.mean_response(likelihood, X, offset, integrated) for p in self.posteriors]
        return np.asarray(np.mean(each, axis=0))

    def response_moments(
        self,
        likelihood: Likelihood,
        X: Any,
        mean: Floats,
        covariates: Array,
        offset: Floats,
        integrated: bool = True,
    ) -> tuple[Floats, Floats]:
        """Return means and variances of new labels or counts."""
        each = [p.response_moments(likelihood, X, offset, integrated) for p in self.posteriors]
        means, variances = (np.array(part) for part in zip(*each, strict=True))
        return means.mean(axis=0), pooled_variance(variances, means)


def pooled_variance(within: Floats, estimates: Floats) -> Floats:
    """Return the mean of variances, plus (1 + 1/m) times the variance between m estimates."""
    count = len(estimates)
    return np.asarray(within.mean(axis=0) + (1 + 1 / count) * estimates.var(axis=0, ddof=1))
