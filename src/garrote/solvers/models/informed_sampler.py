"""Weighted tempered Gibbs sampling over models (Zanella & Roberts 2019), with a direction.

From a model every one of its D neighbours, one variable more or less, is scored; one is moved to, with
probability in proportion to w_j / P(state of j | the others). Any weight w_j that depends on the others
alone will do. With p_j the probability that j is in given the others it is p_j (1 - calm p_j) +
exploration / D here: what is in for sure is left out less often than what may be in. The chain leaves
improbable states at once, and the state's weight 1 / Z makes the averages right. They are taken of the
p_j themselves (Rao-Blackwell), so that one step tells something of every variable. Members are also
exchanged for variables that resemble them (`garrote.solvers.models.informed.swaps`).

How many variables are in would change by a random walk. So the walk has a direction (a lifted chain:
Turitsyn, Chertkov & Vucelja 2011): it takes variables in, at rates of sum U, until it turns and leaves
variables out, at rates of sum L. Upwards it turns at the rate max(L - U, 0), downwards at max(U - L, 0):
what comes into a state is then what leaves it. Exchanges and turns of signs, of sum A, are made in
either direction. So Z = max(U, L) + A.

Most variables are out with small odds. Among them one is drawn by rejection, from candidates drawn ahead
of time: which of these will be taken is then known well before, and their rows of the Gram matrix are
computed together.

Between stretches of steps the slab and, among the columns that matter most, the whole model move
(`garrote.solvers.models.informed.core`).
"""

from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import exponential
from garrote.solvers.algebra.gram_rows import NO_COLUMNS, GramRows
from garrote.solvers.algebra.model_factor import ModelFactor
from garrote.solvers.models.factor_kinds import enter, leave, turn
from garrote.solvers.models.factor_walk import FactorWalk, Place
from garrote.solvers.models.informed.core import Core
from garrote.solvers.models.informed.rates import (
    Rates,
    choose_aside,
    choose_member,
    choose_newcomer,
    largest_small_odds,
    largest_small_rate,
    score,
    small_rate,
    total_rate,
)
from garrote.solvers.models.informed.scores import Scores, noise_of
from garrote.solvers.models.informed.swaps import PartnerLists, Partners, no_partners
from garrote.solvers.models.model_chain import Averages, Target, weigh

# How many improbable variables are tried for one probable one.
_EXPLORATION = 1.0
# Candidates that are drawn ahead, at least.
_AHEAD = 1000
# Rows of the Gram matrix that are fetched with a missing one: a product with X is a pass over it, and
# the next few cost little more.
_FETCHED_ALONG = 15


class InformedWalk(FactorWalk):
    """A walk that scores all neighbours of a model before it moves.

    Without ``swaps`` it makes no other steps than flips, and no moves of many variables at once.
    """

    rounds = 3

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
        self._core = Core(target, self.rows, self.data) if swaps else None
        self.direction = np.ones(1, np.int64)
        self.usable = np.flatnonzero(target.problem.curvature > 0)
        self.candidates, self.hurdles = np.zeros(0, np.int64), np.zeros(0)

    @property
    def partners(self) -> PartnerLists:
        """The variables that members may be exchanged for."""
        return self._nobody if self._partners is None else self._partners.lists

    def add(self, j: int, likely: Array = NO_COLUMNS) -> None:
        """Take variable j in; rows of ``likely`` newcomers are fetched along."""
        super().add(j, likely)
        self._find_partners([j])

    def _fill(self, factor: Any, rule: Any, members: list[int], signs: Floats) -> None:
        super()._fill(factor, rule, members, signs)
        self._find_partners(members)

    def _find_partners(self, columns: list[int]) -> None:
        if self._partners is not None:
            for j in columns:
                if self.rows.slot[j] < 0:
                    self.rows.fetch(j, NO_COLUMNS)
                self._partners.find(j)

    def _other_model(self, place: Place, settled: bool) -> Place:
        """Return a place with another model of the same slab, by moves among the core."""
        if self._core is None:
            return place
        if not settled:
            self._core.learn(self.scores.inclusion, self.factor, self.partners)
        return self._core.moved(place, self._empty, self.rng)

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
                self.direction, self.unused if averages is None else averages, self.rows.rows,
                self.rows.slot,
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
        bound = np.log(largest_small_odds(even))
        ahead = self.candidates[missing[self.candidates]]
        hurdles, log_odds = self.hurdles[missing[self.candidates]], log_odds[ahead]
        odds = np.exp(np.minimum(log_odds, bound))
        rate = small_rate(odds, odds / (1.0 + odds), even)
        taken = (log_odds > -np.inf) & (log_odds <= bound) & (self.factor.place[ahead] < 0)
        taken &= hurdles * largest_small_rate(even) < rate
        return ahead[taken][:_FETCHED_ALONG]

    def log_weight(self, rule: Any, factor: ModelFactor) -> float:
        """Return log Z: the walk's target is the posterior times Z."""
        rates = self._score(rule, factor)
        return float(rates.log_unit + np.log(total_rate(rates)))

    def score(self) -> None:
        """Score all variables beside the present model."""
        self._score(self.rule, self.factor)

    def _score(self, rule: Any, factor: ModelFactor) -> Rates:
        known = self.scores, self.inverse, self.partners
        rates: Rates = score(rule, self.data, factor, *known, _EXPLORATION, False)
        return rates


