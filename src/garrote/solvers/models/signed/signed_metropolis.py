"""Metropolis sampling of models with signs: newcomers' signs are summed over, and then drawn.

A proposal that is not taken leaves a turn to the sign of one member, which is drawn anew given all else.
"""

import numpy as np

from garrote.priors.evidence.humps import log_fit, noise_powers
from garrote.solvers.algebra.model_factor import dependent_share, member_coefficient
from garrote.solvers.algebra.signed_factor import SignedFactor, member_lift
from garrote.solvers.models.metropolis import (
    MetropolisWalk,
    count_state,
    member_log_odds,
    newcomer_log_odds,
    turning,
)
from garrote.solvers.models.signed.signed_scores import log_of_signs, log_sum, without_member
from garrote.solvers.models.signed.signed_walk import SignedState


class SignedMetropolisWalk(SignedState, MetropolisWalk):
    """A walk over models with signs that proposes one flip or swap at a time."""


@member_log_odds.register
def _(factor: SignedFactor, rule, data, inverse, a, k):
    beside = without_member(factor, inverse, a, k)
    plus, minus = log_of_signs(rule, *beside)
    prior_log_odds = data.log_odds[factor.members[a]]
    return log_sum(plus, minus) - log_fit(rule, beside[0], beside[1]) + prior_log_odds


@newcomer_log_odds.register
def _(factor: SignedFactor, rule, data, inverse, a, j, k):
    left, cross = factor.left[0], factor.cross[0]
    pivot, product, tilt = factor.pivot[j], factor.product[j], factor.tilt[j]
    if a >= 0:
        coef, spread = member_coefficient(factor, inverse, a, k + 1)
        lift, along = member_lift(factor, inverse, a, k + 1), 0.0
        for b in range(a, k + 1):
            along += inverse[a, b] * factor.rows[b, j]
        left += coef * coef / spread
        cross -= coef * lift / spread
        pivot += along * along / spread
        product += along * coef / spread
        tilt += along * lift / spread
    if pivot <= dependent_share(rule) * data.length[j]:
        return -np.inf
    plus, minus = log_of_signs(rule, left, cross, pivot, product, tilt)
    return log_sum(plus, minus) - log_fit(rule, left, cross) + data.log_odds[j]


@turning.register
def _(factor: SignedFactor, rule, inverse, coin):
    k = factor.size[0]
    if k == 0 or rule.lift == 0.0:
        return -1
    a = int(coin * k)
    j = factor.members[a]
    plus, minus = log_of_signs(rule, *without_member(factor, inverse, a, k))
    other = minus - plus if factor.sign[j] > 0.0 else plus - minus
    # What is left of the coin decides; the odds of the other sign are e^other.
    return j if coin * k - a < 1.0 / (1.0 + np.exp(-other)) else -1


@count_state.register
def _(factor: SignedFactor, rule, inverse, averages, stays, k):
    deviation, variance = noise_powers(rule, factor.left[0], factor.cross[0])
    averages.weight[0] += stays
    averages.by_size[k] += stays
    averages.noise[0] += stays * variance
    for a in range(k):
        j = factor.members[a]
        coef, spread = member_coefficient(factor, inverse, a, k)
        raised = rule.lift * member_lift(factor, inverse, a, k)
        averages.inclusion[j] += stays
        averages.mean[j] += stays * (coef + raised * deviation)
        both = coef * (coef + 2.0 * raised * deviation) + raised * raised * variance
        averages.square[j] += stays * (both + variance * spread)
