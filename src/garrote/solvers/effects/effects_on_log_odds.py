"""Sums of single effects on the log odds of labels: regressions in a loop over the bound.

Given xi labels are a weighted regression of noise variance 1 (`garrote.solvers.labels.logistic_bound`),
in which each effect in turn is fitted to what the others leave, as if it were the only one (Wang et al.
2020). Then xi_i^2 becomes the expected square of the linear predictor. Neither step lowers the bound on
the evidence.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.results.certificates import Certificate, equations
from garrote.solvers.control import Control
from garrote.solvers.effects.effect_groups import Basis, EffectGroups, shared_places
from garrote.solvers.effects.effects_in_turn import EffectsInTurn, SummedEffects
from garrote.solvers.effects.refining import ROUGHLY, Background, Rough, resemblance_of
from garrote.solvers.effects.single_effect_regression import (
    SingleEffect,
    best_prior_variance,
    kl_from_prior,
    single_effect_regression,
)
from garrote.solvers.effects.single_effects import largest_change
from garrote.solvers.labels.jaakkola import Shortcut, Touching, first_xi, touching_error
from garrote.solvers.labels.label_regression import LabelColumns
from garrote.solvers.labels.shared_switches import Measure

# The largest prior variance of an effect on log odds: the evidence of a variable that separates the
# classes has no top.
_LARGEST_VARIANCE = 25.0
# What xi and probabilities may still move by, as a share of the tolerance, when rounds end.
_STILL = 0.1
# Columns with smaller probabilities than this add nothing to a linear predictor.
_NOTHING = 1e-12


@dataclass(frozen=True)
class LabelEffects(SummedEffects):
    """Effects on the columns at hand, and the fixed columns' coefficients.

    ``eta`` are the rows' expected linear predictors.
    """

    fixed: Floats
    xi: Floats
    eta: Floats
    certificate: Certificate


class HeldLabelEffects(NamedTuple):
    """Effects that stay as they are while others are fitted beside them.

    ``predictors`` are what each adds to all rows, ``square`` the sum of their expected squares by
    columns, ``divergence`` that of their posteriors from the prior.
    """

    effects: tuple[SingleEffect, ...] = ()
    predictors: tuple[Floats, ...] = ()
    square: Floats | float = 0.0
    divergence: float = 0.0

    @classmethod
    def of(
        cls, columns: LabelColumns, effects: tuple[SingleEffect, ...], log_prior: Floats
    ) -> "HeldLabelEffects":
        """Compute once what they add."""
        return cls(
            effects,
            tuple(_predictor(columns, effect) for effect in effects),
            sum((effect.second_moment for effect in effects), 0.0),
            sum((kl_from_prior(effect, log_prior) for effect in effects), 0.0),
        )


class _Rows(NamedTuple):
    """What effects say of the rows: the linear predictor's mean, its expected square, and the bound."""

    eta: Floats
    square: Floats
    bound: float


def fit_label_effects(
    columns: LabelColumns,
    log_prior: Floats,
    control: Control,
    *,
    effects: int | None = None,
    variance: float | None = None,
    start: LabelEffects | None = None,
    units: EffectGroups | None = None,
    held: HeldLabelEffects | None = None,
) -> LabelEffects:
    """Raise the bound until it stands still, from nothing or from the effects of another fit.

    Parameters
    ----------
    columns : LabelColumns
        With all columns at hand that may have an effect.
    log_prior : array
        Log probabilities of the columns at hand to have an effect.
    control : Control
    effects : int, optional
        The most effects that there may be; by default as many as are asked for.
    variance : float, optional
        The prior variance of each effect; by default that of the largest evidence, 25 at most.
    start : LabelEffects, optional
    units : EffectGroups, optional
        Groups of the columns at hand, where effects are of these.
    held : HeldLabelEffects, optional
        Effects that others are fitted beside.
    """
    state = _State(columns, log_prior, variance, units, held)
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

    usable = len(columns.columns) if units is None else len(units.rank)
    converged = state.repeat(sweep, usable, effects, control.max_iter)
    return state.result(np.array(bounds), converged)


