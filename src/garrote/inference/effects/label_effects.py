"""The posterior of a sum of single effects on log odds."""

from dataclasses import replace

import numpy as np
from scipy.special import expit, logsumexp

from garrote.arrays import Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.covariates import with_covariates_of_labels
from garrote.inference.effects.single_effects import (
    SolvedEffects,
    describe_effects,
    notes_on_effects,
    said_of_effects,
)
from garrote.inference.mean_field.label_mean_field import predictor_beside
from garrote.inference.substitutes import with_substitutes
from garrote.problem import Problem
from garrote.results.certificates import EffectsCertificate
from garrote.results.laws import EffectsLaw
from garrote.results.posterior import Posterior
from garrote.solvers.control import Control
from garrote.solvers.effects.existence import with_doubt
from garrote.solvers.effects.label_effects import LabelEffects, LabelsFitter
from garrote.solvers.effects.refining import refine
from garrote.solvers.effects.single_effect_regression import SingleEffect
from garrote.solvers.effects.single_effects import EffectsFit
from garrote.solvers.labels.label_regression import BesideFixed, LabelColumns


def label_effects_posterior(
    problem: Problem,
    labels: Floats,
    beliefs: Beliefs,
    names: tuple[str, ...],
    control: Control,
    effects: int | None = None,
) -> SolvedEffects:
    """Fit, and change to the user's units; variances have the likelihood's own curvature."""
    columns = LabelColumns(problem)
    columns.add(problem.usable)
    odds = beliefs.inclusion.log_odds
    log_prior = odds - logsumexp(odds)
    variance = getattr(beliefs.slab, "variance", None)
    fitter = LabelsFitter(columns, labels, log_prior, control, effects, variance)
    found, better = refine(fitter, fitter.fit())
    weights = problem.weights * expit(found.eta) * expit(-found.eta)
    beside = columns.beside_fixed(weights, columns.columns)
    stated = _doubted(found, log_prior, problem.n, variance is not None, beside)
    posterior = _described(problem, beside, stated, names)
    how = said_of_effects(found, effects, better, " with Jaakkola's bound")
    notes = notes_on_effects(found, len(problem.usable))
    posterior = with_substitutes(problem, with_covariates_of_labels(posterior))
    return SolvedEffects(posterior, found.certificate, found.converged, how, notes)


def _doubted(
    found: LabelEffects, log_prior: Floats, rows: float, known_variance: bool, beside: BesideFixed
) -> LabelEffects:
    """Return effects by their probability to be there, and the fixed columns beside these."""
    effects = with_doubt(found.effects, log_prior, rows, known_variance)
    less = np.zeros(len(log_prior))
    for before, after in zip(found.effects, effects, strict=True):
        less += before.coef - after.coef
    return replace(found, effects=effects, fixed=found.fixed + beside.explained @ less)


def _described(
    problem: Problem, beside: BesideFixed, found: LabelEffects, names: tuple[str, ...]
) -> Posterior:
    scale = problem.scale
    stated = tuple(_everywhere(problem, effect, beside.lengths) for effect in found.effects)
    # Log odds have a unit of their own.
    plain = replace(problem, scale=replace(scale, response_scale=1.0))
    fit = EffectsFit(stated, 1.0, found.bounds, found.converged, found.tried)
    unknown = EffectsCertificate(found.certificate.inclusion, found.certificate.weight, 0.0)
    posterior = describe_effects(plain, fit, np.inf, names, unknown)
    mean = posterior.mean.copy()
    covariates = scale.covariates
    mean[covariates] = found.fixed[scale.intercept_count :] / scale.column_scale[covariates]
    law = posterior.law
    assert isinstance(law, EffectsLaw)
    kept = np.searchsorted(problem.usable, law.columns)
    predictor = predictor_beside(
        problem, law.columns, beside._replace(explained=beside.explained[:, kept]), found.fixed,
        mean * scale.column_scale, np.zeros(problem.n_features),
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
