"""Out of local optima of a sum of single effects: fit without one set of variables, then put them back.

An effect may sit on a variable that resembles two others together, and no single update leads away from
it. Without that variable (and what could stand in for it) the effect has to go elsewhere; when it is
allowed again the fit returns to where it was, or has found something better (Zou et al. 2022).

Most of these fits return to where they were. They are rough, and hold what they are not about: effects
of next to no evidence that are spread over the table, which stand for many small ones. Each update of
such an effect is two passes over X, where most others go by products that are kept (of labels every
update is a pass). The bound is still one of all effects, so that what is found to be better is better.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.priors.single_effects import THOROUGH
from garrote.results.credible_sets import most_probable
from garrote.solvers.effects.effect_groups import EffectGroups, summed
from garrote.solvers.effects.effects_in_turn import IDLE, SummedEffects
from garrote.solvers.effects.single_effect_regression import SingleEffect
from garrote.solvers.effects.single_effects import EffectsFit, EffectsTask, fit_single_effects

# What is left out for an effect: its most probable variables up to this probability. With 0.95 some
# stay that lead straight back.
_COVERAGE = 0.99
# Sets of more variables say nothing that leaving them out could contradict.
_LARGEST = 200
# An effect can be replaced only if a column correlates with what it fits by at least this (one that is
# the sum of two correlates with the nearer one by 0.7 or more) ...
_NEAR = 0.6
# ... and the bound has to rise by more than this, by effects that have evidence.
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

    def fit(self, start: Effects) -> Effects:
        """Fit from the effects of another fit."""

    def rough(self, fit: Effects) -> "Rough[Effects]":
        """Return how fits are made that are compared with this one; they may have one effect more."""

    def resemblance(self, fit: Effects, k: int) -> Floats:
        """Return the correlation of every column with what one effect fits."""


class Rough(Protocol[Effects]):
    """Fits from the effects of another fit, roughly, perhaps under another prior on the variables."""

    def __call__(self, start: Effects, log_prior: Floats | None = None) -> Effects:
        """Return the fit."""


class NumbersFitter:
    """Single effects of a response of numbers."""

    def __init__(self, task: EffectsTask):
        self.task, self.log_prior = task, task.log_prior

    def fit(self, start: EffectsFit) -> EffectsFit:
        """Fit from the effects of another fit."""
        return fit_single_effects(self.task, start)

    def rough(self, fit: EffectsFit) -> "Rough[EffectsFit]":
        """Return how effects that are not spread out are fitted beside those that are."""
        prior = self.task.prior
        apart = Background.of(fit.effects, prior.effects, prior.refine == THOROUGH)
        settings = replace(prior, effects=apart.most, tol=max(prior.tol, ROUGHLY))
        task = replace(self.task.holding(apart.held), prior=settings)

        def fitted(start: EffectsFit, log_prior: Floats | None = None) -> EffectsFit:
            return apart.beside(fit_single_effects(task, apart.without(start), log_prior))

        return fitted

    def resemblance(self, fit: EffectsFit, k: int) -> Floats:
        """Return the correlation of every column with what one effect fits."""
        coef, curvature = fit.effects[k].coef, self.task.problem.curvature
        fitted = self.task.products.times(coef)
        return resemblance_of(fitted, float(coef @ fitted), curvature, self.task.units)


def _members(effect: SingleEffect) -> Array:
    """Return the most probable variables of an effect, by probability, up to the coverage."""
    return most_probable(effect.probability, _COVERAGE)


def _is_background(effect: SingleEffect) -> bool:
    """Tell whether an effect has next to no evidence, and that all over the table."""
    return effect.log_bayes_factor < IDLE and len(_members(effect)) > _LARGEST


class Background(NamedTuple):
    """Effects of next to no evidence, all over the table, that are held while others are fitted.

    ``spread`` are all of them, ``held`` those that stay; ``most`` is how many others there may be.
    """

    spread: tuple[SingleEffect, ...]
    held: tuple[SingleEffect, ...]
    most: int

    @classmethod
    def of(
        cls, effects: tuple[SingleEffect, ...], allowed: int | None, thorough: bool
    ) -> "Background":
        """Tell them from the others, of which there may be one more, and so many in all."""
        spread = () if thorough else tuple(filter(_is_background, effects))
        one_more = len(effects) - len(spread) + 1
        # Where no more effects may be than there are, the weakest spread one makes room.
        held = spread if allowed is None else spread[: max(allowed - one_more, 0)]
        return cls(spread, held, min(one_more, allowed or one_more))

    def without(self, fit: Effects) -> Effects:
        """Return a fit without them."""
        spread = {id(one) for one in self.spread}
        return replace(fit, effects=tuple(one for one in fit.effects if id(one) not in spread))

    def beside(self, fit: Effects) -> Effects:
        """Return the fit of others with those that were held."""
        tried = fit.tried + len(self.held)
        return replace(fit, effects=fit.effects + self.held, tried=tried)


def resemblance_of(
    products: Floats, square: float, curvature: Floats, units: EffectGroups | None = None
) -> Floats:
    """Return absolute correlations, from products with a vector, its square and those of columns.

    Of groups they are multiple correlations: with what a group can fit of the vector.
    """
    length = np.sqrt(np.where(curvature > 0, curvature, np.inf))
    along = np.abs(products / length)
    if units is not None:
        along = np.sqrt(summed(along**2, units))
    return np.asarray(along / np.sqrt(max(square, np.finfo(float).tiny)))


def refine(
    fitter: Fitter[Effects], fit: Effects, report: Callable[[int, int], None] | None = None
) -> tuple[Effects, int]:
    """Return the best fit that can be reached, and how many rounds found a better one."""
    for better in range(_ROUNDS):
        sets = _replaceable(fitter, fit)[:_FITS]
        if not sets:
            return fit, better
        best, rough = fit, fitter.rough(fit)
        for done, (k, members) in enumerate(sets):
            log_prior = _normalised(fitter.log_prior, members)
            if log_prior is not None:  # fit without these variables, and once more with them
                again = rough(rough(fit.left_out(k), log_prior))
                best = max(best, again, key=_supported)
            if report is not None:
                report(done + 1, len(sets))
        if _supported(best) <= _supported(fit) + _BETTER:
            return fit, better
        fit = fitter.fit(best)
    return fit, _ROUNDS


def _supported(fit: SummedEffects) -> float:
    """Return the bound less what effects of next to no evidence add to it.

    Such an effect adds the logarithm of its Bayes factor, wherever it is, and a fit that may have one
    more of them is not better for that.
    """
    factors = [effect.log_bayes_factor for effect in fit.effects]
    return fit.bound - sum(factor for factor in factors if factor < IDLE)


def _replaceable(fitter: Fitter[Effects], fit: Effects) -> list[tuple[int, Array]]:
    """Return effects with what to leave out for them, where other columns resemble what they fit."""
    found: list[tuple[int, Array]] = []
    for k, effect in enumerate(fit.effects):
        likely = _members(effect)
        if len(likely) > _LARGEST:
            continue
        resembles = np.where(np.isfinite(fitter.log_prior), fitter.resemblance(fit, k), 0.0)
        members = np.isin(np.arange(len(resembles)), likely)
        tried: dict[bytes, tuple[int, Array]] = {}
        for width in _WIDTHS:
            left_out = members | (resembles >= width)
            if resembles[~left_out].max(initial=0.0) >= _NEAR:
                tried[left_out.tobytes()] = (k, np.flatnonzero(left_out))
        found += tried.values()
    return found


def _normalised(log_prior: Floats, members: Array) -> Floats | None:
    """Return the prior without some variables; None where nothing is left."""
    kept = log_prior.copy()
    kept[members] = -np.inf
    total = float(logsumexp(kept))
    return kept - total if np.isfinite(total) else None
