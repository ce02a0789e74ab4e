"""Sums over all models of the usable columns, and over the slab's variance where that is unknown."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.models.floor import corner_at_floor
from garrote.inference.models.model_laws import log_posteriors
from garrote.inference.models.over_models import Findings
from garrote.inference.models.representative_models import (
    LEFT_OUT,
    Components,
    Members,
    Representatives,
    in_columns,
    membership,
    represent_all,
    room,
)
from garrote.inference.models.signs import ways_under
from garrote.inference.models.slab_integral import (
    Corner,
    Point,
    averaged,
    integrate_over_slab,
    log_sum,
    shares,
)
from garrote.priors.base import Slab
from garrote.problem import Problem
from garrote.results.shapes import SlabShapes
from garrote.solvers.models.enumeration import Enumeration, begin, members_of
from garrote.solvers.models.enumeration_draws import beyond_best, draw_models, known_one_by_one
from garrote.solvers.models.representatives import draw_evenly, listed_count


class _Enumerated(NamedTuple):
    """The cross products of the usable columns, and what is believed of them."""

    problem: Problem
    beliefs: Beliefs
    usable: Array
    gram: Floats

    def arguments(self, slab: Slab) -> tuple[Any, ...]:
        """Return what an enumeration begins with."""
        prior = self.beliefs.inclusion
        rule = self.beliefs.rule(self.problem, len(self.usable), slab)
        xty = self.problem.xty[self.usable]
        return rule, self.gram, xty, self.problem.yty, prior.by_size, prior.log_odds


class _Law(NamedTuple):
    """Models that are known one by one, best first, and draws of those that are not; as bit patterns.

    Of the known the first ``listed`` have a place of their own; ``drawn`` are draws of all others, known
    or not, and ``beyond`` those of them that are not known with the slab they were drawn with.
    """

    known: Array
    probability: Floats
    listed: int
    drawn: Array
    beyond: Array


def enumerate_findings(
    problem: Problem, beliefs: Beliefs, n_jobs: int | None, report: Any = None
) -> tuple[Findings, float]:
    """Sum over all models of the usable columns, and over the slab's variance where it is unknown.

    Also returns a bound on the error that inclusion probabilities have from the integral over it.
    """
    usable = problem.usable
    given = _Enumerated(problem, beliefs, usable, problem.known_block(usable))

    def find(slab: Slab) -> Enumeration:
        return ways_under(slab).enumerate(*given.arguments(slab), n_jobs=n_jobs)

    def corner(best: Point) -> Corner | None:
        return corner_at_floor(problem, beliefs, best.slab, usable[list(best.part.members[0])])

    points, change = integrate_over_slab(beliefs.prior, find, report, corner=corner)
    every = averaged(points, "blocks")
    if len(every) == 2 ** len(usable):
        representatives, components = represent_all(every, usable, problem.n_features)
        best = representatives.best[:2]
    else:
        representatives, components, best = _drawn_representatives(given, points)
    mean, second = averaged(points, "mean"), averaged(points, "second_moment")
    everywhere = np.zeros((3, problem.n_features))
    everywhere[:, usable] = averaged(points, "inclusion"), mean, np.diag(second)
    found = Findings(
        inclusion=everywhere[0],
        mean=everywhere[1],
        second_moment=everywhere[2],
        size_probability=averaged(points, "size_probability"),
        noise=float(averaged(points, "noise")),
        members=best[0],
        probability=best[1],
        seen=2 ** len(usable),
        representatives=representatives,
        components=components,
        slabs=tuple((point.log_weight, point.slab) for point in points),
        covariance=(usable, second - np.outer(mean, mean)),
        shapes=_shapes(points),
        log_evidence=log_sum(points),
    )
    return found, change


def _shapes(points: Sequence[Point]) -> SlabShapes | None:
    """Return what the sums say of the slab's shape, where there is a choice."""
    at = np.array([getattr(point.slab, "separation", 0.0) for point in points])
    separations, place = np.unique(at, return_inverse=True)
    return SlabShapes.of(separations, np.bincount(place, shares(points)).astype(float))


