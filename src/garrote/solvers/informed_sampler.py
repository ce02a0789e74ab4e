"""Weighted tempered Gibbs sampling over models (Zanella & Roberts 2019).

From a model every one of its D neighbours, one variable more or less, is scored; one is moved to, with
probability in proportion to (p_j + exploration / D) / P(state of j | the others), p_j being the
probability that j is in given the others. The chain leaves improbable states at once and the state's
weight 1 / Z, Z the sum of those rates, makes the averages right. They are taken of the p_j themselves
(Rao-Blackwell), so that one step tells something of every variable.

With odds o of being in and e = exploration / D, the rate is e + o (1 + e) for a variable that is out and
1 + e + e / o for one that is in. Most variables are out with small odds. Among them one is drawn by
rejection, from candidates drawn ahead of time: which of these will be taken is then known well before,
and their rows of the Gram matrix are computed together.

A slab variance that is not known moves along by Metropolis steps on the same weighted target.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.evidence import evidence_ratio, noise_mean, slab_moments
from garrote.solvers.gram_rows import GramRows
from garrote.solvers.model_chain import DEPENDENT, Averages, FactorWalk, Target
from garrote.solvers.model_factor import (
    Factor,
    add_variable,
    invert_root,
    member_coefficient,
    remove_variable,
)

# How many improbable variables are tried for one probable one.
_EXPLORATION = 1.0
# A variable of smaller odds has its coefficient's moments weighed so little that those of the model
# without it will do.
_FAINT = 1e-3
# Odds beyond this count as this, so that sums of them stay finite.
_LARGEST_ODDS = 1e200
# Small odds are those up to this many times e.
_SMALL = 30.0
# Candidates that are drawn ahead, at least.
_AHEAD = 1000
# Rows of the Gram matrix that are fetched with a missing one: a product with X is a pass over it, and
# the next few cost little more.
_FETCHED_ALONG = 15


class Scores(NamedTuple):
    """Of every variable, given the others: odds and probability of its being in, two moments then."""

    odds: Floats
    inclusion: Floats
    mean: Floats
    square: Floats


class InformedWalk(FactorWalk):
    """A walk that scores all neighbours of a model before it moves."""

    def __init__(self, target: Target, rng: np.random.Generator, rows: GramRows | None = None):
        super().__init__(target, rng, rows)
        self.scores = Scores(*np.zeros((4, target.problem.n_features)))
        self.usable = np.flatnonzero(target.problem.curvature > 0)
        self.candidates, self.hurdles = np.zeros(0, np.int64), np.zeros(0)

    def stretch(self, steps: int, averages: Averages | None) -> tuple[Array, Floats]:
        """Make steps with the slab's variance as it is; return flips and weights."""
        uniforms = self.rng.random(steps)
        flips, weights = np.zeros(steps, np.int64), np.zeros(steps)
        done = 0
        while done < steps:
            self._draw_ahead()
            made, tried, missing = _walk(
                self.rule, self.data, self.factor, self.scores, self.inverse,
                self.unused if averages is None else averages, self.rows.rows, self.rows.slot,
                uniforms[done:], self.candidates, self.hurdles, flips[done:], weights[done:],
                averages is not None, _EXPLORATION,
            )  # fmt: skip
            done += made
            self.candidates, self.hurdles = self.candidates[tried:], self.hurdles[tried:]
            if missing:
                self.add(int(flips[done - 1]), self._likely())
        return flips, weights

    def _draw_ahead(self) -> None:
        """See to it that there are candidates for some steps to come, each with its hurdle."""
        if len(self.candidates) < _AHEAD and len(self.usable):
            drawn = self.rng.choice(self.usable, size=4 * _AHEAD)
            self.candidates = np.append(self.candidates, drawn)
            self.hurdles = np.append(self.hurdles, self.rng.random(4 * _AHEAD))

    def _likely(self) -> Array:
        """Return the candidates that come in next, if their odds stay as they are."""
        even = _EXPLORATION / len(self.scores.odds)
        odds = self.scores.odds[self.candidates]
        taken = (odds > 0) & (odds <= _SMALL * even) & (self.factor.place[self.candidates] < 0)
        taken &= self.hurdles * _largest_small_rate(even) < even + odds * (1.0 + even)
        ahead = self.candidates[taken]
        return ahead[self.rows.slot[ahead] < 0][:_FETCHED_ALONG]

    def log_weight(self, rule: Any, factor: Factor) -> float:
        """Return log Z: the walk's target is the posterior times Z."""
        rates = score(rule, self.data, factor, self.scores, self.inverse, _EXPLORATION)
        return float(np.log(sum(rates)))

    def score(self) -> None:
        """Score all variables beside the present model."""
        score(self.rule, self.data, self.factor, self.scores, self.inverse, _EXPLORATION)


