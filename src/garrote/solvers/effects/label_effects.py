"""Sums of single effects for labels: regressions in a loop over the bound on the likelihood.

Given xi labels are a weighted regression of noise variance 1 (`garrote.solvers.labels.logistic_bound`),
in which each effect in turn is fitted to what the others leave, as if it were the only one (Wang et al.
2020). Then xi_i^2 becomes the expected square of the linear predictor. Neither step lowers the bound on
the evidence.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.problem import Problem
from garrote.results.certificates import Certificate, equations
from garrote.solvers.control import Control
from garrote.solvers.effects.effects_in_turn import EffectsInTurn
from garrote.solvers.effects.refining import ROUGHLY, resemblance_of
from garrote.solvers.effects.single_effect_regression import (
    SingleEffect,
    best_prior_variance,
    kl_from_prior,
    single_effect_regression,
)
from garrote.solvers.effects.single_effects import largest_change
from garrote.solvers.labels.jaakkola import (
    Shortcut,
    bound_level,
    first_xi,
    labels_as_numbers,
    touching_error,
)
from garrote.solvers.labels.label_regression import LabelColumns, LabelRegression

# The largest prior variance of an effect on log odds: the evidence of a variable that separates the
# classes has no top.
_LARGEST_VARIANCE = 25.0
# What xi and probabilities may still move by, as a share of the tolerance, when rounds end.
_STILL = 0.1


@dataclass(frozen=True)
class LabelEffects:
    """Effects on the columns at hand, the fixed columns' coefficients, and the bound after each round.

    Effects that came out null are not listed; ``tried`` counts them too. ``eta`` are the rows'
    expected linear predictors.
    """

    effects: tuple[SingleEffect, ...]
    fixed: Floats
    xi: Floats
    eta: Floats
    bounds: Floats
    certificate: Certificate
    converged: bool
    tried: int

    @property
    def bound(self) -> float:
        """The lower bound of the log evidence that was reached."""
        return float(self.bounds[-1])

    def left_out(self, k: int) -> "LabelEffects":
        """Return the fit without one of its effects."""
        return replace(self, effects=self.effects[:k] + self.effects[k + 1 :])


class _Rows(NamedTuple):
    """What effects say of the rows: the linear predictor's mean, its expected square, and the bound."""

    eta: Floats
    square: Floats
    bound: float


def fit_label_effects(
    columns: LabelColumns,
    labels: Floats,
    log_prior: Floats,
    control: Control,
    *,
    effects: int | None = None,
    variance: float | None = None,
    start: LabelEffects | None = None,
) -> LabelEffects:
    """Raise the bound until it stands still, from nothing or from the effects of another fit.

    Parameters
    ----------
    columns : LabelColumns
        With all columns at hand that may have an effect.
    labels : array of shape (N,)
        0 or 1.
    log_prior : array
        Log probabilities of the columns at hand to have an effect.
    control : Control
    effects : int, optional
        The most effects that there may be; by default as many as are asked for.
    variance : float, optional
        The prior variance of each effect; by default that of the largest evidence, 25 at most.
    start : LabelEffects, optional
    """
    state = _State(columns, labels, log_prior, variance)
    if start is not None:
        state.take(start, effects)
    bounds: list[float] = []
    weights = columns.problem.weights
    way = Shortcut(weights)

    def sweep() -> bool:
        moved = state.sweep(state.xi)
        seen = state.seen(state.xi)
        bounds.append(seen.bound)
        best = np.sqrt(seen.square)
        if max(moved, touching_error(state.xi, best, weights)) <= _STILL * control.tol:
            return True
        further = way.beyond(best)
        state.xi = best if further is None else state.better(best, further)
        return False

    converged = state.repeat(sweep, len(columns.columns), effects, control.max_iter)
    return state.result(np.array(bounds), converged)


class LabelsFitter:
    """Single effects of labels, for `garrote.solvers.effects.refining`."""

    def __init__(
        self,
        columns: LabelColumns,
        labels: Floats,
        log_prior: Floats,
        control: Control,
        effects: int | None = None,
        variance: float | None = None,
    ):
        self.columns, self.labels, self.log_prior = columns, labels, log_prior
        self.control, self.effects, self.variance = control, effects, variance

    def fit(
        self,
        start: LabelEffects | None = None,
        log_prior: Floats | None = None,
        at_most: int | None = None,
    ) -> LabelEffects:
        """Fit from the effects of another fit; with a largest number of effects only roughly."""
        control, effects = self.control, self.effects
        if at_most is not None:
            effects = min(at_most, effects or at_most)
            control = replace(control, tol=max(control.tol, ROUGHLY))
        return fit_label_effects(
            self.columns, self.labels, self.log_prior if log_prior is None else log_prior, control,
            effects=effects, variance=self.variance, start=start,
        )  # fmt: skip

    def resemblance(self, fit: LabelEffects, k: int) -> Floats:
        """Return the correlation of every column with what one effect fits, weighted by its rows."""
        task = _State(self.columns, self.labels, self.log_prior, None).regression(fit.xi).task
        block = _values(task)
        own = block @ fit.effects[k].coef
        products = block.T @ (task.weights * own)
        return resemblance_of(products, float(task.weights @ own**2), task.curvature)


