"""What a fitted model says of rows that it has not seen: how dense they are, and how far off it is."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from garrote.arrays import Floats
from garrote.likelihoods import log_likelihood, saturated

# A deviation of new responses is at least this share of the spread of those measured.
_LEAST_SHARE = 1e-6


class MeasuredRows(NamedTuple):
    """Log predictive densities of rows, their errors, their means and the probability of each class.

    An error is a squared one of numbers, a deviance of labels and counts. The mean of labels is the
    probability of the second class.
    """

    density: Floats
    error: Floats
    mean: Floats
    probability: Floats | None = None


def measure_labels(model: Any, X: Any, y: Any, offset: Any) -> MeasuredRows:
    """Measure a classifier by the probabilities that it gives to the rows' classes."""
    log_probability = model.predict_log_proba(X, offset=offset)
    place = np.searchsorted(model.classes_, y)
    density = log_probability[np.arange(len(place)), place]
    probability = np.exp(log_probability)
    return MeasuredRows(density, -2.0 * density, probability[:, 1], probability)


def measure_numbers(
    likelihood: Any, y: Floats, mean: Floats, deviation: Floats | float | None
) -> MeasuredRows:
    """Measure means of numbers, counts, or 0 and 1, by what the likelihood says of them.

    The density of a number is that of a normal law of its predicted mean and deviation. That of a count
    or of 0 and 1 is its probability at the predicted mean.
    """
    if likelihood.least_squares:
        least = _LEAST_SHARE * (float(np.std(y)) or 1.0)
        density = norm.logpdf(y, mean, np.maximum(np.asarray(deviation), least))
        return MeasuredRows(np.asarray(density), (y - mean) ** 2, mean)
    left_out = likelihood.left_out(y)
    if left_out is None:
        raise ValueError(
            f"family={likelihood.name!r} has no predictive density to measure (its left_out is None): "
            "measure family='gaussian', or choose by cross-validation, which compares deviances"
        )
    found = np.asarray(log_likelihood(likelihood, y, likelihood.link(mean)))
    error = 2.0 * (np.asarray(saturated(likelihood, y)) - found)
    return MeasuredRows(found - left_out, error, mean)
