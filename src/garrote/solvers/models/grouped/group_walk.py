"""An informed walk over sets of groups: weighted tempered Gibbs sampling (Zanella & Roberts 2019).

Every step scores all groups beside the present set. With p the probability of a group to be in given
all others, it flips at the rate (p (1 - calm p) + e / G) / p where it is in, and the same over 1 - p
where it is out: what is improbable is left quickly, and what is likely to matter is tried often. Groups
that resemble each other are exchanged at the rate q / (1 + q), q being the odds of the two sets. The
walk's target is the posterior times Z, the sum of all rates, so that a state counts by 1 / Z. Groups
that the prior does not let go, or come, stay.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.evidence import noise_mean, slab_moments
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.priors.structured.switch_table import prior_gain, swap_gain
from garrote.solvers.algebra.factor_updates import invert_root
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.algebra.model_factor import (
    ModelFactor,
    add_variable,
    member_coefficient,
    remove_variable,
)
from garrote.solvers.models.factor_walk import FactorWalk, log_state_evidence
from garrote.solvers.models.grouped.group_odds import (
    gain_of_coming,
    gain_of_leaving,
    gain_of_swap,
    group_table,
    is_inside,
    take_stock,
)
from garrote.solvers.models.model_chain import Averages, Target, weigh

# How often certain members are left alone, and how many groups' worth of chance all others have.
_CALM, _EXPLORATION = 0.9, 1.0
# The log odds against a member without which there is no evidence, in place of infinity.
_STUCK = 1e10


class Rates(NamedTuple):
    """Of every group: its log odds beside the others, and the log of its rate; of pairs, that of swaps.

    A pair is a group that may take the place of another, ``partner[a]`` in that of ``owner[a]``.
    """

    log_odds: Floats
    log_rate: Floats
    owner: Array
    partner: Array
    log_swap: Floats


class GroupWalk(FactorWalk):
    """The state of a walk over sets of groups, by the columns of a model.

    The target's own prior on models is flat: ``law`` is the prior on sets of groups.
    """

    def __init__(
        self,
        target: Target,
        rng: np.random.Generator,
        rows: GramRows | None,
        law: InclusionOfGroups,
        partners: tuple[Array, Array],
    ):
        super().__init__(target, rng, rows)
        self.law, self.table = law, group_table(target.problem, law)
        owner, partner = partners
        self.rates = Rates(
            np.zeros(len(law)), np.zeros(len(law)), owner, partner, np.zeros(len(owner))
        )
        self.widest = len(self.table.vector)

    def log_posterior(self) -> float:
        """Return log evidence and log prior of the present set, added up."""
        inside = np.zeros(len(self.law), dtype=bool)
        inside[self.law.of_column[self.members]] = True
        return float(self.law.log_prior(inside)[0]) + float(
            log_state_evidence(self.factor, self.rule)
        )

    def log_weight(self, rule: Any, factor: ModelFactor) -> float:
        """Return log Z: the walk's target is the posterior times Z."""
        return float(_score(rule, self.table, factor, self.rates, self.inverse))

    def stretch(self, steps: int, averages: Averages | None) -> tuple[Array, Floats]:
        """Make steps with the slab's variance as it is; return flips and logs of weights."""
        uniforms = self.rng.random(steps)
        flips = np.full(2 * self.widest * steps, -1, np.int64)
        weights = np.full(len(flips), -np.inf)
        done = used = 0
        while done < steps:
            made, more, missing = _walk(
                self.rule, self.table, self.factor, self.rates, self.inverse, self.rows.rows,
                self.rows.slot, uniforms[done:], self.unused if averages is None else averages,
                averages is not None, flips[used:], weights[used:],
            )  # fmt: skip
            done, used = done + made, used + more
            if missing >= 0:
                for j in self.law.columns(missing):
                    self.add(int(j))
        return flips[:used], weights[:used]


@kernel
def _score(rule, table, factor, rates, inverse):
    """Fill in the log odds of all groups and the logs of all rates; return the log of their sum."""
    k = factor.size[0]
    invert_root(factor.root, inverse, k)
    take_stock(factor, table)
    best = _score_flips(rule, table, factor, rates, inverse, k)
    best = max(best, _score_swaps(rule, table, factor, rates, inverse, k))
    if best == -np.inf:  # nothing may move
        return 0.0
    total = 0.0
    for g in range(rates.log_rate.shape[0]):
        total += np.exp(rates.log_rate[g] - best)
    for a in range(rates.owner.shape[0]):
        total += np.exp(rates.log_swap[a] - best)
    return best + np.log(total)


@kernel
def _score_flips(rule, table, factor, rates, inverse, k):
    """Fill in the log odds of all groups and the logs of the rates of flips; return the largest."""
    count, best = rates.log_odds.shape[0], -np.inf
    for g in range(count):
        inside = is_inside(factor, table, g)
        rates.log_rate[g] = -np.inf
        prior = prior_gain(table.switches, g)
        if np.isinf(prior):  # it has to stay where it is
            rates.log_odds[g] = prior
            continue
        if inside:
            gain = -gain_of_leaving(factor, rule, table, g, k, inverse)
            odds = max(gain + prior, -_STUCK)
        else:
            odds = gain_of_coming(factor, rule, table, g, k) + prior
        rates.log_odds[g] = odds
        if odds > -np.inf:
            rates.log_rate[g] = _log_rate(odds, inside, np.log(_EXPLORATION / count))
            best = max(best, rates.log_rate[g])
    return best


