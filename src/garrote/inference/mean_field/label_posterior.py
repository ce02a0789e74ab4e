"""What solutions of the mean field for labels say of coefficients, in the user's units."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import pinvh
from scipy.special import logsumexp, softmax

from garrote.arrays import Array, Floats
from garrote.inference.covariates import with_covariates_of_labels
from garrote.inference.mean_field.factorised import Average, describe_average
from garrote.problem import Problem
from garrote.results.laws import FactorisedPredictor, Mixture, SoftSupport, Spread
from garrote.results.optima import Optima
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.solvers.annealing import Annealed
from garrote.solvers.labels.bound_annealing import as_fit
from garrote.solvers.labels.label_regression import FixedShares
from garrote.solvers.labels.logistic_bound import LabelFit, LogisticBound

# Solutions with less of the average's weight than this need no better spreads than the bound's.
_LIGHT = 1e-4


class Weighed(NamedTuple):
    """Solutions with the logarithms of their weights, and those of the best gamma with their share."""

    logs: list[float]
    solutions: list[LabelFit]
    optima: list[LabelFit]
    share: Floats


class Moments(NamedTuple):
    """Averages over solutions, in standardised units; ``fixed`` are the intercept and covariates."""

    average: Average
    fixed: Floats
    log_total: float


def point_posterior(
    bound: LogisticBound, annealed: Annealed[LabelFit], place: int, names: tuple[str, ...]
) -> Posterior:
    """Describe one solution of a path, with standard errors given the soft support.

    With m held fixed and the likelihood's own curvature H = p (1 - p) in place of the bound's, the free
    energy is quadratic in the coefficients v = m w near the solution, with Hessian
    X'HX + diag(((1 - m) c + ridge) / m), X being what the fixed columns leave.
    """
    best, problem = annealed.solutions[place], bound.problem
    moments = average_of([(bound, [best.bound], [best])])
    mixed = describe(bound, annealed, place, moments, names)
    covariance = soft_covariance(bound, best)
    error = np.sqrt(np.diag(covariance))
    support, correlation = mixed.support, covariance / np.outer(error, error)
    inclusion = mixed.inclusion_probability[support]
    posterior: Posterior = mixed
    posterior = replace(
        posterior,
        spread=Spread(support, error / problem.scale.column_scale[support], correlation),
        law=SoftSupport(
            columns=support,
            probability=inclusion,
            mean=mixed.mean[support] / inclusion,
            deviation=mixed.law.deviation_given_inclusion,
            correlation=correlation,
            predictor=mixed.law.predictor,
        ),
        log_evidence=best.bound,
    )
    return with_covariates_of_labels(posterior)


def soft_covariance(bound: LogisticBound, best: LabelFit) -> Floats:
    """Return the covariance of the standardised coefficients in the support, given the inclusions."""
    inside = best.probability > IN_SUPPORT
    m, columns = best.probability[inside], best.columns[inside]
    hessian = bound.at_hand.cross_products(bound.curvature_of(best), columns)
    hessian += _held_back(hessian, m, best.variance, bound.groups, columns)
    return pinvh(hessian) if len(m) else np.zeros((0, 0))


def _held_back(
    hessian: Floats, m: Floats, variance: float, groups: Array | None, columns: Array
) -> Floats:
    """Return what the slab, and inclusions that are not certain, add to the Hessian."""
    if groups is None:
        return np.diag(((1 - m) * np.diag(hessian) + 1.0 / variance) / m)
    same = groups[columns][:, None] == groups[columns]
    return np.where(same, (1 - m) / m * hessian, 0.0) + np.diag(1.0 / (variance * m))


def average_of(
    parts: Sequence[tuple[LogisticBound, Sequence[float], Sequence[LabelFit]]],
) -> Moments:
    """Mix solutions, of one bound or several; spreads are those of the likelihood's own curvature."""
    logs = np.concatenate([log_weights for _, log_weights, _ in parts])
    weight = iter(softmax(logs))
    fixed = np.zeros(parts[0][0].at_hand.count)
    components = []
    for bound, _, solutions in parts:
        for one in solutions:
            share = next(weight)
            spread = bound.widened(one).spread if share > _LIGHT else one.spread
            components.append((one, spread))
            fixed += share * one.fixed
    n_features = parts[0][0].problem.n_features
    return Moments(Average(n_features, logs, components), fixed, float(logsumexp(logs)))


