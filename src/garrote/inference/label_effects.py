"""The posterior of a sum of single effects on log odds."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logsumexp

from garrote.arrays import Floats
from garrote.certificates import BoundCertificate, EffectsCertificate
from garrote.inference.beliefs import Beliefs
from garrote.inference.beside_covariates import with_covariates_of_labels
from garrote.inference.label_mean_field import predictor_beside
from garrote.inference.single_effects import describe_effects
from garrote.inference.substitutes import with_substitutes
from garrote.posterior import Posterior
from garrote.priors.single_effects import SingleEffects
from garrote.problem import Problem
from garrote.solvers.annealing import Control
from garrote.solvers.gram_products import GramProducts
from garrote.solvers.label_effects import LabelEffects, LabelsFitter
from garrote.solvers.label_regression import BesideFixed, LabelColumns
from garrote.solvers.presence import with_doubt
from garrote.solvers.refining import refine
from garrote.solvers.single_effect_regression import SingleEffect
from garrote.solvers.single_effects import EffectsFit, EffectsTask


@dataclass(frozen=True)
class SolvedLabelEffects:
    """A posterior, its certificate, and how it was found."""

    posterior: Posterior
    certificate: BoundCertificate
    converged: bool
    how: str


def label_effects_posterior(
    problem: Problem,
    labels: Floats,
    beliefs: Beliefs,
    names: tuple[str, ...],
    control: Control,
    effects: int | None = None,
) -> SolvedLabelEffects:
    """Fit, and change to the user's units; variances have the likelihood's own curvature."""
    columns = LabelColumns(problem)
    columns.add(problem.usable)
    odds = beliefs.inclusion.log_odds
    log_prior = odds - logsumexp(odds)
    variance = getattr(beliefs.slab, "variance", None)
    fitter = LabelsFitter(columns, labels, log_prior, control, effects, variance)
    found, better = refine(fitter, fitter.fit())
    weights = problem.weights * expit(found.eta) * expit(-found.eta)
    stated = replace(
        found,
        effects=tuple(
            with_doubt(effect, log_prior, problem.n, variance is not None)
            for effect in found.effects
        ),
    )
    posterior = _described(problem, columns.beside_fixed(weights, columns.columns), stated, names)
    asked = "" if effects else ", a number found by itself"
    how = (
        f"a sum of {len(found.effects)} single effects ({found.tried} tried{asked}) with Jaakkola's "
        "bound"
    ) + (f", {better} times refined" if better else "")
    posterior = with_substitutes(problem, with_covariates_of_labels(posterior))
    return SolvedLabelEffects(posterior, found.certificate, found.converged, how)


def _described(
    problem: Problem, beside: BesideFixed, found: LabelEffects, names: tuple[str, ...]
) -> Posterior:
    scale = problem.scale
    stated = tuple(_everywhere(problem, effect, beside.lengths) for effect in found.effects)
    # Log odds have a unit of their own.
    plain = replace(problem, scale=replace(scale, response_scale=1.0))
    fit = EffectsFit(stated, 1.0, found.bounds, found.converged, found.tried)
    prior = np.zeros(problem.n_features)
    task = EffectsTask(plain, SingleEffects(), prior, np.inf, GramProducts(plain), 1.0)
    unknown = EffectsCertificate(found.certificate.inclusion, found.certificate.weight, 0.0)
    posterior = describe_effects(task, fit, names, unknown)
    mean = posterior.mean.copy()
    covariates = scale.covariates
    mean[covariates] = found.fixed[scale.intercept_count :] / scale.column_scale[covariates]
    law = posterior.effects
    assert law is not None
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
        predictor=predictor,
    )


def _everywhere(problem: Problem, effect: SingleEffect, lengths: Floats) -> SingleEffect:
    """Return an effect on all columns, its variances by the likelihood's own curvature."""
    probability, mean, variance = np.zeros((3, problem.n_features))
    probability[problem.usable], mean[problem.usable] = effect.probability, effect.mean
    variance[problem.usable] = 1.0 / (lengths + 1.0 / effect.prior_variance)
    return effect._replace(probability=probability, mean=mean, variance=variance)
