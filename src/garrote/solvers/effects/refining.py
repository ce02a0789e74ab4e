"""Out of local optima of a sum of single effects: fit without one set of variables, then put them back.

An effect may sit on a variable that resembles two others together, and no single update leads away from
it. Without that variable (and what could stand in for it) the effect has to go elsewhere; when it is
allowed again the fit returns to where it was, or has found something better (Zou et al. 2022).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.solvers.effects.effects_in_turn import SummedEffects
from garrote.solvers.effects.single_effects import EffectsFit, EffectsTask, fit_single_effects

# What is left out for an effect: its most probable variables up to this probability. With 0.95 some
# stay that lead straight back.
_COVERAGE = 0.99
# Sets of more variables say nothing that leaving them out could contradict.
_LARGEST = 200
# An effect can be replaced only if a column correlates with what it fits by at least this (one that is
# the sum of two correlates with the nearer one by 0.7 or more) ...
_NEAR = 0.6
# ... and the bound has to rise by more than this.
_BETTER = 0.01
# Left out are also columns that correlate with what the effect fits by so much, in trials of their own:
# near ones would take its place and lead nowhere.
_WIDTHS = (2.0, 0.9, 0.7)
# Rounds over all sets, and fits of a round at most.
_ROUNDS, _FITS = 4, 60
# Fits that are only compared may stop this early.
ROUGHLY = 1e-2


Effects = TypeVar("Effects", bound=SummedEffects)


class Fitter(Protocol[Effects]):
    """How single effects are fitted to some data, numbers or labels."""

    log_prior: Floats

    def fit(
        self, start: Effects, log_prior: Floats | None = None, at_most: int | None = None
    ) -> Effects:
        """Fit from the effects of another fit; with a largest number of effects only roughly."""

    def resemblance(self, fit: Effects, k: int) -> Floats:
        """Return the correlation of every column with what one effect fits."""


class NumbersFitter:
    """Single effects of a response of numbers."""

    def __init__(self, task: EffectsTask):
        self.task, self.log_prior = task, task.log_prior

    def fit(
        self, start: EffectsFit, log_prior: Floats | None = None, at_most: int | None = None
    ) -> EffectsFit:
        """Fit from the effects of another fit; with a largest number of effects only roughly."""
        task = self.task
        if at_most is not None:
            enough = min(at_most, task.prior.effects or at_most)
            tol = max(task.prior.tol, ROUGHLY)
            task = replace(task, prior=replace(task.prior, effects=enough, tol=tol))
        return fit_single_effects(task, start, log_prior)

    def resemblance(self, fit: EffectsFit, k: int) -> Floats:
        """Return the correlation of every column with what one effect fits."""
        coef, curvature = fit.effects[k].coef, self.task.problem.curvature
        fitted = self.task.products.times(coef)
        return resemblance_of(fitted, float(coef @ fitted), curvature)


def resemblance_of(products: Floats, square: float, curvature: Floats) -> Floats:
    """Return absolute correlations, from products with a vector, its square and those of columns."""
    length = np.sqrt(np.where(curvature > 0, curvature, np.inf))
    return np.asarray(np.abs(products / length) / np.sqrt(max(square, np.finfo(float).tiny)))


def refine(
    fitter: Fitter[Effects], fit: Effects, report: Callable[[int, int], None] | None = None
) -> tuple[Effects, int]:
    """Return the best fit that can be reached, and how many rounds found a better one."""
    for better in range(_ROUNDS):
        sets = _replaceable(fitter, fit)[:_FITS]
        best = fit
        for done, (k, members) in enumerate(sets):
            best = max(best, _without(fitter, fit, k, members), key=lambda one: one.bound)
            if report is not None:
                report(done + 1, len(sets))
        if best.bound <= fit.bound + _BETTER:
            return fit, better
        fit = fitter.fit(best)
    return fit, _ROUNDS


def _replaceable(fitter: Fitter[Effects], fit: Effects) -> list[tuple[int, Array]]:
    """Return effects with what to leave out for them, where other columns resemble what they fit."""
    found: list[tuple[int, Array]] = []
    for k, effect in enumerate(fit.effects):
        order = np.argsort(-effect.probability, kind="stable")
        size = int(np.searchsorted(np.cumsum(effect.probability[order]), _COVERAGE)) + 1
        if size > _LARGEST:
            continue
        resembles = np.where(np.isfinite(fitter.log_prior), fitter.resemblance(fit, k), 0.0)
        members = np.isin(np.arange(len(order)), order[:size])
        tried: dict[bytes, tuple[int, Array]] = {}
        for width in _WIDTHS:
            left_out = members | (resembles >= width)
            if resembles[~left_out].max(initial=0.0) >= _NEAR:
                tried[left_out.tobytes()] = (k, np.flatnonzero(left_out))
        found += tried.values()
    return found


def _without(fitter: Fitter[Effects], fit: Effects, k: int, members: Array) -> Effects:
    """Fit without the variables of one effect, and once more with them."""
    log_prior = _normalised(fitter.log_prior, members)
    if log_prior is None:
        return fit
    enough = len(fit.effects) + 1
    elsewhere = fitter.fit(fit.left_out(k), log_prior, enough)
    return fitter.fit(elsewhere, at_most=enough)


def _normalised(log_prior: Floats, members: Array) -> Floats | None:
    """Return the prior without some variables; None where nothing is left."""
    kept = log_prior.copy()
    kept[members] = -np.inf
    total = float(logsumexp(kept))
    return kept - total if np.isfinite(total) else None
