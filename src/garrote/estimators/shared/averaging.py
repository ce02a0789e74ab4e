"""Predictions averaged over models, or over draws of the coefficients."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.estimators.shared.face import dense_columns
from garrote.likelihoods import Binomial, Likelihood, curvature, inverse_link
from garrote.likelihoods.uncertain import gaussian_mean
from garrote.results.coefficient_laws import FactorisedPredictor, Models, States
from garrote.results.credible_sets import EffectsLaw
from garrote.results.mixture_law import MixtureLaw

# Rows whose predictions are made at a time.
_ROWS = 5000


def averaged_mean(
    likelihood: Likelihood,
    models: Models,
    X: Any,
    return_std: bool,
    integrated: bool = False,
    offset: Floats | None = None,
) -> Any:
    """Return the mean response of rows over models, and its deviation.

    Each model predicts at its maximum or, ``integrated``, averaged over the law of its coefficients. The
    deviation is that of a new response: its own variance at the averaged mean, the spread of the
    models' means and, to first order, that of their coefficients. A label has p (1 - p), whatever p is
    uncertain by.
    """
    intercepts = models.intercepts
    assert intercepts is not None, "models of a generalised linear model have intercepts"
    used = np.unique(np.concatenate([np.zeros(0, int), *models.members]))
    block = dense_columns(X, used)
    share = models.probability / models.probability.sum()
    known = np.zeros(len(block)) if offset is None else offset
    mean, square = np.zeros(len(block)), np.zeros(len(block))
    for k, weight in enumerate(share):
        columns = block[:, np.searchsorted(used, models.members[k])]
        eta = known + intercepts.value[k] + columns @ models.mean[k]
        spread = np.zeros(len(block))
        if return_std or integrated:
            away = columns - intercepts.center[k]
            spread = intercepts.variance[k] + np.sum((away @ models.spread[k]) * away, axis=1)
            spread = np.maximum(spread, 0.0)
        own = inverse_link(likelihood, eta)
        # The mean's slope in eta is the curvature, where the link is canonical.
        slope = curvature(likelihood, own, eta)
        own = gaussian_mean(likelihood, eta, spread) if integrated else own
        mean += weight * own
        square += weight * (own**2 + slope**2 * spread)
    if not return_std:
        return mean
    within = likelihood.variance(mean)
    if likelihood.name == "binomial":
        return mean, np.sqrt(within)
    return mean, np.sqrt(within + np.maximum(square - mean**2, 0.0))


def drawn_mean(states: States, X: Any, offset: Floats | None = None) -> Floats:
    """Return the probability of label 1, averaged over states of chains."""
    used = np.unique(states.coefficients.indices)
    block, values = dense_columns(X, used), states.coefficients[:, used].toarray()
    mean, known = np.empty(len(block)), np.zeros(len(block)) if offset is None else offset
    for first in range(0, len(block), _ROWS):
        rows = slice(first, first + _ROWS)
        eta = block[rows] @ values.T + states.intercept + known[rows, None]
        mean[rows] = inverse_link(Binomial(), eta).mean(axis=1)
    return mean


def predictor_variance(
    predictor: FactorisedPredictor,
    X: Any,
    fixed: Floats,
    effects: EffectsLaw | None = None,
    mixture: MixtureLaw | None = None,
) -> Floats:
    """Return the variance of linear predictors; ``fixed`` are 1 and the covariates of every row.

    Of a sum of single effects one variable has each, so that near copies do not make it uncertain; nor
    do they in a mixture, each of whose components has one of them.
    """
    away = dense_columns(X, predictor.columns) - fixed @ predictor.explained
    own = np.einsum("if,fg,ig->i", fixed, predictor.fixed_covariance, fixed)
    variance = np.maximum(own, 0.0) + away**2 @ predictor.variance
    if effects is not None:
        for p, mean, deviation in zip(
            effects.probability, effects.mean, effects.deviation, strict=True
        ):
            square = away**2 @ (p * (mean**2 + deviation**2))
            variance += np.maximum(square - (away @ (p * mean)) ** 2, 0.0)
    if mixture is not None:
        place = np.searchsorted(predictor.columns, mixture.columns)
        variance += mixture.variance_along(away[:, place])
    return variance


def drawn_variance(X: Any, draws: Floats, center: Floats) -> Floats:
    """Return how much the linear predictor of rows varies over draws of the coefficients.

    ``center`` is where the columns were centred.
    """
    off = draws - draws.mean(axis=0)
    return np.asarray(((X @ off.T) - off @ center).var(axis=1))
