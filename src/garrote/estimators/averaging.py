"""Predictions averaged over models, or over draws of the coefficients."""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.estimators.face import dense_columns
from garrote.likelihoods import Likelihood, curvature, inverse_link
from garrote.posterior import Models


def averaged_mean(likelihood: Likelihood, models: Models, X: Any, return_std: bool) -> Any:
    """Return the mean response of rows over models, each at its maximum, and its deviation.

    The deviation is that of a new response: its own variance at the averaged mean, the spread of the
    models' means and, to first order, that of their coefficients. A label has p (1 - p), whatever p is
    uncertain by.
    """
    intercepts = models.intercepts
    assert intercepts is not None, "models of a generalised linear model have intercepts"
    used = np.unique(np.concatenate([np.zeros(0, int), *models.members]))
    block = dense_columns(X, used)
    share = models.probability / models.probability.sum()
    mean, square = np.zeros(len(block)), np.zeros(len(block))
    for k, weight in enumerate(share):
        columns = block[:, np.searchsorted(used, models.members[k])]
        eta = intercepts.value[k] + columns @ models.mean[k]
        own = inverse_link(likelihood, eta)
        mean += weight * own
        if return_std:
            away = columns - intercepts.center[k]
            spread = intercepts.variance[k] + np.sum((away @ models.spread[k]) * away, axis=1)
            # The mean's slope in eta is the curvature, where the link is canonical.
            slope = curvature(likelihood, own, eta)
            square += weight * (own**2 + slope**2 * np.maximum(spread, 0.0))
    if not return_std:
        return mean
    within = likelihood.variance(mean)
    if likelihood.name == "binomial":
        return mean, np.sqrt(within)
    return mean, np.sqrt(within + np.maximum(square - mean**2, 0.0))


def drawn_variance(X: Any, draws: Floats, center: Floats) -> Floats:
    """Return how much the linear predictor of rows varies over draws of the coefficients.

    ``center`` is where the columns were centred.
    """
    off = draws - draws.mean(axis=0)
    return np.asarray(((X @ off.T) - off @ center).var(axis=1))