class _State(EffectsInTurn):
    """Effects while they are fitted, and xi, where the bound touches the likelihood."""

    def __init__(
        self, columns: LabelColumns, labels: Floats, log_prior: Floats, variance: float | None
    ):
        super().__init__(log_prior)
        self.columns, self.labels, self.variance = columns, labels, variance
        self.xi = first_xi(columns.problem, labels)

    def take(self, start: LabelEffects, most: int | None) -> None:
        """Begin with the effects of another fit, no more than there may be."""
        self.effects, self.xi = list(start.effects[:most]), start.xi

    def regression(self, xi: Floats) -> LabelRegression:
        """Return the regression that stands for the labels, given xi."""
        return labels_as_numbers(self.columns, self.labels, xi)

    def sweep(self, xi: Floats) -> float:
        """Update every effect; return the largest change of a probability, or of a coefficient."""
        task = self.regression(xi).task
        block = _values(task)
        fitted = [block @ effect.coef for effect in self.effects]
        left, moved = task.response - np.sum(fitted, axis=0), 0.0
        for k, old in enumerate(self.effects):
            left = left + fitted[k]
            products = block.T @ (task.weights * left)
            effect = self._update(products, task.curvature, old)
            left = left - block @ effect.coef
            moved = max(moved, largest_change(old, effect))
            self.effects[k] = effect
        return moved

    def _update(self, products: Floats, curvature: Floats, old: SingleEffect) -> SingleEffect:
        terms = products, curvature, self.log_prior
        if self.variance is not None:
            return single_effect_regression(*terms, self.variance)
        best = best_prior_variance(*terms, 1.0, old.prior_variance)
        if best <= _LARGEST_VARIANCE:
            return single_effect_regression(*terms, best)
        tried = [
            single_effect_regression(*terms, v) for v in (_LARGEST_VARIANCE, old.prior_variance)
        ]
        return max(tried, key=lambda one: one.log_bayes_factor)

    def seen(self, xi: Floats) -> _Rows:
        """Return what the effects say of the rows, and the bound, at some xi."""
        given, rows = self.regression(xi), self.columns.rows
        task, fixed = given.task, self.columns.fixed
        block = _values(task)
        total = np.zeros(len(block))
        doubt, spread, divergence = np.zeros(rows), 0.0, 0.0
        for effect in self.effects:
            if effect.prior_variance <= 0:
                continue
            own = block @ effect.coef
            total += own
            doubt += block[:rows] ** 2 @ effect.second_moment - own[:rows] ** 2
            spread += float(effect.second_moment @ task.curvature - task.weights @ own**2)
            divergence += kl_from_prior(effect, self.log_prior)
        squared = float(task.weights @ (task.response - total) ** 2) + spread
        doubt = np.maximum(doubt, 0.0) + np.einsum("if,fg,ig->i", fixed, given.inverse, fixed)
        eta = total[:rows] + fixed @ given.level + self.columns.problem.known_part
        bound = bound_level(self.columns, given, xi) - 0.5 * squared - divergence
        return _Rows(eta, eta**2 + doubt, float(bound))

    def better(self, xi: Floats, further: Floats) -> Floats:
        """Return xi further on, if the bound is no lower there after a sweep; else as it is."""
        kept, bound = list(self.effects), self.seen(xi).bound
        self.sweep(further)
        if self.seen(further).bound >= bound:
            return further
        self.effects = kept
        return xi

    def result(self, bounds: Floats, converged: bool) -> LabelEffects:
        """Compute violations once more, from the data and the effects, and describe them."""
        stated, xi = list(self.effects), self.xi
        inclusion = weight = 0.0
        self.sweep(xi)
        for before, after in zip(stated, self.effects, strict=True):
            if before.prior_variance > 0:
                inclusion = max(
                    inclusion, float(np.abs(before.probability - after.probability).max())
                )
                weight = max(weight, largest_change(before, after))
        self.effects = stated
        seen, given = self.seen(xi), self.regression(xi)
        off = touching_error(xi, np.sqrt(seen.square), self.columns.problem.weights)
        kept = self.kept
        coef = sum((effect.coef for effect in kept), np.zeros(len(self.log_prior)))
        fixed = given.level - given.explained @ coef
        certificate = equations({"inclusion": inclusion, "weight": weight, "bound": off})
        return LabelEffects(kept, fixed, xi, seen.eta, bounds, certificate, converged, len(stated))


def _values(task: Problem) -> Floats:
    """Return the columns of a regression."""
    return task.table.block(np.arange(task.n_features))
