"""Mean-field posteriors of logistic models by the Jaakkola bound, averaged over prior odds, and audited.

gamma is annealed and reheated; at each the slab's variance is set by EM where it is unknown. The
posterior is the mixture of all distinct optima at all gammas, weighted by their bounds on the evidence.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import pinvh
from scipy.special import logsumexp, softmax

from garrote.arrays import Array, Floats
from garrote.inference.auditing import audit
from garrote.inference.beliefs import Beliefs
from garrote.inference.covariates import with_covariates_of_labels
from garrote.inference.mean_field.evidence_bound import Solution, mix_priors, over_log_odds
from garrote.inference.mean_field.factorised import Average, Component, describe_average
from garrote.inference.mean_field.following import Place, add_distinct, follow
from garrote.inference.mean_field.hyperparameters import Learning
from garrote.inference.mean_field.label_optima import look_around
from garrote.inference.mean_field.prior_grid import Cell, Range, odds_ranges, whole_variance_range
from garrote.inference.methods import MeanField
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.limits.costs import foretell
from garrote.priors.slab import EffectSlab
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.laws import FactorisedPredictor, Mixture, SoftSupport, Spread
from garrote.results.optima import Optima
from garrote.results.path import Path
from garrote.results.posterior import IN_SUPPORT, Posterior
from garrote.solvers.annealing import Annealed
from garrote.solvers.control import Control
from garrote.solvers.labels.bound_annealing import (
    anneal_bound,
    as_fit,
    as_path,
    same_bound_solution,
)
from garrote.solvers.labels.bound_rounds import NextVariance
from garrote.solvers.labels.label_regression import BesideFixed
from garrote.solvers.labels.logistic_bound import BoundSolution, LogisticBound

# Rounds of the bound for one solution, at most, by default.
MOST_ROUNDS = 1000
# Seconds for an entry of X, on one core: .5 and 1.4 of 1e-6 were measured, and 100 times as much among
# the correlated columns of a small table of genes.
_SECONDS_AN_ENTRY = 2e-6
# Solutions with less of the average's weight than this need no better spreads than the bound's.
_LIGHT = 1e-4
# Optima are followed to gammas whose log weight is this near to the best.
_FOLLOWED = 7.0


class _Weighed(NamedTuple):
    """Solutions with the logarithms of their weights, and those of the best gamma with their share."""

    logs: list[float]
    solutions: list[BoundSolution]
    optima: list[BoundSolution]
    share: Floats


class _Moments(NamedTuple):
    """Averages over solutions, in standardised units; ``fixed`` are the intercept and covariates."""

    average: Average
    fixed: Floats
    log_total: float


def label_mean_field(task: Task, method: MeanField) -> Inferred:
    """Solve, mix, audit, and change to the user's units."""
    problem, beliefs = task.problem, task.beliefs
    if method.hyperparameters != "average":
        raise ValueError(
            f"hyperparameters={method.hyperparameters!r} is for a Gaussian response: labels have "
            "'average', which sets the slab variance by EM and averages over prior odds"
        )
    what = f"mean field for {len(problem.response)} labels and {task.usable} columns"
    seconds = _SECONDS_AN_ENTRY * len(problem.response) * task.usable
    foretell(what, seconds, "give the prior a variance, and inclusion")
    control = task.control(method.tol, method.max_iter or MOST_ROUNDS)
    posterior, best, converged, path = _solve(problem, beliefs, control, task.names)
    how = (
        f"by mean field with Jaakkola's bound, over prior odds (slab variance {best.variance:.3g})"
    )
    return Inferred(
        with_substitutes(problem, posterior), best.certificate, method.name, how, converged, path,
        beliefs.doubts(None),
    )  # fmt: skip


