"""Weighted tempered Gibbs sampling over models (Zanella & Roberts 2019).

From a model every one of its D neighbours, one variable more or less, is scored; one is moved to, with
probability in proportion to (p_j + exploration / D) / P(state of j | the others), p_j being the
probability that j is in given the others. The chain leaves improbable states at once and the state's
weight 1 / Z, Z the sum of those rates, makes the averages right. They are taken of the p_j themselves
(Rao-Blackwell), so that one step tells something of every variable.

A slab variance that is not known moves along by Metropolis steps on the same weighted target.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.evidence import evidence_ratio, log_evidence, slab_moments
from garrote.priors.inclusion import Inclusion
from garrote.priors.slab import GaussianSlab, GPrior
from garrote.problem import Problem
from garrote.solvers.gram_rows import GramRows
from garrote.solvers.model_factor import (
    Factor,
    add_variable,
    begin,
    empty_factor,
    invert_root,
    remove_variable,
)

# Columns visited in one kernel call, at most: some 20 ms, so that Ctrl-C is heard.
_VISITS_PER_CALL = 2e6
# Steps between proposals of another slab variance, at least ...
_STRETCH = 10
# ... and how many of them there are between factors made anew.
_FRESH = 20
# Standard deviation of the steps of the slab's log variance.
_VARIANCE_STEP = 0.7
# Equal parts of a chain whose differences tell its error.
_BATCHES = 20
# Variables that a model has room for at first.
_ROOM = 64
# A variable of such odds has its coefficient's moments weighed so little that those of the model without
# it will do.
_FAINT = 1e-3
# A column whose pivot is below this share of its length adds nothing to those in the model.
_DEPENDENT = 1e-9


@dataclass(frozen=True)
class Sampling:
    """What one chain saw: averages, and the states themselves as flips of one variable each.

    ``start`` are the variables of the first state; each state differs from the one before by one of
    ``flips``. ``weights`` belong to the states, ``slab_variances`` to stretches of them. The averages
    leave out the first ``burn_in`` states; ``batch_weight`` and ``batch_inclusion`` are the sums of
    weights and weighted inclusions over equal parts of the rest.
    """

    mean: Floats
    second_moment: Floats
    size_probability: Floats
    batch_weight: Floats
    batch_inclusion: Floats
    start: tuple[int, ...]
    flips: Array
    weights: Floats
    burn_in: int
    slab_variances: Floats

    @property
    def weight(self) -> float:
        """The sum of the weights that count."""
        return float(self.batch_weight.sum())

    @property
    def inclusion(self) -> Floats:
        """Inclusion probabilities."""
        return np.asarray(self.batch_inclusion.sum(axis=0) / self.weight)

    @property
    def effective_size(self) -> float:
        """How many states of equal weight would say as much, their dependence not counted."""
        used = self.weights[self.burn_in :]
        return float(used.sum() ** 2 / (used**2).sum())


def sample_models(
    problem: Problem,
    slab: GaussianSlab | GPrior,
    inclusion: Inclusion,
    n: float,
    rng: np.random.Generator,
    *,
    rows: GramRows | None = None,
    start: Sequence[int] = (),
    steps: int = 5000,
    burn_in: int = 1000,
    exploration: float = 1.0,
    report: Callable[[int, int], None] | None = None,
) -> Sampling:
    """Run one chain.

    Parameters
    ----------
    problem : Problem
    slab, inclusion
        The priors.
    n : float
        Rows, less those spent on means.
    rows : GramRows, optional
        The problem's cache of Gram rows.
    start : sequence of int
        Variables of the first model.
    steps, burn_in : int
        States that count, and states before them.
    exploration : float
        How many improbable variables are tried for one probable one.
    report : callable, optional
        Called with how many parts of the chain are done, and of how many.
    """
    rows = GramRows(problem) if rows is None else rows
    chain = _Chain(problem, slab, inclusion, n, rows, rng, exploration)
    first = tuple(int(j) for j in start)
    chain.begin(list(first))
    flips, weights = np.zeros(burn_in + steps, np.int64), np.zeros(burn_in + steps)
    variances = chain.walk(flips[:burn_in], weights[:burn_in], None)
    ends = burn_in + (steps * np.arange(_BATCHES + 1)) // _BATCHES
    batches = []
    for part, (a, b) in enumerate(pairwise(ends)):
        batches.append(chain.empty_averages())
        variances += chain.walk(flips[a:b], weights[a:b], batches[-1])
        if report is not None:
            report(part + 1, _BATCHES)
    weight = np.array([batch.weight[0] for batch in batches])
    return Sampling(
        mean=sum(batch.mean for batch in batches) / weight.sum(),
        second_moment=sum(batch.square for batch in batches) / weight.sum(),
        size_probability=sum(batch.by_size for batch in batches) / weight.sum(),
        batch_weight=weight,
        batch_inclusion=np.array([batch.inclusion for batch in batches]),
        start=first,
        flips=flips,
        weights=weights,
        burn_in=burn_in,
        slab_variances=np.array(variances),
    )


class _Chain:
    """A model, its factor and the slab's variance, moved by kernels; missing rows are fetched."""

    def __init__(
        self,
        problem: Problem,
        slab: GaussianSlab | GPrior,
        inclusion: Inclusion,
        n: float,
        rows: GramRows,
        rng: np.random.Generator,
        exploration: float,
    ):
        D = problem.n_features
        self.problem, self.slab, self.n, self.rows, self.rng = problem, slab, n, rows, rng
        self.data = Data(
            problem.curvature, inclusion.by_size, np.exp(inclusion.log_odds), exploration
        )
        self.rates = Rates(*(np.zeros(D) for _ in range(4)))
        self.nothing = self.empty_averages()
        self.age = 0
        self.moves = isinstance(slab, GaussianSlab) and slab.variance is None
        self.variance = 1.0 if self.moves else float(getattr(slab, "variance", np.nan))

    def empty_averages(self) -> "Averages":
        """Return sums over no states."""
        D = self.problem.n_features
        return Averages(np.zeros(1), np.zeros(D), np.zeros(D), np.zeros(D), np.zeros(D + 1))

    def _rule(self, variance: float) -> Any:
        slab = self.slab
        if isinstance(slab, GaussianSlab) and self.moves:
            slab = replace(slab, variance=variance)
        return slab.rule(self.n, self.problem.yty, self.problem.n_features)

    def begin(self, members: list[int]) -> None:
        """Make the chain's model one of given variables."""
        room = max(_ROOM, 2 * len(members))
        self.rule = self._rule(self.variance)
        self.factor = self._factor(self.rule, members, room)
        self.inverse = np.zeros((room, room))

    def _factor(self, rule: Any, members: list[int], room: int) -> Factor:
        problem = self.problem
        factor = empty_factor(problem.n_features, room)
        begin(problem.curvature, problem.xty, problem.yty, rule.ridge, factor)
        for j in members:
            self.rows.fetch(j, np.array(members))
            add_variable(self.rows.rows[self.rows.slot[j]], j, factor)
        return factor

    @property
    def members(self) -> list[int]:
        return [int(j) for j in self.factor.members[: self.factor.size[0]]]

    def walk(self, flips: Array, weights: Floats, averages: "Averages | None") -> list[float]:
        """Make as many steps as there are ``flips`` to fill in; return the slab variances on the way."""
        most = max(1, int(_VISITS_PER_CALL / self.problem.n_features))
        variances: list[float] = []
        done = 0
        while done < len(flips):
            # A proposal costs about as much as a step for every member of the model.
            stretch = min(max(_STRETCH, int(self.factor.size[0])), most)
            piece = slice(done, done + stretch)
            self._walk(flips[piece], weights[piece], averages)
            done += stretch
            self._refresh()
            self._move_variance()
            variances.append(self.variance)
        return variances

    def _walk(self, flips: Array, weights: Floats, averages: "Averages | None") -> None:
        uniforms = self.rng.random(len(flips))
        done = 0
        while done < len(flips):
            made, missing = _walk(
                self.rule, self.data, self.factor, self.rates, self.inverse,
                self.nothing if averages is None else averages, self.rows.rows, self.rows.slot,
                uniforms[done:], flips[done:], weights[done:], averages is not None,
            )  # fmt: skip
            done += made
            if missing:
                self._add(int(flips[done - 1]))

    def _add(self, j: int) -> None:
        if self.factor.size[0] == len(self.factor.members):
            self.begin(self.members)
        self.rows.fetch(j, np.array(self.members, dtype=np.int64))
        add_variable(self.rows.rows[self.rows.slot[j]], j, self.factor)

    def _refresh(self) -> None:
        """Make the factor anew now and then, which ends the drift of its rounding errors."""
        self.age += 1
        if self.age % _FRESH == 0:
            self.factor = self._factor(self.rule, self.members, len(self.factor.members))

    def _move_variance(self) -> None:
        """Propose another slab variance, given the model, on the target that the walk has.

        That target is the posterior times Z, so that Z at both variances enters.
        """
        if not self.moves:
            return
        proposed = float(self.variance * np.exp(_VARIANCE_STEP * self.rng.standard_normal()))
        rule = self._rule(proposed)
        there = self._factor(rule, self.members, len(self.factor.members))
        gain = self._log_target(rule, there, proposed) - self._log_target(
            self.rule, self.factor, self.variance
        )
        if np.log(self.rng.random()) < gain:
            self.rule, self.factor, self.variance = rule, there, proposed

    def _log_target(self, rule: Any, factor: Factor, variance: float) -> float:
        k = int(factor.size[0])
        log_det = 2.0 * float(np.log(np.diag(factor.root)[:k]).sum())
        total = _score(rule, self.data, factor, self.rates, self.inverse)
        log_posterior = log_evidence(rule, k, log_det, float(factor.left[0]))
        return float(log_posterior + GaussianSlab.log_density(np.log(variance)) + np.log(total))


