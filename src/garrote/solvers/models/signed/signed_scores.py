"""Odds and moments of every variable beside a model with signs, those of its own summed over.

Beside the others, whose signs are given, a variable has two signs to come in with. Its odds of being in
are the sum over both, and so are its moments. What a walk does with them is in
`garrote.solvers.models.informed.rates`; a member's sign turns at the rate of the probability of the
other one.
"""

import numpy as np

from garrote._jit import kernel
from garrote.elementary import exponential, logarithm
from garrote.priors.evidence.humps import log_fit, log_unsigned_fit, noise_powers
from garrote.solvers.algebra.model_factor import (
    beside_newcomer,
    dependent_share,
    member_coefficient,
)
from garrote.solvers.algebra.signed_factor import SignedFactor, member_lift
from garrote.solvers.models.factor_kinds import (
    member_log_odds,
    newcomer_log_odds,
    pair_log_odds,
    turning_chance,
)
from garrote.solvers.models.informed.scores import (
    LEAST_LOG_ODDS,
    describe_newcomers,
    noise_of,
    score_members,
    score_newcomers,
)

_LOG_2 = float(np.log(2.0))
# A variable of smaller log odds has its moments weighed so little that the noise without it will do.
_LIKELY = float(np.log(0.1))


@kernel(inline=True)
def log_of_signs(rule, left, cross, pivot, product, tilt):
    """Return by how much either sign of one more variable raises the log evidence of a model.

    ``left`` and ``cross`` are those of the model without it, whose own fit is not taken off. ``pivot``,
    ``product`` and ``tilt`` are what the variable has beyond the others.
    """
    share = 1.0 / pivot
    rest = left - product * product * share
    rest = rest if rest > 0.0 else 0.0
    volume = 0.5 * (logarithm(rule.ridge) - logarithm(pivot) - rule.height) - _LOG_2
    half = 0.5 * rule.lift * rule.lift * share
    up, down = tilt + 1.0, tilt - 1.0
    plus = volume + half * up * up + log_fit(rule, rest, cross + product * up * share)
    minus = volume + half * down * down + log_fit(rule, rest, cross + product * down * share)
    return plus, minus


@kernel(inline=True)
def log_sum(one, other):
    """Return log(e^one + e^other)."""
    high = one if one > other else other
    low = other if one > other else one
    return high + logarithm(1.0 + exponential(low - high))


@kernel
def describe(rule, left, cross, pivot, product, tilt, chance):
    """Return the mean of a coefficient and of its square, by the chance of a positive sign."""
    rest, mean, square = max(left - product * product / pivot, 0.0), 0.0, 0.0
    if rule.lift == 0.0:
        mean = product / pivot
        return mean, mean * mean + noise_powers(rule, rest, 0.0)[1] / pivot
    for sign, weight in ((1.0, chance), (-1.0, 1.0 - chance)):
        tilted = sign + tilt
        deviation, variance = noise_powers(rule, rest, cross + product * tilted / pivot)
        raised = rule.lift * tilted
        mean += weight * (product + raised * deviation) / pivot
        both = product * (product + 2.0 * raised * deviation) + raised * raised * variance
        square += weight * (both / pivot + variance) / pivot
    return mean, square


@kernel
def _score_alike(factor, rule, data, scores, without):
    """Fill in log odds and moments of newcomers to whose signs the slab is indifferent."""
    left, dependent = factor.left[0], dependent_share(rule)
    variance = noise_powers(rule, left, 0.0)[1]
    for j in range(data.length.shape[0]):
        usable = factor.pivot[j] > dependent * data.length[j]
        pivot = factor.pivot[j] if usable else 1.0
        rest = left - factor.product[j] * factor.product[j] / pivot
        rest = rest if rest > 0.0 else 0.0
        log_odds = (
            log_unsigned_fit(rule, rest) - 0.5 * logarithm(pivot) + without + data.log_odds[j]
        )
        scores.log_odds[j] = log_odds if usable and log_odds > -np.inf else -np.inf
        mean = factor.product[j] / pivot
        scores.mean[j] = mean
        scores.square[j] = mean * mean + variance / pivot


@score_newcomers.register
def _(factor: SignedFactor, rule, data, scores, k):
    left, cross, dependent = factor.left[0], factor.cross[0], dependent_share(rule)
    deviation, variance = noise_powers(rule, left, cross)
    without = -np.inf
    if k < data.by_size.shape[0] - 1 and rule.lift == 0.0:
        without = data.by_size[k + 1] - data.by_size[k] - log_unsigned_fit(rule, left)
        _score_alike(factor, rule, data, scores, without + 0.5 * logarithm(rule.ridge))
        for a in range(k):
            scores.log_odds[factor.members[a]] = -np.inf
        return
    if k < data.by_size.shape[0] - 1:
        without = data.by_size[k + 1] - data.by_size[k] - log_fit(rule, left, cross)
    for j in range(data.length.shape[0]):
        usable = factor.pivot[j] > dependent * data.length[j]
        pivot = factor.pivot[j] if usable else 1.0
        product, tilt = factor.product[j], factor.tilt[j]
        plus, minus = log_of_signs(rule, left, cross, pivot, product, tilt)
        gap = exponential(-abs(plus - minus))
        log_odds = (plus if plus > minus else minus) + logarithm(1.0 + gap)
        log_odds += without + data.log_odds[j]
        scores.log_odds[j] = log_odds if usable and log_odds > -np.inf else -np.inf
        # Moments with the noise as it is without the variable: those of likely ones are done anew.
        lean = (1.0 - gap) / (1.0 + gap)
        lean = tilt + (lean if plus > minus else -lean)
        raised = rule.lift * deviation
        scores.mean[j] = (product + raised * lean) / pivot
        whole = product + raised * tilt
        both = whole * (whole + 2.0 * raised * (lean - tilt)) + raised * raised
        scores.square[j] = (both / pivot + variance) / pivot
    for a in range(k):
        scores.log_odds[factor.members[a]] = -np.inf