def _solve(
    problem: Problem, beliefs: Beliefs, control: Control, names: tuple[str, ...]
) -> tuple[Posterior, BoundSolution, bool, Path[Fit]]:
    """Return the posterior, the best solution, whether all of them settled, and the annealed path."""
    beliefs.prior.check_one_hump("mean-field")
    learning = Learning.under(beliefs, "mean-field")
    bound = make_bound(problem, beliefs, control)
    gammas, ranges = odds_ranges(beliefs)
    learned = learning.next_variance if learning.slab.variance is None else None
    annealed = anneal_bound(bound, gammas, learning.first().variance, learned)
    variances = whole_variance_range(learning.slab)
    cells = {
        Place(0, k): Cell(variances, odds, learning.slab)
        for k, odds in enumerate(ranges[: len(annealed.forward)])
        if odds is not None
    }
    if not cells:
        raise ValueError("no solution with the prior odds could be reached: too few rows")
    weighed = _weigh(bound, annealed, cells, learned)
    moments = _average(bound, weighed.logs, weighed.solutions)
    best = max(weighed.optima, key=lambda one: one.bound)
    average = moments.average
    known = replace(beliefs, prior=EffectSlab(best.variance))
    checked = audit(problem, known, average.inclusion, average.mean, average.variance)
    place = [one.strength for one in annealed.forward].index(best.strength)
    posterior = _posterior(bound, annealed, place, moments, names, weighed)
    posterior = with_covariates_of_labels(replace(posterior, checked=checked))
    converged = all(one.certificate.value <= control.tol for one in weighed.solutions)
    return posterior, best, converged, as_path(bound, annealed)


def _weigh(
    bound: LogisticBound,
    annealed: Annealed[BoundSolution],
    cells: dict[Place, Cell],
    learned: NextVariance | None,
) -> _Weighed:
    """Find the optima at all gammas that count, and weigh them by their bounds."""
    solutions: dict[Place, list[BoundSolution]] = {}
    for k in cells:
        solutions[k] = []
        for one in (annealed.forward[k.odds], annealed.backward[k.odds]):
            add_distinct(solutions[k], one, same_bound_solution)
    bounds = {k: [_over(bound, cells[k], one) for one in solutions[k]] for k in cells}
    origin = max(bounds, key=lambda k: max(bounds[k]))
    solutions[origin] = look_around(bound, solutions[origin], learned)
    if len(solutions[origin]) > 1:
        least = max(bounds[origin]) - _FOLLOWED
        near = [k for k in cells if max(bounds[k]) > least]
        most = max(bound.problem.most_variables, 1.0)

        def solve(one: BoundSolution, place: Place) -> BoundSolution | None:
            after = bound.solve(annealed.forward[place.odds].strength, one, learned)
            return after if after.expected_size <= most else None

        optima = list(solutions[origin])
        follow(optima, solutions, origin, near, solve, same_bound_solution)
    bounds = {k: [_over(bound, cells[k], one) for one in found] for k, found in solutions.items()}
    parts = {k: [_as_solution(one) for one in found] for k, found in solutions.items()}
    logs, share = mix_priors(bounds, parts, origin)
    every = [one for found in solutions.values() for one in found]
    order = np.argsort([-one.bound for one in solutions[origin]], kind="stable")
    return _Weighed(logs, every, [solutions[origin][k] for k in order], share[order])


def _as_solution(one: BoundSolution) -> Solution:
    return Solution(one.columns, one.probability, one.weight)


def _over(bound: LogisticBound, cell: Cell, one: BoundSolution) -> float:
    """Return the bound of a solution, its factors held, integrated over the priors it stands for."""
    m, offsets = one.probability, bound.offsets[one.columns]
    here = Cell(
        Range.at(float(np.log(one.variance))),
        Range.at(
            one.strength,
            -float(np.logaddexp(0.0, one.strength + bound.offsets[bound.problem.usable]).sum()),
        ),
        cell.slab,
    )
    v = np.exp(cell.log_variance.points)
    squares = float(m @ (one.weight**2 + one.spread))
    slab = 0.5 * m.sum() * np.log(one.variance / v) + 0.5 * squares * (1 / one.variance - 1 / v)
    return (
        one.bound
        + cell.log_variance.log_integral(slab)
        + over_log_odds(cell, m, offsets)
        - over_log_odds(here, m, offsets)
    )


