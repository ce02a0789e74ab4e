"""Sums of single effects by iterative Bayesian stepwise selection (Wang et al. 2020).

Each effect in turn is fitted to what the others leave of the response, as if it were the only one. That
is coordinate ascent on a lower bound of the log evidence, in which effects are independent:

    bound = -n/2 log(2 pi s) - E||y - Xw||^2 / (2 s) - sum over effects of KL(posterior, prior)

The loop carries X'WXb of each effect b, so that the products of what is left with all columns are at
hand without a pass over X; see `garrote.solvers.algebra.gram_products` for what an update of b costs.
"""

from dataclasses import dataclass, replace

import numpy as np

from garrote.arrays import Floats
from garrote.priors.single_effects import SingleEffects
from garrote.problem import Problem
from garrote.solvers.algebra.gram_products import GramProducts
from garrote.solvers.effects.effect_groups import EffectGroups
from garrote.solvers.effects.effects_in_turn import EffectsInTurn, SummedEffects
from garrote.solvers.effects.single_effect_regression import (
    SingleEffect,
    best_prior_variance,
    expected_prior_variance,
    kl_from_prior,
    single_effect_regression,
)

# Sweeps end when the bound moves by less than this times the tolerance on probabilities.
_BOUND = 10.0
# Coefficients of less probable variables need not stand still.
_LIKELY = 0.01


@dataclass(frozen=True)
class EffectsFit(SummedEffects):
    """Effects on numbers, and the noise variance."""

    noise: float


@dataclass(frozen=True)
class HeldEffects:
    """Effects that stay as they are while others are fitted beside them.

    ``products`` are X'WXb of their sum b, ``spread`` is what their variances add to the expected squared
    residual, ``divergence`` that of their posteriors from the prior.
    """

    coef: Floats
    products: Floats
    spread: float
    divergence: float


@dataclass(frozen=True)
class EffectsTask:
    """What the loop needs beside the problem.

    ``rows`` is the sample size, less what means and covariates have spent; a ``noise`` that is given is
    held, and so are effects that are. With ``units`` effects are of groups: the problem is that in their
    coordinates, and prior probabilities are the groups'.
    """

    problem: Problem
    prior: SingleEffects
    log_prior: Floats
    rows: float
    products: GramProducts
    noise: float | None = None
    held: HeldEffects | None = None
    units: EffectGroups | None = None

    def holding(self, effects: tuple[SingleEffect, ...]) -> "EffectsTask":
        """Return the task of fitting other effects beside some that stay as they are."""
        products = [self.products.times(effect.coef) for effect in effects]
        nothing = np.zeros(self.problem.n_features)
        held = HeldEffects(
            sum((effect.coef for effect in effects), nothing),
            sum(products, nothing),
            sum(
                spread_of(*each, self.problem.curvature)
                for each in zip(effects, products, strict=True)
            ),
            sum((kl_from_prior(effect, self.log_prior) for effect in effects), 0.0),
        )
        return replace(self, held=held)

    def next_variance(
        self, terms: tuple[Floats, Floats, Floats], noise: float, effect: SingleEffect
    ) -> float:
        """Return the prior variance of an effect for its next update.

        It is the given one, the next by a step of EM, or the best. A null effect has no such step.
        """
        known = self.prior.known_variance
        if known is not None:
            return known * self.problem.response_variance
        if self.prior.by_steps and effect.prior_variance > 0:
            return expected_prior_variance(effect)
        return best_prior_variance(*terms, noise, effect.prior_variance, self.units)


def fit_single_effects(
    task: EffectsTask, start: EffectsFit | None = None, log_prior: Floats | None = None
) -> EffectsFit:
    """Raise the bound until it stands still, from nothing or from the effects of another fit.

    Parameters
    ----------
    task : EffectsTask
    start : EffectsFit, optional
        Without effects that the task holds.
    log_prior : array of shape (D,), optional
        Log probabilities to have an effect in place of the task's.
    """
    state = _State(task, task.log_prior if log_prior is None else log_prior)
    if start is not None:
        state.take(start)
    bounds: list[float] = []
    wanted = _BOUND * task.prior.tol

    def sweep() -> bool:
        moved = state.sweep()
        bounds.append(state.bound())
        still = len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) <= wanted
        return still and moved <= task.prior.tol

    usable, prior = int(np.count_nonzero(np.isfinite(task.log_prior))), task.prior
    converged = state.repeat(sweep, usable, prior.effects, prior.max_iter)
    return EffectsFit(state.kept, np.array(bounds), converged, len(state.effects), state.noise)


