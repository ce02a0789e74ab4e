"""Posteriors over sets of groups of labels by Polya-Gamma sampling."""

from dataclasses import replace
from functools import partial

import numpy as np

from garrote.inference.grouped.returning import return_posterior
from garrote.inference.grouped.sampled import flat_target, whole_groups
from garrote.inference.grouped.ways import begin, column_sizes, describe
from garrote.inference.methods import Sample
from garrote.inference.models.label_sampling import label_start, run_label_chains
from garrote.inference.task import Inferred, Task
from garrote.priors.inclusion import BetaInclusion
from garrote.solvers.labels.grouped_gibbs import GroupedLogisticWalk


def sample_label_sets(task: Task, method: Sample) -> Inferred:
    """Run chains of labels whose steps draw all groups in turn."""
    task, rotation = begin(task)
    problem, beliefs = task.problem, task.beliefs
    walk = partial(GroupedLogisticWalk, law=beliefs.inclusion)
    alone = BetaInclusion().over(problem.usable, problem.n_features)
    start = label_start(problem, replace(beliefs, inclusion=alone))
    start = whole_groups(beliefs.inclusion, np.array(start, dtype=np.intp))
    done = run_label_chains(task, method, walk, flat_target(problem, beliefs), start)
    sizes = done.found.size_probability[: len(beliefs.inclusion) + 1]
    posterior = replace(done.posterior, size_probability=sizes)
    posterior = return_posterior(rotation, posterior, done.found.components)
    chains = done.chains
    how = (
        f"{chains.count * chains.steps} states of {chains.count} Polya-Gamma chains sampled, "
        f"{done.found.seen} sets of groups seen"
    )
    doubts = beliefs.doubts(column_sizes(task, done.found))
    return Inferred(
        posterior, done.certificate, method.name, describe(task, how), notes=doubts,
        steps=chains.steps,
    )  # fmt: skip
