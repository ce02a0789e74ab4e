"""Posteriors over sets of groups of labels and counts, each fitted: all of them, or those on walks."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from garrote.arrays import Floats
from garrote.inference.glm_models import (
    LENGTHS,
    WORTH_A_NOTE,
    certify_fits,
    grid_error,
    make_fitting,
    refuse_dense,
    separation,
)
from garrote.inference.grouped.returning import return_posterior
from garrote.inference.grouped.rotation import RotatedGroups
from garrote.inference.grouped.ways import begin, column_sizes, describe, over_all_sets
from garrote.inference.methods import Enumerate, Method, Metropolis
from garrote.inference.models.fitted_posterior import FittingTask, make_fitted_posterior
from garrote.inference.models.over_models import Findings
from garrote.inference.models.representative_models import MOST_FITTED, in_columns, represent_known
from garrote.inference.sampling import run_chains
from garrote.inference.task import Inferred, Task
from garrote.results.accuracy import SamplingAccuracy
from garrote.results.certificates import Certificate, monte_carlo
from garrote.solvers.models.fitted_walk import Members, Walk, climb, walk_models
from garrote.solvers.models.grouped.fitted_groups import FittedGroups, average_sets, fit_sets

# Sets that are all fitted, at most: minutes, where the slab's variance is unknown.
_MOST_SETS = 2**13


def enumerate_fitted_sets(task: Task, method: Enumerate) -> Inferred:
    """Fit all allowed sets of groups, and weigh them by what the prior says."""
    refuse_dense(task.problem)
    task, rotation = begin(task)
    task, inside = over_all_sets(task, _MOST_SETS)
    fitting = make_fitting(task.problem, task.beliefs)
    target = make_target(fitting)
    fit_sets(target, inside, task.reporter("enumeration"))
    found = _findings(fitting, target)
    certificate = certify_fits(fitting, found, grid_error(fitting, found))
    how = f"all {len(inside):,} sets of groups fitted and weighed by {task.prior.yardstick}"
    return _inferred(task, rotation, fitting, found, certificate, method, how)


def walk_fitted_sets(task: Task, method: Metropolis) -> Inferred:
    """Fit the sets of groups that walks come across, and weigh them by what the prior says."""
    refuse_dense(task.problem)
    task, rotation = begin(task)
    chains, fitting = method.chains(*LENGTHS, task.seed), make_fitting(task.problem, task.beliefs)
    report = task.reporter("sampling")
    top, rates = climb(make_target(fitting))

    def run(rng: np.random.Generator, start: Members) -> tuple[Walk, FittedGroups]:
        target = make_target(fitting)
        walk = walk_models(
            target, start, rates, rng, steps=chains.steps, burn_in=chains.burn_in, report=report
        )
        return walk, target

    walks = run_chains(run, chains, task.n_jobs, top)
    found = _joined(fitting, walks)
    each = [_joined(fitting, [walk]).inclusion for walk in walks]
    error = found.accuracy.monte_carlo_error.max(initial=0.0) if found.accuracy else 0.0
    apart = float(np.ptp(each, axis=0).max(initial=0.0))
    certificate = monte_carlo(float(error) + grid_error(fitting, found), apart)
    how = (
        f"{len(found.members):,} sets of groups fitted on {chains.count} walks and weighed by "
        f"{task.prior.yardstick}"
    )
    inferred = _inferred(task, rotation, fitting, found, certificate, method, how)
    return replace(inferred, steps=chains.steps)


def make_target(fitting: FittingTask) -> FittedGroups:
    """Return the log weights of sets of groups, none of them known yet."""
    law, usable = fitting.beliefs.inclusion, fitting.problem.usable
    columns = [np.searchsorted(usable, law.columns(g)) for g in range(len(law))]
    return FittedGroups(fitting.likelihood, fitting.tables, fitting.penalty, law, columns)


def _joined(fitting: FittingTask, walks: Sequence[tuple[Walk, FittedGroups]]) -> Findings:
    """Renormalise over all sets that were fitted (Murphy 2012, Eq. 13.31)."""
    target = make_target(fitting)
    for _, each in walks:
        target.known.update(each.known)
        target.fitted.update(each.fitted)
    batches = np.concatenate([walk.batch_inclusion for walk, _ in walks])
    error = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    found = _findings(fitting, target)
    return replace(found, accuracy=SamplingAccuracy(_of_columns(fitting, error)))


def _of_columns(fitting: FittingTask, values: Floats) -> Floats:
    """Return what every group has, for its usable columns."""
    usable = fitting.problem.usable
    return np.asarray(values[fitting.beliefs.inclusion.of_column[usable]])


def _findings(fitting: FittingTask, target: FittedGroups) -> Findings:
    """Average over all sets that were fitted, best first."""
    ranked = sorted(target.known.items(), key=lambda entry: (-entry[1], entry[0]))
    ranked = [entry for entry in ranked if np.isfinite(entry[1])]
    sets, logs = [members for members, _ in ranked], np.array([value for _, value in ranked])
    probability, inclusion, mean, square = average_sets(target, logs, sets)
    kept = probability > 0
    models = [tuple(target.variables(members).tolist()) for members in sets]
    models, probability = models[: int(kept.sum())], probability[kept]
    listed = in_columns(models, fitting.problem.usable)
    representatives, components = represent_known(
        listed, probability, fitting.problem.n_features, MOST_FITTED
    )
    sizes = np.bincount([len(members) for members in sets[: len(models)]], probability)
    by_size = np.zeros(target.count + 1)
    by_size[: len(sizes)] = sizes
    return Findings(
        inclusion=_of_columns(fitting, inclusion),
        mean=mean,
        second_moment=square,
        size_probability=by_size,
        members=models,
        probability=probability,
        seen=len(models),
        representatives=representatives,
        components=components,
        log_evidence=float(logs[0] + np.log(np.exp(logs - logs[0]).sum())),
    )


def _inferred(
    task: Task,
    rotation: RotatedGroups,
    fitting: FittingTask,
    found: Findings,
    certificate: Certificate,
    method: Method,
    how: str,
) -> Inferred:
    """Describe what was found in the user's units."""
    posterior, separated = make_fitted_posterior(fitting, found, task.names)
    posterior = return_posterior(rotation, posterior, found.components)
    notes = task.beliefs.doubts(column_sizes(task, found))
    if separated > WORTH_A_NOTE:
        notes = (separation(separated, fitting.likelihood.without_maximum), *notes)
    return Inferred(posterior, certificate, method.name, describe(task, how), notes=notes)