class LabelsFitter:
    """Single effects of labels, for `garrote.solvers.effects.refining`."""

    def __init__(
        self,
        columns: LabelColumns,
        log_prior: Floats,
        control: Control,
        effects: int | None = None,
        variance: float | None = None,
        units: EffectGroups | None = None,
        thorough: bool = False,
    ):
        self.columns, self.log_prior, self.units = columns, log_prior, units
        self.thorough = thorough
        self.control, self.effects, self.variance = control, effects, variance

    def fit(self, start: LabelEffects | None = None) -> LabelEffects:
        """Fit from the effects of another fit, or from nothing."""
        return fit_label_effects(
            self.columns, self.log_prior, self.control, units=self.units,
            effects=self.effects, variance=self.variance, start=start,
        )  # fmt: skip

    def rough(self, fit: LabelEffects) -> Rough[LabelEffects]:
        """Return how effects that are not spread out are fitted beside those that are."""
        apart = Background.of(fit.effects, self.effects, self.thorough)
        control = replace(self.control, tol=max(self.control.tol, ROUGHLY))
        held = HeldLabelEffects.of(self.columns, apart.held, self.log_prior)

        def fitted(start: LabelEffects, log_prior: Floats | None = None) -> LabelEffects:
            found = fit_label_effects(
                self.columns, self.log_prior if log_prior is None else log_prior, control,
                effects=apart.most, variance=self.variance, start=apart.without(start),
                units=self.units, held=held,
            )  # fmt: skip
            return apart.beside(found)

        return fitted

    def resemblance(self, fit: LabelEffects, k: int) -> Floats:
        """Return the correlation of every column with what one effect fits, weighted by its rows."""
        given = _State(self.columns, self.log_prior, None, self.units).given(fit.xi)
        fitted = given.touching.under.left(_predictor(self.columns, fit.effects[k]))
        products = given.products(self.columns, fitted)
        size = float(given.touching.under.weights @ fitted**2)
        return resemblance_of(products, size, given.curvature, self.units)


class _Given(NamedTuple):
    """The regression that stands for the labels, and the columns' squared lengths in its weights.

    Groups have a ``basis`` of their own, in which they are orthogonal under these weights.
    """

    touching: Touching
    curvature: Floats
    basis: Basis | None = None

    @classmethod
    def at(cls, columns: LabelColumns, xi: Floats, units: EffectGroups | None) -> "_Given":
        """Return the regression given xi."""
        touching = Touching.at(columns, xi)
        curvature = columns.lengths(touching.under)
        if units is None:
            return cls(touching, curvature)
        places, turns = shared_places(units), []
        for here in places:
            products = Measure.of(columns, touching.under, here, 1.0).products
            values, turn = np.linalg.eigh(products)
            curvature[here] = np.maximum(values, 0.0)
            turns.append(turn)
        return cls(touching, curvature, Basis(places, tuple(turns)))

    def products(self, columns: LabelColumns, values: Floats) -> Floats:
        """Return the products of all columns with values of which the fixed ones explain nothing."""
        found = np.asarray((self.touching.under.weights * values) @ columns.block)
        return found if self.basis is None else self.basis.into(found)


