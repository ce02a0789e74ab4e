"""The posterior of a sum of single effects on log odds."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import expit, logsumexp

from garrote.arrays import Floats
from garrote.inference.covariates import with_covariates_of_labels
from garrote.inference.effects.columns_of_effects import EffectOfGroups, GroupedColumns
from garrote.inference.effects.single_effects import (
    FEW_ROWS,
    Effect,
    columns_in_groups,
    describe_effects,
    notes_on_effects,
    say_how_many,
    with_likeness,
)
from garrote.inference.mean_field.label_mean_field import MOST_ROUNDS, label_mean_field
from garrote.inference.mean_field.label_posterior import factorised_predictor
from garrote.inference.methods import MeanField, Method
from garrote.inference.task import Inferred, Task
from garrote.priors.single_effects import THOROUGH, SingleEffects
from garrote.priors.slab import EffectSlab
from garrote.problem import Problem
from garrote.results.certificates import equations
from garrote.results.laws import EffectsLaw
from garrote.results.posterior import Posterior
from garrote.solvers.effects.effect_groups import EffectGroups, shared_places
from garrote.solvers.effects.effects_on_log_odds import LabelEffects, LabelsFitter
from garrote.solvers.effects.existence import with_doubt
from garrote.solvers.effects.refining import refine
from garrote.solvers.effects.single_effect_regression import SingleEffect
from garrote.solvers.effects.single_effects import EffectsFit
from garrote.solvers.labels.label_regression import Fixed, FixedShares, LabelColumns
from garrote.solvers.labels.shared_switches import Measure


def label_effects_posterior(task: Task, method: Method) -> Inferred:
    """Fit, and change to the user's units; variances have the likelihood's own curvature."""
    problem, prior = task.problem, task.prior
    variance = known_variance(prior)
    if not task.usable:  # nothing to sum: the intercept and covariates are all there is
        alone = replace(task, beliefs=replace(task.beliefs, prior=EffectSlab(variance)))
        return replace(label_mean_field(alone, MeanField()), method=method.name)
    grouped = columns_in_groups(task)
    columns = LabelColumns(problem if grouped is None else grouped.coordinates.problem)
    columns.add(columns.problem.usable)
    units = None
    if grouped is not None:
        units = EffectGroups.of(grouped.groups[columns.columns], np.ones(len(columns.columns)))
        log_prior = grouped.log_prior[: len(units.rank)]
    else:
        odds = task.beliefs.inclusion.log_odds
        log_prior = odds - logsumexp(odds)
    fitter = LabelsFitter(
        columns, log_prior, task.control(max_iter=MOST_ROUNDS), prior.effects, variance, units,
        prior.refine == THOROUGH,
    )  # fmt: skip
    found, better = fitter.fit(), 0
    if prior.refine:
        found, better = refine(fitter, found)
    weights = problem.weights * expit(found.eta) * expit(-found.eta)
    beside = columns.fixed_shares(weights, columns.columns)
    stated = found
    if prior.doubt:
        stated = _doubted(found, log_prior, problem.n, variance is not None, beside)
    effects = stated.effects
    if grouped is None:
        lengths = columns.lengths(columns.under(weights))
        on_columns: Sequence[Effect] = [_everywhere(problem, one, lengths) for one in effects]
    else:
        on_columns = _of_groups(columns, columns.under(weights), effects, grouped)
        plain = LabelColumns(problem)
        plain.add(problem.usable)
        beside = plain.fixed_shares(weights, plain.columns)
    described = _described(problem, beside, on_columns, stated, task.names)
    posterior = with_covariates_of_labels(described)
    notes = (*task.beliefs.doubts(None), *notes_on_effects(found, len(log_prior)))
    return Inferred(
        with_likeness(problem, posterior, grouped), found.certificate, method.name,
        say_how_many(found, prior.effects, better, " with Jaakkola's bound"), found.converged,
        notes=notes, cautions=_cautions(problem.n),
    )  # fmt: skip


def known_variance(prior: SingleEffects) -> float | None:
    """Return the variance of an effect on log odds; None to take that of the largest evidence."""
    if prior.by_steps or prior.noise_variance is not None:
        raise ValueError(
            "single effects of labels, counts and times have no noise: leave noise_variance at None, "
            f"and variance must be 'optim' or a number, got {prior!r}"
        )
    return prior.known_variance


def _cautions(rows: float) -> tuple[str, ...]:
    if rows >= FEW_ROWS:
        return ()
    return (
        f"{rows:g} rows of labels are few, and single effects want {FEW_ROWS}: their sets are not to be "
        "trusted much; SpikeSlabClassifier(method='sample') is more careful",
    )


def _doubted(
    found: LabelEffects, log_prior: Floats, rows: float, known_variance: bool, beside: FixedShares
) -> LabelEffects:
    """Return effects times their probability to exist, and intercept and covariates beside these."""
    effects = with_doubt(found.effects, log_prior, rows, known_variance)
    less = np.zeros(beside.explained.shape[1])
    for before, after in zip(found.effects, effects, strict=True):
        less += before.coef - after.coef
    return replace(found, effects=effects, fixed=found.fixed + beside.explained @ less)


def _described(
    problem: Problem,
    beside: FixedShares,
    on_columns: Sequence[Effect],
    found: LabelEffects,
    names: tuple[str, ...],
) -> Posterior[EffectsLaw]:
    scale = problem.scale
    fit = EffectsFit(found.effects, found.bounds, found.converged, found.tried, noise=1.0)
    known = {name: found.certificate[name] for name in ("inclusion", "weight")}
    unknown = equations(known | {"noise": 0.0})
    posterior = describe_effects(problem, fit, on_columns, np.inf, names, unknown)
    mean = posterior.mean.copy()
    covariates = scale.covariates
    mean[covariates] = found.fixed[scale.intercept_count :] / scale.column_scale[covariates]
    law = posterior.law
    kept = np.searchsorted(problem.usable, law.columns)
    predictor = factorised_predictor(
        problem, law.columns, beside._replace(explained=beside.explained[:, kept]), found.fixed,
        mean, np.zeros(problem.n_features),
    )  # fmt: skip
    return replace(
        posterior,
        mean=mean,
        noise_variance=float("nan"),
        degrees_of_freedom=float("inf"),
        law=replace(law, predictor=predictor),
    )


def _everywhere(problem: Problem, effect: SingleEffect, lengths: Floats) -> SingleEffect:
    """Return an effect on all columns, its variances by the likelihood's own curvature."""
    probability, mean, variance = np.zeros((3, problem.n_features))
    probability[problem.usable], mean[problem.usable] = effect.probability, effect.mean
    variance[problem.usable] = 1.0 / (lengths + 1.0 / effect.prior_variance)
    return effect._replace(probability=probability, mean=mean, variance=variance)


def _of_groups(
    columns: LabelColumns, under: Fixed, effects: tuple[SingleEffect, ...], grouped: GroupedColumns
) -> tuple[EffectOfGroups, ...]:
    """Return effects of groups on all columns, their covariances by the likelihood's own curvature."""
    D, here, size = len(grouped.groups), columns.columns, int(grouped.units.rank.max(initial=1.0))
    lengths, stated, roots = columns.lengths(under), [], []
    for effect in effects:
        mean, root, ridge = np.zeros(D), np.zeros((D, size)), 1.0 / effect.prior_variance
        mean[here], root[here, 0] = effect.mean, 1.0 / np.sqrt(lengths + ridge)
        assert effect.units is not None
        for places in shared_places(effect.units):
            spread = Measure.of(columns, under, places, ridge).spread
            root[here[places], : len(places)] = np.linalg.cholesky(spread)
        probability = np.zeros(len(grouped.units.rank))
        probability[: len(effect.probability)] = effect.probability
        stated.append(effect._replace(probability=probability, mean=mean, units=grouped.units))
        roots.append(root)
    return grouped.effects(stated, roots)
