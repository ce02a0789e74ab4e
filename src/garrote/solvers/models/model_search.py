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

import numpy as np

from garrote.arrays import Array, Floats
from garrote.priors.evidence import log_evidence
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.algebra.model_factor import dependent_share, log_determinant, remove_variable
from garrote.solvers.models.informed_sampler import InformedWalk
from garrote.solvers.models.model_chain import Target
from garrote.solvers.models.scored_models import ModelList

# Models less probable than the best by this (in logs) are dropped.
NEGLIGIBLE = 16.0
# Models are expanded in proportion to this power of their probability: below 1, to go far.
_POWER = 0.7
# Columns that depend on a model and are exchanged for its own, at most; the least part of one in them.
_MOST_DEPENDENT = 100
# Expansions between reports.
_REPORTED = 100


@dataclass(frozen=True)
class FoundModels:
    """The models that were seen, best first, with their log weights, and how often variables are in.

    ``late_share`` is the part of the sum of weights that the last tenth of the expansions found.
    ``columns`` are those of the models that were expanded: others have one variable more at most.
    """

    log_total: float
    inclusion: Floats
    members: list[tuple[int, ...]]
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
    walk = InformedWalk(target, rng, rows)
    walk.begin([])
    seen = _Seen(rng, expansions)
    for model in {frozenset(): 0, frozenset(start): 0}:
        _move(walk, model)
        seen.add([model], np.array([_log_weight(walk)]), 0)
    done, expanded = 0, set(start)
    while seen.waiting and done < expansions:
        model = seen.next()
        if seen.found[model] < seen.best - NEGLIGIBLE:
            continue
        _move(walk, model)
        expanded |= model
        neighbours = seen.found[model] + _log_ratios(walk)
        best = max(seen.best, float(neighbours.max(initial=-np.inf)))
        near = np.flatnonzero(neighbours >= best - NEGLIGIBLE)
        seen.add([model ^ {j} for j in near.tolist()], neighbours[near], done)
        seen.add(*_exchanges(walk, model, seen.found[model]), done)
        done += 1
        if report is not None and done % _REPORTED == 0:
            report(done, expansions)
    # A single expansion tells nothing of what others would find, unless there are none.
    late_from = max(done - max(done // 10, 1), 0 if seen.waiting else 1)
    return _summary(seen, late_from, target.problem.n_features, expanded)


class _Seen:
    """Models with their log weights and when they were seen, and which wait to be expanded.

    No more are ever expanded than ``expansions``: of those waiting only as many of the foremost are
    kept, which most models never are.
    """

    def __init__(self, rng: np.random.Generator, expansions: int):
        self.found: dict[frozenset[int], float] = {}
        self.at: list[int] = []
        self.best = -np.inf
        self.waiting: list[tuple[float, int, frozenset[int]]] = []
        self._rng, self._most, self._last = rng, max(expansions, 1), np.inf

    def add(self, models: list[frozenset[int]], log_weights: Floats, at: int) -> None:
        """Take note of models that are seen for the first time."""
        # Gumbel noise makes the largest first a draw without replacement.
        places = -_POWER * log_weights - self._rng.gumbel(size=len(models))
        found, before = self.found, len(self.found)
        for model, log_weight, place in zip(
            models, log_weights.tolist(), places.tolist(), strict=True
        ):
            if model not in found:
                found[model] = log_weight
                self.best = max(self.best, log_weight)
                if place < self._last:
                    heapq.heappush(self.waiting, (place, len(found), model))
        self.at += [at] * (len(found) - before)
        if len(self.waiting) > 4 * self._most:
            self.waiting = heapq.nsmallest(self._most, self.waiting)
            self._last = self.waiting[-1][0]

    def next(self) -> frozenset[int]:
        """Return the foremost of the models that wait."""
        return heapq.heappop(self.waiting)[2]


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


def _log_weight(walk: InformedWalk) -> float:
    factor, prior = walk.factor, walk.target.inclusion
    k = int(factor.size[0])
    log_det = log_determinant(factor)
    odds = float(prior.log_odds[walk.members].sum())
    return float(
        log_evidence(walk.rule, k, log_det, float(factor.left[0])) + prior.by_size[k] + odds
    )


def _log_ratios(walk: InformedWalk) -> Floats:
    """Return how much every flip changes the log weight of the present model."""
    walk.score()
    log_ratios = walk.scores.log_odds.copy()
    log_ratios[walk.members] *= -1.0
    return log_ratios


def _exchanges(
    walk: InformedWalk, model: frozenset[int], log_weight: float
) -> tuple[list[frozenset[int]], Floats]:
    """Return models in which a column that depends on the present ones is in for one of these.

    They explain as much, or nearly, but no model with all of the columns leads there. Beside a slab it
    does. A column is in only where it has something beyond the members that stay, as after a flip.
    """
    factor, rule, prior = walk.factor, walk.rule, walk.target.inclusion
    k, length = int(factor.size[0]), walk.target.problem.curvature
    least = dependent_share(rule) * length
    dependent = (factor.pivot <= least) & (length > 0) & (factor.place < 0)
    columns = np.flatnonzero(dependent)[:_MOST_DEPENDENT]
    if rule.ridge > 0.0 or not len(columns) or not k:
        return [], np.zeros(0)
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
    models = [model ^ {i, j} for i, j in zip(leaves.tolist(), comes.tolist(), strict=True)]
    return models, log_weight + evidence + prior.log_odds[comes] - prior.log_odds[leaves]


def _summary(seen: _Seen, late_from: int, n_features: int, expanded: set[int]) -> FoundModels:
    models, logs = list(seen.found), np.array(list(seen.found.values()))
    # Of equal weights the one that was seen first is first.
    order = np.argsort(-logs, kind="stable")
    order = order[logs[order] >= seen.best - NEGLIGIBLE]
    members = [tuple(sorted(models[k])) for k in order.tolist()]
    weights = np.exp(logs[order] - seen.best)
    total = weights.sum()
    late = weights[np.array(seen.at)[order] >= late_from].sum()
    return FoundModels(
        log_total=float(seen.best + np.log(total)),
        inclusion=ModelList.of(members).inclusion(weights, n_features) / total,
        members=members,
        log_weights=logs[order],
        late_share=float(late / total),
        columns=np.array(sorted(expanded), dtype=np.int64),
    )