@describe_newcomers.register
def _(factor: SignedFactor, rule, scores, k):
    left, cross = factor.left[0], factor.cross[0]
    for a in range(scores.near[0]):
        j = scores.foremost[a]
        if scores.log_odds[j] > _LIKELY:
            newcomer = factor.pivot[j], factor.product[j], factor.tilt[j]
            plus, minus = log_of_signs(rule, left, cross, *newcomer)
            chance = 1.0 / (1.0 + exponential(minus - plus))
            scores.mean[j], scores.square[j] = describe(rule, left, cross, *newcomer, chance)


@kernel(inline=True)
def without_member(factor, inverse, a, k):
    """Return left, cross, pivot, product and tilt of the a-th member beside the others."""
    coef, spread = member_coefficient(factor, inverse, a, k)
    lift = member_lift(factor, inverse, a, k)
    left = factor.left[0] + coef * coef / spread
    cross = factor.cross[0] - coef * lift / spread
    return left, cross, 1.0 / spread, coef / spread, lift / spread - factor.sign[factor.members[a]]


@score_members.register
def _(factor: SignedFactor, rule, data, scores, inverse, k):
    largest = 0.0
    for a in range(k):
        j = factor.members[a]
        beside = without_member(factor, inverse, a, k)
        plus, minus = log_of_signs(rule, *beside)
        log_odds = log_sum(plus, minus) - log_fit(rule, beside[0], beside[1])
        log_odds += data.by_size[k] - data.by_size[k - 1] + data.log_odds[j]
        log_odds = max(log_odds, LEAST_LOG_ODDS)
        largest = max(largest, -log_odds)
        chance = 1.0 / (1.0 + exponential(minus - plus))
        scores.log_odds[j] = log_odds
        scores.inclusion[j] = 1.0 / (1.0 + exponential(-log_odds))
        scores.mean[j], scores.square[j] = describe(rule, *beside, chance)
        scores.turn[j] = 0.0
        if rule.lift > 0.0:
            scores.turn[j] = 1.0 - chance if factor.sign[j] > 0.0 else chance
    return largest


@noise_of.register
def _(factor: SignedFactor, rule):
    return noise_powers(rule, factor.left[0], factor.cross[0])[1]


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


@turning_chance.register
def _(factor: SignedFactor, rule, inverse, a, k):
    if rule.lift == 0.0:
        return 0.5
    plus, minus = log_of_signs(rule, *without_member(factor, inverse, a, k))
    other = minus - plus if factor.sign[factor.members[a]] > 0.0 else plus - minus
    return 1.0 / (1.0 + exponential(-other))


@pair_log_odds.register
def _(factor: SignedFactor, rule, data, inverse, between, i, j, k, coin):
    left, cross, least = factor.left[0], factor.cross[0], dependent_share(rule)
    one = newcomer_log_odds(factor, rule, data, inverse, -1, i, k)
    other = newcomer_log_odds(factor, rule, data, inverse, -1, j, k)
    if one == -np.inf:
        return one, other, one, 1.0
    product, pivot = beside_newcomer(factor, between, i, j, k)
    if pivot <= least * data.length[j]:
        return one, other, -np.inf, 1.0
    pivot_i, product_i, tilt_i = factor.pivot[i], factor.product[i], factor.tilt[i]
    signs = log_of_signs(rule, left, cross, pivot_i, product_i, tilt_i)
    rest = max(left - product_i * product_i / pivot_i, 0.0)
    # What is between the columns beside the model, over the pivot of i, as the products tell it.
    share = between
    for b in range(k):
        share -= factor.rows[b, i] * factor.rows[b, j]
    share /= pivot_i
    logs = (0.0, 0.0)
    for s in range(2):
        lifted = tilt_i + 1.0 - 2.0 * s
        cross_i = cross + product_i * lifted / pivot_i
        plus, minus = log_of_signs(
            rule, rest, cross_i, pivot, product, factor.tilt[j] - share * lifted
        )
        log = signs[s] + log_sum(plus, minus) - log_fit(rule, rest, cross_i)
        logs = (log, logs[1]) if s == 0 else (logs[0], log)
    both = log_sum(logs[0], logs[1]) - log_fit(rule, left, cross)
    first = 1.0 if coin * (1.0 + exponential(logs[1] - logs[0])) < 1.0 else -1.0
    return one, other, both + data.log_odds[i] + data.log_odds[j], first
