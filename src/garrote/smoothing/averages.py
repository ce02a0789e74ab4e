"""Averages over a normal law and their derivatives, estimated from pairs of draws mu +- sigma z.

Of a function that is averaged over mu + sigma z only values are needed: with o and e the odd and even
parts of a pair, (f(+) - f(-)) / 2 and (f(+) + f(-)) / 2 - f(mu),

    dU/dmu_j = E[o z_j] / sigma_j,    d2U/dmu_j2 = E[e (z_j^2 - 1)] / sigma_j^2,    U = f(mu) + E[e].

A linear function of the features z, or z^2 - 1, whose mean is known, is taken off first (a control
variate). Its coefficients come from the other half of the pairs, so that estimates are unbiased; where f
is quadratic without products they are exact.
"""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats

# Halves of pairs with fewer rows than so many times the features fit no control variate.
_ENOUGH = 2


class Average(NamedTuple):
    """The average of f, its gradient and its curvature (a diagonal, a matrix or None) by the mean of x.

    ``value_error`` and ``gradient_error`` are standard errors; 0 where nothing was sampled.
    """

    value: float
    gradient: Floats
    curvature: Floats | None
    value_error: float
    gradient_error: Floats


def draw_pairs(pairs: int, count: int, seed: int, stream: int) -> Floats:
    """Return standard normal numbers, one row a pair, equal for the same seed and stream."""
    return np.random.default_rng([seed, stream]).standard_normal((pairs, count))


def from_values(
    centre: float, above: Floats, below: Floats, normal: Floats, sigma: Floats
) -> Average:
    """Return the estimate from values at the mean and at the pairs around it."""
    odd, even = 0.5 * (above - below), 0.5 * (above + below) - centre
    slopes, _ = _correlated(odd, normal, 1.0, level=False)
    bends, rest = _correlated(even, normal**2 - 1.0, 2.0, level=True)
    gradient, gradient_error = _summed(slopes)
    added, value_error = _summed(rest[:, None])
    curvature, _ = _summed(bends)
    return Average(
        centre + float(added[0]),
        gradient / sigma,
        curvature / sigma**2,
        float(value_error[0]),
        gradient_error / sigma,
    )


def from_slopes(
    values: Floats, above: Floats, below: Floats, normal: Floats, sigma: Floats
) -> Average:
    """Return the estimate from derivatives at the pairs, and the mean of each pair's values.

    The gradient is that of the mean of the values itself, which a line search may rely on.
    """
    gradient, gradient_error = _summed(0.5 * (above + below))
    curvature, _ = _summed(0.5 * (above - below) * normal)
    value, value_error = _summed(values[:, None])
    return Average(
        float(value[0]), gradient, curvature / sigma, float(value_error[0]), gradient_error
    )


def _correlated(
    values: Floats, features: Floats, square: float, level: bool
) -> tuple[Floats, Floats]:
    """Return terms whose mean is E[value feature], and values less their linear part.

    ``square`` is the mean square of a feature. Features are independent, and have mean 0.
    """
    pairs, count = features.shape
    terms, rest = np.empty_like(features), np.empty(pairs)
    halves = np.arange(pairs) % 2 == 0
    for mine, other in ((halves, ~halves), (~halves, halves)):
        slope, mean = np.zeros(count), float(values[other].mean()) if level else 0.0
        if other.sum() >= _ENOUGH * (count + 1):
            known = np.column_stack(
                [features[other], np.ones(other.sum())] if level else [features[other]]
            )
            found = np.linalg.lstsq(known, values[other], rcond=None)[0]
            slope, mean = found[:count], float(found[count]) if level else 0.0
        rest[mine] = values[mine] - features[mine] @ slope
        terms[mine] = (rest[mine] - mean)[:, None] * features[mine] + square * slope
    return terms, rest


def _summed(terms: Floats) -> tuple[Floats, Floats]:
    """Return the mean of each column, and its standard error."""
    spread = terms.std(axis=0, ddof=1) if len(terms) > 1 else np.full(terms.shape[1], np.nan)
    return terms.mean(axis=0), spread / np.sqrt(len(terms))
