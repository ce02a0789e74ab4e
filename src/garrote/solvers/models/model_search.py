"""A search among models that visits none twice (Murphy 2012, section 13.2.3.2, Eq. 13.31).

The probability of a model is known up to a constant, so there is no need to count visits. From a model
all of its D neighbours are scored at once; the next model to be expanded so is drawn from all models
scored before, without replacement, in proportion to a power of their probability. Those worth it are
kept, and their probabilities are relative to the sum over what was kept: what was never seen is missing,
which the share found late in the search gives an idea of.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.priors.evidence import log_evidence
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.algebra.model_factor import dependent_share, remove_variable
from garrote.solvers.models.informed_sampler import InformedWalk
from garrote.solvers.models.model_chain import Target
from garrote.solvers.models.scored_models import NOBODY, Keys, ModelList, Neighbours

# Models less probable than the best by this (in logs) are dropped.
NEGLIGIBLE = 16.0
# Models are expanded in proportion to this power of their probability: below 1, to go far.
_POWER = 0.7
# Columns that depend on a model and are exchanged for its own, at most; the least part of one in them.
_MOST_DEPENDENT = 100
# The seed of the numbers by which models are told apart.
_KEYS = 13
# Expansions between reports.
_REPORTED = 100


@dataclass(frozen=True)
class FoundModels:
    """The models that were seen, with their log weights, and how often variables are in.

    ``keys`` are equal for equal models. ``late_share`` is the part of the sum of weights that the last
    tenth of the expansions found. ``columns`` are those of the models that were expanded: others have
    one variable more at most, which is their last.
    """

    log_total: float
    inclusion: Floats
    found: Neighbours
    keys: Array
    log_weights: Floats
    late_share: float
    columns: Array


def search_models(
    target: Target,
    rng: np.random.Generator,
    *,
    rows: GramRows | None = None,
    start: list[int],
    expansions: int = 1000,
    report: Callable[[int, int], None] | None = None,
) -> FoundModels:
    """Expand models of a slab of known variance, beginning with one and with the empty model."""
    walk = InformedWalk(target, rng, rows, swaps=False)
    walk.begin([])
    seen = _Seen(rng, expansions, target.problem.n_features)
    for model in {frozenset(): 0, frozenset(start): 0}:
        _move(walk, model)
        seen.begin_with(sorted(model), walk.log_posterior())
    done, expanded = 0, set(start)
    while seen.waiting and done < expansions:
        waited = seen.next()
        if waited.log_weight < seen.best - NEGLIGIBLE:
            continue
        parent = seen.expand(waited)
        model = frozenset(parent.members)
        _move(walk, model)
        expanded |= model
        neighbours = waited.log_weight + _log_ratios(walk)
        best = max(seen.best, float(neighbours.max(initial=-np.inf)))
        near = np.flatnonzero(neighbours >= best - NEGLIGIBLE)
        inside = walk.factor.place[near] >= 0
        leaves, comes = np.where(inside, near, NOBODY), np.where(inside, NOBODY, near)
        seen.add(parent, leaves, comes, neighbours[near], done)
        if walk.rule.ridge == 0.0:
            seen.add(parent, *_exchanges(walk, waited.log_weight), done)
        done += 1
        if report is not None and done % _REPORTED == 0:
            report(done, expansions)
    # A single expansion tells nothing of what others would find, unless there are none.
    late_from = max(done - max(done // 10, 1), 0 if seen.waiting else 1)
    return _summary(seen, late_from, target.problem.n_features, expanded)


def pursue_models(
    target: Target,
    rng: np.random.Generator,
    *,
    rows: GramRows | None = None,
    beam: int = 20,
    most: int,
) -> FoundModels:
    """Grow the ``beam`` most probable models of each size by every variable, from the empty one on.

    Bayesian matching pursuit (Schniter, Potter & Ziniel 2008). It ends with models of ``most`` columns,
    or where all of a size are improbable beside the best.
    """
    walk = InformedWalk(target, rng, rows, swaps=False)
    walk.begin([])
    seen = _Seen(rng, 1, target.problem.n_features)
    seen.begin_with([], walk.log_posterior())
    grown: list[tuple[float, tuple[int, ...]]] = [(walk.log_posterior(), ())]
    expanded: set[int] = set()
    size = 0
    while size < most and grown and grown[0][0] >= seen.best - NEGLIGIBLE:
        following: dict[tuple[int, ...], float] = {}
        for rank, (log_weight, members) in enumerate(grown):
            _move(walk, frozenset(members))
            expanded |= set(members)
            neighbours = log_weight + _log_ratios(walk)
            outside = np.flatnonzero((walk.factor.place < 0) & np.isfinite(neighbours))
            order = outside[np.argsort(-neighbours[outside], kind="stable")]
            nobody = np.full(len(order), NOBODY)
            seen.add(seen.parent(members), nobody, order, neighbours[order], rank)
            for j in order[:beam].tolist():
                following[tuple(sorted((*members, j)))] = float(neighbours[j])
        best = heapq.nlargest(beam, following.items(), key=lambda each: each[1])
        grown = [(log_weight, members) for members, log_weight in best]
        size += 1
    # What the less probable half of the beam still found tells of what a wider one would.
    return _summary(seen, beam // 2, target.problem.n_features, expanded)


class _Parent(NamedTuple):
    """A model whose neighbours are listed: its place among such, members, and key."""

    place: int
    members: tuple[int, ...]
    key: int


class _Waiting(NamedTuple):
    """A model that waits: by its place, as a parent with one variable less and one more."""

    place: float
    order: int
    log_weight: float
    parent: _Parent
    leaves: int
    comes: int


class _Seen:
    """Models with their log weights and when they were seen, and which wait to be expanded.

    A model is listed as a neighbour of its parent. Two that differ have different keys: sums, bit by
    bit, of random numbers of 63 bits, of which a million are all different but once in 10 million times.
    No more models are ever expanded than ``expansions``: of those waiting only as many of the foremost
    are kept, which most models never are.
    """

    def __init__(self, rng: np.random.Generator, expansions: int, n_features: int):
        self.count, self.best = 0, -np.inf
        self.parents: list[tuple[int, ...]] = []
        self.listed: list[tuple[Array, ...]] = []
        self.waiting: list[_Waiting] = []
        self._known = Keys()
        # The same in every search, so that their models can be compared; 0 for NOBODY, the last entry.
        bits = np.random.default_rng(_KEYS).integers(2**63, size=n_features)
        self._bits = np.append(bits, 0)
        self._rng, self._most, self._last = rng, max(expansions, 1), np.inf

    def begin_with(self, members: list[int], log_weight: float) -> None:
        """Take note of a model to start from, which was found as no other model's neighbour."""
        nobody = np.array([NOBODY])
        self.add(self.parent(tuple(members)), nobody, nobody, np.array([log_weight]), 0)

    def expand(self, waited: _Waiting) -> _Parent:
        """Make a model that waited a parent."""
        members = tuple(j for j in waited.parent.members if j != waited.leaves)
        return self.parent(members + (waited.comes,) * (waited.comes != NOBODY))

    def parent(self, members: tuple[int, ...]) -> _Parent:
        """Make a model one whose neighbours are listed."""
        self.parents.append(members)
        key = int(np.bitwise_xor.reduce(self._bits[list(members)], initial=1))
        return _Parent(len(self.parents) - 1, members, key)

    def add(
        self, parent: _Parent, leaves: Array, comes: Array, log_weights: Floats, at: int
    ) -> None:
        """Take note of neighbours that are seen for the first time."""
        # Gumbel noise makes the largest first a draw without replacement.
        places = -_POWER * log_weights - self._rng.gumbel(size=len(log_weights))
        keys = parent.key ^ self._bits[leaves] ^ self._bits[comes]
        new = np.flatnonzero(self._known.add(keys))
        logs, leaves, comes, places = log_weights[new], leaves[new], comes[new], places[new]
        self.best = max(self.best, float(logs.max(initial=-np.inf)))
        for k in np.flatnonzero(places < self._last).tolist():
            heapq.heappush(
                self.waiting,
                _Waiting(
                    float(places[k]), self.count + k, float(logs[k]), parent, int(leaves[k]),
                    int(comes[k]),
                ),
            )  # fmt: skip
        self.count += len(new)
        same = np.full((2, len(new)), [[parent.place], [at]])
        self.listed.append((keys[new], logs, leaves, comes, *same))
        if len(self.waiting) > 4 * self._most:
            self.waiting = heapq.nsmallest(self._most, self.waiting)
            self._last = self.waiting[-1].place

    def next(self) -> _Waiting:
        """Return the foremost of the models that wait."""
        return heapq.heappop(self.waiting)


