"""The posterior of a sum of single effects whose columns are fitted one by one, by Laplace."""

from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.inference.covariates import with_covariates_of_labels
from garrote.inference.effects.label_effects import known_variance
from garrote.inference.effects.single_effects import (
    FEW_ROWS,
    describe_effects,
    notes_on_effects,
    say_how_many,
    with_likeness,
)
from garrote.inference.glm_models import make_samples, refuse_dense
from garrote.inference.mean_field.label_posterior import factorised_predictor
from garrote.inference.methods import Method
from garrote.inference.task import Inferred, Task
from garrote.likelihoods.coupled import information
from garrote.problem import Problem
from garrote.results.laws import EffectsLaw
from garrote.results.posterior import Posterior
from garrote.solvers.effects.existence import with_doubt
from garrote.solvers.effects.fitted_effects import (
    FittedColumns,
    FittedEffects,
    fit_effects_one_by_one,
)
from garrote.solvers.effects.single_effect_regression import SingleEffect
from garrote.solvers.effects.single_effects import EffectsFit
from garrote.solvers.labels.label_regression import FixedShares
from garrote.solvers.losses.newton import Samples, stable_inverse


def fitted_effects_posterior(task: Task, method: Method) -> Inferred:
    """Fit effects in turn, column by column, and change to the user's units."""
    problem, prior = task.problem, task.prior
    variance = known_variance(prior)
    refuse_dense(problem)
    samples, fixed, kept = make_samples(problem)
    columns = FittedColumns(problem.likelihood, samples, fixed)
    odds = task.beliefs.inclusion.log_odds
    log_prior = odds - logsumexp(odds) if len(odds) else odds
    control = task.control(max_iter=prior.max_iter)
    control = replace(control, tol=prior.tol)
    found = fit_effects_one_by_one(
        columns, log_prior, control, effects=prior.effects, variance=variance
    )
    effects = found.effects
    if prior.doubt:
        effects = with_doubt(effects, log_prior, problem.counted, variance is not None)
    stated = _beside(columns, found, effects)
    posterior = _described(problem, columns, stated, kept, task.names)
    counted = "events" if problem.likelihood.of_times else "rows"
    cautions: tuple[str, ...] = ()
    if problem.counted < FEW_ROWS:
        cautions = (
            f"{problem.counted:g} {counted} are few, and single effects want {FEW_ROWS}: their sets are "
            "not to be trusted much; SpikeSlabRegressor is more careful",
        )
    return Inferred(
        with_likeness(problem, with_covariates_of_labels(posterior), None), found.certificate,
        method.name, say_how_many(found, prior.effects, 0, " with Laplace's Bayes factors"),
        found.converged,
        notes=(*task.beliefs.doubts(None), *notes_on_effects(found, len(log_prior))),
        cautions=cautions,
    )  # fmt: skip


def _beside(
    columns: FittedColumns, found: FittedEffects, effects: tuple[SingleEffect, ...]
) -> FittedEffects:
    """Return effects with the fixed columns' coefficients beside them."""
    added = [effect.coef @ columns.columns for effect in effects]
    total = np.sum([columns.samples.offset, *added], axis=0)
    fixed = columns.fixed_beside(total)[1]
    return replace(found, effects=effects, fixed=fixed)


def _described(
    problem: Problem,
    columns: FittedColumns,
    found: FittedEffects,
    covariates: Array,
    names: tuple[str, ...],
) -> Posterior[EffectsLaw]:
    scale = problem.scale
    everywhere = [_on_all_columns(problem, effect) for effect in found.effects]
    fit = EffectsFit(found.effects, np.zeros(1), found.converged, found.tried, noise=1.0)
    posterior = describe_effects(problem, fit, everywhere, np.inf, names, found.certificate)
    mean, law = posterior.mean.copy(), posterior.law
    # Without a level of its own the predictor is 0 at the columns' means, for sure.
    level = bool(scale.intercept_count) and problem.likelihood.has_level
    first = found.fixed[:1] if level else np.zeros(scale.intercept_count)
    beside = found.fixed[int(level) :]
    mean[scale.covariates] = 0.0
    mean[covariates] = beside / scale.column_scale[covariates]
    fixed = np.zeros(len(scale.covariates))
    places = np.searchsorted(scale.covariates, covariates)
    fixed[places] = beside
    shares = _fixed_shares(
        problem, columns, found.eta, np.searchsorted(problem.usable, law.columns)
    )
    shares = _padded(shares, bool(scale.intercept_count) and not level, places, len(fixed), level)
    predictor = factorised_predictor(
        problem, law.columns, shares, np.append(first, fixed), mean, np.zeros(problem.n_features)
    )
    return replace(
        posterior,
        mean=mean,
        noise_variance=float("nan"),
        degrees_of_freedom=float("inf"),
        log_evidence=None,
        free_energy=float("nan"),
        law=replace(law, predictor=predictor),
    )


def _fixed_shares(
    problem: Problem, columns: FittedColumns, eta: Floats, places: Array
) -> FixedShares:
    """Return what fixed columns make up of some others, by the curvature at the fit."""
    samples: Samples = columns.samples
    both = np.vstack([samples.columns[: columns.fixed], columns.columns[places]])
    found = information(problem.likelihood, samples.y, samples.weights, eta, both)
    inverse = stable_inverse(found[: columns.fixed, : columns.fixed])
    if not columns.fixed:
        inverse = np.zeros((0, 0))
    return FixedShares(inverse, inverse @ found[: columns.fixed, columns.fixed :])


def _padded(
    shares: FixedShares, no_level: bool, places: Array, count: int, level: bool
) -> FixedShares:
    """Return shares with a place for an intercept that is none, and for covariates that depend."""
    used = np.concatenate([np.arange(int(level)), int(level) + places]).astype(int)
    size = int(level) + count
    inverse, explained = np.zeros((size, size)), np.zeros((size, shares.explained.shape[1]))
    inverse[np.ix_(used, used)] = shares.inverse
    explained[used] = shares.explained
    if not no_level:
        return FixedShares(inverse, explained)
    nothing = np.zeros((1, explained.shape[1]))
    return FixedShares(block_diag(np.zeros((1, 1)), inverse), np.vstack([nothing, explained]))


def _on_all_columns(problem: Problem, effect: SingleEffect) -> SingleEffect:
    """Return an effect on all columns."""
    probability, mean, variance = np.zeros((3, problem.n_features))
    probability[problem.usable], mean[problem.usable] = effect.probability, effect.mean
    variance[problem.usable] = effect.variance
    return effect._replace(probability=probability, mean=mean, variance=variance)