class _State(EffectsInTurn):
    """Effects while they are fitted, with their products with all columns."""

    def __init__(self, task: EffectsTask, log_prior: Floats):
        super().__init__(log_prior, task.units)
        problem = task.problem
        self.task = task
        held = task.held
        # What is left of the response beside effects that are held.
        self.xty = problem.xty if held is None else problem.xty - held.products
        self.curvature = problem.curvature
        self.smallest = problem.smallest_noise
        self.noise = max(task.noise or problem.yty / task.rows, self.smallest)
        self.fitted = np.zeros((0, problem.n_features))  # X'WXb, a row for each effect

    def take(self, start: EffectsFit) -> None:
        """Begin with the effects of another fit."""
        self.effects = list(start.effects)
        self.noise = start.noise
        rows = [self.task.products.times(effect.coef) for effect in self.effects]
        self.fitted = np.array(rows).reshape(len(rows), len(self.xty))

    def extend(self, count: int) -> None:
        """Add effects that are null so far, up to a number of them."""
        super().extend(count)
        more = len(self.effects) - len(self.fitted)
        self.fitted = np.vstack([self.fitted, np.zeros((more, len(self.xty)))])

    def sweep(self) -> float:
        """Update every effect, then the noise; return the largest change, see `largest_change`."""
        total = self.fitted.sum(axis=0)
        moved, idle = 0.0, False
        for k, old in enumerate(self.effects):
            if idle and old.prior_variance <= 0:
                continue  # what left the last null effect null leaves this one null too
            left = self.xty - total + self.fitted[k]
            effect = self._update(left, old)
            idle = effect.prior_variance <= 0 and old.prior_variance <= 0
            if idle:
                continue
            change = self.task.products.times(effect.coef) - self.fitted[k]
            self.fitted[k] += change
            total += change
            moved = max(moved, largest_change(old, effect))
            self.effects[k] = effect
        if self.task.noise is None:
            expected = self._expected_square(total)
            self.noise = max(expected / self.task.rows, self.smallest)
        return moved

    def _update(self, left: Floats, old: SingleEffect) -> SingleEffect:
        terms = left, self.curvature, self.log_prior
        variance = self.task.next_variance(terms, self.noise, old)
        return single_effect_regression(*terms, variance, self.noise, self.units)

    def _expected_square(self, total: Floats) -> float:
        """Return the expected squared residual."""
        coef = sum((effect.coef for effect in self.effects), np.zeros(len(self.xty)))
        fit = self.task.problem.yty - 2.0 * coef @ self.xty + coef @ total
        spread = 0.0
        for effect, fitted in zip(self.effects, self.fitted, strict=True):
            spread += spread_of(effect, fitted, self.curvature)
        held = self.task.held
        if held is not None:
            fit -= held.coef @ (2.0 * self.task.problem.xty - held.products)
            spread += held.spread
        return max(float(fit), 0.0) + spread

    def bound(self) -> float:
        expected = self._expected_square(self.fitted.sum(axis=0))
        return lower_bound(self.task, self.effects, self.noise, expected, self.log_prior)


def spread_of(effect: SingleEffect, products: Floats, curvature: Floats) -> float:
    """Return what the variance of an effect adds to the expected squared residual."""
    return float(effect.second_moment @ curvature - effect.coef @ products)


def largest_change(old: SingleEffect, new: SingleEffect) -> float:
    """Return the largest change of a probability, or tenth of that of a coefficient in its errors."""
    shift = float(np.abs(new.probability - old.probability).max())
    likely = np.flatnonzero(new.by_column > _LIKELY)
    errors = np.sqrt(_least_variance(new)[likely])
    moved = np.abs(new.mean[likely] - old.mean[likely])
    relative = np.divide(moved, errors, out=np.zeros_like(moved), where=errors > 0)
    return max(shift, float(relative.max(initial=0.0)) / 10.0)


def _least_variance(effect: SingleEffect) -> Floats:
    """Return the variance of each coefficient; within a group the least, whatever its coordinates."""
    units = effect.units
    if units is None:
        return effect.variance
    used = np.flatnonzero(effect.variance > 0)
    least = np.full(len(units.rank), np.inf)
    np.minimum.at(least, units.of_column[used], effect.variance[used])
    return np.where(effect.variance > 0, least[units.of_column], 0.0)


def lower_bound(
    task: EffectsTask,
    effects: list[SingleEffect] | tuple[SingleEffect, ...],
    noise: float,
    expected_square: float,
    log_prior: Floats | None = None,
) -> float:
    """Return the bound on the log evidence, given the expected squared residual."""
    log_prior = task.log_prior if log_prior is None else log_prior
    divergence = sum(kl_from_prior(effect, log_prior) for effect in effects)
    if task.held is not None:
        divergence += task.held.divergence
    density = -0.5 * task.rows * np.log(2.0 * np.pi * noise) - 0.5 * expected_square / noise
    return float(density - divergence)