def point_posterior(
    bound: LogisticBound, annealed: Annealed[BoundSolution], place: int, names: tuple[str, ...]
) -> Posterior:
    """Describe one solution of a path, with standard errors given the soft support.

    With m held fixed and the likelihood's own curvature H = p (1 - p) in place of the bound's, the free
    energy is quadratic in the coefficients v = m w near the solution, with Hessian
    X'HX + diag(((1 - m) c + ridge) / m), X being what the fixed columns leave.
    """
    best, problem = annealed.solutions[place], bound.problem
    posterior = _posterior(bound, annealed, place, _average(bound, [best.bound], [best]), names)
    inside = best.probability > IN_SUPPORT
    m = best.probability[inside]
    weights = bound.curvature_of(best)
    hessian = bound.at_hand.cross_products(weights, best.columns[inside])
    hessian += np.diag(((1 - m) * np.diag(hessian) + 1.0 / best.variance) / m)
    covariance = pinvh(hessian) if len(m) else np.zeros((0, 0))
    error = np.sqrt(np.diag(covariance))
    assert isinstance(posterior.law, Mixture)
    support, correlation = posterior.support, covariance / np.outer(error, error)
    inclusion = posterior.inclusion_probability[support]
    posterior = replace(
        posterior,
        spread=Spread(support, error / problem.scale.column_scale[support], correlation),
        law=SoftSupport(
            columns=support,
            probability=inclusion,
            mean=posterior.mean[support] / inclusion,
            deviation=posterior.law.deviation_given_inclusion,
            correlation=correlation,
            predictor=posterior.law.predictor,
        ),
        log_evidence=best.bound,
    )
    return with_covariates_of_labels(posterior)


def make_bound(problem: Problem, beliefs: Beliefs, control: Control) -> LogisticBound:
    """Return the bound of a problem under some beliefs."""
    return LogisticBound(problem, beliefs.offsets(problem), control)


def _average(
    bound: LogisticBound, logs: Sequence[float], solutions: Sequence[BoundSolution]
) -> _Moments:
    """Mix solutions; spreads are those of the likelihood's own curvature."""
    weight = softmax(logs)
    fixed = np.zeros(bound.at_hand.count)
    components = []
    for share, one in zip(weight, solutions, strict=True):
        spread = bound.widened(one).spread if share > _LIGHT else one.spread
        components.append(Component(_as_solution(one), spread, 1.0))
        fixed += share * one.fixed
    return _Moments(
        Average(bound.problem.n_features, logs, components), fixed, float(logsumexp(logs))
    )


def _posterior(
    bound: LogisticBound,
    annealed: Annealed[BoundSolution],
    place: int,
    moments: _Moments,
    names: tuple[str, ...],
    weighed: _Weighed | None = None,
) -> Posterior:
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
    beside = bound.at_hand.beside_fixed(bound.curvature_of(best), listed)
    predictor = predictor_beside(problem, listed, beside, moments.fixed, described.mean, apart)
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
    annealed: Annealed[BoundSolution], place: int, weighed: _Weighed | None
) -> list[tuple[str, BoundSolution]]:
    """Return the optima at one gamma with how they were reached, the best first."""
    up, down = annealed.forward[place], annealed.backward[place]
    both = [up, down] if down is not up else [up]
    found = sorted(both, key=lambda one: -one.bound) if weighed is None else weighed.optima
    said = {id(down): "reheated"} | {id(up): "annealed"}
    return [
        (said.get(id(one), f"exchange {number}"), one) for number, one in enumerate(found, start=1)
    ]


def predictor_beside(
    problem: Problem,
    columns: Array,
    beside: BesideFixed,
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
