"""Mean-field posteriors of logistic models by the Jaakkola bound, averaged over prior odds, and audited.

gamma is annealed and reheated; at each the slab's variance is set by EM where it is unknown.
Solutions are averaged with weights from their bounds on the evidence and the prior of gamma.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import pinvh
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.certificates import BoundCertificate
from garrote.coefficient_laws import FactorisedPredictor
from garrote.inference.beliefs import Beliefs
from garrote.inference.beside_covariates import with_covariates_of_labels
from garrote.inference.hyperparameters import Learning
from garrote.inference.mean_field import odds_grid
from garrote.likelihoods import Binomial
from garrote.posterior import IN_SUPPORT, Audit, Posterior
from garrote.problem import Problem
from garrote.results import LogisticPath
from garrote.solvers.annealing import Control
from garrote.solvers.bound_annealing import AnnealedBound, anneal_bound, as_fit, as_path
from garrote.solvers.fitted_models import fit_all_models, make_table
from garrote.solvers.label_regression import BesideFixed, fixed_columns
from garrote.solvers.logistic_bound import BoundSolution, LogisticBound
from garrote.solvers.newton import Samples

# Variables whose models are summed for the audit, at most, and the least probability of any of them.
_AUDITED = 10
_AUDIBLE = 0.01
# Solutions with less of the average's weight than this need no better spreads than the bound's.
_LIGHT = 1e-4


@dataclass(frozen=True)
class LabelledField:
    """A factorised posterior of labels, its best solution's certificate, and how it was found."""

    posterior: Posterior
    certificate: BoundCertificate
    converged: bool
    how: str
    path: LogisticPath


class _Moments(NamedTuple):
    """Averages over solutions, in standardised units; ``fixed`` are the intercept and covariates."""

    inclusion: Floats
    mean: Floats
    square: Floats
    fixed: Floats
    log_total: float


def label_mean_field(
    problem: Problem,
    labels: Floats,
    beliefs: Beliefs,
    names: tuple[str, ...],
    control: Control,
) -> LabelledField:
    """Solve, average, audit, and change to the user's units."""
    learning = Learning.under(beliefs, "mean-field")
    bound = make_bound(problem, labels, beliefs, control)
    gammas, log_prior = odds_grid(beliefs, max(len(problem.usable), 1))
    unknown = learning.slab.variance is None
    annealed = anneal_bound(
        bound, gammas, learning.first().variance, learning.next_variance if unknown else None
    )
    counted = gammas[np.isfinite(log_prior)]
    step = float(np.log(counted[1] - counted[0])) if len(counted) > 1 else 0.0
    weighed = [
        (step + wanted + one.bound + _log_density(learning, one.variance), one)
        for one, wanted in zip(annealed.solutions, log_prior, strict=False)
        if np.isfinite(wanted)
    ]
    if not weighed:
        raise ValueError("no solution with the prior odds could be reached: too few rows")
    average = _average(bound, weighed)
    best = max(weighed, key=lambda entry: entry[0])[1]
    checked = audit_labels(problem, labels, beliefs, best.variance, average.inclusion, average.mean)
    place = [one.strength for one in annealed.forward].index(best.strength)
    posterior = _posterior(bound, annealed, place, average, names)
    posterior = with_covariates_of_labels(replace(posterior, checked=checked))
    converged = all(one.certificate.value <= control.tol for _, one in weighed)
    how = (
        f"by mean field with Jaakkola's bound, over prior odds (slab variance {best.variance:.3g})"
    )
    return LabelledField(posterior, best.certificate, converged, how, as_path(bound, annealed))


def point_posterior(
    bound: LogisticBound, annealed: AnnealedBound, place: int, names: tuple[str, ...]
) -> Posterior:
    """Describe one solution of a path, with standard errors given the soft support.

    With m held fixed and the likelihood's own curvature H = p (1 - p) in place of the bound's, the free
    energy is quadratic in the coefficients v = m w near the solution, with Hessian
    X'HX + diag(((1 - m) c + ridge) / m), X being what the fixed columns leave.
    """
    best, problem = annealed.solutions[place], bound.problem
    posterior = _posterior(bound, annealed, place, _average(bound, [(best.bound, best)]), names)
    inside = best.probability > IN_SUPPORT
    m = best.probability[inside]
    weights = bound.curvature_of(best)
    hessian = bound.at_hand.beside_fixed(weights, best.columns[inside]).products
    hessian += np.diag(((1 - m) * np.diag(hessian) + 1.0 / best.variance) / m)
    covariance = pinvh(hessian) if len(m) else np.zeros((0, 0))
    error = np.sqrt(np.diag(covariance))
    posterior = replace(
        posterior,
        standard_error=error / problem.scale.column_scale[posterior.support],
        correlation=covariance / np.outer(error, error),
        log_evidence=best.bound,
    )
    return with_covariates_of_labels(posterior)


def make_bound(
    problem: Problem, labels: Floats, beliefs: Beliefs, control: Control
) -> LogisticBound:
    """Return the bound of a problem under some beliefs."""
    offsets = np.zeros(problem.n_features)
    offsets[problem.usable] = beliefs.inclusion.log_odds
    return LogisticBound(problem, labels, offsets, control)


