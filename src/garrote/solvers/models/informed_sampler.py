"""Weighted tempered Gibbs sampling over models (Zanella & Roberts 2019).

From a model every one of its D neighbours, one variable more or less, is scored; one is moved to, with
probability in proportion to w_j / P(state of j | the others). Any weight w_j that depends on the others
alone will do. With p_j the probability that j is in given the others it is p_j (1 - calm p_j) +
exploration / D here: what is in for sure is left out less often than what may be in. The chain leaves
improbable states at once, and the state's weight 1 / Z, Z the sum of those rates, makes the averages
right. They are taken of the p_j themselves (Rao-Blackwell), so that one step tells something of every
variable. Members are also exchanged for variables that resemble them (`garrote.solvers.models.swaps`).

With odds o of being in and e = exploration / D, the rate is e + o (1 - calm p + e) for a variable that
is out and 1 - calm p + e + e / o for one that is in. Where effects are strong, o is e to the power of
thousands: odds and weights are kept as logarithms, and rates are summed in units of the largest.

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
from garrote.solvers.algebra.gram_rows import NO_COLUMNS, GramRows
from garrote.solvers.algebra.model_factor import ModelFactor, dependent_share, member_coefficient
from garrote.solvers.models.factor_walk import FactorWalk, enter, leave, turn
from garrote.solvers.models.model_chain import Averages, Target
from garrote.solvers.models.swaps import (
    PartnerLists,
    Partners,
    choose_partner,
    fill_swap_rates,
    no_partners,
)

# How many improbable variables are tried for one probable one.
_EXPLORATION = 1.0
# How much seldomer than others variables are left out that are in for sure: to return at once, mostly.
_CALM = 0.75
# A variable of smaller log odds has its coefficient's moments weighed so little that those of the model
# without it will do.
_FAINT = float(np.log(1e-3))
# A member of a model without any probability has these log odds, so that sums of them stay finite.
LEAST_LOG_ODDS = -1e300
# Sums of weights change their unit for a state whose log weight is beyond theirs by so much.
_FAR = 200.0
# Small odds are those up to this, or so many times e: most are refused where the largest is far beyond
# the others, and few come in unforeseen where it is large.
_SMALL, _TIMES = 0.03, 30.0
# Candidates that are drawn ahead, at least.
_AHEAD = 1000
# Rows of the Gram matrix that are fetched with a missing one: a product with X is a pass over it, and
# the next few cost little more.
_FETCHED_ALONG = 15


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


class InformedWalk(FactorWalk):
    """A walk that scores all neighbours of a model before it moves; ``swaps`` may be left out."""

    def __init__(
        self,
        target: Target,
        rng: np.random.Generator,
        rows: GramRows | None = None,
        swaps: bool = True,
    ):
        super().__init__(target, rng, rows)
        D = target.problem.n_features
        foremost, near = np.zeros(D, np.int64), np.zeros(1, np.int64)
        log_odds, inclusion, mean, square, turns, swapped = np.zeros((6, D))
        self.scores = Scores(log_odds, inclusion, mean, square, turns, swapped, foremost, near)
        self._partners = Partners(self.rows, target.problem.curvature) if swaps else None
        self._nobody = no_partners(D)
        self.usable = np.flatnonzero(target.problem.curvature > 0)
        self.candidates, self.hurdles = np.zeros(0, np.int64), np.zeros(0)

    @property
    def partners(self) -> PartnerLists:
        """The variables that members may be exchanged for."""
        return self._nobody if self._partners is None else self._partners.lists

    def begin(self, members: list[int]) -> None:
        """Start from a model of given variables."""
        super().begin(members)
        self._find_partners(self.members)

    def add(self, j: int, likely: Array = NO_COLUMNS) -> None:
        """Take variable j in; rows of ``likely`` newcomers are fetched along."""
        super().add(j, likely)
        self._find_partners([j])

    def _find_partners(self, columns: list[int]) -> None:
        if self._partners is not None:
            for j in columns:
                self._partners.find(j)

    def stretch(self, steps: int, averages: Averages | None) -> tuple[Array, Floats]:
        """Make steps with the slab's variance as it is; return flips and logs of weights."""
        uniforms = self.rng.random(steps)
        coins = self._coins(uniforms)
        # A swap is two flips, with a state between them that does not count.
        flips, log_weights = np.zeros(2 * steps, np.int64), np.full(2 * steps, -np.inf)
        done = used = 0
        while done < steps:
            self._draw_ahead()
            made, more, tried, missing = _walk(
                self.rule, self.data, self.factor, self.scores, self.inverse, self.partners,
                self.unused if averages is None else averages, self.rows.rows, self.rows.slot,
                uniforms[done:], coins[done:], self.candidates, self.hurdles, flips[used:],
                log_weights[used:], averages is not None, _EXPLORATION,
            )  # fmt: skip
            done, used = done + made, used + more
            self.candidates, self.hurdles = self.candidates[tried:], self.hurdles[tried:]
            if missing:
                newcomer = int(flips[used - 1])
                self.rows.mark(flips[used - more : used])
                self.add(newcomer, self._likely() if self.rows.slot[newcomer] < 0 else NO_COLUMNS)
        return flips[:used], log_weights[:used]

    def _draw_ahead(self) -> None:
        """See to it that there are candidates for some steps to come, each with its hurdle."""
        if len(self.candidates) < _AHEAD and len(self.usable):
            drawn = self.rng.choice(self.usable, size=4 * _AHEAD)
            self.candidates = np.append(self.candidates, drawn)
            self.hurdles = np.append(self.hurdles, self.rng.random(4 * _AHEAD))

    def _likely(self) -> Array:
        """Return newcomers whose rows are not at hand that come in next, if odds stay as they are."""
        log_odds, missing = self.scores.log_odds, self.rows.slot < 0
        even = _EXPLORATION / len(log_odds)
        bound = np.log(_largest_small_odds(even))
        ahead = self.candidates[missing[self.candidates]]
        hurdles, log_odds = self.hurdles[missing[self.candidates]], log_odds[ahead]
        odds = np.exp(np.minimum(log_odds, bound))
        rate = _small_rate(odds, odds / (1.0 + odds), even)
        taken = (log_odds > -np.inf) & (log_odds <= bound) & (self.factor.place[ahead] < 0)
        taken &= hurdles * _largest_small_rate(even) < rate
        return ahead[taken][:_FETCHED_ALONG]

    def log_weight(self, rule: Any, factor: ModelFactor) -> float:
        """Return log Z: the walk's target is the posterior times Z."""
        small, large, log_unit = self._score(rule, factor)
        return float(log_unit + np.log(small + large))

    def score(self) -> None:
        """Score all variables beside the present model."""
        self._score(self.rule, self.factor)

    def _score(self, rule: Any, factor: ModelFactor) -> tuple[float, float, float]:
        known = self.scores, self.inverse, self.partners
        small, large, log_unit = score(rule, self.data, factor, *known, _EXPLORATION)
        return small, large, log_unit


