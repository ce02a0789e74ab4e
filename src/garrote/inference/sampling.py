"""Chains of models: started apart, run in threads, compared with each other."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from garrote.inference.beliefs import Beliefs
from garrote.inference.over_models import Findings, sampled_findings
from garrote.inference.paired_mean_field import slab_prior
from garrote.paths import fit_path
from garrote.priors.inclusion import Inclusion
from garrote.priors.slab import GaussianSlab
from garrote.problem import Problem
from garrote.results import MonteCarloCertificate
from garrote.solvers.annealing import Control
from garrote.solvers.gram_rows import GramRows
from garrote.solvers.informed_sampler import Sampling, sample_models


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
    chains: Chains,
    n_jobs: int | None = None,
    report: Callable[[int, int], None] | None = None,
) -> tuple[Findings, MonteCarloCertificate]:
    """Run the chains; the first starts from a mean-field solution, the others from nothing."""
    seeds = np.random.SeedSequence(chains.seed).spawn(chains.count)
    starts = [_mean_field_start(problem, beliefs), *[[]] * (chains.count - 1)]
    inclusion = _over_all_columns(problem, beliefs.inclusion)

    def run(seed: Any, start: list[int]) -> Sampling:
        return sample_models(
            problem, beliefs.slab, inclusion, beliefs.n, np.random.default_rng(seed),
            rows=GramRows(problem), start=start, steps=chains.steps, burn_in=chains.burn_in,
            report=report,
        )  # fmt: skip

    jobs = min(effective_n_jobs(n_jobs), len(seeds))
    runs = Parallel(n_jobs=jobs, prefer="threads")(
        delayed(run)(seed, start) for seed, start in zip(seeds, starts, strict=True)
    )
    found = sampled_findings(runs)
    each = np.array([chain.inclusion for chain in runs])
    error = found.monte_carlo_error
    worst = 0.0 if error is None else float(error.max(initial=0.0))
    return found, MonteCarloCertificate(worst, float(np.ptp(each, axis=0).max(initial=0.0)))


def _over_all_columns(problem: Problem, inclusion: Inclusion) -> Inclusion:
    """Give the odds of columns without content a place; the sampler never visits them."""
    log_odds = np.full(problem.n_features, -np.inf)
    log_odds[problem.curvature > 0] = inclusion.log_odds
    return replace(inclusion, log_odds=log_odds)


def _mean_field_start(problem: Problem, beliefs: Beliefs) -> list[int]:
    """Return the variables of a mean-field solution at the prior odds of a small model."""
    if not (problem.curvature > 0).any() or problem.yty <= 0:
        return []
    prior = slab_prior(problem, beliefs, GaussianSlab(1.0))
    gamma = beliefs.inclusion.odds_of_one_more(0)
    grid = np.append(np.linspace(20 * min(gamma, -1.0), gamma, 12)[:-1], gamma)
    path = fit_path(problem, prior, grid, control=Control(1e-2, 1000))
    fit = path.fits[-1]
    return [int(j) for j in fit.columns[fit.probability > 0.5]]