@kernel
def _log_rate(odds, inside, least):
    """Return the log of (p (1 - calm p) + e) over p where a group is in, over 1 - p where it is out."""
    eager = np.log1p(-_CALM / (1.0 + np.exp(min(-odds, 700.0))))
    away = -odds if inside else odds
    other = max(away, 0.0) + np.log1p(np.exp(-abs(away)))
    first, second = eager + (0.0 if inside else odds), least + other
    high, low = max(first, second), min(first, second)
    return high + np.log1p(np.exp(low - high))


@kernel
def _score_swaps(rule, table, factor, rates, inverse, k):
    """Fill in the logs of the rates of swaps; return the largest."""
    best = -np.inf
    for a in range(rates.owner.shape[0]):
        i, j = rates.owner[a], rates.partner[a]
        rates.log_swap[a] = -np.inf
        if not is_inside(factor, table, i) or is_inside(factor, table, j):
            continue
        prior = swap_gain(table.switches, i, j)
        if prior > -np.inf:
            odds = prior + gain_of_swap(factor, rule, table, i, j, k, inverse)
            if odds > -np.inf:
                rates.log_swap[a] = -np.log1p(np.exp(min(-odds, 700.0)))
                best = max(best, rates.log_swap[a])
    return best


@kernel
def _choose(rates, goal):
    """Return the group that leaves or comes and, of a swap, the one that takes its place; else -1."""
    last = -1
    for g in range(rates.log_rate.shape[0]):
        rate = np.exp(rates.log_rate[g])
        if rate > 0.0:
            last = g
            goal -= rate
            if goal < 0.0:
                return g, -1
    for a in range(rates.owner.shape[0]):
        goal -= np.exp(rates.log_swap[a])
        if goal < 0.0:
            return rates.owner[a], rates.partner[a]
    return last, -1


@kernel
def count_groups(factor, rule, table, inverse, averages, weight):
    """Count a state: its size in groups, its noise, and the coefficients of its members."""
    k = factor.size[0]
    f1, f2, f3 = slab_moments(rule, k, factor.left[0])
    averages.weight[0] += weight
    averages.by_size[table.switches.size[0]] += weight
    averages.noise[0] += weight * noise_mean(rule, k, factor.left[0])
    for a in range(k):
        j = factor.members[a]
        coef, spread = member_coefficient(factor, inverse, a, k)
        averages.mean[j] += weight * f1 * coef
        averages.square[j] += weight * (f2 * coef * coef + f3 * spread)


@kernel
def _count(rule, table, factor, rates, inverse, averages, log_weight):
    """Add a state to the averages."""
    weight = weigh(log_weight, averages)
    count_groups(factor, rule, table, inverse, averages, weight)
    for g in range(rates.log_odds.shape[0]):
        # Not whether it is in, but how probable that is beside the others: a smoother average.
        p = weight / (1.0 + np.exp(min(-rates.log_odds[g], 700.0)))
        for a in range(table.first[g], table.first[g + 1]):
            averages.inclusion[table.columns[a]] += p


@kernel
def leave_group(factor, table, g, flips, used):
    """Take all columns of a group out; return how many flips there are."""
    for a in range(table.first[g], table.first[g + 1]):
        remove_variable(table.columns[a], factor)
        flips[used] = table.columns[a]
        used += 1
    return used


@kernel
def come_group(factor, table, g, gram, slot, flips, used):
    """Take a group in; also tell whether it could be, rows of the Gram matrix and room being there."""
    there = factor.size[0] + table.first[g + 1] - table.first[g] <= factor.rows.shape[0]
    for a in range(table.first[g], table.first[g + 1]):
        flips[used] = table.columns[a]
        used += 1
        there &= slot[table.columns[a]] >= 0
    if there:
        for a in range(table.first[g], table.first[g + 1]):
            add_variable(gram[slot[table.columns[a]]], table.columns[a], factor)
    return used, there


@kernel
def _walk(
    rule, table, factor, rates, inverse, gram, slot, uniforms, averages, counts, flips, weights
):
    """Make steps, or as many as there are until rows of the Gram matrix are missing.

    Returns how many were made, how many entries of ``flips`` and ``weights`` were filled in, and the
    group whose rows are missing, which the caller takes in, or -1.
    """
    used = 0
    for step in range(uniforms.shape[0]):
        log_sum = _score(rule, table, factor, rates, inverse)
        if counts:
            _count(rule, table, factor, rates, inverse, averages, -log_sum)
        weights[used] = -log_sum
        for g in range(rates.log_rate.shape[0]):
            rates.log_rate[g] -= log_sum
        for a in range(rates.owner.shape[0]):
            rates.log_swap[a] -= log_sum
        one, two = _choose(rates, uniforms[step])
        if one < 0:
            used += 1
            continue
        comes = two
        if is_inside(factor, table, one):
            used = leave_group(factor, table, one, flips, used)
        else:
            comes = one
        if comes >= 0:
            used, there = come_group(factor, table, comes, gram, slot, flips, used)
            if not there:
                return step + 1, used, comes
    return uniforms.shape[0], used, -1
