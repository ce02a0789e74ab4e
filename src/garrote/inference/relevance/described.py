"""From variances that the evidence chose to a posterior of numbers in the user's units."""

from typing import Any

import numpy as np
from scipy.linalg import pinvh

from garrote.arrays import Array, Floats
from garrote.inference.models.representative_models import Components, membership
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.problem import Problem
from garrote.results.certificates import Certificate, equations
from garrote.results.laws import JointGaussian, Spread
from garrote.results.posterior import Posterior
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.relevance.evidence import (
    Hyperpriors,
    Solution,
    determined_by,
    gain_of_one,
    gradient,
)
from garrote.solvers.relevance.given_variances import Given, implied

# Of the evidence, in nats, or of the noise: a certificate beyond this is worth a warning.
UNSETTLED = 1e-2


def hyperpriors(task: Task) -> Hyperpriors:
    """Return the laws of precisions, the rows that count, and how many coefficients these allow."""
    prior, problem = task.prior, task.problem
    return Hyperpriors(
        prior.a, prior.b, prior.c, prior.d, task.beliefs.n, prior.noise_variance,
        problem.most_variables, problem.smallest_noise,
    )  # fmt: skip


def describe(task: Task, laws: Hyperpriors, found: Solution, method: Any, steps: int) -> Inferred:
    """Return the posterior that variances stand for, and its certificate."""
    problem = task.problem
    columns = problem.usable[found.variance > 0]
    variance = found.variance[found.variance > 0]
    gram = _rows_of_gram(problem, columns)
    given = implied(problem, gram, columns, variance, found.noise)
    everywhere = np.zeros(problem.n_features)
    everywhere[columns] = variance
    determined = determined_by(given, everywhere)
    certificate = certify(given, everywhere, found, laws, problem.usable)
    posterior = _posterior(task, given, gram[:, columns], columns, variance, found, determined)
    notes = (*((_held(task, found.noise),) if found.cut else ()), *task.beliefs.doubts(None))
    how = (
        f"{len(columns)} of {task.usable} variances above 0 by the evidence ({method.name}), "
        f"{determined:.3g} coefficients determined by the data"
    )
    return Inferred(
        without_sets(problem, posterior), certificate, method.name, how,
        certificate.value <= UNSETTLED, notes=notes, steps=steps,
    )  # fmt: skip


def certify(
    given: Given, variance: Floats, found: Solution, laws: Hyperpriors, usable: Array
) -> Certificate:
    """Return how level the evidence is: for variances that are positive, for others, for the noise."""
    inside = variance > 0
    kept = variance[inside]
    among = given._replace(
        strength=given.strength[inside], pull=given.pull[inside], mean=given.mean[inside]
    )
    slopes, of_noise = gradient(among, kept, found.noise, laws)
    out = np.setdiff1d(usable, np.flatnonzero(inside))
    gains = gain_of_one(given.strength[out], given.pull[out])
    parts = {
        "relevance": float(np.abs(slopes).max(initial=0.0)),
        "addition": 0.0 if laws.b else float(gains.max(initial=0.0)),
    }
    if not found.held:
        parts["noise"] = abs(of_noise) / laws.rows
    return equations(parts)


def without_sets(problem: Problem, posterior: Posterior) -> Posterior:
    """Return a posterior that states no credible sets: of like columns it knows one alone."""
    nothing = Components(membership([()], problem.n_features), np.ones(1), 0)
    return with_substitutes(problem, posterior, nothing, np.zeros(problem.n_features))


def covariance_of(gram: Floats, variance: Floats, noise: float) -> Floats:
    """Return the posterior covariance of coefficients with given prior variances."""
    root = np.sqrt(variance)
    system = gram * np.outer(root, root) / noise
    system[np.diag_indices_from(system)] += 1.0
    return np.asarray(np.linalg.inv(system) * np.outer(root, root))


def _rows_of_gram(problem: Problem, columns: Array) -> Floats:
    """Return X'X of some columns (rows) with all, computed from the data."""
    if not len(columns):
        return np.zeros((0, problem.n_features))
    rows, slot = GramRows(problem, lazy=True).taken(columns)
    return np.asarray(rows[slot[columns]])


def _posterior(
    task: Task,
    given: Given,
    gram: Floats,
    columns: Array,
    variance: Floats,
    found: Solution,
    determined: float,
) -> Posterior:
    problem, scale = task.problem, task.problem.scale
    fixed = scale.covariates
    unit = scale.response_scale / scale.column_scale
    mean, inclusion = np.zeros(problem.n_features), np.full(problem.n_features, np.nan)
    mean[columns] = given.mean[columns]
    inclusion[fixed] = 1.0
    covariance = covariance_of(gram, variance, found.noise)
    if len(fixed):
        # Covariates are flat: they take back what they explain of the other columns.
        mean[fixed] = scale.covariate_response - scale.covariate_columns @ mean
        between = -scale.covariate_columns[:, columns] @ covariance
        alone = found.noise * pinvh(problem.raw_gram(fixed))
        alone = alone - between @ scale.covariate_columns[:, columns].T
        covariance = np.block([[alone, between], [between.T, covariance]])
        columns = np.concatenate([fixed, columns])
    covariance = covariance * np.outer(unit[columns], unit[columns])
    law = JointGaussian.of(columns, mean * unit, covariance)
    return Posterior(
        mean=mean * unit,
        inclusion_probability=inclusion,
        spread=Spread.of(columns, covariance),
        noise_variance=found.noise * scale.response_scale**2,
        degrees_of_freedom=max(task.beliefs.n - determined, 1.0),
        law=law,
        names=task.names,
        covariates=fixed,
        log_evidence=found.log_evidence,
    )


def _held(task: Task, noise: float) -> str:
    stated = noise * task.problem.scale.response_scale**2
    return (
        f"with {task.usable} columns for {task.beliefs.n:g} rows the evidence rises until the fit "
        f"interpolates and nothing is left to noise: its variance is held at {stated:.3g}, where half "
        "of the rows are spent, and far more variables are in than matter; give "
        "prior=RelevancePrior(noise_variance=...) if it is known, or take SpikeSlabRegressor"
    )
