"""Weighted tempered Gibbs sampling over models (Zanella & Roberts 2019).

From a model every one of its D neighbours, one variable more or less, is scored; one is moved to, with
probability in proportion to (p_j + exploration / D) / P(state of j | the others), p_j being the
probability that j is in given the others. The chain leaves improbable states at once and the state's
weight 1 / Z, Z the sum of those rates, makes the averages right. They are taken of the p_j themselves
(Rao-Blackwell), so that one step tells something of every variable.

With odds o of being in and e = exploration / D, the rate is e + o (1 + e) for a variable that is out and
1 + e + e / o for one that is in. Where effects are strong, o is e to the power of thousands: odds and
weights are kept as logarithms, and rates are summed in units of the largest.

Most variables are out with small odds. Among them one is drawn by rejection, from candidates drawn ahead
of time: which of these will be taken is then known well before, and their rows of the Gram matrix are
computed together.

A slab variance that is not known moves along by Metropolis steps on the same weighted target.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote._jit import generic, kernel
from garrote.arrays import Array, Floats
from garrote.elementary import exponential, logarithm
from garrote.priors.evidence import log_evidence, log_evidence_ratio, noise_mean, slab_moments
from garrote.solvers.algebra.factor_updates import invert_root
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.algebra.model_factor import ModelFactor, dependent_share, member_coefficient
from garrote.solvers.models.factor_walk import FactorWalk, enter, leave, turn
from garrote.solvers.models.model_chain import Averages, Target

# How many improbable variables are tried for one probable one.
_EXPLORATION = 1.0
# A variable of smaller log odds has its coefficient's moments weighed so little that those of the model
# without it will do.
_FAINT = float(np.log(1e-3))
# A member of a model without any probability has these log odds, so that sums of them stay finite.
LEAST_LOG_ODDS = -1e300
# Sums of weights change their unit for a state whose log weight is beyond theirs by so much.
_FAR = 200.0
# Small odds are those up to this many times e.
_SMALL = 30.0
# Candidates that are drawn ahead, at least.
_AHEAD = 1000
# Rows of the Gram matrix that are fetched with a missing one: a product with X is a pass over it, and
# the next few cost little more.
_FETCHED_ALONG = 15


class Scores(NamedTuple):
    """Of every variable, given the others: log odds and probability of its being in, two moments then.

    Variables that cannot come in have log odds of -inf. ``turn`` is the rate at which a member's sign
    turns, where it has one. The first ``near`` of ``foremost`` are the members, and the newcomers whose
    odds are not faint, in order.
    """

    log_odds: Floats
    inclusion: Floats
    mean: Floats
    square: Floats
    turn: Floats
    foremost: Array
    near: Array


class InformedWalk(FactorWalk):
    """A walk that scores all neighbours of a model before it moves."""

    def __init__(self, target: Target, rng: np.random.Generator, rows: GramRows | None = None):
        super().__init__(target, rng, rows)
        D = target.problem.n_features
        log_odds, inclusion, mean, square, turns = np.zeros((5, D))
        foremost, near = np.zeros(D, np.int64), np.zeros(1, np.int64)
        self.scores = Scores(log_odds, inclusion, mean, square, turns, foremost, near)
        self.usable = np.flatnonzero(target.problem.curvature > 0)
        self.candidates, self.hurdles = np.zeros(0, np.int64), np.zeros(0)

    def stretch(self, steps: int, averages: Averages | None) -> tuple[Array, Floats]:
        """Make steps with the slab's variance as it is; return flips and logs of weights."""
        uniforms = self.rng.random(steps)
        coins = self._coins(uniforms)
        flips, log_weights = np.zeros(steps, np.int64), np.zeros(steps)
        done = 0
        while done < steps:
            self._draw_ahead()
            made, tried, missing = _walk(
                self.rule, self.data, self.factor, self.scores, self.inverse,
                self.unused if averages is None else averages, self.rows.rows, self.rows.slot,
                uniforms[done:], coins[done:], self.candidates, self.hurdles, flips[done:],
                log_weights[done:], averages is not None, _EXPLORATION,
            )  # fmt: skip
            done += made
            self.candidates, self.hurdles = self.candidates[tried:], self.hurdles[tried:]
            if missing:
                self.add(int(flips[done - 1]), self._likely())
        return flips, log_weights

    def _draw_ahead(self) -> None:
        """See to it that there are candidates for some steps to come, each with its hurdle."""
        if len(self.candidates) < _AHEAD and len(self.usable):
            drawn = self.rng.choice(self.usable, size=4 * _AHEAD)
            self.candidates = np.append(self.candidates, drawn)
            self.hurdles = np.append(self.hurdles, self.rng.random(4 * _AHEAD))

    def _likely(self) -> Array:
        """Return the candidates that come in next, if their odds stay as they are."""
        even = _EXPLORATION / len(self.scores.log_odds)
        log_odds, bound = self.scores.log_odds[self.candidates], np.log(_SMALL * even)
        taken = (log_odds > -np.inf) & (log_odds <= bound)
        taken &= self.factor.place[self.candidates] < 0
        rate = even + np.exp(np.minimum(log_odds, bound)) * (1.0 + even)
        taken &= self.hurdles * _largest_small_rate(even) < rate
        ahead = self.candidates[taken]
        return ahead[self.rows.slot[ahead] < 0][:_FETCHED_ALONG]

    def log_weight(self, rule: Any, factor: ModelFactor) -> float:
        """Return log Z: the walk's target is the posterior times Z."""
        small, large, log_unit = score(
            rule, self.data, factor, self.scores, self.inverse, _EXPLORATION
        )
        return float(log_unit + np.log(small + large))

    def score(self) -> None:
        """Score all variables beside the present model."""
        score(self.rule, self.data, self.factor, self.scores, self.inverse, _EXPLORATION)


