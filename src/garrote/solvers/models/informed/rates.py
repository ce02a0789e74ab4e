"""Rates of the steps of the informed walk: who comes in, who leaves, who is exchanged, whose sign turns.

With p the probability that a variable is in given the others, odds o = p / (1 - p) and e =
exploration / D, the rate of its flip is e + o (1 - calm p + e) if it is out and 1 - calm p + e + e / o
if it is in. Where effects are strong, o is e to the power of thousands: odds are kept as logarithms, and
rates are summed in units of the largest.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.elementary import exponential
from garrote.solvers.algebra.factor_updates import invert_root
from garrote.solvers.models.informed.scores import (
    FAINT,
    describe_newcomers,
    score_members,
    score_newcomers,
)
from garrote.solvers.models.informed.swaps import choose_partner, fill_swap_rates

# How much seldomer than others variables are left out that are in for sure: to return at once, mostly.
_CALM = 0.75
# Small odds are those up to this, or so many times e: most are refused where the largest is far beyond
# the others, and few come in unforeseen where it is large.
_SMALL, _TIMES = 0.03, 30.0


class Rates(NamedTuple):
    """Sums of rates of steps from a state, in units of exp(log_unit).

    ``small`` is that of newcomers of small odds, ``up`` that of all others, ``down`` that of members
    that leave, ``aside`` that of swaps and of turns of signs.
    """

    small: float
    up: float
    down: float
    aside: float
    log_unit: float


@kernel(inline=True)
def total_rate(rates):
    """Return the rate at which a state is left, in either direction."""
    return max(rates.small + rates.up, rates.down) + rates.aside


@kernel
def score(rule, data, factor, scores, inverse, partners, exploration, counts):
    """Score all variables beside a model; where it ``counts``, moments are those that averages need.

    Returns the sums of the rates of its steps.
    """
    k, least = factor.size[0], exploration / data.length.shape[0]
    bound = np.log(largest_small_odds(least))
    score_newcomers(factor, rule, data, scores, k)
    small = _weigh_newcomers(factor.place, scores, least, bound)
    log_unit = 0.0
    for a in range(scores.near[0]):
        log_unit = max(log_unit, scores.log_odds[scores.foremost[a]])
    if counts:
        describe_newcomers(factor, rule, scores, k)
    invert_root(factor.root, inverse, k)
    log_unit = max(log_unit, score_members(factor, rule, data, scores, inverse, k))
    fill_swap_rates(factor, rule, data, inverse, partners, scores.log_odds, scores.swap)
    up = down = aside = 0.0
    unit = exponential(-log_unit)
    for a in range(scores.near[0]):
        j = scores.foremost[a]
        if factor.place[j] >= 0:
            down += _rate_of_member(scores.log_odds[j], least, log_unit)
            aside += (scores.turn[j] + scores.swap[j]) * unit
        elif scores.log_odds[j] > bound:
            up += _rate_of_newcomer(scores.log_odds[j], least, log_unit)
    return Rates(small * unit, up, down, aside, log_unit)


@kernel
def _weigh_newcomers(place, scores, least, bound):
    """Fill in the probabilities of newcomers, and who is foremost; return the sum of small rates."""
    small, count, faint = 0.0, 0, min(bound, FAINT)
    for j in range(place.shape[0]):
        log_odds = scores.log_odds[j]
        odds = exponential(log_odds) if log_odds > -np.inf else 0.0
        scores.inclusion[j] = odds / (1.0 + odds)
        rate = small_rate(odds, scores.inclusion[j], least)
        small += rate if -np.inf < log_odds <= bound else 0.0
    # A loop of its own, or the one before would not be vectorised; branches would be guessed wrong.
    for j in range(place.shape[0]):
        scores.foremost[count] = j
        count += (scores.log_odds[j] > faint) | (place[j] >= 0)
    scores.near[0] = count
    return small


@kernel(inline=True)
def small_rate(odds, inclusion, least):
    """Return the rate at which a variable of small odds comes in."""
    return least + odds * (1.0 - _CALM * inclusion + least)


@kernel(inline=True)
def largest_small_odds(least):
    """Return the odds up to which they are small."""
    return max(_SMALL, _TIMES * least)


@kernel(inline=True)
def largest_small_rate(least):
    """Return a rate that no variable of small odds exceeds."""
    return least + largest_small_odds(least) * (1.0 + least)


@kernel(inline=True)
def _rate_of_newcomer(log_odds, least, log_unit):
    restless = 1.0 - _CALM / (1.0 + exponential(-log_odds)) + least
    return exponential(log_odds - log_unit) * restless + least * exponential(-log_unit)


@kernel(inline=True)
def _rate_of_member(log_odds, least, log_unit):
    restless = 1.0 - _CALM / (1.0 + exponential(-log_odds)) + least
    return restless * exponential(-log_unit) + least * exponential(-log_odds - log_unit)


@kernel
def choose_aside(goal, rule, data, factor, scores, inverse, partners, log_unit):
    """Return the member at which summed rates of turns and swaps pass a goal, and its partner.

    Where it is the sign of member j that turns, that is -2 - j, and the partner is -1.
    """
    unit, k = exponential(-log_unit), factor.size[0]
    chosen, partner = -1, -1
    for a in range(k):
        j = factor.members[a]
        if scores.turn[j] > 0.0:
            chosen, partner = -2 - j, -1
        if goal < scores.turn[j] * unit:
            break
        goal -= scores.turn[j] * unit
        if goal < scores.swap[j] * unit:
            beside = factor, rule, data, inverse, partners
            chosen, partner = j, choose_partner(goal / unit, *beside, j, scores.log_odds[j])
            break
        goal -= scores.swap[j] * unit
    return chosen, partner


@kernel
def choose_member(goal, factor, scores, least, log_unit):
    """Return the member at which summed rates of leaving pass a goal."""
    chosen = -1
    for a in range(factor.size[0]):
        chosen = factor.members[a]
        goal -= _rate_of_member(scores.log_odds[chosen], least, log_unit)
        if goal < 0.0:
            break
    return chosen


@kernel
def choose_newcomer(goal, factor, scores, least, log_unit):
    """Return the variable that is out, of those of larger odds, at which summed rates pass a goal."""
    bound, chosen = np.log(largest_small_odds(least)), -1
    for a in range(scores.near[0]):
        j = scores.foremost[a]
        if factor.place[j] < 0 and scores.log_odds[j] > bound:
            chosen = j
            goal -= _rate_of_newcomer(scores.log_odds[j], least, log_unit)
            if goal < 0.0:
                break
    return chosen