def _drawn_representatives(
    given: _Enumerated, points: Sequence[Point]
) -> tuple[Representatives, Components, tuple[tuple[Members, ...], Floats]]:
    """Choose the best models, and draw from the subtrees that the others are in.

    The last are the models that are known one by one, with what the sums have of their probabilities.
    """
    law = _draw(given, points)

    def members(patterns: Array) -> tuple[Members, ...]:
        return in_columns(members_of(patterns, len(given.usable)), given.usable)

    known, (drawn, times) = members(law.known), np.unique(law.drawn, return_counts=True)
    stated = law.probability[: law.listed]
    if len(points) > 1:
        stated = _exact(given, points, known[: law.listed])
    order = np.argsort(-stated, kind="stable")
    representatives = Representatives(
        (*(known[k] for k in order), *members(drawn)),
        _with_rest(stated[order], times),
        law.listed,
    )
    beyond, times = np.unique(law.beyond, return_counts=True)
    inside = membership((*known, *members(beyond)), given.problem.n_features)
    components = Components(inside, _with_rest(law.probability, times), len(beyond))
    return representatives, components, (known, law.probability)


def _with_rest(probability: Floats, times: Array) -> Floats:
    """Return probabilities, and parts of what they leave, by how often models of it were drawn."""
    if not len(times):
        return probability
    rest = max(1.0 - float(probability.sum()), 0.0)
    return np.concatenate([probability, times * (rest / times.sum())])


def _exact(given: _Enumerated, points: Sequence[Point], members: Sequence[Members]) -> Floats:
    """Return the probabilities of models, slabs with which others were better counted too."""
    rules = [(point.log_weight, given.arguments(point.slab)[0]) for point in points]
    logs = log_posteriors(given.problem, given.beliefs.inclusion, rules, members)
    return np.asarray(np.exp(logs - log_sum(points)))


def _draw(given: _Enumerated, points: Sequence[Point]) -> _Law:
    """List the best models, and draw from what they leave: other known models, and subtrees."""
    share, parts = shares(points), [point.part for point in points]
    known, probability = _known(share, parts)
    sizes = np.array([int(bits).bit_count() for bits in known])
    listed, count = room(sizes, probability)
    listed = listed_count(probability, listed, LEFT_OUT)
    if 1.0 - probability[:listed].sum() <= LEFT_OUT:
        return _Law(known, probability, listed, known[:0], known[:0])
    rest = [w * beyond_best(part) for w, part in zip(share, parts, strict=True)]
    places, into = draw_evenly(np.concatenate([probability[listed:], *rest]), count)
    first = len(known) - listed
    drawn = known[listed + places[places < first]]
    beyond: list[int] = []
    for point, several in zip(points, rest, strict=True):
        here = (places >= first) & (places < first + len(several))
        if here.any():
            arguments = given.arguments(point.slab)
            where = places[here] - first, into[here]
            beyond += draw_models(arguments[0], *begin(*arguments), point.part, *where)
        first += len(several)
    fresh = np.array(beyond, dtype=np.uint64)
    drawn = np.concatenate([drawn, fresh])
    # A model may be listed and yet not be known with every slab: all of it is in its own place.
    drawn = drawn[~np.isin(drawn, known[:listed])]
    return _Law(known, probability, listed, drawn, fresh)


def _known(share: Floats, parts: Sequence[Enumeration]) -> tuple[Array, Floats]:
    """Return the models that are known one by one with any slab, best first, by their probability."""
    bits, weight = [], []
    for weight_of_slab, part in zip(share, parts, strict=True):
        known = known_one_by_one(part)
        bits.append(part.models[known])
        weight.append(weight_of_slab * np.exp(part.log_weights[known] - part.log_total))
    patterns, place = np.unique(np.concatenate(bits), return_inverse=True)
    total = np.asarray(np.bincount(place, np.concatenate(weight)), dtype=np.float64)
    order = np.argsort(-total, kind="stable")
    return patterns[order], total[order]
