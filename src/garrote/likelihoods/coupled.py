"""What a likelihood says of all rows together: sums over rows, which most likelihoods make one by one.

Cox's likelihood couples rows, as each competes with those at risk beside it. Solvers therefore ask for
sums over all rows with their weights, for slopes, and for second derivatives in two parts:

    diag(weighted_curvature) - S S',    S' X = shared_rows,

the second of which is empty where rows are on their own. The first part alone is above the whole.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from garrote._jit import generic
from garrote.arrays import Floats
from garrote.likelihoods.base import curvature, gradient, log_likelihood, saturated


@singledispatch
def weighted_log_likelihood(likelihood: Any, y: Floats, weights: Floats, eta: Floats) -> float:
    """Return the log likelihood of all rows."""
    return float(weights @ log_likelihood(likelihood, y, eta))


@singledispatch
def weighted_saturated(likelihood: Any, y: Floats, weights: Floats) -> float:
    """Return the largest log likelihood that any predictors give."""
    return float(weights @ saturated(likelihood, y))


@singledispatch
def weighted_gradient(likelihood: Any, y: Floats, weights: Floats, eta: Floats) -> Floats:
    """Return the derivative of the log likelihood in the predictor of every row."""
    return np.asarray(weights * gradient(likelihood, y, eta), dtype=np.float64)


@singledispatch
def weighted_curvature(likelihood: Any, y: Floats, weights: Floats, eta: Floats) -> Floats:
    """Return the diagonal part of minus the second derivatives."""
    return np.asarray(weights * curvature(likelihood, y, eta), dtype=np.float64)


@singledispatch
def shared_rows(likelihood: Any, weights: Floats, eta: Floats, columns: Floats) -> Floats:
    """Return what coupling takes off cross products: the products of these rows (k x m).

    ``columns`` has a column of X in each of its k rows.
    """
    return np.zeros((len(columns), 0))


@singledispatch
def distance_of_events(likelihood: Any, weights: Floats, eta: Floats) -> float:
    """Return how far the shares of rows in the sums over them are from those of the events.

    Chi squared, summed over the terms of the likelihood, by which duality gaps are bounded.
    """
    raise TypeError(f"{type(likelihood).__name__} does not couple rows")


def weighted_deviance(likelihood: Any, y: Floats, weights: Floats, eta: Floats) -> float:
    """Return twice what the log likelihood is short of the largest one."""
    most = weighted_saturated(likelihood, y, weights)
    return 2.0 * max(most - weighted_log_likelihood(likelihood, y, weights, eta), 0.0)


def per_weight(rows: Floats, weights: Floats) -> Floats:
    """Return what weighted rows would have by a weight of 1; 0 for those without weight."""
    return np.divide(rows, weights, out=np.zeros(len(weights)), where=weights > 0)


def information(
    likelihood: Any, y: Floats, weights: Floats, eta: Floats, columns: Floats
) -> Floats:
    """Return minus the second derivatives of the log likelihood in coefficients of some columns."""
    row_curvatures = weighted_curvature(likelihood, y, weights, eta)
    shared = shared_rows(likelihood, weights, eta, columns)
    return np.asarray((columns * row_curvatures) @ columns.T - shared @ shared.T)


@generic(shared=True)
def fill_rows(
    likelihood: Any, y: Any, weights: Any, eta: Any, slope: Any, row_curvatures: Any
) -> Any:
    """Return the log likelihood of all rows; fill in its slopes and the diagonal of the curvature."""
    total = 0.0
    for i in range(eta.shape[0]):
        total += weights[i] * log_likelihood(likelihood, y[i], eta[i])
        slope[i] = weights[i] * gradient(likelihood, y[i], eta[i])
        row_curvatures[i] = weights[i] * curvature(likelihood, y[i], eta[i])
    return total


@generic(shared=True)
def take_shared_off(
    likelihood: Any, weights: Any, eta: Any, columns: Any, members: Any, information: Any
) -> None:
    """Take off the upper triangle of some columns' cross products what coupling takes off them."""