def _log_density(learning: Learning, variance: float) -> float:
    """Return the log prior density of a slab variance that was learned."""
    if learning.slab.variance is not None:
        return 0.0
    return float(learning.slab.log_density(np.log(variance)))


def _average(bound: LogisticBound, weighed: Sequence[tuple[float, BoundSolution]]) -> _Moments:
    """Average over solutions; spreads are those of the likelihood's own curvature."""
    logs = np.array([log for log, _ in weighed])
    total = float(logsumexp(logs))
    inclusion, mean, square = np.zeros((3, bound.problem.n_features))
    fixed = np.zeros(bound.at_hand.count)
    for weight, (_, one) in zip(np.exp(logs - total), weighed, strict=True):
        spread = bound.widened(one).spread if weight > _LIGHT else one.spread
        inclusion[one.columns] += weight * one.probability
        mean[one.columns] += weight * one.coef
        square[one.columns] += weight * one.probability * (one.weight**2 + spread)
        fixed += weight * one.fixed
    return _Moments(inclusion, mean, square, fixed, total)


def _posterior(
    bound: LogisticBound,
    annealed: AnnealedBound,
    place: int,
    average: _Moments,
    names: tuple[str, ...],
) -> Posterior:
    """Describe averages over solutions in the user's units; the one at ``place`` is the best of them."""
    problem, best = bound.problem, annealed.solutions[place]
    scale, covariates = problem.scale, problem.scale.covariates
    variance = np.maximum(average.square - average.mean**2, 0.0)
    inclusion = np.minimum(average.inclusion, 1.0)
    support = np.flatnonzero(inclusion > IN_SUPPORT)
    listed = np.union1d(best.columns, support)
    given = average.square[support] / inclusion[support]
    given -= (average.mean[support] / inclusion[support]) ** 2
    inclusion[covariates] = 1.0
    mean = average.mean.copy()
    mean[covariates] = average.fixed[scale.intercept_count :]
    unit = 1.0 / scale.column_scale
    rivals = [("annealed", annealed.forward[place])]
    if annealed.backward[place] is not annealed.forward[place]:
        rivals.append(("reheated", annealed.backward[place]))
    rivals.sort(key=lambda entry: -entry[1].bound)
    return Posterior(
        inclusion_probability=inclusion,
        mean=mean * unit,
        support=support,
        standard_error=np.sqrt(variance[support]) * unit[support],
        correlation=np.eye(len(support)),
        noise_variance=float("nan"),
        degrees_of_freedom=float("inf"),
        free_energy=-average.log_total,
        optima=tuple(as_fit(one, bound.control.tol) for _, one in rivals),
        reached=tuple(how for how, _ in rivals),
        names=names,
        log_evidence=average.log_total,
        given_inclusion=np.sqrt(np.maximum(given, 0.0)) * unit[support],
        covariates=covariates,
        predictor=predictor_beside(
            problem,
            listed,
            bound.at_hand.beside_fixed(bound.curvature_of(best), listed),
            average.fixed,
            mean,
            variance,
        ),
    )


def predictor_beside(
    problem: Problem,
    columns: Array,
    beside: BesideFixed,
    fixed: Floats,
    mean: Floats,
    variance: Floats,
) -> FactorisedPredictor:
    """Describe how sure linear predictors are, in the user's units, by columns beside the fixed ones.

    ``mean`` and ``variance`` are those of all standardised coefficients, ``fixed`` the means of the
    intercept and the covariates.
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
    level = float(fixed[0] - (mean / scale.column_scale) @ scale.column_mean) if first else 0.0
    return FactorisedPredictor(
        level, columns, variance[columns] / spread**2, change.T @ beside.inverse @ change, explained
    )


def audit_labels(
    problem: Problem,
    labels: Floats,
    beliefs: Beliefs,
    variance: float,
    inclusion: Floats,
    mean: Floats,
) -> Audit:
    """Sum over all models of the most probable variables by Laplace, the others at their means."""
    usable, design, likelihood = problem.usable, problem.table, Binomial()
    order = np.argsort(-inclusion[usable], kind="stable")[:_AUDITED]
    top = np.sort(usable[order[inclusion[usable[order]] > _AUDIBLE]])
    rest = np.setdiff1d(np.flatnonzero(mean), top)
    fixed, held = fixed_columns(problem)
    columns = np.vstack([fixed.T, design.block(top, projected=False).T])
    samples = Samples(
        np.ascontiguousarray(columns),
        labels,
        problem.weights,
        problem.known_part + design.dot(rest, mean[rest][:, None])[:, 0],
        np.append(held, np.full(len(top), 1.0 / variance)),
    )
    table = make_table(likelihood, samples, len(held), np.inf, True)
    prior = beliefs.inclusion
    # Those outside count by their expected number in the prior on sizes.
    outside = round(float(inclusion[usable].sum() - inclusion[top].sum()))
    by_size = prior.by_size[outside : outside + len(top) + 1]
    odds = prior.log_odds[np.searchsorted(usable, top)]
    exact = fit_all_models(likelihood, table, 0.0, by_size, odds)
    return Audit(top, inclusion[top], exact.inclusion, "Laplace's sums over their models")