class _State(EffectsInTurn):
    """Effects while they are fitted, and xi, where the bound touches the likelihood."""

    def __init__(
        self,
        columns: LabelColumns,
        log_prior: Floats,
        variance: float | None,
        units: EffectGroups | None = None,
        held: HeldLabelEffects | None = None,
    ):
        super().__init__(log_prior, units)
        self.held = held or HeldLabelEffects()
        self.columns, self.variance = columns, variance
        self.xi = first_xi(columns.problem)
        self._last: _Given | None = None

    def take(self, start: LabelEffects, most: int | None) -> None:
        """Begin with the effects of another fit, no more than there may be."""
        self.effects, self.xi = list(start.effects[:most]), start.xi

    def given(self, xi: Floats) -> _Given:
        """Return the regression that stands for the labels, given xi."""
        if self._last is None or self._last.touching.xi is not xi:
            self._last = _Given.at(self.columns, xi, self.units)
        return self._last

    def sweep(self, xi: Floats) -> float:
        """Update every effect; return the largest change of a probability, or of a coefficient."""
        given = self.given(xi)
        under, columns = given.touching.under, self.columns
        fitted = [_predictor(columns, effect) for effect in self.effects]
        left = given.touching.response - np.sum([*fitted, *self.held.predictors], axis=0)
        moved = 0.0
        for k, old in enumerate(self.effects):
            left = left + fitted[k]
            products = given.products(columns, under.left(left))
            effect = self._update(products, given.curvature, old)
            if given.basis is not None:
                effect = effect._replace(mean=given.basis.back(effect.mean), basis=given.basis)
            left = left - _predictor(columns, effect)
            moved = max(moved, largest_change(old, effect))
            self.effects[k] = effect
        return moved

    def _update(self, products: Floats, curvature: Floats, old: SingleEffect) -> SingleEffect:
        terms = products, curvature, self.log_prior
        regress = partial(single_effect_regression, *terms, units=self.units)
        if self.variance is not None:
            return regress(self.variance)
        best = best_prior_variance(*terms, 1.0, old.prior_variance, self.units)
        if best <= _LARGEST_VARIANCE:
            return regress(best)
        tried = [regress(v) for v in (_LARGEST_VARIANCE, old.prior_variance)]
        return max(tried, key=lambda one: one.log_bayes_factor)

    def seen(self, xi: Floats) -> _Rows:
        """Return what the effects say of the rows, and the bound, at some xi."""
        given, columns = self.given(xi), self.columns
        touching, under, rows = given.touching, given.touching.under, columns.rows
        total, taken = np.zeros(len(under.weights)), np.zeros(len(under.weights))
        square, divergence = np.zeros(len(given.curvature)) + self.held.square, 0.0
        for predictor in self.held.predictors:
            total += predictor
            taken += under.left(predictor) ** 2
        divergence += self.held.divergence
        for effect in self.effects:
            if effect.prior_variance > 0:
                predictor = _predictor(columns, effect)
                total += predictor
                taken += under.left(predictor) ** 2
                square += effect.second_moment
                divergence += kl_from_prior(effect, self.log_prior)
        residual = under.left(touching.response - total)
        of_groups, extra = self._groups_seen(given)
        if given.basis is not None:
            square[np.concatenate([np.zeros(0, dtype=np.intp), *given.basis.places])] = 0.0
        squared = float(under.weights @ (residual**2 - taken) + square @ given.curvature) + extra
        places = np.flatnonzero(square > _NOTHING)
        eta_variance = columns.eta_variance(under, places, square[places]) - taken[:rows]
        eta_variance = eta_variance + of_groups[:rows]
        eta_variance = np.maximum(eta_variance, 0.0) + under.eta_variance(rows)
        eta = (touching.response - residual)[:rows] + columns.problem.known_part
        bound = touching.level - 0.5 * squared - divergence
        return _Rows(eta, eta**2 + eta_variance, float(bound))

    def _groups_seen(self, given: _Given) -> tuple[Floats, float]:
        """Return the expected squares of what effects of groups add to the rows, and their sum."""
        rows, total = np.zeros(self.columns.rows + self.columns.pseudo), 0.0
        for number, here in enumerate(() if given.basis is None else given.basis.places):
            moment = np.zeros((len(here), len(here)))
            for effect in (*self.effects, *self.held.effects):
                a = float(effect.by_column[here[0]])
                if effect.prior_variance > 0 and a > _NOTHING:
                    assert effect.basis is not None
                    turn, mean = effect.basis.turns[number], effect.mean[here]
                    spread = (turn * effect.variance[here]) @ turn.T
                    moment += a * (spread + np.outer(mean, mean))
            measure = Measure.of(self.columns, given.touching.under, here, 1.0)
            rows += np.einsum("ij,ij->i", measure.left @ moment, measure.left)
            total += float(np.sum(measure.products * moment))
        return rows, total

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
        seen, touching = self.seen(xi), self.given(xi).touching
        off = touching_error(xi, np.sqrt(seen.square), self.columns.problem.weights)
        kept = self.kept
        fitted = sum((_predictor(self.columns, effect) for effect in kept), np.zeros(1))
        fitted = sum(self.held.predictors, fitted)
        fixed = touching.under.level(touching.response - fitted)
        certificate = equations({"inclusion": inclusion, "weight": weight, "bound": off})
        return LabelEffects(kept, bounds, converged, len(stated), fixed, xi, seen.eta, certificate)


def _predictor(columns: LabelColumns, effect: SingleEffect) -> Floats:
    """Return the linear predictor that an effect adds to all rows."""
    if effect.prior_variance <= 0:
        return np.zeros(columns.rows + columns.pseudo)
    places = np.flatnonzero(effect.by_column > _NOTHING)
    return columns.fitted(places, effect.coef[places])
