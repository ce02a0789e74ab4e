"""Mean responses where the linear predictor itself is uncertain."""

from functools import singledispatch
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.likelihoods.base import inverse_link
from garrote.limits.budgets import ROWS_AT_ONCE

# Standard normal deviates, evenly spaced, that a mean over a Gaussian predictor is summed at. The rule's
# error is exp(-2 pi^2 / (deviation spacing)) for a logistic curve: 1e-4 for a deviation of 20.
_DEVIATES = np.linspace(-8.0, 8.0, 161)
_SHARES = np.exp(-0.5 * _DEVIATES**2) / np.exp(-0.5 * _DEVIATES**2).sum()


@singledispatch
def gaussian_mean(likelihood: Any, eta: Floats, variance: Floats | None = None) -> Floats:
    """Return the mean response where linear predictors are Gaussian, given their means and variances.

    Without variances they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.likelihoods import Binomial
    >>> from garrote.likelihoods.uncertain import gaussian_mean
    >>> gaussian_mean(Binomial(), np.array([2.0, 2.0]), np.array([0.0, 4.0])).round(3)
    array([0.881, 0.775])
    """
    if variance is None:
        return np.asarray(inverse_link(likelihood, eta))
    mean = np.empty(len(eta))
    for first in range(0, len(eta), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        around = eta[rows, None] + np.sqrt(variance[rows, None]) * _DEVIATES
        mean[rows] = inverse_link(likelihood, around) @ _SHARES
    return mean
