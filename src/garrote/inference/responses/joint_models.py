"""Posteriors over models that several responses share: all of them summed, or those on walks."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.methods import Chains, Enumerate, Method, Metropolis, Sample
from garrote.inference.models.model_laws import averaged_moments
from garrote.inference.models.over_models import Findings, make_model_posterior
from garrote.inference.models.representative_models import represent_known
from garrote.inference.responses.joint_problem import JointProblem
from garrote.inference.sampling import run_chains
from garrote.inference.substitutes import with_substitutes
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.priors.slab import GaussianSlab
from garrote.problem import Problem
from garrote.results.accuracy import SamplingAccuracy
from garrote.results.certificates import Certificate, monte_carlo, of_all_models
from garrote.results.joint import JointPosterior
from garrote.solvers.models.grouped.group_sets import allowed_sets, as_models, count_sets
from garrote.solvers.responses.joint_evidence import (
    JointMoments,
    JointWalk,
    Scratch,
    weigh_joint_models,
)

# Sets that are all weighed, at most, for each variance of the slab; log variances that are looked at.
_MOST_SETS, _FEW_SETS, _LOG_VARIANCES = 2**17, 2**13, (-6.0, 9.0, 61)
# Steps of a chain that count and those before, and steps between those of the slab's variance.
_LENGTHS, _STRETCH = (20_000, 4000), 25
_VARIANCE_STEPS = (1.5, 0.4)
# Equal parts of a chain, the most models that are described, and the least probability that counts.
_BATCHES, _DESCRIBED, _NEGLIGIBLE = 20, 4000, 1e-7
# States are counted by the slab's log variance, in steps of this.
_BIN = 0.5

# Models by their members, and the probability of each.
Weighed = dict[tuple[int, ...], float]


@dataclass(frozen=True)
class JointInferred:
    """The joint posterior, its certificate, the method and how, in words."""

    posterior: JointPosterior
    certificate: Certificate
    method: str
    how: str
    steps: int = 0
    notes: tuple[str, ...] = ()


class _Found(NamedTuple):
    """Weighed models, the mean log variance of the slab, and what is known of the error.

    ``parts`` are the same models by the log variance of the slab beside which they were found.
    """

    models: Weighed
    parts: dict[float, Weighed]
    log_variance: float
    certificate: Certificate
    error: Floats | None
    how: str
    log_evidence: float | None


def joint_models(
    joint: JointProblem,
    slab: GaussianSlab,
    law: InclusionOfGroups,
    method: Method,
    names: tuple[str, ...],
    seed: Any,
    n_jobs: int | None = None,
) -> JointInferred:
    """Find the posterior over models that all responses share.

    Parameters
    ----------
    joint : JointProblem
    slab : GaussianSlab
        Given the noise covariance, coefficients of a variable in have ``variance`` times that.
    law : InclusionOfGroups
        The prior on sets of the usable columns.
    method : Enumerate, Sample, Metropolis or Auto
    names : tuple of str
    seed : int or SeedSequence
    n_jobs : int, optional
    """
    _check(slab)
    enumerated = isinstance(method, Enumerate)
    if method.by_size:
        enumerated = count_sets(law, _FEW_SETS) <= _FEW_SETS
    if enumerated:
        found = _sum_over_sets(joint, slab, law)
        steps = 0
    elif method.by_size or isinstance(method, Sample | Metropolis):
        walks = method if isinstance(method, Sample | Metropolis) else Metropolis()
        chains = walks.chains(*_LENGTHS, seed)
        found, steps = _sample(joint, slab, law, chains, n_jobs), chains.steps
    else:
        raise ValueError(
            "method must be one of ('auto', 'enumerate', 'sample', 'metropolis') for several responses, "
            f"got {method.name!r}"
        )
    posterior = _describe(joint, slab, law, found, names)
    name = "enumerate" if enumerated else "metropolis"
    how = f"{found.how} of {len(joint.problems)} responses that share which variables are in"
    how = f"{how}; {law.words}" if law.words else how
    return JointInferred(posterior, found.certificate, name, how, steps)


def _check(slab: Any) -> None:
    if (
        not isinstance(slab, GaussianSlab)
        or slab.known_noise is not None
        or slab.shape
        or slab.rate
    ):
        raise ValueError(
            "several responses share models under a Gaussian slab whose noise is unknown: take "
            f"prior='spike-slab', GaussianSlab() or GaussianSlab(variance), got {slab!r}"
        )


def _log_variances(slab: GaussianSlab) -> Floats:
    if slab.variance is not None:
        return np.array([np.log(slab.variance)])
    return np.linspace(*_LOG_VARIANCES)


def _log_density(slab: GaussianSlab, log_variance: Any) -> Any:
    return 0.0 if slab.variance is not None else slab.log_density(log_variance)


def _sum_over_sets(joint: JointProblem, slab: GaussianSlab, law: InclusionOfGroups) -> _Found:
    """Weigh all allowed sets under each of the slab's variances."""
    if count_sets(law, _MOST_SETS) > _MOST_SETS:
        raise ValueError(
            f"method='enumerate' takes {_MOST_SETS:,} sets of variables at most: use method='sample'"
        )
    inside = allowed_sets(law)
    data, prior = joint.moments, law.log_prior(inside)
    models = as_models(law, inside)
    members = np.searchsorted(joint.usable, models.members).astype(np.int64)
    scratch = Scratch.of(int(models.sizes.max(initial=1)), data.xty.shape[1])
    places = _log_variances(slab)
    logs = np.empty((len(places), len(inside)))
    for row, place in zip(logs, places, strict=True):
        weigh_joint_models(data, float(np.exp(-place)), members, models.ends, scratch, row)
        row += prior + _log_density(slab, place)
    logs -= np.logaddexp.reduce(prior)
    total = float(np.logaddexp.reduce(logs, axis=None))
    share = np.exp(logs - total)
    step = float(places[1] - places[0]) if len(places) > 1 else 1.0
    coarse = share[::2].sum(axis=0) / share[::2].sum() if len(places) > 1 else share.sum(axis=0)
    each = share.sum(axis=0)
    off = float(np.abs((coarse - each) @ inside).max()) if len(places) > 1 else 0.0
    certificate = of_all_models(_check_some(joint, law, places, share, inside), off)
    listed = [tuple(np.flatnonzero(row).tolist()) for row in inside]
    found = {model: float(p) for model, p in zip(listed, each, strict=True) if p > 0}
    parts = {
        float(place): {listed[k]: float(row[k]) for k in np.flatnonzero(row > _NEGLIGIBLE)}
        for place, row in zip(places, share, strict=True)
        if row.max() > _NEGLIGIBLE
    }
    mean = float(share.sum(axis=1) @ places)
    how = f"all {len(inside):,} models summed exactly"
    return _Found(found, parts, mean, certificate, None, how, total + float(np.log(step)))