@kernel
def score(rule, data, factor, scores, inverse, exploration):
    """Score all variables beside a model.

    Returns the sums of the rates of flips: of variables that are out with small odds, and of all others.
    """
    k, D = factor.size[0], data.length.shape[0]
    left = factor.left[0]
    least = exploration / D
    largest = data.by_size.shape[0] - 1
    one_more = np.exp(data.by_size[k + 1] - data.by_size[k]) if k < largest else 0.0
    # Short loops of plain arithmetic, which are vectorised. What they say of members is written over.
    for j in range(D):
        usable = factor.pivot[j] > DEPENDENT * data.length[j]
        pivot = factor.pivot[j] if usable else 1.0
        drop = factor.product[j] * factor.product[j] / pivot
        odds = evidence_ratio(rule, k, left, pivot, drop) * one_more * data.odds[j]
        odds = odds if odds < _LARGEST_ODDS else _LARGEST_ODDS
        scores.odds[j] = odds if usable else 0.0
    for a in range(k):
        scores.odds[factor.members[a]] = 0.0
    small = large = 0.0
    for j in range(D):
        odds = scores.odds[j]
        rate = least + odds * (1.0 + least) if odds > 0.0 else 0.0
        small += rate if odds <= _SMALL * least else 0.0
        large += 0.0 if odds <= _SMALL * least else rate
    for j in range(D):
        scores.inclusion[j] = scores.odds[j] / (1.0 + scores.odds[j])
    f1, f2, f3 = slab_moments(rule, k, left)
    for j in range(D):
        weight = factor.product[j] / factor.pivot[j]
        scores.mean[j] = f1 * weight
        scores.square[j] = f2 * weight * weight + f3 / factor.pivot[j]
    for j in range(D):
        if scores.odds[j] > _FAINT:
            weight = factor.product[j] / factor.pivot[j]
            g1, g2, g3 = slab_moments(rule, k + 1, left - factor.product[j] * weight)
            scores.mean[j] = g1 * weight
            scores.square[j] = g2 * weight * weight + g3 / factor.pivot[j]
        elif scores.odds[j] == 0.0:
            scores.mean[j] = scores.square[j] = 0.0
    invert_root(factor.root, inverse, k)
    for a in range(k):
        j = factor.members[a]
        weight, spread = member_coefficient(factor, inverse, a, k)
        drop = weight * weight / spread
        odds = evidence_ratio(rule, k - 1, left + drop, 1.0 / spread, drop)
        odds *= np.exp(data.by_size[k] - data.by_size[k - 1]) * data.odds[j]
        scores.odds[j] = odds
        scores.inclusion[j] = 1.0 - 1.0 / (1.0 + odds)
        scores.mean[j] = f1 * weight
        scores.square[j] = f2 * weight * weight + f3 * spread
        large += 1.0 + least + least / odds
    return small, large


@kernel(inline=True)
def _largest_small_rate(least):
    return least + _SMALL * least * (1.0 + least)


@kernel
def _choose(goal, factor, scores, least):
    """Return the variable, of members and those of larger odds, at which summed rates pass a goal."""
    chosen = -1
    for j in range(scores.odds.shape[0]):
        odds = scores.odds[j]
        inside = factor.place[j] >= 0
        if inside or odds > _SMALL * least:
            chosen = j
            goal -= 1.0 + least + least / odds if inside else least + odds * (1.0 + least)
            if goal < 0.0:
                break
    return chosen


@kernel
def _walk(
    rule, data, factor, scores, inverse, averages, gram, slot, uniforms, candidates, hurdles, flips,
    weights, counts, exploration,
):  # fmt: skip
    """Make steps until all are made, candidates are used up, or a row of the Gram matrix is missing.

    Returns how many steps were made, how many candidates were tried, and whether a row is missing: the
    last flip is then left to the caller.
    """
    D = data.length.shape[0]
    least, tried = exploration / D, 0
    for step in range(flips.shape[0]):
        small, large = score(rule, data, factor, scores, inverse, exploration)
        total = small + large
        goal, chosen = uniforms[step] * total, -1
        if goal < large:
            chosen = _choose(goal, factor, scores, least)
        while chosen < 0 and tried < candidates.shape[0]:
            j, tried = candidates[tried], tried + 1
            odds = scores.odds[j]
            if factor.place[j] < 0 and 0.0 < odds <= _SMALL * least:
                rate = least + odds * (1.0 + least)
                chosen = j if hurdles[tried - 1] * _largest_small_rate(least) < rate else -1
        if chosen < 0:  # the step goes on with more candidates
            return step, tried, False
        weights[step], flips[step] = 1.0 / total, chosen
        if counts:
            averages.weight[0] += weights[step]
            averages.by_size[factor.size[0]] += weights[step]
            averages.noise[0] += weights[step] * noise_mean(rule, factor.size[0], factor.left[0])
            for j in range(D):
                p = weights[step] * scores.inclusion[j]
                averages.inclusion[j] += p
                averages.mean[j] += p * scores.mean[j]
                averages.square[j] += p * scores.square[j]
        if factor.place[chosen] >= 0:
            remove_variable(chosen, factor)
        elif slot[chosen] < 0 or factor.size[0] == factor.rows.shape[0]:
            return step + 1, tried, True
        else:
            add_variable(gram[slot[chosen]], chosen, factor)
    return flips.shape[0], tried, False
