"""Chains of models: started apart, run in threads, compared with each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from garrote.arrays import Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.mean_field.paired_mean_field import slab_prior
from garrote.inference.models.over_models import Findings, sampled_findings
from garrote.paths.annealed import fit_path
from garrote.priors.slab import GaussianSlab
from garrote.problem import Problem
from garrote.results.certificates import MonteCarloCertificate
from garrote.solvers.algebra.gram_rows import ROOM, GramRows
from garrote.solvers.control import Control
from garrote.solvers.models.informed_sampler import InformedWalk
from garrote.solvers.models.metropolis import MetropolisWalk
from garrote.solvers.models.model_chain import Sampling, Walk, in_one_unit, run_chain
from garrote.solvers.models.paired_gibbs import PairedGibbsWalk

SAMPLERS: dict[str, Callable[..., Walk]] = {
    "sample": InformedWalk,
    "metropolis": MetropolisWalk,
    "gibbs": PairedGibbsWalk,
}


@dataclass(frozen=True)
class Chains:
    """How long to sample: states that count, states before them, chains, and the seed."""

    steps: int = 10_000
    burn_in: int = 1000
    count: int = 2
    seed: Any = None


def sample(
    problem: Problem,
    beliefs: Beliefs,
    method: str,
    chains: Chains,
    n_jobs: int | None = None,
    report: Callable[[int, int], None] | None = None,
) -> tuple[Findings, MonteCarloCertificate]:
    """Run chains; the first starts from a mean-field solution, the others from nothing."""
    seeds = np.random.SeedSequence(chains.seed).spawn(chains.count)
    starts = [mean_field_start(problem, beliefs), *[[]] * (chains.count - 1)]
    target = beliefs.target(problem)
    jobs = min(effective_n_jobs(n_jobs), len(seeds))

    def run(seed: Any, start: list[int]) -> Sampling:
        walk = SAMPLERS[method](
            target, np.random.default_rng(seed), GramRows(problem, ROOM // jobs)
        )
        return run_chain(
            walk, start=start, steps=chains.steps, burn_in=chains.burn_in, report=report
        )

    runs = Parallel(n_jobs=jobs, prefer="threads")(
        delayed(run)(seed, start) for seed, start in zip(seeds, starts, strict=True)
    )
    runs = in_one_unit(runs)
    found = sampled_findings(runs, beliefs.slab)
    return found, certify_chains(runs, found)


def certify_chains(runs: Sequence[Sampling], found: Findings) -> MonteCarloCertificate:
    """Tell how far what chains found may be off."""
    each, accuracy = np.array([chain.inclusion for chain in runs]), found.accuracy
    assert accuracy is not None
    return MonteCarloCertificate(
        error=_largest(accuracy.monte_carlo_error, 0.0),
        disagreement=float(np.ptp(each, axis=0).max(initial=0.0)),
        split_r_hat=_largest(accuracy.split_r_hat, 1.0),
    )


def _largest(values: Floats | None, least: float) -> float:
    return least if values is None else float(values.max(initial=least))


def mean_field_start(problem: Problem, beliefs: Beliefs) -> list[int]:
    """Return the variables of a mean-field solution at the prior odds of a small model."""
    if not (problem.curvature > 0).any() or problem.yty <= 0:
        return []
    prior = slab_prior(problem, beliefs, GaussianSlab(1.0))
    gamma = beliefs.inclusion.odds_of_one_more(0)
    grid = np.append(np.linspace(20 * min(gamma, -1.0), gamma, 12)[:-1], gamma)
    path = fit_path(problem, prior, grid, control=Control(1e-2, 1000))
    fit = path.fits[-1]
    return [int(j) for j in fit.columns[fit.probability > 0.5]]