@kernel
def score(rule, data, factor, scores, inverse, partners, exploration):
    """Score all variables beside a model.

    Returns the sums of the rates of flips, of variables that are out with small odds and of all others,
    swaps and turns of signs among these, and the log of their unit.
    """
    k, least = factor.size[0], exploration / data.length.shape[0]
    bound = np.log(_largest_small_odds(least))
    score_newcomers(factor, rule, data, scores, k)
    small = _weigh_newcomers(factor.place, scores, least, bound)
    log_unit = describe_newcomers(factor, rule, scores, k)
    invert_root(factor.root, inverse, k)
    log_unit = max(log_unit, score_members(factor, rule, data, scores, inverse, k))
    fill_swap_rates(factor, rule, data, inverse, partners, scores.log_odds, scores.swap)
    large, unit = 0.0, exponential(-log_unit)
    for a in range(scores.near[0]):
        j = scores.foremost[a]
        if factor.place[j] >= 0:
            large += _rate_of_member(scores.log_odds[j], least, log_unit)
            large += (scores.turn[j] + scores.swap[j]) * unit
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
        rate = _small_rate(odds, scores.inclusion[j], least)
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
def _small_rate(odds, inclusion, least):
    return least + odds * (1.0 - _CALM * inclusion + least)


@kernel(inline=True)
def _largest_small_odds(least):
    return max(_SMALL, _TIMES * least)