def describe(
    bound: LogisticBound,
    annealed: Annealed[LabelFit],
    place: int,
    moments: Moments,
    names: tuple[str, ...],
    weighed: Weighed | None = None,
) -> Posterior[Mixture]:
    """Describe a mixture of solutions in the user's units; the best is at a ``place`` of the path."""
    problem, best, average = bound.problem, annealed.solutions[place], moments.average
    scale, covariates = problem.scale, problem.scale.covariates
    described = describe_average(
        average,
        1.0 / scale.column_scale,
        covariates,
        moments.fixed[scale.intercept_count :] / scale.column_scale[covariates],
    )
    support = described.spread.columns
    apart = average.variance.copy()
    if weighed is not None:  # what varies together is the mixture's
        apart[support] = 0.0
    listed = np.union1d(best.columns, support)
    beside = bound.at_hand.fixed_shares(bound.curvature_of(best), listed)
    predictor = factorised_predictor(problem, listed, beside, moments.fixed, described.mean, apart)
    rivals = _rivals(annealed, place, weighed)
    return Posterior(
        described.mean,
        described.inclusion_probability,
        described.spread,
        law=replace(described.law, predictor=predictor),
        covariates=covariates,
        noise_variance=float("nan"),
        degrees_of_freedom=float("inf"),
        free_energy=-moments.log_total,
        optima=Optima(
            tuple(as_fit(bound, one) for _, one in rivals),
            tuple(how for how, _ in rivals),
            None if weighed is None else weighed.share,
        ),
        names=names,
        log_evidence=moments.log_total,
    )


def _rivals(
    annealed: Annealed[LabelFit], place: int, weighed: Weighed | None
) -> list[tuple[str, LabelFit]]:
    """Return the optima at one gamma with how they were reached, the best first."""
    up, down = annealed.forward[place], annealed.backward[place]
    both = [up, down] if down is not up else [up]
    found = sorted(both, key=lambda one: -one.bound) if weighed is None else weighed.optima
    said = {id(down): "reheated"} | {id(up): "annealed"}
    return [
        (said.get(id(one), f"exchange {number}"), one) for number, one in enumerate(found, start=1)
    ]


def factorised_predictor(
    problem: Problem,
    columns: Array,
    beside: FixedShares,
    fixed: Floats,
    mean: Floats,
    variance: Floats,
) -> FactorisedPredictor:
    """Describe how sure linear predictors are, in the user's units, by columns beside the fixed ones.

    ``mean`` are the means of all coefficients in the user's units. ``variance`` are the variances of the
    standardised ones, ``fixed`` the means of the intercept and the standardised covariates'.
    """
    scale, covariates = problem.scale, problem.scale.covariates
    # Standardised fixed columns are T times (1, covariates); see `FactorisedPredictor`.
    first = scale.intercept_count
    change = np.diag(np.append(np.ones(first), 1.0 / scale.column_scale[covariates]))
    if first:
        change[1:, 0] = -scale.column_mean[covariates] / scale.column_scale[covariates]
    spread = scale.column_scale[columns]
    explained = change.T @ beside.explained * spread
    if first:
        explained[0] += scale.column_mean[columns]
    level = float(fixed[0] - mean @ scale.column_mean) if first else 0.0
    return FactorisedPredictor(
        level, columns, variance[columns] / spread**2, change.T @ beside.inverse @ change, explained
    )