def _check_some(
    joint: JointProblem, law: InclusionOfGroups, places: Floats, share: Floats, inside: Array
) -> float:
    """Return how far log odds of the best sets are from those computed from scratch, from rows."""
    at = int(share.sum(axis=1).argmax())
    best = np.argsort(-share[at], kind="stable")[:10]
    best = best[share[at, best] > 1e-290]
    stated = np.log(share[at, best])
    logs = [_from_rows(joint, float(np.exp(places[at])), row) for row in inside[best]]
    known = np.array(logs) + law.log_prior(inside[best])
    return float(np.abs((known - known[0]) - (stated - stated[0])).max())


def _from_rows(joint: JointProblem, variance: float, inside: Array) -> float:
    """Return the log evidence of one model by its cross products and a determinant."""
    own = joint.usable[inside]
    gram = joint.first.known_block(own) * variance + np.eye(len(own))
    xty = np.column_stack([problem.xty[own] for problem in joint.problems])
    left = joint.yty - variance * xty.T @ np.linalg.solve(gram, xty)
    K = len(joint.problems)
    return float(
        -0.5 * K * np.linalg.slogdet(gram)[1] - 0.5 * joint.rows * np.linalg.slogdet(left)[1]
    )


class _Chain(NamedTuple):
    models: Counter[tuple[float, tuple[int, ...]]]
    batches: Floats
    log_variances: Floats