@kernel
def score(rule, data, factor, scores, inverse, exploration):
    """Score all variables beside a model.

    Returns the sums of the rates of flips, of variables that are out with small odds and of all others,
    and the log of their unit.
    """
    k, least = factor.size[0], exploration / data.length.shape[0]
    bound = np.log(_SMALL * least)
    score_newcomers(factor, rule, data, scores, k)
    small = _weigh_newcomers(factor.place, scores, least, bound)
    log_unit = describe_newcomers(factor, rule, scores, k)
    invert_root(factor.root, inverse, k)
    log_unit = max(log_unit, score_members(factor, rule, data, scores, inverse, k))
    large = 0.0
    for a in range(scores.near[0]):
        j = scores.foremost[a]
        if factor.place[j] >= 0:
            large += _rate_of_member(scores.log_odds[j], least, log_unit)
            large += scores.turn[j] * exponential(-log_unit)
        elif scores.log_odds[j] > bound:
            large += _rate_of_newcomer(scores.log_odds[j], least, log_unit)
    return small * exponential(-log_unit), large, log_unit


@kernel
def _weigh_newcomers(place, scores, least, bound):
    """Fill in the probabilities of newcomers, and who is foremost; return the sum of small rates."""
    small, count, faint = 0.0, 0, min(bound, _FAINT)
    for j in range(place.shape[0]):
        log_odds = scores.log_odds[j]
        odds = exponential(log_odds) if log_odds > -np.inf else 0.0
        scores.inclusion[j] = odds / (1.0 + odds)
        rate = least + odds * (1.0 + least)
        small += rate if -np.inf < log_odds <= bound else 0.0
    # A loop of its own, or the one before would not be vectorised; branches would be guessed wrong.
    for j in range(place.shape[0]):
        scores.foremost[count] = j
        count += (scores.log_odds[j] > faint) | (place[j] >= 0)
    scores.near[0] = count
    return small


@generic
def score_newcomers(factor: Any, rule: Any, data: Any, scores: Scores, k: int) -> None:
    """Fill in the log odds of all variables that are out, and moments that will do for faint ones."""


@generic
def describe_newcomers(factor: Any, rule: Any, scores: Scores, k: int) -> float:
    """Fill in the moments of the foremost variables that are out; return the largest log odds, or 0."""
    raise TypeError(f"no moments are registered for {type(factor).__name__}")


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
    left, largest = factor.left[0], 0.0
    for a in range(scores.near[0]):
        j = scores.foremost[a]
        if scores.log_odds[j] > _FAINT:
            largest = max(largest, scores.log_odds[j])
            spread = 1.0 / factor.pivot[j]
            weight = factor.product[j] * spread
            g1, g2, g3 = slab_moments(rule, k + 1, left - factor.product[j] * weight)
            scores.mean[j] = g1 * weight
            scores.square[j] = g2 * weight * weight + g3 * spread
    return largest


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


