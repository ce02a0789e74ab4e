"""A search among models, with every variance of the slab that counts where that is unknown.

Searches with different variances find different models. What one of them found others may have missed,
so that all models that any of them found are looked at with all variances: the odds of two models that
were found are then those of the sum over all models.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.models.floor import corner_at_floor
from garrote.inference.models.model_laws import averaged_moments
from garrote.inference.models.over_models import Findings
from garrote.inference.models.representative_models import represent_known
from garrote.inference.models.slab_integral import (
    Corner,
    Point,
    integrate_over_slab,
    log_sum,
    shares,
)
from garrote.priors.slab import Slab
from garrote.problem import Problem
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.models.model_chain import Target
from garrote.solvers.models.model_search import NEGLIGIBLE, FoundModels
from garrote.solvers.models.representatives import represent
from garrote.solvers.models.scored_models import Keys, ModelList, products_for, score_models

# Searches over an unknown slab variance halve the step in it twice, and there are about so many of them
# to share the expansions: what they find would never settle.
_HALVINGS = 2
_SEARCHES = 20
# Models whose coefficients are averaged: so many of the best, and draws from all others.
_BEST, _DRAWN = 1000, 1000


class Missing(NamedTuple):
    """What a search may have missed, and the error by the integral over the slab's variance.

    ``late`` is the share that the last tenth of the expansions found; ``missed`` is what a search with
    one variance misses, on average, of what those with all variances found.
    """

    late: float
    missed: float
    quadrature: float


class _Scored(NamedTuple):
    """Given models with one slab: their log weights, and how often variables are in."""

    log_total: float
    inclusion: Floats
    log_weights: Floats


# From a target and rows of the Gram matrix to models; also told how many such searches there will be.
Explore = Callable[[Target, GramRows, int], FoundModels]


def search_findings(
    problem: Problem, beliefs: Beliefs, explore: Explore, report: Any
) -> tuple[Findings, Missing]:
    """Search among models with every slab variance that counts."""
    unknown = beliefs.prior.variance_is_unknown
    searches = _SEARCHES if unknown else 1
    rows = GramRows(problem)  # the same for every variance

    def find(slab: Slab) -> FoundModels:
        return explore(beliefs.target(problem, slab), rows, searches)

    points, change = integrate_over_slab(beliefs.prior, find, report, _HALVINGS)
    late = float(shares(points) @ [point.part.late_share for point in points])
    if not unknown:
        return _findings(problem, beliefs, points[0].part.found.models(), points), Missing(
            late, 0.0, change
        )
    models = _found_by_any(points)
    look = _Look(problem, beliefs, models, rows, points)
    missed = _missed(points, [point._replace(part=look(point.slab)) for point in points])

    def corner(best: Point) -> Corner | None:
        best_model = models[int(np.argmax(best.part.log_weights))]
        return corner_at_floor(problem, beliefs, best.slab, best_model)

    points, change = integrate_over_slab(beliefs.prior, look, corner=corner)
    return _findings(problem, beliefs, models, points), Missing(late, missed, change)


def _found_by_any(points: Sequence[Point]) -> ModelList:
    """Return the models that are not negligible beside the best, with some variance."""
    best = max(float(log + part.log_weights.max()) for log, _, part in points)
    known, lists = Keys(), []
    for log, _, part in points:
        kept = np.flatnonzero(log + part.log_weights >= best - NEGLIGIBLE)
        lists.append(part.found.models(kept[known.add(part.keys[kept])]))
    return ModelList.joined(lists)


class _Look:
    """A look at given models with one slab after another, at each of them once."""

    def __init__(
        self,
        problem: Problem,
        beliefs: Beliefs,
        models: ModelList,
        rows: GramRows,
        searched: Sequence[Point],
    ):
        self.problem, self.beliefs, self.models = problem, beliefs, models
        columns = np.unique(np.concatenate([point.part.columns for point in searched]))
        self.products = products_for(rows, columns)
        self.known: dict[Slab, _Scored] = {}

    def __call__(self, slab: Slab) -> _Scored:
        if slab not in self.known:
            target = self.beliefs.target(self.problem, slab)
            logs = score_models(target, self.products, self.models)
            weights = np.exp(logs - logs.max())
            total = weights.sum()
            inclusion = self.models.inclusion(weights / total, self.problem.n_features)
            self.known[slab] = _Scored(float(logs.max() + np.log(total)), inclusion, logs)
        return self.known[slab]


def _missed(searched: Sequence[Point], scored: Sequence[Point]) -> float:
    """Return what each search missed of the models found by any, on average over their variances."""
    found = [
        one.part.log_total - all_.part.log_total for one, all_ in zip(searched, scored, strict=True)
    ]
    return float(shares(scored) @ np.maximum(1.0 - np.exp(found), 0.0))


def _findings(
    problem: Problem, beliefs: Beliefs, models: ModelList, points: Sequence[Point]
) -> Findings:
    """Add up the weights of each model over the slab's variances, and average over the models."""
    total = log_sum(points)
    probability = np.zeros(len(models))
    for log, _, part in points:
        probability += np.exp(log + part.log_weights - total)
    probability /= probability.sum()  # logs of 1e16 leave the total no digits
    order = np.argsort(-probability, kind="stable")
    probability, models, D = probability[order], models.take(order), problem.n_features
    slabs = tuple((point.log_weight, point.slab) for point in points)
    rules = [(w, beliefs.rule(problem, len(problem.usable), slab)) for w, slab in slabs]
    few = represent(probability, _BEST, _DRAWN, order=models.sizes)
    chosen = [models[k] for k in few.chosen]
    mean, square, noise = averaged_moments(problem, rules, chosen, few.weight)
    representatives, components = represent_known(models, probability, D)
    return Findings(
        inclusion=models.inclusion(probability, D),
        mean=mean,
        second_moment=square,
        size_probability=models.by_size(probability, D),
        noise=noise,
        members=models,
        probability=probability,
        seen=len(models),
        representatives=representatives,
        components=components,
        slabs=slabs,
        log_evidence=total,
    )
