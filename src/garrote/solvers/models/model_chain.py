"""A walk over models: its target, and what it leaves behind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.base import Slab
from garrote.priors.inclusion import Inclusion
from garrote.problem import Problem

# Equal parts of a chain whose differences tell its error.
_BATCHES = 20
# What a part of a chain, or a chain, weighs at least beside the heaviest: that changes no average, and
# the averages over the part itself stay numbers.
_LIGHTEST = 1e-100
# Sums of weights change their unit for a state whose log weight is beyond theirs by so much.
_FAR = 200.0
# Walks with one shape of the slab have no list of shapes.
NO_SLABS = np.zeros((0, 2))


@dataclass(frozen=True)
class Target:
    """The posterior over models that is sampled.

    ``inclusion`` has a place for every column of the problem, and log odds of -inf for those without
    content; ``n`` are the rows, less those ``spent`` on means.
    """

    problem: Problem
    slab: Slab
    inclusion: Inclusion
    n: float
    spent: float = 0.0

    @property
    def variance_is_unknown(self) -> bool:
        """Whether the slab's variance is to be sampled along."""
        return self.slab.variance_is_unknown

    @property
    def first_variance(self) -> float:
        """The slab's variance, or where to begin."""
        return float(self.slab.known_variance or 1.0)

    def rule(self, variance: float) -> Any:
        """Return the marginal likelihood, given the slab's variance."""
        slab, problem = self.slab.at(variance), self.problem
        return slab.rule(self.n, problem.yty, problem.n_features, self.spent)


class Averages(NamedTuple):
    """Weighted sums over states: of 1, inclusion, coefficients, their squares, 1 by size, and the noise.

    The noise variance counts by its mean given the state; models of labels have none. Weights are in
    units of exp(log_unit).
    """

    weight: Floats
    inclusion: Floats
    mean: Floats
    square: Floats
    by_size: Floats
    noise: Floats
    log_unit: Floats


def no_averages(n_features: int) -> Averages:
    """Return sums over no states."""
    mean, square, inclusion = np.zeros((3, n_features))
    weight, noise, log_unit = np.zeros((3, 1))
    return Averages(weight, inclusion, mean, square, np.zeros(n_features + 1), noise, log_unit)


@kernel
def weigh(log_weight, averages):
    """Return a state's weight in the unit of the sums so far, which follows heavier states."""
    if averages.weight[0] == 0.0 or log_weight > averages.log_unit[0] + _FAR:
        fade = np.exp(min(averages.log_unit[0] - log_weight, 0.0))
        averages.weight[0] *= fade
        averages.noise[0] *= fade
        for sums in (averages.inclusion, averages.mean, averages.square, averages.by_size):
            for i in range(sums.shape[0]):
                sums[i] *= fade
        averages.log_unit[0] = log_weight
    return np.exp(log_weight - averages.log_unit[0])


@dataclass(frozen=True)
class Sampling:
    """What one chain saw: averages, and the states themselves as flips of one variable each.

    ``start`` are the variables of the first state that counts. State t has ``weights[t]``, and differs
    from the next by ``flips[t]``, or not at all where that is -1; a state on the way of a move of
    several variables has no weight. ``batch_weight`` and ``batch_inclusion`` are the sums of weights
    and of weighted inclusions over equal parts of the chain, ``slab_variances`` belong to stretches.
    Where the slab's shape is sampled along, ``slabs`` has log variance and separation of every state.
    All weights are in units of exp(log_unit).
    """

    mean: Floats
    second_moment: Floats
    size_probability: Floats
    noise: float
    batch_weight: Floats
    batch_inclusion: Floats
    start: tuple[int, ...]
    flips: Array
    weights: Floats
    slab_variances: Floats
    slabs: Floats
    log_unit: float = 0.0

    @property
    def weight(self) -> float:
        """The sum of the weights."""
        return float(self.batch_weight.sum())

    @property
    def inclusion(self) -> Floats:
        """Inclusion probabilities."""
        return np.asarray(self.batch_inclusion.sum(axis=0) / self.weight)


class Walk(Protocol):
    """What a sampler has to offer to be run as a chain."""

    target: Target

    def begin(self, members: list[int]) -> None:
        """Start from a model of given variables."""

    @property
    def members(self) -> list[int]:
        """The variables of the present model."""

    def walk(self, steps: int, averages: Averages | None) -> "Trail":
        """Make steps, count their states in ``averages`` where it is given, and return the way."""


class Trail(NamedTuple):
    """The way of a walk: flips and logs of weights as in `Sampling`, slab variances, and slabs."""

    flips: Array
    log_weights: Floats
    variances: Floats
    slabs: Floats = NO_SLABS


def joined(trails: Sequence[Trail]) -> Trail:
    """Return one trail from consecutive ones."""
    return Trail(*(np.concatenate(parts) for parts in zip(*trails, strict=True)))


def run_chain(
    walk: Walk,
    *,
    start: Sequence[int] = (),
    steps: int = 5000,
    burn_in: int = 1000,
    report: Callable[[int, int], None] | None = None,
) -> Sampling:
    """Run one chain: ``burn_in`` steps that do not count, then ``steps`` that do.

    ``report`` is called with how many parts of the chain are done, and of how many.
    """
    walk.begin([int(j) for j in start])
    walk.walk(burn_in, None)
    first = tuple(walk.members)
    ends = (steps * np.arange(_BATCHES + 1)) // _BATCHES
    trails, batches = [], []
    for part, count in enumerate(np.diff(ends)):
        batches.append(no_averages(walk.target.problem.n_features))
        trails.append(walk.walk(int(count), batches[-1]))
        if report is not None:
            report(part + 1, _BATCHES)
    trail = joined(trails)
    weight = np.array([batch.weight[0] for batch in batches])
    units = np.array([batch.log_unit[0] for batch in batches])
    log_unit = float(units[weight > 0].max())
    share = _shares(units, log_unit)
    weight *= share
    return Sampling(
        mean=share @ np.array([batch.mean for batch in batches]) / weight.sum(),
        second_moment=share @ np.array([batch.square for batch in batches]) / weight.sum(),
        size_probability=share @ np.array([batch.by_size for batch in batches]) / weight.sum(),
        noise=float(share @ np.array([batch.noise[0] for batch in batches]) / weight.sum()),
        batch_weight=weight,
        batch_inclusion=share[:, None] * np.array([batch.inclusion for batch in batches]),
        start=first,
        flips=trail.flips,
        weights=np.exp(trail.log_weights - log_unit),
        slab_variances=trail.variances,
        slabs=trail.slabs,
        log_unit=log_unit,
    )


def _shares(log_units: Floats, best: float) -> Floats:
    """Return units in that of the heaviest."""
    return np.asarray(np.maximum(np.exp(np.minimum(log_units - best, 0.0)), _LIGHTEST))


def in_one_unit(chains: Sequence[Sampling]) -> list[Sampling]:
    """Return chains whose weights are in the same unit, so that each counts by its own."""
    units = np.array([chain.log_unit for chain in chains])
    best = float(units.max())
    return [
        replace(
            chain,
            batch_weight=share * chain.batch_weight,
            batch_inclusion=share * chain.batch_inclusion,
            weights=share * chain.weights,
            log_unit=best,
        )
        for chain, share in zip(chains, _shares(units, best), strict=True)
    ]


class Data(NamedTuple):
    """What stays the same during a walk: lengths of the columns and priors."""

    length: Floats
    by_size: Floats
    log_odds: Floats
