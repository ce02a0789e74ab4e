"""Posteriors over models of a Gaussian response: all models summed, the probable searched or sampled."""

from dataclasses import replace

import numpy as np

from garrote.inference.auditing import audit
from garrote.inference.methods import (
    BayesianMatchingPursuit,
    Enumerate,
    Gibbs,
    Method,
    Metropolis,
    Sample,
    Search,
)
from garrote.inference.models.enumerated import enumerate_findings
from garrote.inference.models.over_models import (
    Findings,
    certify_models,
    make_model_posterior,
)
from garrote.inference.models.searched import Explore, search_findings
from garrote.inference.models.signs import ways_under
from garrote.inference.sampling import mean_field_start, sample
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.limits.costs import (
    ENUMERATION_MINUTES,
    MODELS_PER_SECOND,
    NEIGHBOURS_PER_SECOND,
    foretell,
)
from garrote.results.accuracy import Audit
from garrote.results.certificates import Certificate, of_search
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.models.model_chain import Target
from garrote.solvers.models.model_search import FoundModels, pursue_models, search_models

# What is taken for y'y / n where nothing of the response is left to explain.
_NOTHING_LEFT = 1e-12
# Slab variances that an enumeration visits where it is unknown, about.
_VARIANCES = 15
# Steps of a chain that count, and those before them, by default.
_LENGTHS = 10_000, 1000


def enumerate_numbers(task: Task, method: Enumerate) -> Inferred:
    """Sum over all models."""
    task = with_something_left(task)
    problem, beliefs = task.problem, task.beliefs
    signs = len(beliefs.prior.shapes()) if ways_under(beliefs.prior).has_signs else 0
    refuse_long_enumeration(task.usable, beliefs.prior.variance_is_unknown, signs)
    report = task.reporter("enumeration")
    found, change = enumerate_findings(problem, beliefs, task.n_jobs, report)
    certificate = certify_models(problem, beliefs, found, change)
    columns = np.flatnonzero(found.inclusion > 0.01)
    same = found.inclusion[columns]
    checked = Audit(columns, same, same, "themselves, which are exact sums")
    return _inferred(task, method, found, certificate, "all models summed exactly", checked)


def search_numbers(task: Task, method: Search) -> Inferred:
    """Look for probable models, and count those that were found."""
    task = with_something_left(task)
    problem, beliefs, steps = task.problem, task.beliefs, int(method.n_steps)
    beliefs.prior.check_one_hump(method.name)
    what = f"a search that expands {steps} models of {task.usable} columns"
    foretell(what, steps * task.usable / NEIGHBOURS_PER_SECOND, f"lower n_steps ({steps})")
    start = mean_field_start(problem, beliefs)

    def explore(target: Target, rows: GramRows, searches: int) -> FoundModels:
        rng = np.random.default_rng(task.seed)
        each = -(-steps // searches)
        return search_models(target, rng, rows=rows, start=start, expansions=each)

    how = "{} models found and none of them visited twice"
    return replace(_searched(task, method, explore, how), steps=steps)


def pursue_numbers(task: Task, method: BayesianMatchingPursuit) -> Inferred:
    """Grow the most probable models of each size, and count those that were scored."""
    task = with_something_left(task)
    task.beliefs.prior.check_one_hump(method.name)
    most = task.usable if method.max_features is None else min(method.max_features, task.usable)
    most = min(most, max(task.problem.max_rank, 1))

    def explore(target: Target, rows: GramRows, searches: int) -> FoundModels:
        rng = np.random.default_rng(task.seed)
        return pursue_models(target, rng, rows=rows, beam=method.beam, most=most)

    how = f"{{}} models scored by a beam of {method.beam}"
    return _searched(task, method, explore, how)


def _searched(task: Task, method: Method, explore: Explore, how: str) -> Inferred:
    """Return the posterior over the models that a search finds; ``how`` has a place for their number."""
    problem, beliefs = task.problem, task.beliefs
    found, missing = search_findings(problem, beliefs, explore, task.reporter("search"))
    exact = certify_models(problem, beliefs, found)
    certificate = of_search(
        missing.late, exact["log probability"], missing.quadrature, missing.missed
    )
    return _inferred(task, method, found, certificate, how.format(found.seen))


def sample_numbers(task: Task, method: Sample | Metropolis | Gibbs) -> Inferred:
    """Draw models, by the walk that the method names."""
    task = with_something_left(task)
    chains = method.chains(*_LENGTHS, task.seed)
    found, certificate = sample(
        task.problem, task.beliefs, method.name, chains, task.n_jobs, task.reporter("sampling")
    )
    states = f"{chains.count * chains.steps} states of {chains.count} chains"
    how = f"{states} sampled, {found.seen} models seen"
    return replace(_inferred(task, method, found, certificate, how), steps=chains.steps)


def refuse_long_enumeration(usable: int, unknown_variance: bool = False, signed: int = 0) -> None:
    """Refuse to sum over all models of so many columns where that would take minutes.

    An unknown slab variance repeats the sum for many of them; so do ``signed`` shapes of slabs, under
    which every variable is out or has one of two signs.
    """
    passes = (_VARIANCES if unknown_variance else 1) * max(signed, 1)
    states = 3.0 if signed else 2.0
    minutes = states**usable * passes / MODELS_PER_SECOND / 60 if usable < 500 else np.inf
    if minutes > ENUMERATION_MINUTES:
        time = f"{minutes:.2g} minutes" if minutes < 100 else f"{minutes / 60:.3g} hours"
        quicker = ", prior=GaussianSlab(), whose models have no signs," if signed else ","
        raise ValueError(
            f"method='enumerate' with {usable} columns would take about {time}; use "
            f"method='sample'{quicker} or name fewer columns"
        )


def with_something_left(task: Task) -> Task:
    """Return the analysis, of a response that is not all explained."""
    problem = task.problem
    if problem.yty > 0:
        return task
    return replace(task, problem=replace(problem, yty=_NOTHING_LEFT * problem.n))


def _inferred(
    task: Task,
    method: Method,
    found: Findings,
    certificate: Certificate,
    how: str,
    checked: Audit | None = None,
) -> Inferred:
    """Describe what was found, checked by sums over models where it is not exact itself."""
    problem, beliefs = task.problem, task.beliefs
    posterior = make_model_posterior(problem, beliefs, found, task.names)
    how = how if found.shapes is None else f"{how}; {found.shapes}"
    if checked is None:
        variance = np.maximum(found.second_moment - found.mean**2, 0.0)
        checked = audit(problem, beliefs, found.inclusion, found.mean, variance)
    posterior = with_substitutes(problem, replace(posterior, checked=checked), found.components)
    doubts = beliefs.doubts(found.size_probability)
    return Inferred(posterior, certificate, method.name, how, notes=doubts)
