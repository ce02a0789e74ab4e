"""Coefficients known model by model: which variables are in, and a Gaussian given that."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods import Likelihood, curvature, inverse_link
from garrote.likelihoods.uncertain import gaussian_mean
from garrote.results.laws.base import Anchor, CoefficientLaw, Spread, Turn, dense_columns
from garrote.summaries import Shown

# The largest variance of a linear predictor: times the square of any rate it is still a number.
_WIDEST = 1e40


@dataclass(frozen=True, repr=False)
class Intercepts(Shown):
    """The intercepts of models that have their own, as those of a generalised linear model do.

    At its ``center`` (a point of the model's variables) a model's linear predictor has ``variance`` and
    is independent of the coefficients; ``value`` is the predictor where all variables are 0. ``mean``
    is the average of that over all models.
    """

    value: Floats
    center: tuple[Floats, ...]
    variance: Floats
    mean: float | None = None


@dataclass(frozen=True, repr=False)
class Models(CoefficientLaw):
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

    def of_columns(self, turn: Turn) -> Self:
        """Return the law of the columns' coefficients, model by model."""
        members, means, spreads, centers = [], [], [], []
        each = zip(self.members, self.mean, self.spread, strict=True)
        for k, (coordinates, mean, spread) in enumerate(each):
            columns = turn.expanded(coordinates)
            block = turn.block(columns, coordinates)
            members.append(columns)
            means.append(block @ mean)
            spreads.append(block @ spread @ block.T)
            if self.intercepts is not None:
                # The point of the columns that is the centre in the coordinates.
                centers.append(np.linalg.pinv(block.T) @ self.intercepts.center[k])
        made = replace(self, members=tuple(members), mean=tuple(means), spread=tuple(spreads))
        if self.intercepts is None:
            return made
        return replace(made, intercepts=replace(self.intercepts, center=tuple(centers)))

    @property
    def models(self) -> "Models":
        """These models."""
        return self

    @property
    def best(self) -> int:
        """How many models are listed with their own probabilities."""
        return len(self.members) if self.listed is None else self.listed

    @property
    def share(self) -> Floats:
        """The models' parts in averages over the list."""
        return np.asarray(self.probability / self.probability.sum())

    @property
    def mean_intercept(self) -> float | None:
        """The average of the intercepts of models that have their own."""
        if self.intercepts is None:
            return None
        if self.intercepts.mean is not None:
            return self.intercepts.mean
        return float(self.probability @ self.intercepts.value / self.probability.sum())

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

    def sample(self, n: int, mean: Floats, rng: np.random.Generator) -> Floats:
        """Draw a model by its probability, then its coefficients."""
        draws = np.zeros((n, len(mean)))
        chosen = rng.choice(len(self.members), size=n, p=self.share)
        for model in np.unique(chosen):
            rows, members = np.flatnonzero(chosen == model), self.members[model]
            noise = self.draw_noise(model, len(rows), rng)
            if len(members):
                # Rounding may leave a law of next to no spread a little less than none.
                unit = rng.multivariate_normal(
                    np.zeros(len(members)),
                    self.spread[model],
                    len(rows),
                    method="eigh",
                    check_valid="ignore",
                )
                drawn = self.mean[model] + np.sqrt(noise)[:, None] * unit
                draws[np.ix_(rows, members)] = drawn
        return draws

    def response_variance(
        self, X: Any, mean: Floats, noise: float, spread: Spread, anchor: Anchor
    ) -> Floats:
        """Return the variance of new responses: within models, and between their means."""
        averaged = X @ mean - anchor.center @ mean
        variance = np.zeros(len(averaged))
        parts = zip(self.share, self.members, self.mean, self.spread, self.noise_means, strict=True)
        for weight, members, coef, covariance, of_model in parts:
            block = dense_columns(X, members) - anchor.center[members]
            off = block @ coef - averaged
            linear = np.maximum(np.sum((block @ covariance) * block, axis=1), 0.0)
            variance += weight * (off**2 + of_model * (1.0 + anchor.spent + linear))
        return variance

    def mean_response(
        self,
        likelihood: Likelihood,
        X: Any,
        mean: Floats,
        covariates: Array,
        offset: Floats,
        integrated: bool = True,
    ) -> Floats:
        """Return the mean response of rows, averaged over models.

        Each model predicts averaged over the law of its coefficients or, unless ``integrated``, at its
        maximum.
        """
        found = np.zeros(len(offset))
        for weight, eta, away, variance, spread in self._predictors(X, offset):
            around = _spread(away, variance, spread) if integrated else None
            found += weight * gaussian_mean(likelihood, eta, around)
        return found

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

        The mean is that of `mean_response`. The variance is the response's own at the averaged mean, the
        spread of the models' means and, to first order, that of their coefficients. A label has
        p (1 - p), whatever p is uncertain by.
        """
        level, square = np.zeros(len(offset)), np.zeros(len(offset))
        for weight, eta, away, variance, covariance in self._predictors(X, offset):
            spread = _spread(away, variance, covariance)
            found = gaussian_mean(likelihood, eta, spread if integrated else None)
            # The mean's slope in eta is the curvature, where the link is canonical.
            slope = curvature(likelihood, inverse_link(likelihood, eta), eta)
            level += weight * found
            square += weight * (found**2 + slope**2 * spread)
        uncertainty = np.maximum(square - level**2, 0.0)
        return level, likelihood.predictive_variance(level, uncertainty)

    def _predictors(
        self, X: Any, offset: Floats
    ) -> Iterator[tuple[float, Floats, Floats, float, Floats]]:
        """Yield every model's share, its linear predictors, and what these are uncertain by.

        That is where its variables are from the model's centre, the variance there, and the covariance
        of its coefficients.
        """
        intercepts = self.intercepts
        assert intercepts is not None, "models of a generalised linear model have intercepts"
        used = np.unique(np.concatenate([np.zeros(0, int), *self.members]))
        block = dense_columns(X, used)
        for k, weight in enumerate(self.share):
            columns = block[:, np.searchsorted(used, self.members[k])]
            eta = offset + intercepts.value[k] + columns @ self.mean[k]
            away = columns - intercepts.center[k]
            yield weight, eta, away, intercepts.variance[k], self.spread[k]


def _spread(away: Floats, at_center: float, covariance: Floats) -> Floats:
    """Return the variances of a model's linear predictors, its variables so far from its centre."""
    with np.errstate(over="ignore", invalid="ignore"):  # rows as far off as may be
        spread = at_center + np.sum((away @ covariance) * away, axis=1)
    return np.clip(np.nan_to_num(spread, nan=_WIDEST), 0.0, _WIDEST)
