"""From models and their probabilities to a Posterior in the user's units."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import pinvh
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.posterior import Models, Posterior
from garrote.priors.evidence import KnownNoise, Schwarz, log_evidence, noise_mean, slab_moments
from garrote.priors.slab import GaussianSlab, Slab
from garrote.problem import Problem
from garrote.results import ExactCertificate
from garrote.solvers.chain_diagnostics import diagnose
from garrote.solvers.enumeration import enumerate_models
from garrote.solvers.model_chain import Sampling
from garrote.solvers.model_search import search_models

# Models that are kept with the law of their coefficients, at most, and the share they may leave out.
MOST_KEPT = 500
LEFT_OUT = 1e-4
# Models whose odds are computed again for the certificate.
CERTIFIED = 50
# Columns below this inclusion probability have no covariances stated.
IN_SUPPORT = 0.01


@dataclass(frozen=True)
class Findings:
    """What a solver found, in the units of the problem: averages over models, and the best of them."""

    inclusion: Floats
    mean: Floats
    second_moment: Floats
    size_probability: Floats
    members: tuple[tuple[int, ...], ...]
    probability: Floats
    slab_variance: float
    log_evidence: float | None = None
    monte_carlo_error: Floats | None = None
    effective_sample_size: Floats | None = None
    split_r_hat: Floats | None = None


class _Part(NamedTuple):
    """What was found with one slab: the sum over models, and averages over them."""

    log_total: float
    slab_variance: float
    inclusion: Floats
    mean: Floats
    second_moment: Floats
    size_probability: Floats
    members: Sequence[tuple[int, ...]]
    log_weights: Floats


def enumerate_findings(
    problem: Problem, beliefs: Beliefs, usable: Array, n_jobs: int | None, report: Any = None
) -> Findings:
    """Sum over all models of the usable columns, and over the slab's variance where it is unknown."""
    gram = problem.known_block(usable)
    xty, prior = problem.xty[usable], beliefs.inclusion
    grid: list[tuple[float, Slab]] = [*beliefs.slab.grid()]
    parts = []
    for step, (log_weight, slab) in enumerate(grid):
        rule = slab.rule(beliefs.n, problem.yty, len(usable))
        found = enumerate_models(
            rule, gram, xty, problem.yty, prior.by_size, prior.log_odds, n_jobs=n_jobs
        )
        inclusion, mean, square = (
            _spread_out(values, usable, problem.n_features)
            for values in (found.inclusion, found.mean, np.diag(found.second_moment))
        )
        members = [tuple(int(usable[j]) for j in model) for model in found.members]
        parts.append(
            _Part(
                log_weight + found.log_total,
                _variance(slab),
                inclusion,
                mean,
                square,
                found.size_probability,
                members,
                found.log_weights + log_weight,
            )
        )
        if report is not None:
            report(step + 1, len(grid))
    return _averaged(parts)