@kernel(inline=True)
def _largest_small_rate(least):
    return least + _largest_small_odds(least) * (1.0 + least)


@kernel(inline=True)
def _rate_of_newcomer(log_odds, least, log_unit):
    restless = 1.0 - _CALM / (1.0 + exponential(-log_odds)) + least
    return exponential(log_odds - log_unit) * restless + least * exponential(-log_unit)


@kernel(inline=True)
def _rate_of_member(log_odds, least, log_unit):
    restless = 1.0 - _CALM / (1.0 + exponential(-log_odds)) + least
    return restless * exponential(-log_unit) + least * exponential(-log_odds - log_unit)


@kernel
def _choose(goal, rule, data, factor, scores, inverse, partners, least, log_unit):
    """Return the variable, of members and those of larger odds, at which summed rates pass a goal.

    Where it is the sign of member j that turns, that is -2 - j. With it goes the variable that a member
    is exchanged for, or -1.
    """
    bound, unit, chosen = np.log(_largest_small_odds(least)), exponential(-log_unit), -1
    for a in range(scores.near[0]):
        j = scores.foremost[a]
        if factor.place[j] >= 0:
            chosen = j
            goal -= _rate_of_member(scores.log_odds[j], least, log_unit)
            if goal < 0.0:
                break
            goal -= scores.turn[j] * unit
            if goal < 0.0:
                return -2 - j, -1
            if goal < scores.swap[j] * unit:
                beside = factor, rule, data, inverse, partners
                return j, choose_partner(goal / unit, *beside, j, scores.log_odds[j])
            goal -= scores.swap[j] * unit
        elif scores.log_odds[j] > bound:
            chosen = j
            goal -= _rate_of_newcomer(scores.log_odds[j], least, log_unit)
            if goal < 0.0:
                break
    return chosen, -1


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
    rule, data, factor, scores, inverse, partners, averages, gram, slot, uniforms, coins, candidates,
    hurdles, flips, log_weights, counts, exploration,
):  # fmt: skip
    """Make steps until all are made, candidates are used up, or a newcomer is not yet known.

    Returns how many steps were made, how many flips, how many candidates were tried, and whether the
    last flip is left to the caller: a row of the Gram matrix, room or a list of partners is missing.
    """
    least, tried, used = exploration / data.length.shape[0], 0, 0
    bound = np.log(_largest_small_odds(least))
    for step in range(uniforms.shape[0]):
        small, large, log_unit = score(rule, data, factor, scores, inverse, partners, exploration)
        if not small + large > 0.0:
            raise ValueError("a walk over models has come to one that it has no odds to leave by")
        goal, chosen, partner = uniforms[step] * (small + large), -1, -1
        if goal < large:
            chosen, partner = _choose(
                goal, rule, data, factor, scores, inverse, partners, least, log_unit
            )
        while chosen == -1 and tried < candidates.shape[0]:
            j, tried = candidates[tried], tried + 1
            log_odds = scores.log_odds[j]
            if factor.place[j] < 0 and -np.inf < log_odds <= bound:
                rate = _small_rate(exponential(log_odds), scores.inclusion[j], least)
                chosen = j if hurdles[tried - 1] * _largest_small_rate(least) < rate else -1
        if chosen == -1:  # the step goes on with more candidates
            return step, used, tried, False
        log_weights[used], flips[used] = -log_unit - np.log(small + large), max(chosen, -1)
        used += 1
        if counts:
            weight = _weigh(log_weights[used - 1], averages)
            averages.noise[0] += weight * noise_of(factor, rule)
            _count(weight, factor.size[0], scores, averages)
        comes = chosen
        if chosen < -1:
            turn(factor, -2 - chosen, inverse)
        elif factor.place[chosen] >= 0:
            leave(factor, chosen)
            comes = partner
        if comes >= 0:
            if comes == partner:  # a state on the way, which has no weight
                flips[used] = partner
                used += 1
            if slot[comes] < 0 or factor.size[0] == factor.rows.shape[0] or partners.end[comes] < 0:
                return step + 1, used, tried, True
            enter(factor, rule, gram[slot[comes]], comes, coins[step])
    return uniforms.shape[0], used, tried, False