def _sample(
    joint: JointProblem,
    slab: GaussianSlab,
    law: InclusionOfGroups,
    chains: Chains,
    n_jobs: int | None,
) -> _Found:
    """Run chains, and count the models that they were in."""
    data = joint.moments

    def run(rng: np.random.Generator, start: list[int]) -> _Chain:
        return _run(data, slab, law, chains, rng)

    runs = run_chains(run, chains, n_jobs, [])
    counted: Counter[tuple[float, tuple[int, ...]]] = Counter()
    for one in runs:
        counted.update(one.models)
    total = sum(counted.values())
    models: Weighed = {}
    parts: dict[float, Weighed] = {}
    for (place, model), count in counted.items():
        models[model] = models.get(model, 0.0) + count / total
        parts.setdefault(place, {})[model] = count / total
    batches = np.concatenate([one.batches for one in runs])
    error = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    each = np.array([one.batches.mean(axis=0) for one in runs])
    certificate = monte_carlo(
        float(error.max(initial=0.0)), float(np.ptp(each, axis=0).max(initial=0))
    )
    log_variance = float(np.mean([one.log_variances.mean() for one in runs]))
    how = f"{total:,} states of {chains.count} chains sampled, {len(models):,} models seen"
    return _Found(models, parts, log_variance, certificate, error, how, None)


