"""Sums of single effects on a linear predictor whose likelihood has no closed form, as Cox's.

Each effect in turn is fitted beside the others, which count by the mean of what they add to the linear
predictor (Wang et al. 2020, with a likelihood in the place of least squares). Column by column the
evidence is Laplace's: with b the maximum of log p(y | b) - b^2 / (2 v) and H minus the second derivative
there, the Bayes factor against no effect is

    log BF = log p(y | b) - log p(y | 0) - b^2 / (2 v) - log(v H) / 2,

whose approximation by the likelihood's maximum and its standard error alone is Wakefield's (2009).
The prior variance of an effect is that of the largest evidence of these parabolas. What others add
varies, which is left out: there is no bound on the evidence, nor a search for better optima by one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Floats
from garrote.results.certificates import Certificate, equations
from garrote.solvers.control import Control
from garrote.solvers.effects.effects_in_turn import EffectsInTurn, SummedEffects
from garrote.solvers.effects.single_effect_regression import (
    SingleEffect,
    best_prior_variance,
    single_effect_regression,
)
from garrote.solvers.effects.single_effects import largest_change
from garrote.solvers.losses.newton import Samples, make_workspace
from garrote.solvers.models.fitted_models import fit_each, fit_model, make_table

# Where the search for a prior variance begins, and the largest there may be: the evidence of a variable
# that puts all events in order has no top.
_FIRST_VARIANCE, _LARGEST_VARIANCE = 1.0, 25.0
# Prior variances that differ by this share have the same evidence.
_SAME = 1e-4


@dataclass(frozen=True)
class FittedEffects(SummedEffects):
    """Effects on the columns at hand, the fixed columns' coefficients, and the rows' predictors."""

    fixed: Floats
    eta: Floats
    certificate: Certificate


class FittedColumns:
    """Columns that may have an effect, after the fixed ones; fitted one by one."""

    def __init__(self, likelihood: Any, samples: Samples, fixed: int):
        self.likelihood, self.samples, self.fixed = likelihood, samples, fixed
        self.columns = samples.columns[fixed:]

    def beside(self, offset: Floats) -> Samples:
        """Return the samples with other effects as a known part of the predictor."""
        return self.samples._replace(offset=offset)

    def fixed_beside(self, offset: Floats) -> tuple[float, Floats]:
        """Return the log evidence of the fixed columns alone, and their coefficients."""
        table = make_table(self.likelihood, self.beside(offset), self.fixed, np.inf, True)
        start = np.zeros(len(self.samples.columns))
        start[: self.fixed] = table.null
        model = fit_model(self.likelihood, table, np.zeros(0, int), start)
        return float(model.log_likelihood), model.coef

    def effect(
        self, offset: Floats, variance: float, log_prior: Floats, near: Floats
    ) -> SingleEffect:
        """Return the effect of one column of a known prior variance, beside all others.

        ``near`` are coefficients to start from.
        """
        samples = self.beside(offset)
        held = samples.held.copy()
        held[self.fixed :] = 1.0 / variance
        samples = samples._replace(held=held)
        empty, fixed = self.fixed_beside(offset)
        value, mean, spread = fit_each(
            self.likelihood,
            samples,
            self.fixed,
            fixed,
            near,
            make_workspace(samples, self.fixed + 1),
        )
        each = log_prior + value - empty
        total = float(logsumexp(each))
        return SingleEffect(np.exp(each - total), mean, spread, total, float(variance))


def fit_effects_one_by_one(
    columns: FittedColumns,
    log_prior: Floats,
    control: Control,
    *,
    effects: int | None = None,
    variance: float | None = None,
) -> FittedEffects:
    """Update effects in turn until none moves.

    Parameters
    ----------
    columns : FittedColumns
    log_prior : array
        Log probabilities of the columns to have an effect.
    control : Control
    effects : int, optional
        The most effects that there may be; by default as many as are asked for.
    variance : float, optional
        The prior variance of each effect; by default that of the largest evidence, 25 at most.
    """
    state = _State(columns, log_prior, variance)
    moves: list[float] = []

    def sweep() -> bool:
        moves.append(state.sweep())
        return moves[-1] <= control.tol

    converged = state.repeat(sweep, len(log_prior), effects, control.max_iter)
    return state.result(converged)


class _State(EffectsInTurn):
    """Effects while they are fitted, and what each adds to the rows' predictors."""

    def __init__(self, columns: FittedColumns, log_prior: Floats, variance: float | None):
        super().__init__(log_prior)
        self.columns, self.variance = columns, variance

    def sweep(self) -> float:
        """Update every effect; return the largest change of a probability, or of a coefficient."""
        parts = [effect.coef @ self.columns.columns for effect in self.effects]
        total = np.sum([self.columns.samples.offset, *parts], axis=0)
        moved = 0.0
        for k, old in enumerate(self.effects):
            beside = total - parts[k]
            effect = self._update(beside, old)
            parts[k] = effect.coef @ self.columns.columns
            total = beside + parts[k]
            moved = max(moved, largest_change(old, effect))
            self.effects[k] = effect
        return moved

    def _update(self, beside: Floats, old: SingleEffect) -> SingleEffect:
        if self.variance is not None:
            return self.columns.effect(beside, self.variance, self.log_prior, old.mean)
        tried = old.prior_variance or _FIRST_VARIANCE
        found = self.columns.effect(beside, tried, self.log_prior, old.mean)
        # The parabola of every column: its prior taken off.
        precision = np.maximum(1.0 / found.variance - 1.0 / tried, 0.0)
        products = found.mean / found.variance
        best = best_prior_variance(products, precision, self.log_prior, 1.0, old.prior_variance)
        best = min(best, _LARGEST_VARIANCE)
        if best <= 0:
            nothing = np.zeros(len(self.log_prior))
            return single_effect_regression(nothing, nothing, self.log_prior, 0.0)
        if abs(best - tried) <= _SAME * tried:
            return found
        return self.columns.effect(beside, best, self.log_prior, found.mean)

    def result(self, converged: bool) -> FittedEffects:
        """Update every effect once more beside the others as stated, and describe them."""
        kept = self.kept
        parts = [effect.coef @ self.columns.columns for effect in kept]
        total = np.sum([self.columns.samples.offset, *parts], axis=0)
        inclusion = weight = 0.0
        for effect, part in zip(kept, parts, strict=True):
            again = self.columns.effect(
                total - part, effect.prior_variance, self.log_prior, effect.mean
            )
            inclusion = max(inclusion, float(np.abs(again.probability - effect.probability).max()))
            weight = max(weight, largest_change(effect, again))
        fixed = self.columns.fixed_beside(total)[1]
        eta = total + fixed @ self.columns.samples.columns[: self.columns.fixed]
        certificate = equations({"inclusion": inclusion, "weight": weight})
        return FittedEffects(
            kept, np.array([np.nan]), converged, len(self.effects), fixed, eta, certificate
        )