class Rates(NamedTuple):
    """Of every variable: the probability to be in given the others, its coefficient then, the rate."""

    inclusion: Floats
    mean: Floats
    square: Floats
    rate: Floats


class Averages(NamedTuple):
    """Weighted sums over the states seen: of 1, of the rates' values, and of 1 by size."""

    weight: Floats
    inclusion: Floats
    mean: Floats
    square: Floats
    by_size: Floats


class Data(NamedTuple):
    """What stays the same: lengths of the columns, priors, exploration."""

    length: Floats
    by_size: Floats
    odds: Floats
    exploration: float


@kernel
def _score(rule, data, factor, rates, inverse):
    """Fill in the rates of all flips and return their sum."""
    k, D = factor.size[0], data.length.shape[0]
    left = factor.left[0]
    least = data.exploration / D
    total = 0.0
    largest = data.by_size.shape[0] - 1
    one_more = np.exp(data.by_size[k + 1] - data.by_size[k]) if k < largest else 0.0
    f1, f2, f3 = slab_moments(rule, k, left)
    for j in range(D):
        pivot = factor.pivot[j]
        nothing = data.length[j] <= 0 or pivot <= _DEPENDENT * data.length[j]
        if nothing or factor.place[j] >= 0 or k == largest:
            rates.inclusion[j] = rates.mean[j] = rates.square[j] = rates.rate[j] = 0.0
            continue
        drop = factor.product[j] * factor.product[j] / pivot
        odds = evidence_ratio(rule, k, left, pivot, drop) * one_more * data.odds[j]
        weight = factor.product[j] / pivot
        if odds < _FAINT:
            p = odds / (1.0 + odds)
            rates.mean[j] = f1 * weight
            rates.square[j] = f2 * weight * weight + f3 / pivot
        else:
            p = 1.0 - 1.0 / (1.0 + odds)
            g1, g2, g3 = slab_moments(rule, k + 1, left - drop)
            rates.mean[j] = g1 * weight
            rates.square[j] = g2 * weight * weight + g3 / pivot
        rates.inclusion[j] = p
        rates.rate[j] = min((p + least) * (1.0 + odds), 1e200)
        total += rates.rate[j]
    invert_root(factor.root, inverse, k)
    for a in range(k):
        j = factor.members[a]
        weight = spread = 0.0
        for b in range(a, k):
            weight += inverse[a, b] * factor.scores[b]
            spread += inverse[a, b] * inverse[a, b]
        drop = weight * weight / spread
        odds = evidence_ratio(rule, k - 1, left + drop, 1.0 / spread, drop)
        odds *= np.exp(data.by_size[k] - data.by_size[k - 1]) * data.odds[j]
        p = 1.0 - 1.0 / (1.0 + odds)
        rates.inclusion[j] = p
        rates.mean[j] = f1 * weight
        rates.square[j] = f2 * weight * weight + f3 * spread
        rates.rate[j] = (p + least) / max(p, 1e-300)
        total += rates.rate[j]
    return total


