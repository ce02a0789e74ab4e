"""Single effects on several responses: patterns, sets of variables, and each response's own.

Effects are found together (`garrote.solvers.responses.joint_effects`); each response then has a
posterior of its own, of the same variables, with the effects' coefficients on it.
"""

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Floats
from garrote.inference.covariates import with_covariates
from garrote.inference.effects.single_effects import describe_effects, with_likeness
from garrote.inference.responses.joint_models import JointInferred
from garrote.inference.responses.joint_problem import JointProblem
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.priors.single_effects import SingleEffects
from garrote.results.certificates import Certificate, equations
from garrote.results.joint import JointPosterior
from garrote.solvers.effects.single_effect_regression import SingleEffect
from garrote.solvers.effects.single_effects import EffectsFit
from garrote.solvers.responses.joint_effects import (
    JointEffect,
    JointEffectsFit,
    JointEffectsTask,
    fit_joint_effects,
    joint_effect,
    turned,
    with_doubt,
)

# Effects that are tried where nobody said how many; bounds that are equal, per unit of tolerance.
_EFFECTS, _BOUND = 10, 10.0
# Columns whose responses tell of patterns: those beyond so many standard errors.
_STRONG = 4.0
_TIES = (
    "single effects are independent of each other, and this law of inclusion has variables depend on "
    "others: take SpikeSlabRegressor with it, or an AnnotatedInclusion"
)


def canonical_patterns(names: tuple[str, ...]) -> dict[str, Floats]:
    """Return covariances of effects on responses: each alone, independent, alike and the same."""
    K = len(names)
    if K == 1:
        return {"alone": np.ones((1, 1))}
    one, same = np.eye(K), np.ones((K, K))
    made = {f"{name} alone": np.outer(one[k], one[k]) for k, name in enumerate(names)}
    made["independent"] = one
    for share in (0.25, 0.5, 0.75):
        made[f"correlated {share:g}"] = share * same + (1.0 - share) * one
    made["shared"] = same
    return made


def patterns_of(prior: SingleEffects, joint: JointProblem) -> dict[str, Floats]:
    """Return the patterns that a prior names, or has."""
    given, K = prior.covariances, len(joint.problems)
    if isinstance(given, str):
        made = canonical_patterns(joint.names)
        return made | _of_data(joint) if given == "canonical+data" else made
    named = given.items() if isinstance(given, dict) else ((str(k), U) for k, U in enumerate(given))
    found = {}
    for name, values in named:
        matrix = np.array(values, dtype=np.float64)
        fine = (
            matrix.shape == (K, K) and np.isfinite(matrix).all() and np.allclose(matrix, matrix.T)
        )
        if not fine or np.linalg.eigvalsh(matrix).min() < -1e-8 or not np.trace(matrix) > 0:
            raise ValueError(
                f"covariance {name!r} of SingleEffects must be symmetric and positive semidefinite, of "
                f"{K} responses, got {matrix.tolist()}"
            )
        found[str(name)] = matrix / np.diag(matrix).max()
    return found


def _of_data(joint: JointProblem) -> dict[str, Floats]:
    """Return the covariance of strong effects of columns alone, and its first direction."""
    data = joint.moments
    c = np.diag(data.gram)
    z = data.xty / np.sqrt(np.outer(c, np.diag(data.yty) / data.n))
    strong = np.abs(z).max(axis=1) > _STRONG
    if not strong.any():
        return {}
    covariance = z[strong].T @ z[strong]
    values, vectors = np.linalg.eigh(covariance)
    first = np.outer(vectors[:, -1], vectors[:, -1])
    made = {"of the data": covariance, "first direction of the data": values[-1] * first}
    return {name: matrix / np.diag(matrix).max() for name, matrix in made.items()}