def _move(walk: InformedWalk, model: frozenset[int]) -> None:
    """Make a model the present one, by the flips it takes."""
    present = set(walk.members)
    if len(present ^ model) > len(model) + 1:
        walk.begin(sorted(model))
        return
    for j in sorted(present - model):
        remove_variable(j, walk.factor)
    for j in sorted(model - present):
        walk.add(j)


def _log_ratios(walk: InformedWalk) -> Floats:
    """Return how much every flip changes the log weight of the present model."""
    walk.score()
    log_ratios = walk.scores.log_odds.copy()
    log_ratios[walk.members] *= -1.0
    return log_ratios


def _exchanges(walk: InformedWalk, log_weight: float) -> tuple[Array, Array, Floats]:
    """Return who leaves, who comes, and log weights, for columns that depend on those of the model.

    They explain as much as one of these, or nearly, but no model with all of the columns leads there.
    Beside a slab it does. A column is in only where it has something beyond the members that stay, as
    after a flip.
    """
    factor, rule, prior = walk.factor, walk.rule, walk.target.inclusion
    k, length = int(factor.size[0]), walk.target.problem.curvature
    least = dependent_share(rule) * length
    dependent = (factor.pivot <= least) & (length > 0) & (factor.place < 0)
    columns = np.flatnonzero(dependent)[:_MOST_DEPENDENT]
    if not len(columns) or not k:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    members = factor.members[:k]
    inverse = np.linalg.inv(factor.root[:k, :k])
    spread = np.sum(inverse**2, axis=1)
    coef = inverse @ factor.scores[:k]
    # Of each dependent column: its coefficients on the members, and what it has beyond all but one.
    along = inverse @ factor.rows[:k, columns]
    pivot = np.maximum(factor.pivot[columns], 0.0) + along**2 / spread[:, None]
    product = factor.product[columns] + along * (coef / spread)[:, None]
    leaves, comes = np.nonzero(pivot > least[columns])
    gained = product[leaves, comes] ** 2 / pivot[leaves, comes]
    left = np.maximum(factor.left[0] + (coef**2 / spread)[leaves] - gained, 0.0)
    evidence = np.array([log_evidence(rule, k, 0.0, each) for each in left.tolist()])
    evidence -= log_evidence(rule, k, 0.0, float(factor.left[0]))
    leaves, comes = members[leaves], columns[comes]
    return leaves, comes, log_weight + evidence + prior.log_odds[comes] - prior.log_odds[leaves]


def _summary(seen: _Seen, late_from: int, n_features: int, expanded: set[int]) -> FoundModels:
    columns = zip(*seen.listed, strict=True)
    keys, logs, leaves, comes, parent, at = (np.concatenate(parts) for parts in columns)
    kept = np.flatnonzero(logs >= seen.best - NEGLIGIBLE)
    # Neighbours with one variable more are scored together: those with one less are after them.
    kept = kept[np.argsort(2 * parent[kept] + (comes[kept] == NOBODY), kind="stable")]
    found = Neighbours(ModelList.of(seen.parents), parent[kept], leaves[kept], comes[kept])
    weights = np.exp(logs[kept] - seen.best)
    total = weights.sum()
    return FoundModels(
        log_total=float(seen.best + np.log(total)),
        inclusion=found.inclusion(weights, n_features) / total,
        found=found,
        keys=keys[kept],
        log_weights=logs[kept],
        late_share=float(weights[at[kept] >= late_from].sum() / total),
        columns=np.array(sorted(expanded), dtype=np.int64),
    )