@kernel
def _choose(goal, rates, direction, rule, data, factor, scores, inverse, partners, least):
    """Choose the step at which summed rates pass a goal.

    Returns the variable (-2 - j where it is the sign of member j that turns, -1 where it is one of small
    odds), the partner that it is exchanged for or -1, and whether the direction is reversed instead.
    """
    if goal < rates.aside:
        beside = factor, scores, inverse, partners, rates.log_unit
        chosen, partner = choose_aside(goal, rule, data, *beside)
        return chosen, partner, False
    goal -= rates.aside
    if direction < 0:
        if goal >= rates.down:
            return -1, -1, True
        return choose_member(goal, factor, scores, least, rates.log_unit), -1, False
    if goal < rates.up:
        return choose_newcomer(goal, factor, scores, least, rates.log_unit), -1, False
    return -1, -1, goal >= rates.small + rates.up


@kernel
def _walk(
    rule, data, factor, scores, inverse, partners, direction, averages, gram, slot, uniforms, coins,
    candidates, hurdles, flips, log_weights, counts, exploration,
):  # fmt: skip
    """Make steps until all are made, candidates are used up, or a newcomer is not yet known.

    Returns how many steps were made, how many flips, how many candidates were tried, and whether the
    last flip is left to the caller: a row of the Gram matrix, room or a list of partners is missing.
    """
    least, tried, used = exploration / data.length.shape[0], 0, 0
    bound = np.log(largest_small_odds(least))
    rates = score(rule, data, factor, scores, inverse, partners, exploration, counts)
    for step in range(uniforms.shape[0]):
        total = total_rate(rates)
        if not total > 0.0:
            raise ValueError("a walk over models has come to one that it has no odds to leave by")
        chosen, partner, reverses = _choose(
            uniforms[step] * total, rates, direction[0], rule, data, factor, scores, inverse, partners,
            least,
        )  # fmt: skip
        while chosen == -1 and not reverses and tried < candidates.shape[0]:
            j, tried = candidates[tried], tried + 1
            log_odds = scores.log_odds[j]
            if factor.place[j] < 0 and -np.inf < log_odds <= bound:
                rate = small_rate(exponential(log_odds), scores.inclusion[j], least)
                chosen = j if hurdles[tried - 1] * largest_small_rate(least) < rate else -1
        if chosen == -1 and not reverses:  # the step goes on with more candidates
            return step, used, tried, False
        log_weights[used], flips[used] = -rates.log_unit - np.log(total), max(chosen, -1)
        used += 1
        if counts:
            weight = weigh(log_weights[used - 1], averages)
            averages.noise[0] += weight * noise_of(factor, rule)
            _count(weight, factor.size[0], scores, averages)
        comes = chosen
        if reverses:
            direction[0] = -direction[0]
            continue
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
        if step + 1 < uniforms.shape[0]:
            rates = score(rule, data, factor, scores, inverse, partners, exploration, counts)
    return uniforms.shape[0], used, tried, False


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
