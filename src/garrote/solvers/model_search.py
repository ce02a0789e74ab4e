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

from garrote.arrays import Floats
from garrote.priors.evidence import log_evidence, noise_mean, slab_moments
from garrote.solvers.gram_rows import GramRows
from garrote.solvers.informed_sampler import InformedWalk
from garrote.solvers.model_chain import Target
from garrote.solvers.model_factor import log_determinant, remove_variable
from garrote.solvers.representatives import represent

# Models less probable than the best by this (in logs) are dropped.
_NEGLIGIBLE = 16.0
# Models are expanded in proportion to this power of their probability: below 1, to go far.
_POWER = 0.7
# Models whose coefficients are computed: so many of the best, and draws from all others.
_BEST, _DRAWN = 1000, 1000
# Expansions between reports.
_REPORTED = 100


@dataclass(frozen=True)
class Search:
    """The models that were seen, best first, with their log weights, and averages over them.

    ``late_share`` is the part of the sum of weights that the last tenth of the expansions found.
    """

    log_total: float
    inclusion: Floats
    size_probability: Floats
    mean: Floats
    second_moment: Floats
    noise: float
    members: list[tuple[int, ...]]
    log_weights: Floats
    late_share: float


def search_models(
    target: Target,
    rng: np.random.Generator,
    *,
    rows: GramRows | None = None,
    start: list[int],
    expansions: int = 1000,
    report: Callable[[int, int], None] | None = None,
) -> Search:
    """Expand models of a slab of known variance, beginning with one and with the empty model."""
    walk = InformedWalk(target, rng, rows)
    walk.begin([])
    found: dict[frozenset[int], float] = {}
    seen_at: dict[frozenset[int], int] = {}
    waiting: list[tuple[float, int, frozenset[int]]] = []
    best = -np.inf

    def remember(model: frozenset[int], log_weight: float, at: int) -> None:
        found[model] = log_weight
        seen_at[model] = at
        # Gumbel noise makes the largest first a draw without replacement.
        heapq.heappush(waiting, (-_POWER * log_weight - rng.gumbel(), len(found), model))

    first = {frozenset(): 0, frozenset(start): 0}
    for model in first:
        _move(walk, model)
        log_weight = _log_weight(walk)
        best = max(best, log_weight)
        remember(model, log_weight, 0)
    done = 0
    while waiting and done < expansions:
        _, _, model = heapq.heappop(waiting)
        log_weight = found[model]
        if log_weight < best - _NEGLIGIBLE:
            continue
        _move(walk, model)
        neighbours = log_weight + _log_ratios(walk)
        best = max(best, float(neighbours.max(initial=-np.inf)))
        for j in np.flatnonzero(neighbours > best - _NEGLIGIBLE):
            neighbour = model ^ {int(j)}
            if neighbour not in found:
                remember(neighbour, float(neighbours[j]), done)
        done += 1
        if report is not None and done % _REPORTED == 0:
            report(done, expansions)
    late = max(done - max(done // 10, 1), 1)
    kept = {g: log for g, log in found.items() if log > best - _NEGLIGIBLE}
    return _summary(target, kept, best, lambda model: seen_at[model] >= late)


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


def _summary(
    target: Target,
    found: dict[frozenset[int], float],
    best: float,
    is_late: Callable[[frozenset[int]], bool],
) -> Search:
    ranked = sorted(found.items(), key=lambda entry: (-entry[1], sorted(entry[0])))
    members = [tuple(sorted(model)) for model, _ in ranked]
    log_weights = np.array([log for _, log in ranked])
    weights = np.exp(log_weights - best)
    total = weights.sum()
    D = target.problem.n_features
    inclusion, by_size = np.zeros(D), np.zeros(D + 1)
    for model, weight in zip(members, weights, strict=True):
        inclusion[list(model)] += weight
        by_size[len(model)] += weight
    sizes = np.array([len(model) for model in members])
    few = represent(weights, _BEST, _DRAWN, order=sizes)
    mean, square, noise = _coefficients(target, [members[k] for k in few.chosen], few.weight)
    late = sum(weight for (model, _), weight in zip(ranked, weights, strict=True) if is_late(model))
    return Search(
        log_total=float(best + np.log(total)),
        inclusion=inclusion / total,
        size_probability=by_size / total,
        mean=mean,
        second_moment=square,
        noise=noise,
        members=members,
        log_weights=log_weights,
        late_share=float(late / total),
    )


def _coefficients(
    target: Target, members: list[tuple[int, ...]], share: Floats
) -> tuple[Floats, Floats, float]:
    """Return the first two moments of the coefficients over some models, and the mean of the noise."""
    problem, rule = target.problem, target.rule(target.first_variance)
    mean, square = np.zeros((2, problem.n_features))
    noise = 0.0
    columns = np.array(sorted(set().union(*members)), dtype=np.intp)
    gram, xty = problem.known_block(columns), problem.xty[columns]
    for model, weight in zip(members, share, strict=True):
        inside = np.searchsorted(columns, model)
        inverse = np.linalg.inv(gram[np.ix_(inside, inside)] + rule.ridge * np.eye(len(inside)))
        v = inverse @ xty[inside]
        left = max(problem.yty - float(xty[inside] @ v), 0.0)
        f1, f2, f3 = slab_moments(rule, len(inside), left)
        mean[list(model)] += weight * f1 * v
        square[list(model)] += weight * (f2 * v * v + f3 * np.diag(inverse))
        noise += float(weight * noise_mean(rule, len(inside), left))
    return mean, square, noise
