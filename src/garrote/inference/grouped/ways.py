"""Ways to a posterior over sets of groups: each in rotated coordinates, and back in the user's."""

from dataclasses import replace

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.gaussian_models import with_something_left
from garrote.inference.grouped.numbers import enumerate_sets
from garrote.inference.grouped.returning import audit_itself, return_posterior
from garrote.inference.grouped.rotation import RotatedGroups
from garrote.inference.grouped.sampled import sample_sets
from garrote.inference.methods import Enumerate, Method, Metropolis, Sample
from garrote.inference.models.over_models import Findings, certify_models, make_model_posterior
from garrote.inference.task import Inferred, Task
from garrote.results.certificates import Certificate
from garrote.solvers.models.grouped.group_sets import allowed_sets, count_sets

# Sets of groups that are summed over, at most: a second or so for each slab variance.
MOST_SETS = 2**17
# Steps of a chain that count, and those before them, by default.
_LENGTHS = 10_000, 1000


def enumerate_number_sets(task: Task, method: Enumerate) -> Inferred:
    """Sum over all allowed sets of groups."""
    task, rotation = begin(task)
    task, inside = over_all_sets(task, MOST_SETS)
    report = task.reporter("enumeration")
    found, change = enumerate_sets(task.problem, task.beliefs, inside, report)
    certificate = certify_models(task.problem, task.beliefs, found, change)
    how = "all sets of groups summed exactly"
    inferred = _inferred(task, rotation, method, found, certificate, how)
    return replace(inferred, posterior=audit_itself(inferred.posterior))


def sample_number_sets(task: Task, method: Sample | Metropolis) -> Inferred:
    """Draw sets of groups, by the walk that the method names."""
    task, rotation = begin(task)
    chains = method.chains(*_LENGTHS, task.seed)
    found, certificate = sample_sets(
        task.problem, task.beliefs, method.name, chains, task.n_jobs, task.reporter("sampling")
    )
    states = f"{chains.count * chains.steps} states of {chains.count} chains"
    how = f"{states} sampled, {found.seen} sets of groups seen"
    inferred = _inferred(task, rotation, method, found, certificate, how)
    return replace(inferred, steps=chains.steps)


def begin(task: Task) -> tuple[Task, RotatedGroups]:
    """Return the analysis in rotated coordinates, and the way back."""
    task = with_something_left(task)
    # A g-prior and BIC know no lengths but those that are left beside the covariates.
    rotation = RotatedGroups.of(
        task.problem, task.beliefs.inclusion, projected=not task.prior.independent
    )
    beliefs = replace(task.beliefs, inclusion=rotation.after)
    return replace(task, problem=rotation.problem, beliefs=beliefs), rotation


def over_all_sets(task: Task, most: int) -> tuple[Task, Array]:
    """Return all allowed sets, and the analysis under a law of these; refuse more than there can be."""
    law = task.beliefs.inclusion
    if count_sets(law, most) > most:
        raise ValueError(
            f"method='enumerate' takes {most:,} sets of groups at most, and {len(law)} groups have "
            "more: use method='sample' or 'metropolis', or fewer groups"
        )
    inside = allowed_sets(law)
    beliefs = replace(task.beliefs, inclusion=law.restricted_to(inside))
    return replace(task, beliefs=beliefs), inside


def _inferred(
    task: Task,
    rotation: RotatedGroups,
    method: Method,
    found: Findings,
    certificate: Certificate,
    how: str,
) -> Inferred:
    """Describe what was found in the user's units."""
    posterior = make_model_posterior(task.problem, task.beliefs, found, task.names)
    posterior = return_posterior(rotation, posterior, found.components)
    doubts = task.beliefs.doubts(column_sizes(task, found))
    return Inferred(posterior, certificate, method.name, describe(task, how), notes=doubts)


def describe(task: Task, how: str) -> str:
    """Say what was done, and that columns of a group stand together."""
    law = task.beliefs.inclusion
    if not law.are_single:
        how += (
            f"; {task.usable} columns are {len(law)} variables, each in or out with all its columns"
        )
    return f"{how}; {law.words}" if law.words else how


def column_sizes(task: Task, found: Findings) -> Floats:
    """Return the probability of each number of columns, by the models that stand for all."""
    members, probability, _ = found.representatives
    sizes = np.array([len(model) for model in members])
    share = np.bincount(sizes, probability / probability.sum(), task.usable + 1)
    return share.astype(np.float64)
