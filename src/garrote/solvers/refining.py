"""Out of local optima of a sum of single effects: fit without one set of variables, then put them back.

An effect may sit on a variable that resembles two others together, and no single update leads away from
it. Without that variable (and what could stand in for it) the effect has to go elsewhere; when it is
allowed again the fit returns to where it was, or has found something better (Zou et al. 2022).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.solvers.single_effects import EffectsFit, EffectsTask, fit_single_effects

# The set of an effect: its most probable variables up to this probability.
_COVERAGE = 0.95
# Sets of more variables say nothing that leaving them out could contradict.
_LARGEST = 200
# An effect can be replaced only if a column correlates with what it fits by at least this (one that is
# the sum of two correlates with the nearer one by 0.7 or more) ...
_NEAR = 0.6
# ... and the bound has to rise by more than this.
_BETTER = 0.01
# Rounds over all sets, and fits of a round at most.
_ROUNDS, _FITS = 4, 30
# Fits that are only compared may stop this early.
_ROUGHLY = 1e-2


def refine(
    task: EffectsTask, fit: EffectsFit, report: Callable[[int, int], None] | None = None
) -> tuple[EffectsFit, int]:
    """Return the best fit that can be reached, and how many rounds found a better one."""
    for better in range(_ROUNDS):
        sets = _replaceable(task, fit)[:_FITS]
        rough = _roughly(task, fit)
        best = fit
        for done, (k, members) in enumerate(sets):
            best = max(best, _without(rough, fit, k, members), key=lambda one: one.bound)
            if report is not None:
                report(done + 1, len(sets))
        if best.bound <= fit.bound + _BETTER:
            return fit, better
        fit = fit_single_effects(task, best)
    return fit, _ROUNDS


def _roughly(task: EffectsTask, fit: EffectsFit) -> EffectsTask:
    """Return the task with one more effect than are in use, and ended early."""
    enough = min(len(fit.effects) + 1, task.prior.effects or np.inf)
    tol = max(task.prior.tol, _ROUGHLY)
    return replace(task, prior=replace(task.prior, effects=int(enough), tol=tol))


def _replaceable(task: EffectsTask, fit: EffectsFit) -> list[tuple[int, Array]]:
    """Return effects with their sets, where other columns resemble what they fit."""
    length = np.sqrt(np.where(task.problem.curvature > 0, task.problem.curvature, np.inf))
    found = []
    for k, effect in enumerate(fit.effects):
        order = np.argsort(-effect.probability, kind="stable")
        size = int(np.searchsorted(np.cumsum(effect.probability[order]), _COVERAGE)) + 1
        if size > _LARGEST:
            continue
        members = order[:size]
        fitted = task.products.times(effect.coef)
        scale = np.sqrt(max(float(effect.coef @ fitted), np.finfo(float).tiny))
        others = np.abs(fitted / length) / scale
        others[members] = 0.0
        others[~np.isfinite(task.log_prior)] = 0.0
        if others.max() >= _NEAR:
            found.append((k, members))
    return found


def _without(task: EffectsTask, fit: EffectsFit, k: int, members: Array) -> EffectsFit:
    """Fit without the variables of one effect, and once more with them."""
    log_prior = _normalised(task.log_prior, members)
    if log_prior is None:
        return fit
    elsewhere = fit_single_effects(task, fit.left_out(k), log_prior)
    return fit_single_effects(task, elsewhere)


def _normalised(log_prior: Floats, members: Array) -> Floats | None:
    """Return the prior without some variables; None where nothing is left."""
    kept = log_prior.copy()
    kept[members] = -np.inf
    total = float(logsumexp(kept))
    return kept - total if np.isfinite(total) else None