def joint_single_effects(
    joint: JointProblem, prior: SingleEffects, law: InclusionOfGroups, names: tuple[str, ...]
) -> JointInferred:
    """Find single effects that responses share, and describe each response."""
    if law.ties is not None or law.has_parents:
        raise ValueError(_TIES)
    if prior.noise_variance is not None:
        raise ValueError(
            "noise_variance of SingleEffects is that of one response: several have a covariance, which "
            "is estimated; leave it out"
        )
    task, patterns = _task(joint, prior, law)
    fit = fit_joint_effects(task)
    certificate = _certify(task, fit)
    stated = _stated(task, fit) if prior.doubt else fit.effects
    responses = []
    for k, problem in enumerate(joint.problems):
        effects = tuple(_on_response(effect, k, joint) for effect in stated)
        one = EffectsFit(effects, fit.bounds, fit.converged, fit.tried, float(fit.noise[k, k]))
        posterior = describe_effects(problem, one, effects, joint.rows, names, certificate)
        posterior = with_covariates(problem, posterior)
        responses.append(with_likeness(problem, posterior, None))
    units = joint.units
    rates = np.ones((len(joint.problems), joint.first.n_features))
    for effect in stated:
        rate = effect.sign_rate()[:, None]
        likely = joint.usable[effect.columns]
        near = effect.probability[effect.columns] > 0.01
        rates[:, likely[near]] = np.minimum(rates[:, likely[near]], rate)
    weights = {name: float(w) for name, w in zip(patterns, fit.weights, strict=True)}
    common = max(weights, key=lambda name: weights[name])
    how = (
        f"a sum of {len(fit.effects)} single effects ({fit.tried} tried) on {len(joint.problems)} "
        f"responses, the most common pattern being {common!r} (weight {weights[common]:.2g})"
    )
    inclusion = responses[0].inclusion_probability
    joined = JointPosterior(
        tuple(responses), joint.names, inclusion, fit.noise * np.outer(units, units), rates, weights,
        float(fit.bounds[-1]),
    )  # fmt: skip
    return JointInferred(joined, certificate, "effect by effect", how)


def _task(
    joint: JointProblem, prior: SingleEffects, law: InclusionOfGroups
) -> tuple[JointEffectsTask, dict[str, Floats]]:
    patterns = patterns_of(prior, joint)
    odds = law.over_groups.log_odds
    known = prior.known_variance
    effects = min(prior.effects or _EFFECTS, len(odds))
    task = JointEffectsTask(
        joint.moments, odds - logsumexp(odds), tuple(patterns.values()), known, None, effects,
        _BOUND * prior.tol, prior.max_iter,
    )  # fmt: skip
    return task, patterns


def _left(task: JointEffectsTask, fit: JointEffectsFit) -> list[Floats]:
    """Return the products of all columns with what other effects leave, for each effect."""
    data = task.data
    each = [data.gram[:, e.columns] @ e.coef for e in fit.effects]
    total = sum(each, np.zeros_like(data.xty))
    return [data.xty - total + own for own in each]


def _stated(task: JointEffectsTask, fit: JointEffectsFit) -> tuple[JointEffect, ...]:
    """Return effects that may not be there."""
    patterns, c = turned(fit.noise, task.covariances), np.diag(task.data.gram)
    return tuple(
        with_doubt(effect, left, c, task.log_prior, patterns, fit.weights)
        for effect, left in zip(fit.effects, _left(task, fit), strict=True)
    )


def _certify(task: JointEffectsTask, fit: JointEffectsFit) -> Certificate:
    """Update every effect once more beside the others as stated, and compare."""
    patterns, c = turned(fit.noise, task.covariances), np.diag(task.data.gram)
    inclusion = weight = 0.0
    for effect, left in zip(fit.effects, _left(task, fit), strict=True):
        again = joint_effect(left, c, task.log_prior, patterns, fit.weights, effect.prior_variance)
        inclusion = max(inclusion, float(np.abs(again.probability - effect.probability).max()))
        shared, here, there = np.intersect1d(effect.columns, again.columns, return_indices=True)
        likely = effect.probability[shared] > 0.01
        moved = np.abs(effect.mean[here] - again.mean[there])[likely]
        size = np.maximum(effect.deviation[here][likely], 1e-12)
        weight = max(weight, float((moved / size).max(initial=0.0)))
    fall = float(np.maximum(-np.diff(fit.bounds), 0.0).max(initial=0.0))
    return equations({"inclusion": inclusion, "weight": weight, "falls of the bound": fall})


def _on_response(effect: JointEffect, k: int, joint: JointProblem) -> SingleEffect:
    """Return what an effect is on one response, over all columns."""
    D, own = joint.first.n_features, joint.usable[effect.columns]
    probability, mean, variance = np.zeros((3, D))
    probability[joint.usable] = effect.probability
    mean[own], variance[own] = effect.mean[:, k], effect.deviation[:, k] ** 2
    return SingleEffect(probability, mean, variance, effect.log_bayes_factor, effect.prior_variance)
