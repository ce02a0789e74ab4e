"""From models and their probabilities to a Posterior in the user's units."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.certificates import ExactCertificate
from garrote.coefficient_laws import Models
from garrote.inference.beliefs import Beliefs
from garrote.inference.model_laws import (
    first_variances,
    log_evidences,
    make_law,
    model_correlation,
    spectrum,
)
from garrote.inference.slab_integral import Point, integrate_over_slab, shares
from garrote.posterior import IN_SUPPORT, Posterior
from garrote.priors.evidence import KnownNoise, Schwarz
from garrote.priors.slab import GaussianSlab, Slab
from garrote.problem import Problem
from garrote.solvers.chain_diagnostics import diagnose
from garrote.solvers.enumeration import enumerate_models
from garrote.solvers.gram_rows import GramRows
from garrote.solvers.model_chain import Sampling
from garrote.solvers.model_search import search_models

# Models that are kept with the law of their coefficients, at most, and the share they may leave out.
MOST_KEPT = 500
LEFT_OUT = 1e-4
# A search over an unknown slab variance has about so many variances to share its expansions.
_SEARCHES = 13
# Models whose odds are computed again for the certificate.
CERTIFIED = 50


@dataclass(frozen=True)
class Findings:
    """What a solver found, in the units of the problem: averages over models, and the best of them.

    ``slabs`` are those that an unknown slab variance is integrated over, with their log weights.
    """

    inclusion: Floats
    mean: Floats
    second_moment: Floats
    size_probability: Floats
    members: tuple[tuple[int, ...], ...]
    probability: Floats
    slabs: tuple[tuple[float, Slab], ...]
    log_evidence: float | None = None
    monte_carlo_error: Floats | None = None
    effective_sample_size: Floats | None = None
    split_r_hat: Floats | None = None


class _Part(NamedTuple):
    """What was found with one slab: the sum over models, and averages over them."""

    log_total: float
    inclusion: Floats
    mean: Floats
    second_moment: Floats
    size_probability: Floats
    members: Sequence[tuple[int, ...]]
    log_weights: Floats


def enumerate_findings(
    problem: Problem, beliefs: Beliefs, usable: Array, n_jobs: int | None, report: Any = None
) -> tuple[Findings, float]:
    """Sum over all models of the usable columns, and over the slab's variance where it is unknown.

    Also returns how far inclusion probabilities moved at the last refinement over that variance.
    """
    gram = problem.known_block(usable)
    xty, prior = problem.xty[usable], beliefs.inclusion

    def find(slab: Slab) -> _Part:
        rule = slab.rule(beliefs.n, problem.yty, len(usable))
        found = enumerate_models(
            rule, gram, xty, problem.yty, prior.by_size, prior.log_odds, n_jobs=n_jobs
        )
        inclusion, mean, square = (
            _spread_out(values, usable, problem.n_features)
            for values in (found.inclusion, found.mean, np.diag(found.second_moment))
        )
        members = [tuple(int(usable[j]) for j in model) for model in found.members]
        return _Part(
            found.log_total, inclusion, mean, square, found.size_probability, members,
            found.log_weights,
        )  # fmt: skip

    points, change = integrate_over_slab(beliefs.slab, find, report)
    return _averaged(points), change


def search_findings(
    problem: Problem, beliefs: Beliefs, start: list[int], expansions: int, seed: Any, report: Any
) -> tuple[Findings, float]:
    """Search among models with every slab variance that counts; also return the share found late."""
    unknown = isinstance(beliefs.slab, GaussianSlab) and beliefs.slab.variance is None
    each = -(-expansions // (_SEARCHES if unknown else 1))
    late: dict[Slab, float] = {}
    rows = GramRows(problem)  # the same for every variance

    def find(slab: Slab) -> _Part:
        found = search_models(
            beliefs.target(problem, slab), np.random.default_rng(seed), rows=rows, start=start,
            expansions=each,
        )  # fmt: skip
        late[slab] = found.late_share
        return _Part(
            found.log_total, found.inclusion, found.mean, found.second_moment,
            found.size_probability, found.members, found.log_weights,
        )  # fmt: skip

    points, _ = integrate_over_slab(beliefs.slab, find, report)
    return _averaged(points), float(shares(points) @ [late[point.slab] for point in points])


def _averaged(points: Sequence[Point]) -> Findings:
    """Average over the slab's variances, each by the evidence it has."""
    share = shares(points)
    parts: list[_Part] = [point.part for point in points]

    def averaged(values: Sequence[Floats]) -> Floats:
        return np.asarray(sum(w * v for w, v in zip(share, values, strict=True)))

    log_evidence = float(logsumexp([point.log_weight + point.part.log_total for point in points]))
    members, probability = _merged(points, log_evidence)
    return Findings(
        inclusion=averaged([part.inclusion for part in parts]),
        mean=averaged([part.mean for part in parts]),
        second_moment=averaged([part.second_moment for part in parts]),
        size_probability=averaged([part.size_probability for part in parts]),
        members=members,
        probability=probability,
        slabs=tuple((point.log_weight, point.slab) for point in points),
        log_evidence=log_evidence,
    )


