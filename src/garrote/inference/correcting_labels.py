"""The garrote's inclusion probabilities of labels, corrected by sums over models.

As for numbers (`garrote.inference.correcting`), annealing keeps one of several correlated columns and is
sure of it. The models of the variables that matter, and of all that correlate with those selected, are
all fitted, or sampled by Polya-Gamma variables where they are many, under the slab that annealing had.

A gamma that held-out deviance has chosen is no belief. The mean field holds variables back that the
sampler at the same odds lets in, by the dozen where columns are correlated. So gamma is averaged over,
unless it was given.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.choosing import choose_method, find_way
from garrote.inference.correcting import Correction, every_variable, left_alone, variables_to_sum
from garrote.inference.grouped.laws import law_over_groups
from garrote.inference.methods import Enumerate, Method, Sample
from garrote.inference.task import Task
from garrote.priors.grouped_inclusion import GroupedInclusion, InclusionOfGroups
from garrote.priors.inclusion import Inclusion
from garrote.priors.slab import EffectSlab
from garrote.problem import Problem
from garrote.results.posterior import Posterior

# States of each of two short chains that count, and before them. Where these agree to within this,
# longer ones would hardly tell more.
_SHORT = 1000, 250
_AGREED = 0.03


def correct_labels(
    problem: Problem,
    slab_variance: float,
    log_odds: Floats,
    stated: Posterior,
    believed: bool,
    seed: Any = None,
    n_jobs: int | None = None,
) -> Correction | None:
    """Sum over models of the variables that matter to a garrote's posterior of labels.

    ``log_odds`` are what each column adds to gamma, which is the prior log odds of all variables where
    it is ``believed``; else these share one unknown probability, ~ Beta(1, sqrt(D)). All other
    variables are taken to be out, and keep the small probability that they have. None where there is
    nothing to correct.
    """
    everyone = every_variable(problem, stated.groups)
    chosen, left_out = variables_to_sum(everyone, stated.inclusion_probability)
    columns = everyone.columns(chosen)
    if not len(columns):
        return None
    # Columns without content are in no model, whatever they hold.
    content = np.zeros_like(problem.curvature)
    content[columns] = problem.curvature[columns]
    among = replace(problem, curvature=content)
    law = _law(problem, among, stated, log_odds, believed)
    beliefs = Beliefs.about(among, EffectSlab(slab_variance))
    task = Task(among, replace(beliefs, inclusion=law), stated.names, n_jobs, seed)
    grouped = law_over_groups(law) is not None
    for method in _methods(task):
        way = find_way(task.prior, problem.likelihood.integration, method, grouped)
        found = way(task, method)
        if found.certificate.value <= _AGREED:
            break
    probability = stated.inclusion_probability.copy()
    probability[columns] = found.posterior.inclusion_probability[columns]
    posterior = replace(
        found.posterior,
        inclusion_probability=probability,
        free_energy=stated.free_energy,
        log_evidence=stated.log_evidence,
        optima=stated.optima,
        groups=stated.groups,
    )
    summed = "fitting all" if isinstance(method, Enumerate) else "sampling"
    how = f"{summed} models of {len(chosen)} variables"
    return Correction(posterior, posterior.mean, found.certificate, how, left_alone(left_out))


def _law(
    problem: Problem, among: Problem, stated: Posterior, log_odds: Floats, believed: bool
) -> Inclusion | InclusionOfGroups:
    """Return the prior on models of the variables that are summed over, all others being out."""
    usable = among.usable
    if stated.groups is None:
        return _over(log_odds[usable], stated, believed, len(problem.usable))
    law = GroupedInclusion(stated.groups).over_sets(usable, among.n_features)
    first = np.unique(law.of_column[usable], return_index=True)[1]
    everyone = len(np.unique(stated.groups.numbers[problem.usable]))
    over_groups = _over(log_odds[usable[first]], stated, believed, everyone)
    return replace(law, over_groups=over_groups)


def _over(log_odds: Floats, stated: Posterior, believed: bool, everyone: int) -> Inclusion:
    """Return the law of some of so many variables, by what each adds to the log odds.

    One probability ~ Beta(1, sqrt(D)) of all D variables, of which D - K are out, leaves Beta(1,
    sqrt(D) + D - K) for K others.
    """
    if believed:
        gamma = stated.optima[0].strength
        return Inclusion(np.zeros(len(log_odds) + 1), gamma + log_odds)
    others = everyone - len(log_odds)
    return Inclusion.beta(1.0, float(np.sqrt(everyone)) + others, log_odds)


def _methods(task: Task) -> tuple[Method, ...]:
    """Fit all models of few variables; sample those of more, a while and then for long."""
    grouped, integration = (
        law_over_groups(task.beliefs.inclusion),
        task.problem.likelihood.integration,
    )
    rows = len(task.problem.response)
    usual = choose_method(task.prior, integration, task.usable, rows, grouped)
    if isinstance(usual, Enumerate):
        return (usual,)
    return Sample(*_SHORT), Sample()
