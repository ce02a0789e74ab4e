"""Whether a single effect is there at all.

The prior variance of the largest evidence makes every effect look a little too real: its Bayes factor is
above 1 whatever the data are. So the doubt whether there is one goes by evidence averaged over its size:
log v is uniform from one standard error of a coefficient (v c / s = 1) to one standard deviation of the
noise (v c / s = n), or to the variance that was found where that is larger.

A single effect has prior odds of one to one. How many of several there are has a uniform prior: with
Bayes factors B_1 >= B_2 >= ..., P(k effects) is in proportion to B_1 ... B_k, and the k-th is there if
at least k are. Otherwise many that noise has made would count for one that is real.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, logsumexp

from garrote.arrays import Array, Floats
from garrote.solvers.effects.effect_groups import summed
from garrote.solvers.effects.single_effect_regression import (
    SingleEffect,
    log_bayes_factors,
    normalise,
)

# Places of log v that evidence is averaged over. It is smooth on the scale of 1, and log n is about 10.
_PLACES = 33
# Columns that cannot come within this of the logarithm of the evidence add nothing to it.
_NEGLIGIBLE = 40.0
# What a column says is rounding below this share of what the one that says most does.
_ROUNDING = 1e-12


class Sizes(NamedTuple):
    """The logarithms between which that of an effect's prior variance is uniform."""

    low: float
    high: float

    @classmethod
    def around(cls, found: float, typical_curvature: float, rows: float) -> "Sizes":
        """Return the range for an effect whose best variance was found, in units of the noise's."""
        low = -float(np.log(max(typical_curvature, np.finfo(float).tiny)))
        return cls(low, max(low + float(np.log(max(rows, 1.0))), float(np.log(found))))


def present(log_evidence: Callable[[float], float], sizes: Sizes) -> float:
    """Return the probability that an effect is there, from its log evidence at logarithms of v."""
    places = np.linspace(sizes.low, sizes.high, _PLACES)
    shares = np.full(_PLACES, 1.0 / (_PLACES - 1))
    shares[[0, -1]] /= 2.0
    return float(expit(logsumexp([log_evidence(place) for place in places], b=shares)))


def with_doubt(
    effects: Sequence[SingleEffect], log_prior: Floats, rows: float, known_variance: bool = False
) -> tuple[SingleEffect, ...]:
    """Return effects whose probabilities sum to those of being there at all."""
    return in_order([_alone(one, log_prior, rows, known_variance) for one in effects])


def in_order(effects: Sequence[SingleEffect]) -> tuple[SingleEffect, ...]:
    """Return effects beside each other, from those whose probabilities are as if each were alone."""
    alone = np.array([float(effect.probability.sum()) for effect in effects])
    order = np.argsort(-alone, kind="stable")
    log_factors = logit(np.minimum(alone[order], 1.0 - np.finfo(float).eps))
    heights = np.append(0.0, np.cumsum(log_factors))
    at_least = np.zeros(len(effects))
    for k, place in enumerate(order, start=1):
        at_least[place] = np.exp(logsumexp(heights[k:]) - logsumexp(heights))
    return tuple(
        _scaled(effect, there / by_itself if by_itself > 0 else 0.0)
        for effect, there, by_itself in zip(effects, at_least, alone, strict=True)
    )


def _alone(
    effect: SingleEffect, log_prior: Floats, rows: float, known_variance: bool
) -> SingleEffect:
    """Return an effect with its probability to be there, were it the only one.

    Its products with the data are read off its posterior, at the variance that it was found with.
    """
    if known_variance:
        return _scaled(effect, float(expit(effect.log_bayes_factor)))
    if effect.units is not None:
        return _group_alone(effect, log_prior, rows)
    counts = np.flatnonzero(effect.probability > 0)
    squares = (effect.mean[counts] / effect.variance[counts]) ** 2
    # What a column says beyond the prior; rounding may leave a little less than nothing.
    precision = np.maximum(1.0 / effect.variance[counts] - 1.0 / effect.prior_variance, 0.0)
    log_weights = log_prior[counts]
    typical = float(effect.probability[counts] @ precision)
    sizes = Sizes.around(effect.prior_variance, typical, rows)
    telling = _telling(log_weights, squares, precision, sizes)
    log_weights, squares, precision = (each[telling] for each in (log_weights, squares, precision))

    def log_evidence(log_v: float) -> float:
        return normalise(log_weights + log_bayes_factors(squares, precision, np.exp(log_v)))[0]

    return _scaled(effect, present(log_evidence, sizes))


def _telling(log_weights: Floats, squares: Floats, precision: Floats, sizes: Sizes) -> Array:
    """Return the columns that add to the evidence for any variance in the range.

    The evidence is at least what the strongest column has at one end of the range or the other, since
    that has one hump over variances; and no column has more than (z^2 - 1 - log z^2) / 2, at its best.
    """
    z_squared, known = np.ones_like(squares), precision > _ROUNDING * precision.max(initial=0.0)
    np.divide(squares, precision, out=z_squared, where=known)
    z_squared = np.maximum(z_squared, 1.0)
    at_best = log_weights + 0.5 * (z_squared - 1.0 - np.log(z_squared))
    strongest = np.array([np.argmax(at_best)])
    ends = [
        log_bayes_factors(squares[strongest], precision[strongest], np.exp(log_v))
        for log_v in (sizes.low, sizes.high)
    ]
    least = log_weights[strongest[0]] + float(np.min(ends))
    return np.flatnonzero(at_best >= least - _NEGLIGIBLE)


def _group_alone(effect: SingleEffect, log_prior: Floats, rows: float) -> SingleEffect:
    """Do as `_alone`, for an effect of groups: their evidence is the sum of that of coordinates."""
    units, used = effect.units, np.flatnonzero(effect.variance > 0)
    squares, precision = np.zeros((2, len(effect.mean)))
    squares[used] = (effect.along[used] / effect.variance[used]) ** 2
    told = 1.0 / effect.variance[used] - 1.0 / effect.prior_variance
    precision[used] = np.maximum(told, 0.0)
    counts = effect.probability > 0

    def log_evidence(log_v: float) -> float:
        each = summed(log_bayes_factors(squares, precision, np.exp(log_v)), units)
        return normalise((log_prior + each)[counts])[0]

    rank = np.maximum(summed((precision > 0).astype(float), units), 1.0)
    typical = float(effect.probability @ (summed(precision, units) / rank))
    sizes = Sizes.around(effect.prior_variance, typical, rows)
    return _scaled(effect, present(log_evidence, sizes))


def _scaled(effect: SingleEffect, share: float) -> SingleEffect:
    return effect._replace(probability=effect.probability * share)