def search_findings(
    problem: Problem, beliefs: Beliefs, start: list[int], expansions: int, seed: Any, report: Any
) -> tuple[Findings, float]:
    """Search among models with each slab variance of the grid; also return the share found late."""
    grid: list[tuple[float, Slab]] = [*beliefs.slab.grid()]
    parts, late = [], []
    for step, (log_weight, one) in enumerate(grid):
        found = search_models(
            beliefs.target(problem, one),
            np.random.default_rng(seed),
            start=start,
            expansions=-(-expansions // len(grid)),
        )
        parts.append(
            _Part(
                log_weight + found.log_total,
                _variance(one),
                found.inclusion,
                found.mean,
                found.second_moment,
                found.size_probability,
                found.members,
                found.log_weights + log_weight,
            )
        )
        late.append(found.late_share)
        if report is not None:
            report(step + 1, len(grid))
    return _averaged(parts), float(_shares(parts) @ late)


def _variance(slab: Slab) -> float:
    return float(getattr(slab, "variance", None) or np.nan)


def _shares(parts: Sequence[_Part]) -> Floats:
    logs = np.array([part.log_total for part in parts])
    return np.asarray(np.exp(logs - logsumexp(logs)))


def _averaged(parts: Sequence[_Part]) -> Findings:
    """Average over the slab's variances, each by the evidence it has."""
    share = _shares(parts)

    def averaged(values: Sequence[Floats]) -> Floats:
        return np.asarray(sum(w * v for w, v in zip(share, values, strict=True)))

    log_evidence = float(logsumexp([part.log_total for part in parts]))
    members, probability = _merged(parts, log_evidence)
    return Findings(
        inclusion=averaged([part.inclusion for part in parts]),
        mean=averaged([part.mean for part in parts]),
        second_moment=averaged([part.second_moment for part in parts]),
        size_probability=averaged([part.size_probability for part in parts]),
        members=members,
        probability=probability,
        slab_variance=parts[int(np.argmax(share))].slab_variance,
        log_evidence=log_evidence,
    )


def _merged(
    parts: Sequence[_Part], log_evidence: float
) -> tuple[tuple[tuple[int, ...], ...], Floats]:
    """Add up the probabilities of each model over the slab's variances; best first."""
    total: dict[tuple[int, ...], float] = {}
    for part in parts:
        for model, log in zip(part.members, part.log_weights, strict=True):
            total[model] = total.get(model, 0.0) + float(np.exp(log - log_evidence))
    ranked = sorted(total.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(model for model, _ in ranked), np.array([p for _, p in ranked])


def _spread_out(values: Floats, usable: Array, count: int) -> Floats:
    everywhere = np.zeros(count)
    everywhere[usable] = values
    return everywhere


def sampled_findings(chains: Sequence[Sampling]) -> Findings:
    """Join chains: each counts by its weight; batches of all of them tell the error."""
    weights = np.array([chain.weight for chain in chains])
    share = weights / weights.sum()

    def joined(values: Sequence[Floats]) -> Floats:
        return np.asarray(sum(w * v for w, v in zip(share, values, strict=True)))

    inclusion = joined([chain.inclusion for chain in chains])
    diagnosed = diagnose(chains, inclusion)
    members, probability = _visited(chains)
    variances = np.concatenate([chain.slab_variances for chain in chains])
    return Findings(
        inclusion=inclusion,
        mean=joined([chain.mean for chain in chains]),
        second_moment=joined([chain.second_moment for chain in chains]),
        size_probability=joined([chain.size_probability for chain in chains]),
        members=members,
        probability=probability,
        slab_variance=float(np.median(variances)),
        monte_carlo_error=diagnosed.error,
        effective_sample_size=diagnosed.effective_size,
        split_r_hat=diagnosed.split_r_hat,
    )


def _visited(chains: Sequence[Sampling]) -> tuple[tuple[tuple[int, ...], ...], Floats]:
    """Return the models that chains were in, by the weight they had there."""
    total: dict[frozenset[int], float] = {}
    for chain in chains:
        state = frozenset(chain.start)
        for flip, weight in zip(chain.flips, chain.weights, strict=True):
            if weight > 0:
                total[state] = total.get(state, 0.0) + weight
            if flip >= 0:
                state = state ^ {int(flip)}
    ranked = sorted(total.items(), key=lambda entry: (-entry[1], sorted(entry[0])))
    mass = sum(total.values())
    members = tuple(tuple(sorted(state)) for state, _ in ranked)
    return members, np.array([weight / mass for _, weight in ranked])


def certify_models(problem: Problem, beliefs: Beliefs, found: Findings) -> ExactCertificate:
    """Compute the odds of the best models from scratch, and compare."""
    members = found.members[:CERTIFIED]
    usable = len(problem.usable)
    # Tables of a g-prior take longer to make than all that follows.
    rules = [(w, slab.rule(beliefs.n, problem.yty, usable)) for w, slab in beliefs.slab.grid()]
    logs = np.array(
        [_log_probability(problem, beliefs, rules, np.array(g, np.intp)) for g in members]
    )
    stated = np.log(np.maximum(found.probability[: len(members)], 1e-300))
    return ExactCertificate(float(np.abs((logs - logs[0]) - (stated - stated[0])).max()))


def _log_probability(
    problem: Problem, beliefs: Beliefs, rules: Sequence[tuple[float, Any]], members: Array
) -> float:
    """Return a model's log probability, up to a constant, from its own cross products."""
    gram, xty = problem.known_block(members), problem.xty[members]
    prior = beliefs.inclusion
    logs = []
    for log_weight, rule in rules:
        inside = gram + rule.ridge * np.eye(len(members))
        left = (
            problem.yty - float(xty @ np.linalg.solve(inside, xty)) if len(members) else problem.yty
        )
        log_det = float(np.linalg.slogdet(inside)[1]) if len(members) else 0.0
        logs.append(log_weight + log_evidence(rule, len(members), log_det, max(left, 0.0)))
    odds = prior.log_odds[np.searchsorted(problem.usable, members)].sum()
    return float(logsumexp(logs) + prior.by_size[len(members)] + odds)


def make_model_posterior(
    problem: Problem,
    beliefs: Beliefs,
    found: Findings,
    names: tuple[str, ...],
) -> Posterior:
    """Describe findings in the user's units, with the law of the coefficients in the best models."""
    scale, fixed = problem.scale, problem.scale.covariates
    unit = scale.response_scale / scale.column_scale
    inclusion = found.inclusion.copy()
    inclusion[fixed] = 1.0
    columns = np.flatnonzero(found.mean)
    mean = found.mean * unit
    mean[fixed] = scale.covariate_coefficients(columns, found.mean[columns])
    variance = np.maximum(found.second_moment - found.mean**2, 0.0) * unit**2
    support = np.flatnonzero(inclusion > IN_SUPPORT)
    models = _kept_models(problem, beliefs, found)
    variance[fixed] = _variances(models, len(fixed))
    noise = float(models.probability @ models.noise_means / models.probability.sum())
    return Posterior(
        inclusion_probability=inclusion,
        mean=mean,
        support=support,
        standard_error=np.sqrt(variance[support]),
        correlation=model_correlation(models, support),
        noise_variance=noise,
        degrees_of_freedom=max(beliefs.n, 1.0),
        free_energy=-(found.log_evidence or 0.0),
        optima=(),
        names=names,
        log_evidence=found.log_evidence,
        size_probability=found.size_probability,
        found=models,
        monte_carlo_error=found.monte_carlo_error,
        effective_sample_size=found.effective_sample_size,
        split_r_hat=found.split_r_hat,
    )


def _kept_models(problem: Problem, beliefs: Beliefs, found: Findings) -> Models:
    """Return the best models with the law of their coefficients, in the user's units."""
    enough = int(np.searchsorted(np.cumsum(found.probability), 1 - LEFT_OUT)) + 1
    count = min(enough, MOST_KEPT, len(found.members))
    slab = beliefs.slab
    if isinstance(slab, GaussianSlab):
        slab = replace(slab, variance=found.slab_variance)
    rule = slab.rule(beliefs.n, problem.yty, problem.n_features)
    laws = [_law(problem, rule, np.array(g, dtype=np.intp)) for g in found.members[:count]]
    known = isinstance(rule, KnownNoise | Schwarz)
    shape = np.inf if known else 0.5 * beliefs.n + getattr(slab, "shape", 0.0)
    noise = np.array([law.noise for law in laws]) * problem.scale.response_scale**2
    return Models(
        members=tuple(law.members for law in laws),
        probability=found.probability[:count],
        mean=tuple(law.mean for law in laws),
        spread=tuple(law.spread for law in laws),
        noise_rate=noise if np.isinf(shape) else noise * (shape - 1.0),
        noise_shape=shape,
    )


class _Law(NamedTuple):
    members: Array
    mean: Floats
    spread: Floats
    noise: float


def _law(problem: Problem, rule: Any, members: Array) -> _Law:
    """Return a model's coefficients, covariates included, given its variables."""
    scale, fixed = problem.scale, problem.scale.covariates
    inside = problem.known_block(members) + rule.ridge * np.eye(len(members))
    inverse = pinvh(inside) if len(members) else np.zeros((0, 0))
    v = inverse @ problem.xty[members]
    left = max(problem.yty - float(problem.xty[members] @ v), 0.0)
    f1, _, f3 = slab_moments(rule, len(members), left)
    f3 = max(f3, 0.0)  # tables are interpolated
    noise = noise_mean(rule, len(members), left)
    unit = scale.response_scale / scale.column_scale
    everyone = np.concatenate([fixed, members])
    mean = np.concatenate([scale.covariate_coefficients(members, f1 * v), f1 * v * unit[members]])
    # Covariates move with the others: those take back what they explain of them.
    back = np.vstack([-scale.covariate_columns[:, members], np.eye(len(members))])
    own = np.zeros((len(everyone), len(everyone)))
    if len(fixed):
        own[: len(fixed), : len(fixed)] = pinvh(problem.raw_gram(fixed))
    spread = (f3 / noise if noise > 0 else 1.0) * back @ inverse @ back.T + own
    units = scale.response_scale / scale.column_scale[everyone]
    spread *= np.outer(units, units) / scale.response_scale**2
    return _Law(everyone, mean, spread, noise)


def _variances(models: Models, count: int) -> Floats:
    """Return the variances of the first few coefficients, which all models have, over the models."""
    share = models.probability / models.probability.sum()
    first = np.array([mean[:count] for mean in models.mean])
    own = np.array(
        [
            noise * np.diag(spread)[:count]
            for spread, noise in zip(models.spread, models.noise_means, strict=True)
        ]
    )
    centre = share @ first
    return np.asarray(share @ (own + (first - centre) ** 2))


def model_correlation(models: Models, support: Array) -> Floats:
    """Return the correlations of some coefficients over the models kept."""
    place = {int(j): k for k, j in enumerate(support)}
    mean, square = np.zeros(len(support)), np.zeros((len(support), len(support)))
    share = models.probability / models.probability.sum()
    laws = zip(share, models.members, models.mean, models.spread, models.noise_means, strict=True)
    for weight, members, centre, spread, noise in laws:
        own = [k for k, j in enumerate(members) if int(j) in place]
        to = [place[int(members[k])] for k in own]
        mean[to] += weight * centre[own]
        inside = np.outer(centre[own], centre[own]) + noise * spread[np.ix_(own, own)]
        square[np.ix_(to, to)] += weight * inside
    covariance = square - np.outer(mean, mean)
    size = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    return covariance / np.outer(size, size)
