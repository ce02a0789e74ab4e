"""Chains of models: started apart, run in threads, compared with each other."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.mean_field.paired_mean_field import slab_prior
from garrote.inference.methods import Chains
from garrote.inference.models.lost_chains import find_lost
from garrote.inference.models.over_models import Findings, sampled_findings
from garrote.inference.models.signs import ways_under
from garrote.limits.budgets import GRAM_BYTES
from garrote.paths.annealed import fit_path
from garrote.priors.slab import GaussianSlab
from garrote.problem import Problem
from garrote.results.certificates import Certificate, monte_carlo
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.control import Control
from garrote.solvers.models.model_chain import Sampling, in_one_unit, run_chain

# Chains that are started anew have random numbers of their own.
_ANEW = 1_000_000
# A variable of which others leave less than this share depends on them.
_DEPENDENT = 1e-6

Run = TypeVar("Run")


def chains_at_once(chains: Chains, n_jobs: int | None) -> int:
    """Return how many chains run at the same time."""
    return int(min(effective_n_jobs(n_jobs), chains.count))


def run_chains(
    run: Callable[[np.random.Generator, Any], Run],
    chains: Chains,
    n_jobs: int | None,
    start: Sequence[int] = (),
) -> list[Run]:
    """Run chains in threads: the first from a given start, the others from nothing."""
    seeds = np.random.SeedSequence(chains.seed).spawn(chains.count)
    starts = [start, *[type(start)()] * (chains.count - 1)]
    return list(
        Parallel(n_jobs=chains_at_once(chains, n_jobs), prefer="threads")(
            delayed(run)(np.random.default_rng(seed), first)
            for seed, first in zip(seeds, starts, strict=True)
        )
    )


def sample(
    problem: Problem,
    beliefs: Beliefs,
    method: str,
    chains: Chains,
    n_jobs: int | None = None,
    report: Callable[[int, int], None] | None = None,
    start: list[int] | None = None,
) -> tuple[Findings, Certificate]:
    """Run chains; the first from a start, or from a mean-field solution, the others from nothing."""
    target, at_once = beliefs.target(problem), chains_at_once(chains, n_jobs)
    whole = GramRows(problem) if GramRows.holds_all(problem) else None
    walk_of = ways_under(beliefs.prior).walks[method]

    def run(rng: np.random.Generator, start: list[int]) -> Sampling:
        # Chains share all rows of the Gram matrix; of some of them each keeps those it needs.
        rows = GramRows(problem, GRAM_BYTES // at_once) if whole is None else whole
        walk = walk_of(target, rng, rows)
        return run_chain(
            walk, start=start, steps=chains.steps, burn_in=chains.burn_in, report=report
        )

    first = mean_field_start(problem, beliefs) if start is None else start
    if start is None and not beliefs.prior.independent:
        first = independent_part(problem, np.array(first, dtype=np.intp))
    runs = run_chains(run, chains, n_jobs, first)
    runs = in_one_unit(without_lost(problem, beliefs, runs, run, chains))
    found = sampled_findings(runs, beliefs.prior)
    return found, certify_chains(runs, found)


def without_lost(
    problem: Problem,
    beliefs: Beliefs,
    runs: list[Sampling],
    run: Callable[[np.random.Generator, list[int]], Sampling],
    chains: Chains,
) -> list[Sampling]:
    """Start chains that were caught far from what matters anew, from the best model that others found.

    Each round leaves at least one chain fewer behind, unless one finds something better yet.
    """
    seeds = np.random.SeedSequence(chains.seed, spawn_key=(_ANEW,))
    for _ in range(chains.count):
        lost, best = find_lost(problem, beliefs, runs)
        for c in lost:
            runs[c] = run(np.random.default_rng(seeds.spawn(1)[0]), list(best))
        if not lost:
            break
    return runs


def certify_chains(runs: Sequence[Sampling], found: Findings) -> Certificate:
    """Tell how far what chains found may be off."""
    each, accuracy = np.array([chain.inclusion for chain in runs]), found.accuracy
    assert accuracy is not None
    return monte_carlo(
        error=_largest(accuracy.monte_carlo_error, 0.0),
        disagreement=float(np.ptp(each, axis=0).max(initial=0.0)),
        split_r_hat=_largest(accuracy.split_r_hat, 1.0),
    )


def _largest(values: Floats | None, least: float) -> float:
    return least if values is None else float(values.max(initial=least))


def independent_part(problem: Problem, members: Array) -> list[int]:
    """Return those of some variables that do not depend on the ones before them, in order of columns.

    Without a slab of its own no model has a variable that others make up, and a walk that began with
    one would never leave it.
    """
    factor, gram = ActiveFactor(), problem.known_block(members)
    for k in range(len(members)):
        factor.append_one(k, gram[factor.members, k], gram[k, k] * (1.0 - _DEPENDENT))
    return [int(j) for j in np.sort(members[factor.members])]


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
