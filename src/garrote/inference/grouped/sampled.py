"""Walks over sets of groups of numbers: several chains, compared with each other."""

from dataclasses import replace
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.inference.beliefs import Beliefs
from garrote.inference.methods import Chains
from garrote.inference.models.over_models import Findings, sampled_findings
from garrote.inference.sampling import (
    certify_chains,
    chains_at_once,
    mean_field_start,
    run_chains,
    without_lost,
)
from garrote.limits.budgets import GRAM_BYTES
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.priors.inclusion import BetaInclusion, Inclusion
from garrote.problem import Problem
from garrote.results.certificates import Certificate
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.models.grouped.group_metropolis import GroupMetropolisWalk
from garrote.solvers.models.grouped.group_partners import group_partners
from garrote.solvers.models.grouped.group_sets import groups_inside
from garrote.solvers.models.grouped.group_walk import GroupWalk
from garrote.solvers.models.model_chain import Sampling, Target, in_one_unit, run_chain

GROUP_WALKS = {"sample": GroupWalk, "metropolis": GroupMetropolisWalk}


def sample_sets(
    problem: Problem,
    beliefs: Beliefs,
    method: str,
    chains: Chains,
    n_jobs: int | None = None,
    report: Any = None,
    start: list[int] | None = None,
) -> tuple[Findings, Certificate]:
    """Run chains; the first from a start, or from a mean-field solution, the others from nothing."""
    law, at_once = beliefs.inclusion, chains_at_once(chains, n_jobs)
    whole = GramRows(problem) if GramRows.holds_all(problem) else None
    target = flat_target(problem, beliefs)
    partners = group_partners(whole or GramRows(problem, lazy=True), law)

    def run(rng: np.random.Generator, start: list[int]) -> Sampling:
        # Chains share all rows of the Gram matrix; of some of them each keeps those it needs.
        rows = GramRows(problem, GRAM_BYTES // at_once) if whole is None else whole
        walk = GROUP_WALKS[method](target, rng, rows, law, partners)
        return run_chain(
            walk, start=start, steps=chains.steps, burn_in=chains.burn_in, report=report
        )

    first = _start(problem, beliefs) if start is None else start
    runs = run_chains(run, chains, n_jobs, first)
    runs = in_one_unit(without_lost(problem, beliefs, runs, run, chains))
    found = sampled_findings(runs, beliefs.prior)
    sizes = found.size_probability[: len(law) + 1]
    return replace(found, size_probability=sizes), certify_chains(runs, found)


def flat_target(problem: Problem, beliefs: Beliefs) -> Target:
    """Return the posterior to sample from, but for the prior on sets of groups."""
    D = problem.n_features
    flat = Inclusion(np.zeros(D + 1), np.zeros(D))
    return Target(problem, beliefs.prior, flat, beliefs.n, beliefs.spent)


def _start(problem: Problem, beliefs: Beliefs) -> list[int]:
    """Return the columns of groups that a rough mean-field solution has a column of.

    Of priors without lengths of their own a start could have dependent columns: it is empty.
    """
    if not beliefs.prior.independent:
        return []
    alone = BetaInclusion().over(problem.usable, problem.n_features)
    columns = mean_field_start(problem, replace(beliefs, inclusion=alone))
    return whole_groups(beliefs.inclusion, np.array(columns, dtype=np.intp))


def whole_groups(law: InclusionOfGroups, columns: Array) -> list[int]:
    """Return all columns of groups of which some columns are, and of their parents."""
    inside = groups_inside(law, columns)
    return [int(j) for g in np.flatnonzero(inside) for j in law.columns(int(g))]
