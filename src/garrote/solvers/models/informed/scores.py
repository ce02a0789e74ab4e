"""Odds and moments of every variable beside a model, given the others.

Bodies for a factor without signs are here, those for one with signs in `garrote.solvers.models.signed`.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote._jit import generic
from garrote.arrays import Array, Floats
from garrote.elementary import exponential, logarithm
from garrote.priors.evidence import log_evidence, log_evidence_ratio, noise_mean, slab_moments
from garrote.solvers.algebra.model_factor import ModelFactor, dependent_share, member_coefficient

# A variable of smaller log odds has its coefficient's moments weighed so little that those of the model
# without it will do.
FAINT = float(np.log(1e-3))
# A member of a model without any probability has these log odds, so that sums of them stay finite.
LEAST_LOG_ODDS = -1e300


class Scores(NamedTuple):
    """Of every variable, given the others: log odds and probability of its being in, two moments then.

    Variables that cannot come in have log odds of -inf. ``turn`` is the rate at which a member's sign
    turns, where it has one, ``swap`` that at which it is exchanged for another variable. The first
    ``near`` of ``foremost`` are the members, and the newcomers whose odds are not faint, in order.
    """

    log_odds: Floats
    inclusion: Floats
    mean: Floats
    square: Floats
    turn: Floats
    swap: Floats
    foremost: Array
    near: Array


@generic
def score_newcomers(factor: Any, rule: Any, data: Any, scores: Scores, k: int) -> None:
    """Fill in the log odds of all variables that are out, and moments that will do for faint ones."""


@generic
def describe_newcomers(factor: Any, rule: Any, scores: Scores, k: int) -> None:
    """Fill in the moments of the foremost variables that are out."""


@generic
def score_members(
    factor: Any, rule: Any, data: Any, scores: Scores, inverse: Floats, k: int
) -> float:
    """Fill in log odds and moments of all variables that are in; return the largest -log odds, or 0."""
    raise TypeError(f"no scores are registered for {type(factor).__name__}")


@generic
def noise_of(factor: Any, rule: Any) -> float:
    """Return the posterior mean of the noise variance, given the state."""
    raise TypeError(f"no noise is registered for {type(factor).__name__}")


@noise_of.register
def _(factor: ModelFactor, rule):
    return noise_mean(rule, factor.size[0], factor.left[0])


@score_newcomers.register
def _(factor: ModelFactor, rule, data, scores, k):
    left, dependent = factor.left[0], dependent_share(rule)
    f1, f2, f3 = slab_moments(rule, k, left)
    # Plain arithmetic, which is vectorised. What it says of members is written over.
    without = -np.inf
    if k < data.by_size.shape[0] - 1:
        without = data.by_size[k + 1] - data.by_size[k] - log_evidence(rule, k, 0.0, left)
    for j in range(data.length.shape[0]):
        usable = factor.pivot[j] > dependent * data.length[j]
        pivot = factor.pivot[j] if usable else 1.0
        spread = 1.0 / pivot
        weight = factor.product[j] * spread
        rest = left - factor.product[j] * weight
        rest = rest if rest > 0.0 else 0.0
        log_odds = log_evidence(rule, k + 1, logarithm(pivot), rest) + without + data.log_odds[j]
        # Where a model of any such size has no evidence, the difference is no number.
        usable &= log_odds > -np.inf
        scores.log_odds[j] = log_odds if usable else -np.inf
        scores.mean[j] = f1 * weight if usable else 0.0
        scores.square[j] = f2 * weight * weight + f3 * spread if usable else 0.0
    for a in range(k):
        scores.log_odds[factor.members[a]] = -np.inf


@describe_newcomers.register
def _(factor: ModelFactor, rule, scores, k):
    left = factor.left[0]
    for a in range(scores.near[0]):
        j = scores.foremost[a]
        if scores.log_odds[j] > FAINT:
            spread = 1.0 / factor.pivot[j]
            weight = factor.product[j] * spread
            g1, g2, g3 = slab_moments(rule, k + 1, left - factor.product[j] * weight)
            scores.mean[j] = g1 * weight
            scores.square[j] = g2 * weight * weight + g3 * spread


@score_members.register
def _(factor: ModelFactor, rule, data, scores, inverse, k):
    left, largest = factor.left[0], 0.0
    f1, f2, f3 = slab_moments(rule, k, left)
    for a in range(k):
        j = factor.members[a]
        weight, spread = member_coefficient(factor, inverse, a, k)
        drop = weight * weight / spread
        log_odds = log_evidence_ratio(rule, k - 1, left + drop, 1.0 / spread, drop)
        log_odds += data.by_size[k] - data.by_size[k - 1] + data.log_odds[j]
        log_odds = max(log_odds, LEAST_LOG_ODDS)
        largest = max(largest, -log_odds)
        scores.log_odds[j] = log_odds
        scores.inclusion[j] = 1.0 / (1.0 + exponential(-log_odds))
        scores.mean[j] = f1 * weight
        scores.square[j] = f2 * weight * weight + f3 * spread
    return largest