def _merged(
    points: Sequence[Point], log_evidence: float
) -> tuple[tuple[tuple[int, ...], ...], Floats]:
    """Add up the probabilities of each model over the slab's variances; best first."""
    total: dict[tuple[int, ...], float] = {}
    for weight, _, part in points:
        for model, log in zip(part.members, part.log_weights, strict=True):
            total[model] = total.get(model, 0.0) + float(np.exp(weight + log - log_evidence))
    ranked = sorted(total.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(model for model, _ in ranked), np.array([p for _, p in ranked])


def _spread_out(values: Floats, usable: Array, count: int) -> Floats:
    everywhere = np.zeros(count)
    everywhere[usable] = values
    return everywhere


def sampled_findings(chains: Sequence[Sampling], slab: Slab) -> Findings:
    """Join chains: each counts by its weight; batches of all of them tell the error."""
    weights = np.array([chain.weight for chain in chains])
    share = weights / weights.sum()

    def joined(values: Sequence[Floats]) -> Floats:
        return np.asarray(sum(w * v for w, v in zip(share, values, strict=True)))

    inclusion = joined([chain.inclusion for chain in chains])
    diagnosed = diagnose(chains, inclusion)
    members, probability = _visited(chains)
    return Findings(
        inclusion=inclusion,
        mean=joined([chain.mean for chain in chains]),
        second_moment=joined([chain.second_moment for chain in chains]),
        size_probability=joined([chain.size_probability for chain in chains]),
        members=members,
        probability=probability,
        slabs=tuple(slab.grid()),
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


def certify_models(
    problem: Problem, beliefs: Beliefs, found: Findings, quadrature: float = 0.0
) -> ExactCertificate:
    """Compute the odds of the best models from scratch, and compare."""
    members = found.members[:CERTIFIED]
    rules = _rules(problem, beliefs, found)
    prior = beliefs.inclusion
    logs = []
    for model in members:
        own = np.array(model, np.intp)
        odds = prior.log_odds[np.searchsorted(problem.usable, own)].sum()
        evidences = log_evidences(spectrum(problem, own), rules, own)
        logs.append(logsumexp(evidences) + prior.by_size[len(own)] + odds)
    stated = np.log(np.maximum(found.probability[: len(members)], 1e-300))
    off = np.abs((np.array(logs) - logs[0]) - (stated - stated[0])).max()
    return ExactCertificate(float(off), quadrature)


def _rules(problem: Problem, beliefs: Beliefs, found: Findings) -> list[tuple[float, Any]]:
    """Return the marginal likelihoods that are averaged over; tables of a g-prior take a while."""
    usable = len(problem.usable)
    return [(w, slab.rule(beliefs.n, problem.yty, usable)) for w, slab in found.slabs]


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
    variance[fixed] = first_variances(models, len(fixed))
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
        covariates=fixed,
    )


def _kept_models(problem: Problem, beliefs: Beliefs, found: Findings) -> Models:
    """Return the best models with the law of their coefficients, in the user's units."""
    enough = int(np.searchsorted(np.cumsum(found.probability), 1 - LEFT_OUT)) + 1
    count = min(enough, MOST_KEPT, len(found.members))
    rules = _rules(problem, beliefs, found)
    laws = [make_law(problem, rules, np.array(g, dtype=np.intp)) for g in found.members[:count]]
    known = isinstance(rules[0][1], KnownNoise | Schwarz)
    shape = np.inf if known else 0.5 * beliefs.n + getattr(beliefs.slab, "shape", 0.0)
    noise = np.array([law.noise for law in laws]) * problem.scale.response_scale**2
    return Models(
        members=tuple(law.members for law in laws),
        probability=found.probability[:count],
        mean=tuple(law.mean for law in laws),
        spread=tuple(law.spread for law in laws),
        noise_rate=noise if np.isinf(shape) else noise * (shape - 1.0),
        noise_shape=shape,
    )