@kernel
def _walk(
    rule, data, factor, rates, inverse, averages, gram, slot, uniforms, flips, weights, burnt
):
    """Make steps until the uniforms are used up, or a row of the Gram matrix is missing.

    Returns how many steps were made. The flip of the last one is not carried out if its row is missing:
    it is in ``flips``, to be carried out by the caller.
    """
    D = data.length.shape[0]
    for step in range(uniforms.shape[0]):
        total = _score(rule, data, factor, rates, inverse)
        weight = 1.0 / total
        weights[step] = weight
        if burnt:
            averages.weight[0] += weight
            averages.by_size[factor.size[0]] += weight
            for j in range(D):
                p = weight * rates.inclusion[j]
                averages.inclusion[j] += p
                averages.mean[j] += p * rates.mean[j]
                averages.square[j] += p * rates.square[j]
        goal, chosen = uniforms[step] * total, -1
        for j in range(D):
            if rates.rate[j] > 0.0:
                chosen = j
                goal -= rates.rate[j]
                if goal < 0.0:
                    break
        flips[step] = chosen
        if factor.place[chosen] >= 0:
            remove_variable(chosen, factor)
        elif slot[chosen] < 0 or factor.size[0] == factor.rows.shape[0]:
            return step + 1, True
        else:
            add_variable(gram[slot[chosen]], chosen, factor)
    return uniforms.shape[0], False
