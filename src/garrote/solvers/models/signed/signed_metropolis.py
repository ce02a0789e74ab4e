"""Metropolis sampling of models with signs: newcomers' signs are summed over, and then drawn.

A share of the steps, by a coin, turns to the sign of one member, which is drawn anew given all else.
"""

import numpy as np

from garrote.priors.evidence.humps import noise_powers
from garrote.solvers.algebra.model_factor import member_coefficient
from garrote.solvers.algebra.signed_factor import SignedFactor, member_lift
from garrote.solvers.models.metropolis import (
    TURNS,
    MetropolisWalk,
    count_state,
    takes_turn,
    turning,
)
from garrote.solvers.models.signed.signed_scores import log_of_signs, without_member
from garrote.solvers.models.signed.signed_walk import SignedState


class SignedMetropolisWalk(SignedState, MetropolisWalk):
    """A walk over models with signs that proposes one flip or swap at a time."""


@takes_turn.register
def _(factor: SignedFactor, rule, coin):
    return coin < TURNS


@turning.register
def _(factor: SignedFactor, rule, inverse, coin):
    k = factor.size[0]
    if k == 0:
        return -1
    coin = coin / TURNS
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
