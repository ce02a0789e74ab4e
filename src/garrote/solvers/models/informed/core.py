"""Moves of many variables at once: a Gibbs sampler among the columns that matter most.

A step of the informed walk scores all columns, and changes the model by one variable. How many variables
are in, and which of several that share an effect, then changes slowly. Most of that change is among few
columns, the core: those that were likeliest in while the walk burnt in. On their own cross products,
with what else is in the model staying in, a step takes a microsecond or two. It draws one variable of
the core anew given all others, out or in with either sign, or two that resemble each other: neither,
one, the other or both. Each such step keeps the posterior and is reversible, and so are many of them.

Which columns are the core is settled before states count, so that it does not depend on the state.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import exponential
from garrote.solvers.algebra.factor_updates import invert_row
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.models.factor_kinds import (
    append,
    enter,
    leave,
    member_log_odds,
    newcomer_log_odds,
    pair_log_odds,
    refill,
    sign_of,
    turn,
    turning_chance,
)
from garrote.solvers.models.factor_walk import Place
from garrote.solvers.models.informed.swaps import PartnerLists
from garrote.solvers.models.model_chain import Data, Target

# Columns of the core, at most, and how likely they are in at least.
_MOST, _LEAST = 96, 0.005
# Steps for each column of the core.
_SWEEPS = 4
# The share of steps about pairs, and the absolute correlation from which on two columns are one.
_PAIRS, _RESEMBLING = 0.4, 0.4
# How often what is all but decided is drawn, beside what is not.
_EVEN = 0.05
# What was seen counts less by this factor with every look; the core is chosen at every so many looks.
_FADING, _CHOSEN_EVERY = 0.98, 5
# Pairs of partners that are likely together, not one by one, are part of it: so many of them.
_TOGETHER = 12
# Members outside of the core have room by so many.
_ROOM = 32


class Core:
    """The columns that matter most, found while a walk burns in, and moves of the model among them."""

    def __init__(self, target: Target, rows: GramRows, prior: Data):
        self._target, self._rows, self._prior = target, rows, prior
        self._seen = np.zeros(target.problem.n_features)
        self._looks = 0
        self._columns = np.zeros(0, np.int64)
        # Where each column is in the core, -1 where it is not.
        self._place = np.full(target.problem.n_features, -1, np.int64)
        self._subjects, self._summed = np.zeros((0, 2), np.int64), np.zeros(0)
        self._gram = np.zeros((0, 0))
        self._factor: Any = None
        self._xty = np.zeros(0)

    def learn(self, inclusion: Floats, factor: Any, partners: PartnerLists) -> None:
        """Look at inclusion probabilities beside a state, and choose the core by what was seen."""
        self._seen *= _FADING
        self._seen += inclusion
        self._looks += 1
        if self._looks % _CHOSEN_EVERY:
            return
        total = (1.0 - _FADING**self._looks) / (1.0 - _FADING)
        order = np.argsort(-self._seen, kind="stable")[:_MOST]
        columns = order[self._seen[order] > _LEAST * total]
        columns = np.union1d(columns, _likely_together(factor, self._rows, partners))
        if not np.array_equal(columns, self._columns):
            self._choose(columns, self._seen[columns] / total)

    def _choose(self, columns: Array, chance: Floats) -> None:
        self._columns, self._factor = columns, None
        self._place[:] = -1
        self._place[columns] = np.arange(len(columns))
        self._gram = self._target.problem.known_block(columns)
        size = np.sqrt(np.diag(self._gram))
        alike = np.triu(np.abs(self._gram) >= _RESEMBLING * size[:, None] * size, 1)
        pairs = np.argwhere(alike).astype(np.int64)
        alone = np.stack([np.arange(len(columns)), np.full(len(columns), -1)], axis=1)
        self._subjects = np.concatenate([alone, pairs])
        # Undecided ones are drawn most often.
        chance = np.clip(chance, 0.0, 1.0)
        undecided = np.sqrt(chance * (1.0 - chance)) + _EVEN
        of_pairs = undecided[pairs[:, 0]] * undecided[pairs[:, 1]]
        shares = [undecided / undecided.sum()]
        shares.append(of_pairs * (_PAIRS / (1.0 - _PAIRS) / max(of_pairs.sum(), 1e-300)))
        self._summed = np.cumsum(np.concatenate(shares))

    def moved(
        self, place: Place, empty: Callable[[int, int], Any], rng: np.random.Generator
    ) -> Place:
        """Return a place with the model that some steps lead to; ``empty`` makes a factor."""
        count = len(self._columns)
        local = self._place[place.members]
        beyond = local < 0
        outside = place.members[beyond]
        if not count or len(outside) > self._rows.most:
            return place
        everyone = self._bring_in(outside, empty)
        local[beyond] = count + np.arange(len(outside))
        steps = _SWEEPS * count
        members, signs = np.zeros(len(everyone), np.int64), np.zeros(len(everyone))
        moved, size = _walk(
            place.rule, self._data, self._factor, self._inverse, self._wide, self._all, self._xty,
            float(self._target.problem.yty), local, place.signs, self._drawn(rng, steps),
            rng.random((steps, 3)), members, signs,
        )  # fmt: skip
        if not moved:
            return place
        return place._replace(members=everyone[members[:size]], signs=signs[:size])

    def _drawn(self, rng: np.random.Generator, steps: int) -> Array:
        """Return the columns, or pairs of them, that steps are about; -1 is the second of one alone."""
        which = np.searchsorted(self._summed, rng.random(steps) * self._summed[-1], side="right")
        return self._subjects[np.minimum(which, len(self._subjects) - 1)]

    def _bring_in(self, outside: Array, empty: Callable[[int, int], Any]) -> Array:
        """Put the core and other members side by side; return which columns these are."""
        count, problem = len(self._columns), self._target.problem
        everyone = np.concatenate([self._columns, outside])
        if self._factor is None or len(everyone) > len(self._xty):
            width = count + _ROOM * (1 + len(outside) // _ROOM)
            self._factor, self._inverse = empty(width, width), np.zeros((width, width))
            self._wide, self._all = np.zeros((width, width)), np.arange(width)
            self._wide[:count, :count] = self._gram
            length, log_odds, self._xty = np.zeros((3, width))
            self._data = self._prior._replace(length=length, log_odds=log_odds)
        # Columns that are not there this time have no length, and are not drawn.
        if len(outside):
            self._rows.hold(outside)
            rows = self._rows.rows[self._rows.slot[outside][:, None], everyone]
            self._wide[count : len(everyone), : len(everyone)] = rows
            self._wide[:count, count : len(everyone)] = rows[:, :count].T
        self._data.length[: len(everyone)] = self._prior.length[everyone]
        self._data.log_odds[: len(everyone)] = self._prior.log_odds[everyone]
        self._xty[: len(everyone)] = problem.xty[everyone]
        return everyone


def _likely_together(factor: Any, rows: GramRows, partners: PartnerLists) -> Array:
    """Return columns of pairs of partners, both out, that together explain most of what is left.

    Effects that oppose each other on columns that resemble each other hide one another: either column
    alone explains next to nothing.
    """
    count = np.maximum(partners.end - partners.first, 0)
    first = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
    second = partners.columns[np.repeat(partners.first, count) + within]
    used = (first < second) & (factor.place[first] < 0) & (factor.place[second] < 0)
    used &= rows.slot[first] >= 0
    i, j = first[used], second[used]
    k = factor.size[0]
    between = rows.rows[rows.slot[i], j]
    between = between - np.einsum("ab,ab->b", factor.rows[:k, i], factor.rows[:k, j])
    own, other = factor.pivot[i], factor.pivot[j]
    left = own * other - between**2
    explained = other * factor.product[i] ** 2 + own * factor.product[j] ** 2
    explained -= 2.0 * between * factor.product[i] * factor.product[j]
    gain = np.where(left > 1e-9 * own * other, explained / np.maximum(left, 1e-300), 0.0)
    best = np.argsort(-gain, kind="stable")[:_TOGETHER]
    return np.unique(np.concatenate([i[best], j[best]]))


@kernel
def _walk(
    rule, data, factor, inverse, gram, slot, xty, yty, begin, begin_signs, chosen, uniforms, members,
    signs,
):  # fmt: skip
    """Make steps among the first columns from a model; return whether it changed, and its size.

    ``members`` and ``signs`` become those of where the steps led.
    """
    refill(factor, gram, slot, data.length, xty, yty, rule.ridge, begin, begin_signs)
    moved = False
    for step in range(uniforms.shape[0]):
        i, j = chosen[step]
        coin, sign, other_sign = uniforms[step]
        if j < 0:
            moved |= _draw_anew(rule, data, factor, inverse, gram, i, coin, sign)
        else:
            both_out = factor.place[i] < 0 and factor.place[j] < 0
            in_now = _draw_pair(rule, data, factor, inverse, gram, i, j, coin, sign, other_sign)
            moved |= in_now or not both_out
    for a in range(factor.size[0]):
        members[a] = factor.members[a]
        signs[a] = sign_of(factor, factor.members[a])
    return moved, factor.size[0]


@kernel
def _draw_anew(rule, data, factor, inverse, gram, j, coin, sign):
    """Draw variable j given all others, out or in with a sign; return whether that changed it."""
    k, a = factor.size[0], factor.place[j]
    if a < 0:
        if k == data.by_size.shape[0] - 1:
            return False
        log_odds = newcomer_log_odds(factor, rule, data, inverse, -1, j, k)
        log_odds += data.by_size[k + 1] - data.by_size[k]
        if not log_odds > -np.inf or coin * (1.0 + exponential(-log_odds)) >= 1.0:
            return False
        enter(factor, rule, gram[j], j, sign)
        return True
    invert_row(factor.root, inverse, a, k)
    log_odds = member_log_odds(factor, rule, data, inverse, a, k)
    log_odds += data.by_size[k] - data.by_size[k - 1]
    if coin * (1.0 + exponential(-log_odds)) >= 1.0:
        leave(factor, j)
        return True
    if sign < turning_chance(factor, rule, inverse, a, k):
        turn(factor, j, inverse)
        return True
    return False


@kernel
def _draw_pair(rule, data, factor, inverse, gram, i, j, coin, sign, other_sign):
    """Draw two variables given all others, neither of them, either one or both; tell if any is in."""
    for leaving in (i, j):
        if factor.place[leaving] >= 0:
            leave(factor, leaving)
    k, most = factor.size[0], data.by_size.shape[0] - 1
    if k + 1 > most:
        return True
    one, other, both, first = pair_log_odds(
        factor, rule, data, inverse, gram[i, j], i, j, k, other_sign
    )
    grows = data.by_size[k + 1] - data.by_size[k]
    again = data.by_size[k + 2] - data.by_size[k] if k + 2 <= most else -np.inf
    one, other, both = one + grows, other + grows, both + again
    high = max(max(one, other), max(both, 0.0))
    goal = coin * (
        exponential(-high)
        + exponential(one - high)
        + exponential(other - high)
        + exponential(both - high)
    )
    goal -= exponential(-high)
    if goal < 0.0:
        return False
    goal -= exponential(one - high)
    if goal < 0.0:
        enter(factor, rule, gram[i], i, sign)
        return True
    goal -= exponential(both - high)
    if goal < 0.0:
        append(factor, gram[i], i, first)
    enter(factor, rule, gram[j], j, sign)
    return True
