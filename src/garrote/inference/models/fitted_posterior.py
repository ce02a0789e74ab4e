"""From models that were fitted one by one to a Posterior in the user's units."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.models.model_laws import model_correlation
from garrote.inference.models.over_models import Findings
from garrote.inference.models.representative_models import Representatives
from garrote.problem import Problem
from garrote.results.accuracy import SamplingAccuracy
from garrote.results.laws import Intercepts, Models, Spread
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.solvers.losses.newton import gradient_length, information_at, stable_inverse
from garrote.solvers.models.fitted_models import Table, fit_model

# Slab variances of less weight than this add nothing to a model's covariance.
_LIGHT = 1e-9


class FittingTask(NamedTuple):
    """One analysis: columns as the solvers know them, where they are in X, and the priors.

    The first of ``places`` are those of the covariates that are fitted; the intercept has none. There is
    a table for every slab variance that is averaged over, with its log weight.
    """

    problem: Problem
    likelihood: Any
    tables: Sequence[tuple[float, Table]]
    places: Array
    beliefs: Beliefs
    penalty: float

    @property
    def table(self) -> Table:
        """One of the tables: their columns are the same."""
        return self.tables[len(self.tables) // 2][1]


def distance_of(likelihood: Any, table: Table, variables: Array, coef: Floats) -> float:
    """Return the gradient's length at some coefficients, in standard errors."""
    return gradient_length(*_at(likelihood, table, variables, coef), coef)


def _at(
    likelihood: Any, table: Table, variables: Array, coef: Floats
) -> tuple[Any, Any, Array, Floats]:
    samples, members = table.samples, table.members(variables)
    return likelihood, samples, members, samples.offset + coef @ samples.columns[members]


def make_fitted_posterior(
    task: FittingTask, found: Findings, names: tuple[str, ...]
) -> tuple[Posterior[Models], float]:
    """Describe what was found in the user's units; also the share of models that are separated."""
    problem, places = task.problem, task.places
    count, intercept = problem.n_features, task.table.fixed - (len(places) - len(problem.usable))
    unit = 1.0 / problem.scale.column_scale[places]
    inclusion, mean, variance = np.zeros(count), np.zeros(count), np.zeros(count)
    inclusion[problem.usable] = found.inclusion
    inclusion[problem.scale.covariates] = 1.0
    mean[places] = found.mean[intercept:] * unit
    spread = np.maximum(found.second_moment - found.mean**2, 0.0)[intercept:]
    variance[places] = spread * unit**2
    mean_intercept = float(found.mean[0]) if intercept else 0.0
    if problem.scale.intercept_count:  # without a level of its own it is 0 at the columns' means
        mean_intercept -= float(problem.scale.column_mean[places] @ mean[places])
    models, separated = _kept_models(task, found.representatives, mean_intercept)
    support = np.flatnonzero(inclusion > IN_SUPPORT)
    accuracy = None
    if found.accuracy is not None:
        error = np.zeros(count)
        error[problem.usable] = found.accuracy.monte_carlo_error
        accuracy = SamplingAccuracy(error)
    posterior = Posterior(
        inclusion_probability=inclusion,
        mean=mean,
        spread=Spread(support, np.sqrt(variance[support]), model_correlation(models, support)),
        law=models,
        noise_variance=float("nan"),
        degrees_of_freedom=max(task.beliefs.n, 1.0),
        free_energy=float("nan") if found.log_evidence is None else -found.log_evidence,
        names=names,
        log_evidence=found.log_evidence,
        size_probability=found.size_probability,
        accuracy=accuracy,
        covariates=problem.scale.covariates,
    )
    return posterior, separated


def _kept_models(
    task: FittingTask, representatives: Representatives, mean_intercept: float
) -> tuple[Models, float]:
    """Return models with the laws of their coefficients, and the share of separated ones."""
    usable = task.problem.usable
    laws = [_law(task, np.searchsorted(usable, members)) for members in representatives.members]
    probability = representatives.probability
    share = probability @ np.array([law.separated for law in laws]) / probability.sum()
    models = Models(
        members=tuple(law.members for law in laws),
        probability=probability,
        mean=tuple(law.mean for law in laws),
        spread=tuple(law.covariance for law in laws),
        noise_rate=np.ones(len(laws)),
        noise_shape=np.inf,
        intercepts=Intercepts(
            np.array([law.intercept for law in laws]),
            tuple(law.center for law in laws),
            np.array([law.center_variance for law in laws]),
            mean_intercept,
        ),
        listed=representatives.listed,
    )
    return models, float(share)


class _Law(NamedTuple):
    members: Array
    mean: Floats
    covariance: Floats
    intercept: float
    center: Floats
    center_variance: float
    separated: bool


class _Coefficients(NamedTuple):
    """A model's coefficients in the solvers' units: means, covariance, and the inverse of that."""

    mean: Floats
    covariance: Floats
    information: Floats
    separated: bool


def _coefficients(task: FittingTask, variables: Array) -> _Coefficients:
    """Fit a model afresh with every slab variance, and average by what these are worth to it.

    What remains of the average is its mean and covariance.
    """
    start = np.zeros(len(task.table.samples.columns))
    fits = [fit_model(task.likelihood, table, variables, start) for _, table in task.tables]
    logs = np.array([fit.log_likelihood for fit in fits]) + [weight for weight, _ in task.tables]
    share = softmax(logs)
    mean = sum(w * fit.coef for w, fit in zip(share, fits, strict=True))
    covariance = np.zeros((len(mean), len(mean)))
    for weight, fit, (_, table) in zip(share, fits, task.tables, strict=True):
        if weight < _LIGHT:
            continue
        information = information_at(*_at(task.likelihood, table, variables, fit.coef))
        off = fit.coef - mean
        covariance += weight * (stable_inverse(information) + np.outer(off, off))
    if len(fits) > 1:
        information = stable_inverse(covariance)
    return _Coefficients(mean, covariance, information, fits[int(np.argmax(logs))].separated)


def _law(task: FittingTask, variables: Array) -> _Law:
    """Describe a model's coefficients in the user's units."""
    found = _coefficients(task, variables)
    covariates = len(task.places) - len(task.problem.usable)
    first = task.table.fixed - covariates
    places = task.places[np.concatenate([np.arange(covariates), covariates + variables])]
    mean, scale = task.problem.scale.column_mean[places], task.problem.scale.column_scale[places]
    coef = found.mean[first:] / scale
    centred = bool(task.problem.scale.intercept_count)
    center, center_variance = mean * centred, 0.0
    if first:
        # Where the linear predictor is known best: at the mean of the rows, weighed by curvature.
        center = mean + scale * found.information[0, 1:] / found.information[0, 0]
        center_variance = 1.0 / found.information[0, 0]
    return _Law(
        members=places,
        mean=coef,
        covariance=found.covariance[first:, first:] / np.outer(scale, scale),
        intercept=float((found.mean[0] if first else 0.0) - mean @ coef) if centred else 0.0,
        center=center,
        center_variance=float(center_variance),
        separated=found.separated,
    )
