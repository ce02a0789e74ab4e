"""Relevance determination of labels, by Laplace's approximation and by reweighted lassos."""

from dataclasses import replace

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.glm_models import make_fitting, refuse_dense
from garrote.inference.methods import EM, FixedPoint, Method, ReweightedL1
from garrote.inference.relevance.described import (
    UNSETTLED,
    certify,
    covariance_of,
    without_sets,
)
from garrote.inference.relevance.lassos import lassos_of_labels
from garrote.inference.relevance.numbers import (
    EM_STEPS,
    EM_TOL,
    first_variances,
    refuse_dense_law,
    refuse_spike,
)
from garrote.inference.task import Inferred, Task
from garrote.priors.slab import EffectSlab
from garrote.results.laws import JointGaussian, Spread
from garrote.results.posterior import Posterior
from garrote.solvers.relevance.climbing import Step, climb, em_step, fixed_point_step
from garrote.solvers.relevance.evidence import Hyperpriors, Solution, determined_by
from garrote.solvers.relevance.labelled_rows import LabelledRows

# Where classes are separated the evidence rises with a variance for ever: none is larger than this.
_MOST_VARIANCE = 25.0
# All variances together to begin with, on the scale of log odds.
_FIRST = 4.0


def em_label_relevance(task: Task, method: EM) -> Inferred:
    """Set all variances by EM, the expectation by Laplace's approximation."""
    refuse_spike(method)
    return _climbed(task, method, em_step, EM_TOL, EM_STEPS)


def fixed_point_label_relevance(task: Task, method: FixedPoint) -> Inferred:
    """Set all variances by the fixed point, within Laplace's approximation."""
    return _climbed(task, method, fixed_point_step, method.tol, method.max_iter)


def lasso_label_relevance(task: Task, method: ReweightedL1) -> Inferred:
    """Set all variances by reweighted lassos of the labels themselves."""
    refuse_dense_law(task)
    laws, (rows, places) = _laws(task), _labelled(task, method)
    control = task.control(method.tol, method.max_iter)
    found, rounds = lassos_of_labels(task.problem, rows, laws, control)
    return _describe(task, laws, found, (rows, places), method, rounds)


def _climbed(task: Task, method: Method, step: Step, tol: float, most: int) -> Inferred:
    laws, (rows, places) = _laws(task), _labelled(task, method)
    start = _FIRST * first_variances(task.usable), 1.0
    found, steps = climb(rows, laws, start, step, task.control(tol, most))
    return _describe(task, laws, found, (rows, places), method, steps)


def _laws(task: Task) -> Hyperpriors:
    prior = task.prior
    if prior.noise_variance is not None or prior.c or prior.d:
        raise ValueError(f"labels have no noise: leave out noise_variance, c and d, got {prior!r}")
    return Hyperpriors(
        prior.a, prior.b, 0.0, 0.0, task.beliefs.n, 1.0, most_variance=_MOST_VARIANCE
    )


def _labelled(task: Task, method: Method) -> tuple[LabelledRows, Array]:
    """Return dense rows, and which covariates are fitted: those that do not repeat others."""
    refuse_dense(task.problem, f"method={method.name!r}")
    # The slab has no part in the columns, which is all that is asked of this.
    fitting = make_fitting(task.problem, replace(task.beliefs, prior=EffectSlab(1.0)))
    samples, fixed = fitting.table.samples, fitting.table.fixed
    rows = LabelledRows(
        np.asfortranarray(samples.columns[fixed:].T), samples.columns[:fixed].T,
        samples.held[:fixed], samples.y, samples.weights, samples.offset,
    )  # fmt: skip
    return rows, fitting.places[: len(fitting.places) - task.usable]


def _describe(
    task: Task,
    laws: Hyperpriors,
    found: Solution,
    labelled: tuple[LabelledRows, Array],
    method: Method,
    steps: int,
) -> Inferred:
    rows, covariates = labelled
    problem, variance = task.problem, found.variance
    anew = rows.among(np.arange(task.usable))  # from the present coefficients, to the last digit
    given, fit = anew.given(variance, 1.0), anew.fit(variance)
    certificate = certify(given, variance, found, laws, np.arange(task.usable))
    inside = np.flatnonzero(variance > 0)
    shares = fit.working.fixed_shares(inside)
    block = fit.working.block[:, inside]
    beside = block - fit.working.basis @ (fit.working.basis.T @ block)
    within = covariance_of(beside.T @ beside, variance[inside], 1.0)
    between = -shares @ within
    inverse = np.linalg.inv(fit.working.upper)
    joint = np.block([[inverse @ inverse.T - between @ shares.T, between], [between.T, within]])
    posterior = _posterior(task, fit.fixed, fit.coef, joint, covariates, problem.usable[inside])
    posterior = replace(posterior, log_evidence=found.log_evidence)
    determined = determined_by(given, variance)
    how = (
        f"{len(inside)} of {task.usable} variances above 0 by the evidence ({method.name}, Laplace's "
        f"approximation), {determined:.3g} coefficients determined by the data"
    )
    return Inferred(
        without_sets(problem, posterior), certificate, method.name, how,
        certificate.value <= UNSETTLED, notes=task.beliefs.doubts(None), steps=steps,
    )  # fmt: skip


def _posterior(
    task: Task, fixed: Floats, coef: Floats, joint: Floats, covariates: Array, columns: Array
) -> Posterior:
    """Return means and covariance in the user's units; ``joint`` has the fixed columns first."""
    problem, scale = task.problem, task.problem.scale
    first = len(fixed) - len(covariates)  # the intercept, where there is one
    places = np.concatenate([covariates, columns]).astype(np.intp)
    inside = np.concatenate([fixed[first:], coef[np.searchsorted(problem.usable, columns)]])
    unit = 1.0 / scale.column_scale[places]
    mean = np.zeros(problem.n_features)
    mean[places] = inside * unit
    covariance = joint[first:, first:] * np.outer(unit, unit)
    level, with_intercept = 0.0, None
    if first:
        center = scale.column_mean[places]
        level = float(fixed[0] - center @ mean[places])
        along = joint[0, 1:] * unit - covariance @ center
        variance = joint[0, 0] - 2.0 * (joint[0, 1:] * unit) @ center + center @ covariance @ center
        with_intercept = np.concatenate([[variance], along])
    inclusion = np.full(problem.n_features, np.nan)
    inclusion[scale.covariates] = 1.0
    return Posterior(
        mean=mean,
        inclusion_probability=inclusion,
        spread=Spread.of(places, covariance),
        noise_variance=float("nan"),
        degrees_of_freedom=max(task.beliefs.n, 1.0),
        law=JointGaussian.of(places, mean, covariance, level, with_intercept),
        names=task.names,
        covariates=scale.covariates,
    )
