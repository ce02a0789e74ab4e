"""Posteriors of logistic models by Polya-Gamma Gibbs sampling, with the states kept to predict by."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.glm_models import make_fitting, refuse_dense
from garrote.inference.mean_field.label_mean_field import make_bound
from garrote.inference.methods import Chains, Sample
from garrote.inference.models.fitted_posterior import FittingTask, make_fitted_posterior
from garrote.inference.models.model_laws import as_correlation
from garrote.inference.models.over_models import Findings, sampled_findings
from garrote.inference.models.signs import ways_under
from garrote.inference.sampling import certify_chains, run_chains
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.problem import Problem
from garrote.results.certificates import Certificate
from garrote.results.laws import Models, States
from garrote.results.path import stack_rows
from garrote.results.posterior import Posterior
from garrote.solvers.control import Control
from garrote.solvers.labels.bound_annealing import anneal_bound
from garrote.solvers.labels.logistic_draws import LabelledRows
from garrote.solvers.labels.logistic_gibbs import Drawn, LogisticGibbsWalk
from garrote.solvers.models.model_chain import Sampling, Target, run_chain

# States that are kept with their coefficients, at most, over all chains.
_KEPT = 2000
# Sweeps of a chain that count, and those before them, by default.
_LENGTHS = 5000, 500


class LabelChains(NamedTuple):
    """What chains of labels found, in the user's units and in the problem's, and how good it is."""

    posterior: Posterior
    found: Findings
    certificate: Certificate
    chains: Chains


# What makes a walk: of its target, rows, random numbers, and which of its states to keep.
MakeWalk = Callable[[Target, LabelledRows, np.random.Generator, int], LogisticGibbsWalk]


def sample_labels(task: Task, method: Sample) -> Inferred:
    """Run chains of labels, the first from a rough mean-field solution and the others from nothing."""
    problem, beliefs = task.problem, task.beliefs
    kind = ways_under(beliefs.prior).label_walk
    start = label_start(problem, beliefs)
    done = run_label_chains(task, method, kind, beliefs.target(problem), start)
    found, chains = done.found, done.chains
    how = (
        f"{chains.count * chains.steps} states of {chains.count} Polya-Gamma chains sampled, "
        f"{found.seen} models seen"
    )
    how = how if found.shapes is None else f"{how}; {found.shapes}"
    doubts = beliefs.doubts(done.posterior.size_probability)
    return Inferred(
        done.posterior, done.certificate, method.name, how, notes=doubts, steps=chains.steps
    )


def run_label_chains(
    task: Task, method: Sample, kind: MakeWalk, target: Target, start: list[int]
) -> LabelChains:
    """Run chains, the first from given variables and the others from nothing."""
    problem, beliefs = task.problem, task.beliefs
    beliefs.prior.check_independent(method.name)
    refuse_dense(problem, f"method={method.name!r}", "use method='mean-field', or screen")
    chains, report = method.chains(*_LENGTHS, task.seed), task.reporter("sampling")
    fitting = make_fitting(problem, replace(beliefs, prior=beliefs.prior.with_one_hump))
    rows, every = labelled_rows(fitting), max(1, -(-chains.steps * chains.count // _KEPT))

    def run(rng: np.random.Generator, start: list[int]) -> tuple[Sampling, list[Drawn]]:
        walk = kind(target, rows, rng, every)
        done = run_chain(
            walk, start=start, steps=chains.steps, burn_in=chains.burn_in, report=report
        )
        return done, walk.drawn

    both = run_chains(run, chains, task.n_jobs, start)
    runs = [done for done, _ in both]
    states = [state for _, drawn in both for state in drawn]
    found = sampled_findings(runs, beliefs.prior)
    variances = np.concatenate([done.slab_variances for done in runs])
    posterior = _posterior(fitting, found, states, float(np.median(variances)), task.names)
    return LabelChains(posterior, found, certify_chains(runs, found), chains)


def label_start(problem: Problem, beliefs: Beliefs) -> list[int]:
    """Return the variables of a rough mean-field solution at the prior odds of a small model."""
    if not len(problem.usable):
        return []
    bound = make_bound(problem, beliefs, Control(1e-2, 100))
    gamma = beliefs.inclusion.odds_of_one_more(0)
    grid = np.linspace(20 * min(gamma, -1.0), gamma, 8)
    last = anneal_bound(bound, grid, beliefs.prior.known_variance or 1.0).solutions[-1]
    return [int(j) for j in last.columns[last.probability > 0.5]]


def labelled_rows(task: FittingTask) -> LabelledRows:
    """Return the columns of all variables, those without content being 0."""
    samples, fixed = task.table.samples, task.table.fixed
    columns, usable = samples.columns[fixed:], task.problem.usable
    if len(usable) < task.problem.n_features:
        columns = np.zeros((task.problem.n_features, len(samples.y)))
        columns[usable] = samples.columns[fixed:]
    first, weights = _distinct(task)
    return LabelledRows(
        np.ascontiguousarray(columns[:, first]), samples.columns[:fixed, first],
        samples.held[:fixed], samples.y[first], weights, samples.offset[first],
    )  # fmt: skip


def _distinct(task: FittingTask) -> tuple[Array, Floats]:
    """Return a row for each distinct one of positive weight, in an order of its own, and all its weight.

    Repeated rows cost one draw, and chains are the same whether a row has weight 2 or is there twice.
    """
    samples = task.table.samples
    used = np.flatnonzero(samples.weights > 0)
    beside = samples.y[used], samples.offset[used]
    rows = np.column_stack([task.problem.table.stored.some_rows(used), *beside])
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    weights = np.bincount(group.ravel(), samples.weights[used]).astype(np.float64)
    return used[first], weights


def _posterior(
    task: FittingTask, found: Findings, states: list[Drawn], variance: float, names: tuple[str, ...]
) -> Posterior:
    """Describe what chains found in the user's units; models have the laws that Laplace gives them."""
    problem, usable = task.problem, task.problem.usable
    fixed = np.array([state.fixed for state in states])
    listed = replace(
        found,
        inclusion=found.inclusion[usable],
        size_probability=found.size_probability[: len(usable) + 1],
        mean=np.concatenate([fixed.mean(axis=0), found.mean[usable]]),
        second_moment=np.concatenate([(fixed**2).mean(axis=0), found.second_moment[usable]]),
        representatives=found.representatives.best,  # states stand for the others
        accuracy=None,
    )
    fitted, _ = make_fitted_posterior(_with_variance(task, variance), listed, names)
    kept = _states(task, states, fixed, fitted.law)
    posterior: Posterior = fitted
    drawn = kept.coefficients[:, posterior.support].toarray()
    correlation = as_correlation(np.atleast_2d(np.cov(drawn, rowvar=False)))
    return replace(
        with_substitutes(problem, posterior, found.components),
        spread=replace(posterior.spread, correlation=correlation),
        law=kept,
        accuracy=found.accuracy,
        shapes=found.shapes,
    )


def _with_variance(task: FittingTask, variance: float) -> FittingTask:
    """Return the analysis at one slab variance."""
    table = task.table
    held = table.samples.held.copy()
    held[table.fixed :] = 1.0 / (task.beliefs.prior.known_variance or variance)
    return task._replace(tables=[(0.0, table._replace(samples=table.samples._replace(held=held)))])


def _states(task: FittingTask, states: list[Drawn], fixed: Floats, models: Models) -> States:
    """Return states in the user's units."""
    scale = task.problem.scale
    covariates = task.places[: len(task.places) - len(task.problem.usable)]
    first = task.table.fixed - len(covariates)
    columns: list[Array] = [np.concatenate([covariates, state.members]) for state in states]
    values = [
        np.concatenate([beside[first:], state.values]) / scale.column_scale[where]
        for beside, state, where in zip(fixed, states, columns, strict=True)
    ]
    rows: scipy.sparse.csr_array = stack_rows(columns, values, task.problem.n_features)
    level = fixed[:, 0] if first else np.zeros(len(states))
    return States(np.asarray(level - rows @ scale.column_mean), rows, models)