def _run(
    data: JointMoments,
    slab: GaussianSlab,
    law: InclusionOfGroups,
    chains: Chains,
    rng: np.random.Generator,
) -> _Chain:
    """Run one chain: stretches over models, between them steps of the slab's variance."""
    walk = JointWalk(data, law.table(), max(int(data.n) - 1, 1), rng)
    log_variance = float(np.log(slab.variance or 0.1))
    models: Counter[tuple[float, tuple[int, ...]]] = Counter()
    inside = np.zeros(len(data.xty), dtype=bool)
    batches, seen, steps = np.zeros((_BATCHES, len(inside))), [], chains.steps
    for first in range(-chains.burn_in, steps, _STRETCH):
        place = _BIN * round(log_variance / _BIN) if slab.variance is None else log_variance
        moves = walk.stretch(_STRETCH, float(np.exp(log_variance)))
        log_variance = _move(walk, slab, log_variance, rng)
        if first >= 0:
            seen.append(log_variance)
        since = 0
        for t in np.append(np.flatnonzero((moves >= 0).any(axis=1)), _STRETCH):
            if first >= 0 and t > since:
                models[place, tuple(np.flatnonzero(inside).tolist())] += int(t - since)
                batches[min(first * _BATCHES // steps, _BATCHES - 1)] += (t - since) * inside
            since = int(t)
            if t < _STRETCH:
                moved = moves[t]
                inside[moved[moved >= 0]] ^= True
    weight = np.bincount(
        np.minimum(np.arange(0, steps, _STRETCH) * _BATCHES // steps, _BATCHES - 1),
        minlength=_BATCHES,
    )
    return _Chain(models, batches / (weight[:, None] * _STRETCH), np.array(seen))


def _move(
    walk: JointWalk, slab: GaussianSlab, log_variance: float, rng: np.random.Generator
) -> float:
    """Return the slab's log variance after some Metropolis steps."""
    if slab.variance is not None:
        return log_variance
    now = walk.evidence(float(np.exp(log_variance))) + float(slab.log_density(log_variance))
    for size in _VARIANCE_STEPS:
        there = log_variance + size * float(rng.standard_normal())
        logs = walk.evidence(float(np.exp(there))) + float(slab.log_density(there))
        if np.log(rng.random()) < logs - now:
            log_variance, now = there, logs
    return log_variance


def _describe(
    joint: JointProblem,
    slab: GaussianSlab,
    law: InclusionOfGroups,
    found: _Found,
    names: tuple[str, ...],
) -> JointPosterior:
    """Describe every response in the user's units.

    Moments are averaged over the slab's variance; the laws of single models hold it at its mean.
    """
    D, usable = joint.first.n_features, joint.usable
    ranked = sorted(found.models.items(), key=lambda entry: (-entry[1], entry[0]))[:_DESCRIBED]
    members = [tuple(int(j) for j in usable[list(model)]) for model, _ in ranked]
    share = np.array([p for _, p in ranked])
    share /= share.sum()
    inclusion = np.zeros(D)
    sizes = np.zeros(len(usable) + 1)
    for model, p in found.models.items():
        inclusion[usable[list(model)]] += p
        sizes[len(model)] += p
    K = len(joint.problems)
    at = slab.at(float(np.exp(found.log_variance)))
    error = None if found.error is None else _accuracy(found.error, usable, D)
    representatives, components = represent_known(members, share, D)
    responses = []
    for problem in joint.problems:
        # Given a model, a response's own noise has K - 1 degrees of freedom less than alone.
        beliefs = Beliefs(at, law, joint.rows - (K - 1), 0.0)
        mean, second, noise = _moments(problem, beliefs, found, usable)
        findings = Findings(
            inclusion=inclusion.copy(),
            mean=mean,
            second_moment=second,
            size_probability=sizes,
            members=members,
            probability=share,
            seen=len(found.models),
            representatives=representatives,
            components=components,
            noise=noise,
            slabs=((0.0, at),),
            log_evidence=found.log_evidence,
            accuracy=error,
        )
        posterior = make_model_posterior(problem, beliefs, findings, names)
        responses.append(with_substitutes(problem, posterior, components))
    units = joint.units
    stated = responses[0].inclusion_probability
    return JointPosterior(
        responses=tuple(responses),
        response_names=joint.names,
        inclusion_probability=stated,
        noise_covariance=_noise(joint, float(np.exp(found.log_variance)), members, share)
        * np.outer(units, units),
        log_evidence=found.log_evidence,
    )


def _accuracy(error: Floats, usable: Array, count: int) -> SamplingAccuracy:
    """Return the errors of inclusion probabilities for all columns."""
    everyone = np.zeros(count)
    everyone[usable] = error
    return SamplingAccuracy(everyone)


def _moments(
    problem: Problem, beliefs: Beliefs, found: _Found, usable: Array
) -> tuple[Floats, Floats, float]:
    """Return moments of coefficients and the mean noise over models, and over the slab's variance."""
    mean, square = np.zeros((2, problem.n_features))
    noise = total = 0.0
    for place, part in found.parts.items():
        best = sorted(part.items(), key=lambda entry: -entry[1])[:_DESCRIBED]
        members = [tuple(int(j) for j in usable[list(model)]) for model, _ in best]
        share = np.array([p for _, p in best])
        rule = beliefs.rule(problem, len(usable), beliefs.prior.at(float(np.exp(place))))
        one = averaged_moments(problem, [(0.0, rule)], members, share)
        mean, square, noise = mean + one[0], square + one[1], noise + one[2]
        total += float(share.sum())
    return mean / total, square / total, noise / total


def _noise(
    joint: JointProblem, variance: float, members: list[tuple[int, ...]], share: Floats
) -> Floats:
    """Return the mean noise covariance over the most probable models."""
    total, K = np.zeros((len(joint.problems),) * 2), len(joint.problems)
    best = min(len(members), 200)
    for model, p in zip(members[:best], share[:best] / share[:best].sum(), strict=True):
        own = np.array(model, dtype=np.intp)
        xty = np.column_stack([problem.xty[own] for problem in joint.problems])
        gram = joint.first.known_block(own) + np.eye(len(own)) / variance
        total += p * (joint.yty - xty.T @ np.linalg.solve(gram, xty))
    return np.asarray(total / max(joint.rows - K - 1, 1.0))
