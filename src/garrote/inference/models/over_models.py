"""From models and their probabilities to a Posterior in the user's units."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.models.model_laws import (
    as_correlation,
    first_variances,
    joint_covariance,
    log_posteriors,
    make_laws,
    model_correlation,
)
from garrote.inference.models.representative_models import (
    Components,
    Members,
    Representatives,
    represent_known,
)
from garrote.inference.models.visited_slabs import visited_slabs
from garrote.priors.base import Slab
from garrote.problem import Problem
from garrote.results.accuracy import SamplingAccuracy
from garrote.results.certificates import Certificate, of_all_models
from garrote.results.laws import Models, Spread
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.results.shapes import SlabShapes
from garrote.solvers.diagnostics import diagnose_inclusion
from garrote.solvers.models.model_chain import Sampling

# Models whose odds are computed again for the certificate.
CERTIFIED = 50
# Probabilities below this lose digits.
_FEW_DIGITS = 1e-290


@dataclass(frozen=True)
class Findings:
    """What a solver found, in the units of the problem: averages over models, and the best of them.

    Where models are fitted one by one averages are those of the usable columns, means and second moments
    beside the fixed ones. ``seen`` is how many models there were, for all of which ``representatives``
    and ``components`` stand. ``noise`` is the mean of the noise variance; ``slabs`` are those that an
    unknown slab variance is integrated over, with their log weights; ``covariance`` is that of some
    columns, where it is known; ``shapes`` tells which shape of the slab the data prefer, where there is
    a choice.
    """

    inclusion: Floats
    mean: Floats
    second_moment: Floats
    size_probability: Floats
    members: Sequence[Members]
    probability: Floats
    seen: int
    representatives: Representatives
    components: Components
    noise: float = float("nan")
    slabs: tuple[tuple[float, Slab], ...] = ()
    covariance: tuple[Array, Floats] | None = None
    log_evidence: float | None = None
    accuracy: SamplingAccuracy | None = None
    shapes: SlabShapes | None = None


def sampled_findings(chains: Sequence[Sampling], slab: Slab) -> Findings:
    """Join chains: each counts by its weight; batches of all of them tell the error."""
    weights = np.array([chain.weight for chain in chains])
    share = weights / weights.sum()

    def joined(values: Sequence[Floats]) -> Floats:
        return np.asarray(sum(w * v for w, v in zip(share, values, strict=True)))

    inclusion = np.minimum(joined([chain.inclusion for chain in chains]), 1.0)  # but for rounding
    diagnosed = diagnose_inclusion(chains, inclusion)
    members, probability = visited(chains)
    representatives, components = represent_known(members, probability, len(inclusion))
    slabs, shapes = visited_slabs(chains, slab)
    return Findings(
        inclusion=inclusion,
        mean=joined([chain.mean for chain in chains]),
        second_moment=joined([chain.second_moment for chain in chains]),
        size_probability=joined([chain.size_probability for chain in chains]),
        noise=float(share @ [chain.noise for chain in chains]),
        members=members,
        probability=probability,
        seen=len(members),
        representatives=representatives,
        components=components,
        slabs=slabs,
        shapes=shapes,
        accuracy=SamplingAccuracy(diagnosed.error, diagnosed.effective_size, diagnosed.split_r_hat),
    )


def visited(
    chains: Sequence[Sampling], most: int | None = None
) -> tuple[tuple[Members, ...], Floats]:
    """Return the models that chains were in, by the weight they had there; at most so many, if given."""
    # States by the sum, modulo 2, of random numbers of 64 bits that their variables have.
    numbers = np.random.default_rng(0).integers(2**63, size=len(chains[0].mean), dtype=np.int64)
    keys = np.concatenate([_keys(chain, numbers) for chain in chains])
    weights = np.concatenate([chain.weights for chain in chains])
    counted = np.flatnonzero(weights > 0)
    _, first, which = np.unique(keys[counted], return_index=True, return_inverse=True)
    total = np.bincount(which, weights[counted])
    order = np.argsort(-total, kind="stable")[:most]
    models = _states_at(chains, counted[first[order]])
    return models, np.asarray(total[order] / total.sum())


def _keys(chain: Sampling, numbers: Array) -> Array:
    """Return a number for every state of a chain, the same for the same model."""
    start = np.bitwise_xor.reduce(numbers[list(chain.start)], initial=0)
    flipped = np.where(chain.flips >= 0, numbers[chain.flips], 0)
    return np.asarray(start ^ np.append(0, np.bitwise_xor.accumulate(flipped)[:-1]))


def _states_at(chains: Sequence[Sampling], places: Array) -> tuple[Members, ...]:
    """Return the models that chains, one after another, were in at some places."""
    wanted, models, at = set(places.tolist()), {}, 0
    for chain in chains:
        state = set(chain.start)
        for place, flip in enumerate(chain.flips.tolist(), at):
            if place in wanted:
                models[place] = tuple(sorted(state))
            if flip >= 0:
                state ^= {flip}
        at += len(chain.flips)
    return tuple(models[place] for place in places.tolist())


def foremost(found: Findings) -> tuple[Any, Floats]:
    """Return the best models, as far as their probabilities have all digits, with the logs of these."""
    count = int(np.count_nonzero(found.probability[:CERTIFIED] > _FEW_DIGITS))
    return found.members[:count], np.log(found.probability[:count])


def certify_models(
    problem: Problem, beliefs: Beliefs, found: Findings, quadrature: float = 0.0
) -> Certificate:
    """Compute the odds of the best models from scratch, and compare."""
    members, stated = foremost(found)
    n, yty, spent = beliefs.n, problem.yty, beliefs.spent
    rules = [(w, slab.reference_rule(n, yty, spent)) for w, slab in found.slabs]
    logs = log_posteriors(problem, beliefs.inclusion, rules, members)
    off = np.abs((logs - logs[0]) - (stated - stated[0])).max()
    return of_all_models(float(off), quadrature)


def _rules(problem: Problem, beliefs: Beliefs, found: Findings) -> list[tuple[float, Any]]:
    """Return the marginal likelihoods that are averaged over."""
    usable = len(problem.usable)
    return [(w, beliefs.rule(problem, usable, slab)) for w, slab in found.slabs]


def make_model_posterior(
    problem: Problem,
    beliefs: Beliefs,
    found: Findings,
    names: tuple[str, ...],
) -> Posterior:
    """Describe findings in the user's units, with the law of the coefficients in some models."""
    scale, fixed = problem.scale, problem.scale.covariates
    unit = scale.response_scale / scale.column_scale
    inclusion = np.minimum(found.inclusion, 1.0)  # sums of many shares round up
    inclusion[fixed] = 1.0
    columns = np.flatnonzero(found.mean)
    mean = found.mean * unit
    mean[fixed] = scale.covariate_coefficients(columns, found.mean[columns])
    variance = np.maximum(found.second_moment - found.mean**2, 0.0) * unit**2
    support = np.flatnonzero(inclusion > IN_SUPPORT)
    models = _kept_models(problem, beliefs, found)
    if found.covariance is None:
        variance[fixed] = first_variances(models, len(fixed))
        correlation = model_correlation(models, support)
    else:
        law = joint_covariance(problem, *found.covariance, found.noise)
        variance[fixed] = np.diag(law.spread)[: len(fixed)]
        place = np.argsort(law.members)[np.searchsorted(np.sort(law.members), support)]
        correlation = as_correlation(law.spread[np.ix_(place, place)])
    return Posterior(
        inclusion_probability=inclusion,
        mean=mean,
        spread=Spread(support, np.sqrt(variance[support]), correlation),
        law=models,
        noise_variance=found.noise * scale.response_scale**2,
        degrees_of_freedom=max(beliefs.n, 1.0),
        free_energy=float("nan") if found.log_evidence is None else -found.log_evidence,
        names=names,
        log_evidence=found.log_evidence,
        size_probability=found.size_probability,
        accuracy=found.accuracy,
        covariates=fixed,
        shapes=found.shapes,
    )


def _kept_models(problem: Problem, beliefs: Beliefs, found: Findings) -> Models:
    """Return the models that stand for all, with the laws of their coefficients, in the user's units."""
    rules = _rules(problem, beliefs, found)
    members, probability, listed = found.representatives
    laws = make_laws(problem, rules, members)
    shape = beliefs.prior.noise_shape(beliefs.n)
    noise = np.array([law.noise for law in laws]) * problem.scale.response_scale**2
    return Models(
        members=tuple(law.members for law in laws),
        probability=probability,
        mean=tuple(law.mean for law in laws),
        spread=tuple(law.spread for law in laws),
        noise_rate=noise if np.isinf(shape) else noise * (shape - 1.0),
        noise_shape=shape,
        listed=listed,
    )
