"""Relevance determination of numbers: from a task to variances by the evidence, by four methods."""

import numpy as np

from garrote.arrays import Floats
from garrote.inference.methods import EM, FixedPoint, ReweightedL1, Sequential
from garrote.inference.relevance.described import describe, hyperpriors
from garrote.inference.relevance.lassos import lassos_of_numbers
from garrote.inference.task import Inferred, Task
from garrote.solvers.relevance.climbing import Step, climb, em_step, fixed_point_step
from garrote.solvers.relevance.evidence import Hyperpriors
from garrote.solvers.relevance.given_variances import regression_of
from garrote.solvers.relevance.sequential import solve_sequentially

# The noise variance to begin with, as a share of the response's.
_FIRST_NOISE = 0.1
# EM creeps: the evidence is level when no logarithm of a variance moves it by more than this.
EM_TOL, EM_STEPS = 1e-5, 20_000


def sequential_relevance(task: Task, method: Sequential) -> Inferred:
    """Set variances by the evidence, variable by variable."""
    if not task.prior.sparse:
        raise ValueError(
            f"method='sequential' begins with no variable, and {task.prior!r} leaves none out: take "
            "method='fixed-point' or 'em', or b = 0"
        )
    laws = hyperpriors(task)
    control = task.control(method.tol, method.max_iter)
    found, changes = solve_sequentially(task.problem, laws, _first_noise(task, laws), control)
    return describe(task, laws, found, method, changes)


def em_relevance(task: Task, method: EM) -> Inferred:
    """Set all variances by EM."""
    refuse_spike(method)
    return _climbed(task, method, em_step, EM_TOL, EM_STEPS)


def fixed_point_relevance(task: Task, method: FixedPoint) -> Inferred:
    """Set all variances by MacKay's fixed point."""
    return _climbed(task, method, fixed_point_step, method.tol, method.max_iter)


def lasso_relevance(task: Task, method: ReweightedL1) -> Inferred:
    """Set all variances by reweighted lassos."""
    refuse_dense_law(task)
    laws = hyperpriors(task)
    control = task.control(method.tol, method.max_iter)
    found, rounds = lassos_of_numbers(task.problem, laws, _first_noise(task, laws), control)
    return describe(task, laws, found, method, rounds)


def refuse_spike(method: EM) -> None:
    """Refuse a setting of EM that belongs to priors by which variables are in or out."""
    if method.spike_variance is not None:
        raise ValueError(
            "spike_variance is for prior='spike-slab': under RelevancePrior every variable has a "
            "variance of its own"
        )


def refuse_dense_law(task: Task) -> None:
    """Refuse a law of precisions by which no variance is 0, for lassos, which have such."""
    if not task.prior.sparse:
        raise ValueError(
            f"method='reweighted-l1' leaves variables out, and {task.prior!r} leaves none out: take "
            "method='fixed-point' or 'em', or b = 0"
        )


def first_variances(count: int) -> Floats:
    """Return variances to begin with: all variables in, together as large as the response."""
    return np.full(count, 1.0 / max(count, 1))


def _first_noise(task: Task, laws: Hyperpriors) -> float:
    return _FIRST_NOISE * task.problem.response_variance if laws.noise is None else laws.noise


def _climbed(task: Task, method: EM | FixedPoint, step: Step, tol: float, most: int) -> Inferred:
    laws = hyperpriors(task)
    data = regression_of(task.problem, method.name)
    start = first_variances(task.usable), _first_noise(task, laws)
    found, steps = climb(data, laws, start, step, task.control(tol, most))
    return describe(task, laws, found, method, steps)
