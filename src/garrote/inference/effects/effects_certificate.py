"""The certificate of a sum of single effects: all computed again, from the data and the answer."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.problem import Problem
from garrote.results.certificates import Certificate, equations
from garrote.solvers.effects.single_effect_regression import (
    SingleEffect,
    single_effect_regression,
)
from garrote.solvers.effects.single_effects import EffectsFit, EffectsTask, lower_bound

# Changes of coefficients count where a variable is the one with at least this probability.
_COUNTS = 0.01


class _Afresh(NamedTuple):
    """Products of what is left for each effect with all columns, and the expected squared residual."""

    left: Floats
    expected_square: float


def certify_effects(task: EffectsTask, fit: EffectsFit) -> Certificate:
    """Update every effect once more, beside the others as stated, and compare."""
    afresh = _products(task.problem, fit)
    inclusion = weight = gain = 0.0
    for effect, left in zip(fit.effects, afresh.left, strict=True):
        again, more = _again(task, fit.noise, effect, left)
        inclusion = max(inclusion, float(np.abs(again.probability - effect.probability).max()))
        likely = (effect.by_column > _COUNTS) & (effect.variance > 0)
        moved = np.abs(again.mean - effect.mean)[likely] / np.sqrt(effect.variance[likely])
        weight = max(weight, float(moved.max(initial=0.0)))
        gain = max(gain, more)
    noise = 0.0
    if task.noise is None:
        wanted = max(afresh.expected_square / task.rows, task.problem.smallest_noise)
        noise = abs(wanted - fit.noise) / fit.noise
    bound = lower_bound(task, fit.effects, fit.noise, afresh.expected_square)
    off = abs(bound - fit.bound) / max(1.0, abs(bound))
    return equations(
        {
            "inclusion": inclusion, "weight": weight, "noise": noise, "prior variance": gain,
            "lower bound": off, "falls of the bound": fit.fall,
        }
    )  # fmt: skip


def _again(
    task: EffectsTask, noise: float, effect: SingleEffect, left: Floats
) -> tuple[SingleEffect, float]:
    """Return an effect after one more update, and what a better prior variance adds to its evidence."""
    terms = left, task.problem.curvature, task.log_prior
    held = single_effect_regression(*terms, effect.prior_variance, noise, task.units)
    variance = task.next_variance(terms, noise, held)
    again = single_effect_regression(*terms, variance, noise, task.units)
    return again, max(again.log_bayes_factor - held.log_bayes_factor, 0.0)


def _products(problem: Problem, fit: EffectsFit) -> _Afresh:
    D = problem.n_features
    coef = np.array([effect.coef for effect in fit.effects]).reshape(len(fit.effects), D)
    total = coef.sum(axis=0)
    spread = sum(float(effect.second_moment @ problem.curvature) for effect in fit.effects)
    columns = np.arange(D)
    if not problem.has_rows:
        fitted = coef @ problem.design.whole_gram()
        gradient = problem.xty - fitted.sum(axis=0)
        square = problem.yty - float(total @ (problem.xty + gradient))
        spread -= float(np.sum(coef * fitted))
        return _Afresh(gradient + fitted, max(square, 0.0) + spread)
    design = problem.table
    rows = np.ascontiguousarray(design.dot(columns, np.ascontiguousarray(coef.T)).T)
    residual = problem.response - rows.sum(axis=0)
    spread -= float(np.sum(rows**2 @ problem.weights))
    left = design.tdot(rows + residual) if len(rows) else coef
    return _Afresh(left, float(problem.weights @ residual**2) + spread)
