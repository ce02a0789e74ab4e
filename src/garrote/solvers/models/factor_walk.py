"""Walks whose state is a model with its factor, and the slab's variance.

Kernels move the model. Between stretches of their steps another place is proposed: another variance of
the slab, where that is not known, and where a walk can also another model.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.limits.budgets import VISITS_PER_CALL
from garrote.priors.evidence import log_evidence
from garrote.solvers.algebra.factor_updates import factor_column
from garrote.solvers.algebra.gram_rows import NO_COLUMNS, GramRows
from garrote.solvers.algebra.model_factor import dependent_share, empty_factor
from garrote.solvers.models.factor_kinds import append, enter, log_state_evidence, refill
from garrote.solvers.models.model_chain import (
    NO_SLABS,
    Averages,
    Data,
    Target,
    Trail,
    joined,
    no_averages,
)

# Stretches of steps between factors made anew.
_FRESH = 20
# Standard deviations of steps of the slab's log variance, by chance: beside few effects it is known to
# some powers of ten, beside many well. So many are made at a time, twice between two stretches.
_VARIANCE_STEPS, _TRIES = (2.0, 0.7, 0.2), 2
# Columns beyond which a proposal of another slab variance is dear.
_WIDE = 2000
# Variables that a model has room for at first.
_ROOM = 64


class Place(NamedTuple):
    """Where a walk is, or may go: a model with signs, and the slab beside it."""

    members: Array
    signs: Floats
    log_variance: float
    shape: int
    rule: Any


class FactorWalk:
    """The state of a walk, and its moves but for those of the model.

    Rows of the Gram matrix that kernels miss are fetched.
    """

    # Steps between proposals of another place, at least.
    least_stretch = 20
    # How often model and slab move in turn for one.
    rounds = 1

    def __init__(self, target: Target, rng: np.random.Generator, rows: GramRows | None = None):
        self.target, self.rng = target, rng
        self.rows = GramRows(target.problem) if rows is None else rows
        prior = target.inclusion
        self.data = Data(target.problem.curvature, prior.by_size, prior.log_odds)
        self.variance = target.first_variance
        self.unused = no_averages(target.problem.n_features)
        self._age = 0
        self._stretch = self.least_stretch

    def stretch(self, steps: int, averages: Averages | None) -> tuple[Array, Floats]:
        """Make steps with the slab's variance as it is; return flips and logs of weights."""
        raise NotImplementedError

    def log_weight(self, rule: Any, factor: Any) -> float:
        """Return the log ratio of the chain's own target to the posterior."""
        return 0.0

    def begin(self, members: list[int]) -> None:
        """Start from a model of given variables, or from the empty one where that has no probability.

        Without a slab of its own no model has variables that depend on each other: a walk that began
        with such a model would have no odds to go by.
        """
        self.rule = self._present_rule()
        self._make_room(members, self._first_signs(members))
        if not self._is_possible():
            self._make_room([], np.zeros(0))

    def _is_possible(self) -> bool:
        """Tell whether the present model has any probability."""
        members = self.members
        pivots = np.diag(self.factor.root)[: len(members)] ** 2
        least = dependent_share(self.rule) * self.target.problem.curvature[members]
        return bool((pivots > least).all() and np.isfinite(self.log_posterior()))

    def _present_rule(self) -> Any:
        """Return the marginal likelihood, given the slab as it is."""
        return self.target.rule(self.variance)

    def _first_signs(self, members: list[int]) -> Floats:
        """Return the signs that variables begin with: they have none."""
        return np.zeros(len(members))

    def _signs(self, members: list[int]) -> Floats:
        """Return the signs of members: they have none."""
        return np.zeros(len(members))

    def _coins(self, uniforms: Floats) -> Floats:
        """Return what newcomers' signs are drawn by: they have none."""
        return uniforms

    def _make_room(self, members: list[int], signs: Floats, wanted: int = 0) -> None:
        room = max(_ROOM, 2 * len(members), wanted)
        D = self.target.problem.n_features
        # Two of them: one is made anew while the other is in use, and memory is asked for only here.
        self.factor, self._spare = self._empty(D, room), self._empty(D, room)
        self._fill(self.factor, self.rule, members, signs)
        self.inverse = np.zeros((room, room))

    def _empty(self, n_features: int, room: int) -> Any:
        """Return a factor with room for models of some size."""
        return empty_factor(n_features, room)

    def _fill(self, factor: Any, rule: Any, members: list[int], signs: Floats) -> None:
        """Make a factor that of a model, under a rule."""
        problem, rows = self.target.problem, self.rows
        everyone = np.array(members, dtype=np.int64)
        held = everyone[: rows.most]
        rows.hold(held)
        _refill(
            factor, rows.rows, rows.slot, problem.curvature, problem.xty, float(problem.yty),
            rule.ridge, held, signs[: len(held)],
        )  # fmt: skip
        for j, sign in zip(members[len(held) :], signs[len(held) :], strict=True):
            rows.fetch(j, everyone)
            _append(factor, rows.rows[rows.slot[j]], j, sign)

    def log_posterior(self) -> float:
        """Return log evidence and log prior of the present model, added up."""
        prior, members = self.target.inclusion, self.members
        odds = float(prior.log_odds[members].sum()) + float(prior.by_size[len(members)])
        return odds + float(log_state_evidence(self.factor, self.rule))

    def _take_spare(self) -> None:
        self.factor, self._spare = self._spare, self.factor

    @property
    def members(self) -> list[int]:
        """The variables of the present model."""
        return [int(j) for j in self.factor.members[: self.factor.size[0]]]

    def add(self, j: int, likely: Array = NO_COLUMNS) -> None:
        """Take variable j in; rows of ``likely`` newcomers are fetched along."""
        members = self.members
        if len(members) == len(self.factor.members):
            self._make_room(members, self._signs(members))
        self.rows.fetch(j, np.array(members, dtype=np.int64), likely)
        coin = self._coins(np.zeros(1))[0]
        _come_in(self.factor, self.rule, self.rows.rows[self.rows.slot[j]], j, coin)

    def walk(self, steps: int, averages: Averages | None) -> Trail:
        """Make steps, count their states in ``averages`` where it is given, and return the way."""
        most = max(1, int(VISITS_PER_CALL / self.target.problem.n_features))
        trails = [Trail(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))]
        done = 0
        while done < steps:
            if averages is None:
                # A proposal costs about as much as a step for every second member of the model, which
                # matters where columns are many. The length is found while burning in: were it to
                # follow the state, the walk would not keep its target.
                wide = self.target.problem.n_features > _WIDE
                self._stretch = max(self.least_stretch, (1 + wide) * len(self.members))
            count = min(self._stretch, most, steps - done)
            flips, log_weights = self.stretch(count, averages)
            done += count
            self._refresh()
            slabs = self._slab_of(len(flips))
            # States on the way to another model do not count.
            way = self._move(averages is not None)
            trails.append(
                Trail(
                    np.concatenate([flips, way]),
                    np.concatenate([log_weights, np.full(len(way), -np.inf)]),
                    np.array([self.variance]),
                    np.concatenate([slabs, self._slab_of(len(way))]),
                )
            )
        return joined(trails)

    def _slab_of(self, states: int) -> Floats:
        """Return log variance and separation of the slab for each of some states, if it is sampled."""
        return NO_SLABS

    def _refresh(self) -> None:
        """Make the factor anew now and then, which ends the drift of its rounding errors."""
        self._age += 1
        if self._age % _FRESH == 0:
            members = self.members
            self._fill(self._spare, self.rule, members, self._signs(members))
            self._take_spare()

    def _move(self, settled: bool) -> Array:
        """Move to another place, or stay; return the variables by which the models differ.

        Steps of the slab and of the model are made in turn on the posterior. Each keeps it and is
        reversible, and they come alike in either order, so that all of them together are reversible.
        Where they lead is then accepted by what the walk's weights make of it (Christen & Fox 2005).
        ``settled`` says that states count: how the walk moves may not change any more.
        """
        begin = self._place()
        now = self._other_slab(begin)
        for _ in range(self.rounds):
            now = self._other_slab(self._other_model(now, settled))
        if now is begin:
            return NO_COLUMNS
        if len(now.members) > len(self.factor.members):
            self._make_room(self.members, begin.signs, 2 * len(now.members))
        weight = self.log_weight(self.rule, self.factor)
        self._fill(self._spare, now.rule, [int(j) for j in now.members], now.signs)
        if np.log(self.rng.random()) >= self.log_weight(now.rule, self._spare) - weight:
            return NO_COLUMNS
        self._take_spare()
        self._take_slab(now)
        if now.members is begin.members:
            return NO_COLUMNS
        return np.setxor1d(begin.members, now.members)

    def _place(self) -> Place:
        """Return where the walk is."""
        members = np.array(self.members, dtype=np.int64)
        return Place(members, self._signs(self.members), float(np.log(self.variance)), 0, self.rule)

    def _take_slab(self, place: Place) -> None:
        """Make the slab that of a place."""
        self.rule, self.variance = place.rule, float(np.exp(place.log_variance))

    def _other_model(self, place: Place, settled: bool) -> Place:
        """Return a place with another model, or the same."""
        return place

    def _other_slab(self, place: Place) -> Place:
        """Return a place with another slab variance, or the same.

        Some Metropolis steps are made on the posterior, which needs the model's own cross products
        alone.
        """
        if not self.target.variance_is_unknown:
            return place
        block, products = self._cross_products(place.members)
        known = self._log_given_model(place.rule, place.log_variance, block, products)
        for _ in range(_TRIES):
            scale = _VARIANCE_STEPS[self.rng.integers(len(_VARIANCE_STEPS))]
            log_variance = place.log_variance + scale * float(self.rng.standard_normal())
            rule = self.target.rule(float(np.exp(log_variance)))
            log_there = self._log_given_model(rule, log_variance, block, products)
            if np.log(self.rng.random()) < log_there - known:
                place, known = place._replace(log_variance=log_variance, rule=rule), log_there
        return place

    def _log_given_model(
        self, rule: Any, log_variance: float, block: Floats, products: Floats
    ) -> float:
        """Return the log posterior of a slab variance beside the model of some cross products."""
        log_density = float(self.target.slab.log_density(log_variance))
        return log_density + _block_evidence(rule, block, products, float(self.target.problem.yty))

    def _cross_products(self, members: Array) -> tuple[Floats, Floats]:
        """Return the cross products of a model's columns, and with the response."""
        problem = self.target.problem
        if len(members) > self.rows.most:
            return problem.known_block(members), problem.xty[members]
        self.rows.hold(members)
        return self.rows.rows[self.rows.slot[members][:, None], members], problem.xty[members]


@kernel
def _refill(factor, gram, slot, lengths, xty, yty, ridge, members, signs):
    refill(factor, gram, slot, lengths, xty, yty, ridge, members, signs)


@kernel
def _append(factor, gram_row, j, sign):
    append(factor, gram_row, j, sign)


@kernel
def _come_in(factor, rule, gram_row, j, coin):
    enter(factor, rule, gram_row, j, coin)


@kernel
def _block_evidence(rule, block, products, yty):
    """Return the log evidence of a model by its own cross products."""
    k, log_det, left = products.shape[0], 0.0, yty
    root, scores = np.zeros((k, k)), np.zeros(k)
    for a in range(k):
        for b in range(a):
            root[b, a] = block[b, a]
        pivot = factor_column(root, a, block[a, a] + rule.ridge)
        root[a, a] = np.sqrt(pivot)
        scores[a] = products[a]
        for b in range(a):
            scores[a] -= root[b, a] * scores[b]
        scores[a] /= root[a, a]
        left -= scores[a] * scores[a]
        log_det += np.log(pivot)
    return log_evidence(rule, k, log_det, max(left, 0.0))