@kernel(inline=True)
def _rate_of_newcomer(log_odds, least, log_unit):
    return exponential(log_odds - log_unit) * (1.0 + least) + least * exponential(-log_unit)


@kernel(inline=True)
def _rate_of_member(log_odds, least, log_unit):
    return (1.0 + least) * exponential(-log_unit) + least * exponential(-log_odds - log_unit)


@kernel(inline=True)
def _largest_small_rate(least):
    return least + _SMALL * least * (1.0 + least)


@kernel
def _choose(goal, factor, scores, least, log_unit):
    """Return the variable, of members and those of larger odds, at which summed rates pass a goal.

    Where it is the sign of member j that turns, that is -2 - j.
    """
    bound, chosen = np.log(_SMALL * least), -1
    for a in range(scores.near[0]):
        j = scores.foremost[a]
        inside = factor.place[j] >= 0
        if inside or scores.log_odds[j] > bound:
            chosen = j
            if inside:
                goal -= _rate_of_member(scores.log_odds[j], least, log_unit)
                turned = scores.turn[j] * exponential(-log_unit)
                if 0.0 <= goal < turned:
                    return -2 - j
                goal -= turned if goal >= 0.0 else 0.0
            else:
                goal -= _rate_of_newcomer(scores.log_odds[j], least, log_unit)
            if goal < 0.0:
                break
    return chosen


@kernel
def _weigh(log_weight, averages):
    """Return a state's weight in the unit of the sums so far, which follows heavier states."""
    if averages.weight[0] == 0.0 or log_weight > averages.log_unit[0] + _FAR:
        fade = np.exp(min(averages.log_unit[0] - log_weight, 0.0))
        averages.weight[0] *= fade
        averages.noise[0] *= fade
        for sums in (averages.inclusion, averages.mean, averages.square, averages.by_size):
            sums *= fade
        averages.log_unit[0] = log_weight
    return np.exp(log_weight - averages.log_unit[0])


@kernel
def _count(weight, size, scores, averages):
    """Add a state to the averages."""
    averages.weight[0] += weight
    averages.by_size[size] += weight
    for j in range(scores.inclusion.shape[0]):
        p = weight * scores.inclusion[j]
        averages.inclusion[j] += p
        averages.mean[j] += p * scores.mean[j]
        averages.square[j] += p * scores.square[j]


@kernel
def _walk(
    rule, data, factor, scores, inverse, averages, gram, slot, uniforms, coins, candidates, hurdles,
    flips, log_weights, counts, exploration,
):  # fmt: skip
    """Make steps until all are made, candidates are used up, or a row of the Gram matrix is missing.

    Returns how many steps were made, how many candidates were tried, and whether a row is missing: the
    last flip is then left to the caller.
    """
    least, tried = exploration / data.length.shape[0], 0
    bound = np.log(_SMALL * least)
    for step in range(flips.shape[0]):
        small, large, log_unit = score(rule, data, factor, scores, inverse, exploration)
        if not small + large > 0.0:
            raise ValueError("a walk over models has come to one that it has no odds to leave by")
        goal, chosen = uniforms[step] * (small + large), -1
        if goal < large:
            chosen = _choose(goal, factor, scores, least, log_unit)
        while chosen == -1 and tried < candidates.shape[0]:
            j, tried = candidates[tried], tried + 1
            log_odds = scores.log_odds[j]
            if factor.place[j] < 0 and -np.inf < log_odds <= bound:
                rate = least + np.exp(log_odds) * (1.0 + least)
                chosen = j if hurdles[tried - 1] * _largest_small_rate(least) < rate else -1
        if chosen == -1:  # the step goes on with more candidates
            return step, tried, False
        log_weights[step], flips[step] = -log_unit - np.log(small + large), max(chosen, -1)
        if counts:
            weight = _weigh(log_weights[step], averages)
            averages.noise[0] += weight * noise_of(factor, rule)
            _count(weight, factor.size[0], scores, averages)
        if chosen < -1:
            turn(factor, -2 - chosen, inverse)
        elif factor.place[chosen] >= 0:
            leave(factor, chosen)
        elif slot[chosen] < 0 or factor.size[0] == factor.rows.shape[0]:
            return step + 1, tried, True
        else:
            enter(factor, rule, gram[slot[chosen]], chosen, coins[step])
    return flips.shape[0], tried, False
