"""Posteriors over generalised linear models, weighed by BIC (Murphy 2012, Eq. 13.18) or by Laplace.

Without a closed form each model is fitted. Under BIC that is by maximum likelihood, and log p(y |
model) is taken for its log likelihood less half of log N for each variable. Under a Gaussian slab the
maximum is that of the posterior, and the evidence Laplace's approximation
(`garrote.solvers.models.fitted_models`); a slab variance that is unknown is summed over. Given a model
the coefficients are Gaussian around the maximum, with the inverse of the observed information for
covariance.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import gammaincinv, logsumexp, softmax

from garrote.arrays import Array
from garrote.inference.beliefs import Beliefs
from garrote.inference.methods import Chains, Enumerate, Method, Metropolis
from garrote.inference.models.fitted_posterior import (
    FittingTask,
    distance_of,
    make_fitted_posterior,
)
from garrote.inference.models.over_models import CERTIFIED, Findings, foremost
from garrote.inference.models.representative_models import (
    MOST_FITTED,
    Members,
    in_columns,
    represent_all,
    represent_known,
)
from garrote.inference.models.slab_integral import averaged, integrate_over_slab
from garrote.inference.sampling import run_chains
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.limits.budgets import ENTRIES_KEPT
from garrote.limits.costs import FITTED_PER_SECOND
from garrote.priors.base import Slab
from garrote.problem import Problem
from garrote.results.accuracy import SamplingAccuracy
from garrote.results.certificates import Certificate, monte_carlo, of_fitted_models
from garrote.solvers.labels.label_regression import COVARIATE_PRECISION
from garrote.solvers.losses.newton import Samples, independent_columns
from garrote.solvers.models.enumeration import members_of
from garrote.solvers.models.fitted_models import (
    FittedModels,
    Table,
    fit_all_models,
    fit_model,
    fit_over_slabs,
    make_table,
)
from garrote.solvers.models.fitted_walk import FittedTarget, Walk, climb, walk_models

# All models of up to so many columns are fitted without being asked: about a second for a thousand rows.
_FEW = 12
# All models of more columns than this would take hours.
_MOST = 20
# Slab variances that all models are fitted with where it is unknown, about.
_SLABS = 20
# Separated models are told of beyond this probability.
WORTH_A_NOTE = 0.01
# A walk sums over log variances of a slab, where it is unknown, in steps of this, and between those that
# its law has but a share of beyond: small variances have next to none of it.
_STEP, _BELOW, _ABOVE = 0.5, 1e-9, 5e-4
# Models whose logarithm is so far below that of all together have no probability in double precision.
_FAINT = 700.0
# Models whose odds are compared with those by twice the step.
_COMPARED = 20
# Steps of a walk that count, and those before them, by default.
LENGTHS = 10_000, 1000


def enumerate_fitted(task: Task, method: Enumerate) -> Inferred:
    """Fit all models, and weigh them by what the prior says."""
    task.prior.check_one_hump(method.name)
    refuse_dense(task.problem)
    refuse_many_fits(task.usable, len(task.problem.response), task.prior.variance_is_unknown)
    report = task.reporter("enumeration")
    fitting, found, change = _enumerate(
        make_fitting(task.problem, task.beliefs), task.n_jobs, report
    )
    how = f"all {2**task.usable:,} models fitted and weighed by {task.prior.yardstick}"
    return _inferred(task, fitting, found, certify_fits(fitting, found, change), method, how)


def walk_fitted(task: Task, method: Metropolis) -> Inferred:
    """Fit the models that walks come across, and weigh them by what the prior says."""
    task.prior.check_one_hump(method.name)
    refuse_dense(task.problem)
    chains, fitting = method.chains(*LENGTHS, task.seed), make_fitting(task.problem, task.beliefs)
    found, certificate = _walk(fitting, chains, task.n_jobs, task.reporter("sampling"))
    how = (
        f"{len(found.members):,} models fitted on {chains.count} walks and weighed by "
        f"{task.prior.yardstick}"
    )
    inferred = _inferred(task, fitting, found, certificate, method, how)
    return replace(inferred, steps=chains.steps)


def choose_for_fits(usable: int, unknown_variance: bool = False) -> Method:
    """Return the method for so many columns: all models, or those on a walk."""
    return Enumerate() if usable <= _FEW - 2 * unknown_variance else Metropolis()


def _inferred(
    task: Task,
    fitting: FittingTask,
    found: Findings,
    certificate: Certificate,
    method: Method,
    how: str,
) -> Inferred:
    posterior, separated = make_fitted_posterior(fitting, found, task.names)
    notes = task.beliefs.doubts(found.size_probability)
    if separated > WORTH_A_NOTE:
        notes = (separation(separated, fitting.likelihood.without_maximum), *notes)
    posterior = with_substitutes(task.problem, posterior, found.components)
    return Inferred(posterior, certificate, method.name, how, notes=notes)


def refuse_dense(
    problem: Problem,
    who: str = "a family other than gaussian",
    remedy: str = "screen",
) -> None:
    """Refuse a table that a dense copy of would not fit into memory."""
    usable, rows = len(problem.usable), len(problem.response)
    if usable * rows > ENTRIES_KEPT:
        raise ValueError(
            f"{who} keeps X dense, and {rows:,} rows x {usable:,} columns need "
            f"{8e-9 * usable * rows:.3g} GB: {remedy} the columns first"
        )


def refuse_many_fits(usable: int, rows: int, unknown_variance: bool) -> None:
    """Refuse to fit all models where that would take hours.

    With an unknown slab variance every model is fitted some 20 times.
    """
    slabs = _SLABS if unknown_variance else 1
    if usable > _MOST - np.log2(slabs):
        hours = slabs * 2.0**usable * max(rows / 1000, 0.1) / FITTED_PER_SECOND / 3600
        raise ValueError(
            f"method='enumerate' would fit 2^{usable} models, about {hours:.3g} hours; use "
            f"method='metropolis'{', give the prior a variance' if unknown_variance else ''}, or name "
            "fewer columns"
        )


def separation(share: float, what: str) -> str:
    """Say that some models have no finite maximum, and how probable these are."""
    return (
        f"in models of probability {share:.2f} {what}: some coefficients have no finite maximum, and "
        "are stated where the log likelihood had converged"
    )


def make_fitting(problem: Problem, beliefs: Beliefs) -> FittingTask:
    """Gather the columns, and a table for every variance of the slab."""
    prior = beliefs.prior
    samples, count, fixed = make_samples(problem, prior.integrated)
    tables = [
        (weight, _table(problem, beliefs, slab, samples, count))
        for weight, slab in prior.grid(_log_variances(prior))
    ]
    penalty = prior.fitting(beliefs.n, beliefs.spent).penalty
    places = np.concatenate([fixed, problem.usable])
    return FittingTask(problem, problem.likelihood, tables, places, beliefs, penalty)


def make_samples(problem: Problem, integrated: bool = True) -> tuple[Samples, int, Array]:
    """Return columns as rows, how many of them are in every model, and which covariates these are.

    They are the intercept, where there is one, independent covariates, held where coefficients are
    ``integrated``, and the columns that have content.
    """
    design = problem.table
    level = design.centered and problem.likelihood.has_level
    first = np.ones((int(level), len(problem.response)))
    covariates = np.vstack([first, design.block(problem.scale.covariates, projected=False).T])
    kept = independent_columns((covariates * problem.weights) @ covariates.T)
    fixed = problem.scale.covariates[kept[len(first) :] - len(first)]
    columns = np.vstack([covariates[kept], design.block(problem.usable, projected=False).T])
    held = np.zeros(len(columns))
    if integrated:
        held[len(first) : len(kept)] = COVARIATE_PRECISION
    samples = Samples(
        np.ascontiguousarray(columns), problem.response, problem.weights, problem.known_part, held
    )
    return samples, len(kept), fixed


def _table(problem: Problem, beliefs: Beliefs, slab: Slab, samples: Samples, fixed: int) -> Table:
    """Return what models are fitted from, given a slab of known variance."""
    ridge, _, most = slab.fitting(beliefs.n, beliefs.spent)
    held = samples.held.copy()
    held[fixed:] = ridge
    samples = samples._replace(held=held)
    return make_table(problem.likelihood, samples, fixed, most, slab.integrated)


def _log_variances(slab: Slab) -> tuple[float, float, int]:
    """Return the first and the last of even log variances, and how many: all that the law allows."""
    shape, rate = slab.law
    first, last = -np.log(gammaincinv(shape, np.array([1.0 - _BELOW, _ABOVE])) / rate)
    return float(first), float(last), int(np.ceil((last - first) / _STEP)) + 1


def _enumerate(
    task: FittingTask, n_jobs: int | None, report: Any
) -> tuple[FittingTask, Findings, float]:
    """Fit all models with every slab that counts; return also the tables of those.

    The last is how far inclusion probabilities moved when slabs were added for the last time.
    """
    prior, table = task.beliefs.inclusion, task.table
    known = not task.beliefs.prior.variance_is_unknown

    def find(slab: Slab) -> FittedModels:
        with_slab = _table(task.problem, task.beliefs, slab, table.samples, table.fixed)
        return fit_all_models(
            task.likelihood, with_slab, task.penalty, prior.by_size, prior.log_odds, n_jobs=n_jobs,
            report=report if known else None,
        )  # fmt: skip

    points, change = integrate_over_slab(task.beliefs.prior, find, None if known else report)
    logs = logsumexp([point.log_weight + point.part.log_weight for point in points], axis=0)
    total, D = float(logsumexp(logs)), task.table.n_variables
    # Less likely ones have no probability at all, and nobody asks for their odds.
    order = np.argsort(-logs, kind="stable")[: min(CERTIFIED, int((logs > total - _FAINT).sum()))]
    every, probability = np.arange(2**D), np.zeros(2**D)
    probability[every ^ (every >> 1)] = softmax(logs)
    representatives, components = represent_all(
        probability, task.problem.usable, task.problem.n_features, MOST_FITTED
    )
    found = Findings(
        inclusion=averaged(points, "inclusion"),
        mean=averaged(points, "mean"),
        second_moment=averaged(points, "second_moment"),
        size_probability=averaged(points, "size_probability"),
        members=members_of(order ^ (order >> 1), D),
        probability=np.exp(logs[order] - total),
        seen=2**D,
        representatives=representatives,
        components=components,
        log_evidence=total,
    )
    tables = [(point.log_weight, point.part.table) for point in points]
    return task._replace(tables=tables), found, change


def certify_fits(task: FittingTask, found: Findings, change: float) -> Certificate:
    """Fit the best models afresh; compare their odds, and measure their gradients."""
    prior, usable, logs, lengths = task.beliefs.inclusion, task.problem.usable, [], []
    start = np.zeros(len(task.table.samples.columns))
    best, stated = foremost(found)
    for members in best:
        variables = np.array(members, dtype=int)
        each = []
        for weight, table in task.tables:
            model = fit_model(task.likelihood, table, variables, start)
            each.append(weight + model.log_likelihood)
            lengths.append(distance_of(task.likelihood, table, variables, model.coef))
        log_prior = float(prior.of_models(usable[variables][None], usable)[0])
        logs.append(logsumexp(each) - task.penalty * len(members) + log_prior)
    off = np.array(logs) - stated - (found.log_evidence or 0.0)
    return of_fitted_models(float(max(np.abs(off).max(), change)), float(max(lengths)))


def _walk(
    task: FittingTask, chains: Chains, n_jobs: int | None, report: Any
) -> tuple[Findings, Certificate]:
    """Walk several times: first from where a greedy climb ends, then from the empty model."""
    prior = task.beliefs.inclusion

    def target() -> FittedTarget:
        return FittedTarget(
            task.likelihood, task.tables, task.penalty, prior.by_size, prior.log_odds
        )

    top, rates = climb(target())

    def run(rng: np.random.Generator, start: Members) -> Walk:
        return walk_models(
            target(), start, rates, rng, steps=chains.steps, burn_in=chains.burn_in, report=report
        )

    walks = run_chains(run, chains, n_jobs, top)
    found = _joined(task, walks)
    each = [_joined(task, [walk]).inclusion for walk in walks]
    apart = np.ptp(each, axis=0).max(initial=0.0)
    error = 0.0 if found.accuracy is None else found.accuracy.monte_carlo_error.max(initial=0.0)
    rough = float(error) + grid_error(task, found)
    return found, monte_carlo(rough, float(apart))


def grid_error(task: FittingTask, found: Findings) -> float:
    """Return how far probabilities may be off for the step in the slab's log variance.

    A quarter of the largest change in log odds of the best models where every second variance is left
    out, and the square of it: halving the step squares the error of a trapezoidal rule at least.
    """
    if len(task.tables) < 3:
        return 0.0
    start = np.zeros(len(task.table.samples.columns))
    doubled = [(weight + np.log(2.0), table) for weight, table in task.tables[::2]]
    logs = [
        [fit_over_slabs(task.likelihood, tables, np.array(members, int), start).log_likelihood
         for tables in (task.tables, doubled)]
        for members in found.members[:_COMPARED]
    ]  # fmt: skip
    change = np.diff(logs, axis=1)
    return float(min(np.ptp(change), 1.0)) ** 2 / 4


def _joined(task: FittingTask, walks: Sequence[Walk]) -> Findings:
    """Renormalise over all models that were fitted (Eq. 13.31)."""
    D, fixed = task.table.n_variables, task.table.fixed
    known = {members: value for walk in walks for members, value in walk.log_weight.items()}
    ranked = sorted(known.items(), key=lambda entry: (-entry[1], entry[0]))
    ranked = [entry for entry in ranked if np.isfinite(entry[1])]
    logs = np.array([value for _, value in ranked])
    fitted = {members: model for walk in walks for members, model in walk.fitted.items()}
    inclusion, sizes = np.zeros(D), np.zeros(D + 1)
    mean, square = np.zeros(D + fixed), np.zeros(D + fixed)
    total = float(logs[0] + np.log(np.exp(logs - logs[0]).sum()))
    probability = np.exp(logs - total)
    for (members, _), p in zip(ranked, probability, strict=True):
        model, columns = fitted[members], task.table.members(np.array(members, int))
        inclusion[list(members)] += p
        sizes[len(members)] += p
        mean[columns] += p * model.coef
        square[columns] += p * (model.coef**2 + model.variance)
    batches = np.concatenate([walk.batch_inclusion for walk in walks])
    error = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    models = [members for members, _ in ranked]
    listed = in_columns(models, task.problem.usable)
    representatives, components = represent_known(
        listed, probability, task.problem.n_features, MOST_FITTED
    )
    return Findings(
        inclusion=inclusion,
        mean=mean,
        second_moment=square,
        size_probability=sizes,
        members=models,
        probability=probability,
        seen=len(models),
        representatives=representatives,
        components=components,
        log_evidence=total,
        accuracy=SamplingAccuracy(error),
    )
