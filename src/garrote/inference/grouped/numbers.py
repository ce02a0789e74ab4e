"""Posteriors over sets of groups of a Gaussian response: all sets summed, or drawn on walks."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.models.floor import corner_at_floor
from garrote.inference.models.over_models import Findings
from garrote.inference.models.representative_models import represent_known
from garrote.inference.models.slab_integral import (
    Corner,
    Point,
    averaged,
    integrate_over_slab,
    log_sum,
)
from garrote.priors.base import Slab
from garrote.problem import Problem
from garrote.solvers.models.grouped.group_sets import as_models
from garrote.solvers.models.grouped.summed_models import Moments, sum_moments, weigh_models
from garrote.solvers.models.scored_models import ModelList


class _Summed(NamedTuple):
    """All sets with one slab: their log weights, and averages over them; columns are the usable ones."""

    log_total: float
    log_weights: Floats
    inclusion: Floats
    mean: Floats
    second_moment: Floats
    noise: float


def enumerate_sets(
    problem: Problem, beliefs: Beliefs, inside: Array, report: Any
) -> tuple[Findings, float]:
    """Sum over given sets of groups, and over the slab's variance where it is unknown.

    Also returns a bound on the error that inclusion probabilities have from the integral over it.
    """
    law, usable = beliefs.inclusion, problem.usable
    prior = law.log_prior(inside)
    models = as_models(law, inside)
    data = Moments(problem.known_block(usable), problem.xty[usable], float(problem.yty))
    places = ModelList(np.searchsorted(usable, models.members), models.ends)

    def find(slab: Slab) -> _Summed:
        rule = beliefs.rule(problem, len(usable), slab)
        logs = prior + weigh_models(rule, data, places)
        weights = np.exp(logs - logs.max())
        share = weights / weights.sum()
        total = float(logs.max() + np.log(weights.sum()))
        return _Summed(total, logs, share @ inside, *sum_moments(rule, data, places, share))

    def corner(best: Point) -> Corner | None:
        model = models[int(np.argmax(best.part.log_weights))]
        return corner_at_floor(problem, beliefs, best.slab, model)

    points, change = integrate_over_slab(beliefs.prior, find, report, corner=corner)
    return _findings(problem, beliefs, models, inside, points), change


def _findings(
    problem: Problem, beliefs: Beliefs, models: ModelList, inside: Array, points: Sequence[Point]
) -> Findings:
    """Add up the weights of each set over the slab's variances."""
    total, usable = log_sum(points), problem.usable
    probability = np.zeros(len(models))
    for log, _, part in points:
        probability += np.exp(log + part.log_weights - total)
    probability /= probability.sum()
    order = np.argsort(-probability, kind="stable")
    order = order[probability[order] > 0]
    sizes = np.bincount(inside.sum(axis=1), probability, inside.shape[1] + 1).astype(np.float64)
    ranked, probability = models.take(order), probability[order]
    representatives, components = represent_known(ranked, probability, problem.n_features)
    mean, second = averaged(points, "mean"), averaged(points, "second_moment")
    everywhere = np.zeros((3, problem.n_features))
    groups = averaged(points, "inclusion")
    everywhere[:, usable] = groups[beliefs.inclusion.of_column[usable]], mean, np.diag(second)
    return Findings(
        inclusion=everywhere[0],
        mean=everywhere[1],
        second_moment=everywhere[2],
        size_probability=sizes,
        noise=float(averaged(points, "noise")),
        members=ranked,
        probability=probability,
        seen=len(models),
        representatives=representatives,
        components=components,
        slabs=tuple((point.log_weight, point.slab) for point in points),
        covariance=(usable, second - np.outer(mean, mean)),
        log_evidence=total,
    )
