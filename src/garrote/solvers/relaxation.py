"""Stationary points of one problem at one gamma: on the working set alone, or on all columns.

Inside the working set sweeps run to a fixed point. Outsiders, whose inclusion probabilities are small
but may be many, are swept in turn on the residuals, one pass over X for each round.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from garrote.arrays import Array, Floats
from garrote.priors.garrote import GarrotePrior
from garrote.problem import Problem
from garrote.solvers.certificate import SMALLEST_NOISE, Candidate
from garrote.solvers.full_sweep import full_sweep
from garrote.solvers.settle import Start
from garrote.solvers.working_set import WorkingSet

# A column joins the working set when its inclusion probability passes this, or this multiple of the
# smallest one that gamma allows: near the dense end every column is above any fixed threshold.
_JOINS = 0.02
_JOINS_OVER_PRIOR = 4.0
# With those that must join come the strongest others, up to this many: they are likely to be next.
_COMPANY = 16
# Sweeps stop at this share of the tolerance that the certificate has to meet ...
_INNER = 0.1
# ... and rounds over all columns at this.
_OUTER = 0.3
# Coefficients of outsiders move only by more than this share of the tolerance, in standard errors.
_RESOLUTION = 0.003
# Outsiders are left out of the residual while their effect stays below this share of the tolerance.
_UNNOTICED = 1.0
# Columns with probabilities below this share of the tolerance are not listed in a solution.
_NEGLIGIBLE = 0.01
# The same for all columns that are not listed taken together, in standard errors.
_NEGLECTED_TOGETHER = 0.05
_TINY = 1e-12


class State(NamedTuple):
    """A solution on all columns.

    ``target`` are the least-squares values that coefficients are shrunk from, ``coef`` what enters the
    residuals ``rows`` (which may be absent).
    """

    gamma: float
    precision: float
    coef: Floats
    target: Floats
    probability: Floats
    rows: Floats | None
    sweeps: int


class Inside(NamedTuple):
    """A solution on the working set alone."""

    gamma: float
    precision: float
    coef: Floats
    target: Floats
    sweeps: int


class Relaxation:
    """Finds stationary points of one problem, keeping one working set for all of them."""

    def __init__(self, problem: Problem, prior: GarrotePrior, tol: float, max_iter: int):
        self.problem = problem
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.working = WorkingSet(problem)
        variance = max(problem.response_variance, np.finfo(float).tiny)
        self.smallest_noise = SMALLEST_NOISE * variance
        self.first_precision = prior.first_precision(variance)

    def inside(self, gamma: float, coef: Floats, precision: float, tolerance: float) -> Inside:
        """Settle on the working set, all outsiders being out of the model."""
        start, rows = self.working.start_from(coef)
        return self._settle(gamma, precision, start, 0.0, rows, _INNER * tolerance)

    def spread(self, inside: Inside, gradient: Floats) -> State:
        """Extend a solution on the working set to all columns, as X'Wr says they should be."""
        c = self.problem.curvature
        target = np.divide(gradient, c, out=np.zeros_like(c), where=c > 0)
        target[self.working.columns] = inside.target
        m, w = self._moments(inside.gamma, inside.precision, target)
        return State(inside.gamma, inside.precision, m * w, target, m, None, inside.sweeps)

    def resume(self, candidate: Candidate, rows: Floats) -> State:
        """Make a state of a candidate, given its residuals."""
        coef, target, m = np.zeros((3, self.problem.n_features))
        coef[candidate.columns] = candidate.coef
        target[candidate.columns] = candidate.weight
        m[candidate.columns] = candidate.probability
        return State(candidate.strength, candidate.precision, coef, target, m, rows, 0)

    def everywhere(self, start: State, gamma: float, tolerance: float) -> State:
        """Settle on all columns, working set and outsiders in turn, from a state with residuals."""
        problem, c = self.problem, self.problem.curvature
        precision, sweeps = start.precision, start.sweeps
        coef, target, rows = start.coef.copy(), start.target.copy(), start.rows.copy()
        rule = self.prior.rule(gamma, precision)
        previous = step = np.inf
        while True:
            m, w = self._moments(gamma, precision, target)
            self.working.add(self._newcomers(gamma, m))
            own, outside = self.working.columns, self._outside()
            variances = m * (1 - m) * w**2 * c
            gradient = self.working.products(rows)
            off = np.abs(gradient / c[own] + coef[own] - target[own]) * np.sqrt(precision * c[own])
            change = max(step, off.max(initial=0.0))
            if _settled(change, previous, _OUTER * tolerance) or sweeps >= self.max_iter:
                break
            previous = change
            begin = Start(coef[own], gradient, float(rows**2 @ problem.weights))
            # No more digits than the outsiders have at this stage.
            accuracy = min(max(_INNER * tolerance, 0.01 * change), 0.1)
            settled = self._settle(
                gamma, precision, begin, variances[outside].sum(), rows, accuracy
            )
            rows -= self.working.fitted_by(settled.coef - coef[own])
            coef[own], target[own] = settled.coef, settled.target
            rule.precision[0] = precision = settled.precision
            resolution = _RESOLUTION * tolerance / np.sqrt(precision)
            step = full_sweep(problem.design, rule, outside, coef, target, rows, c, resolution)
            step *= np.sqrt(precision)
            sweeps += settled.sweeps + 1
        if self.prior.noise_variance is None:
            total = float(rows**2 @ problem.weights) + variances.sum()
            precision = 1.0 / max(self.smallest_noise, total / problem.n)
            m, w = self._moments(gamma, precision, target)
        return State(gamma, precision, coef, target, m, rows, sweeps)

    def _settle(
        self,
        gamma: float,
        precision: float,
        start: Start,
        other_variance: float,
        rows: Floats | None,
        tolerance: float,
    ) -> Inside:
        rule = self.prior.rule(gamma, precision, self.working.columns)
        known = self.prior.noise_variance is not None
        settled = self.working.settle(
            rule, start, other_variance, self.smallest_noise, known, tolerance, self.max_iter, rows
        )
        return Inside(gamma, float(rule.precision[0]), settled.coef, settled.target, settled.sweeps)

    def candidate(self, state: State) -> Candidate:
        """List the columns of a solution that matter, alone or together."""
        cutoff = _NEGLIGIBLE * self.tol
        unlisted = np.flatnonzero(state.probability <= cutoff)
        while cutoff > 0 and self._effect(state, unlisted) > _NEGLECTED_TOGETHER * self.tol:
            cutoff = cutoff / 10 if cutoff > _TINY else 0.0
            unlisted = unlisted[state.probability[unlisted] <= cutoff]
        columns = np.flatnonzero(state.probability > cutoff)
        z = state.target[columns]
        weight = np.where(z * self.prior.signs[columns] < 0, 0.0, z)
        return Candidate(
            state.gamma, columns, state.probability[columns], weight, state.precision, state.sweeps
        )

    def admit(self, state: State) -> bool:
        """Let the outsiders that should be in the working set join it; tell whether any did."""
        newcomers = self._newcomers(state.gamma, state.probability)
        if not len(newcomers) and self.outsiders_noticed(state):
            outside = self._outside()
            listed = outside[state.probability[outside] > _NEGLIGIBLE * self.tol]
            if len(listed) <= max(64, len(self.working)):
                newcomers = listed
        self.working.add(newcomers)
        return len(newcomers) > 0

    def outsiders_noticed(self, state: State) -> bool:
        """Tell whether the outsiders' joint effect on a typical coefficient passes the tolerance."""
        return self._effect(state, self._outside()) > _UNNOTICED * self.tol

    def _effect(self, state: State, columns: Array) -> float:
        """Return what columns do together to the least-squares value of an unrelated one.

        The root of their explained sum of squares is shared over N directions; the largest share
        among many columns is some four times the typical one. In standard errors.
        """
        coef = state.probability[columns] * state.target[columns]
        total = state.precision * np.sum(coef**2 * self.problem.curvature[columns])
        return float(4 * np.sqrt(total / self.problem.n))

    def _newcomers(self, gamma: float, probability: Floats) -> Array:
        """Return the outsiders that must join the set, in some company, or none."""
        outside = self._outside()
        m = probability[outside]
        threshold = min(0.5, max(_JOINS, _JOINS_OVER_PRIOR * float(expit(gamma))))
        eager = int(np.count_nonzero(m > threshold))
        if not eager:
            return outside[:0]
        count = min(max(_COMPANY, min(eager, max(64, len(self.working)))), len(outside))
        return outside[np.argsort(-m, kind="stable")[:count]]

    def _outside(self) -> Array:
        return np.flatnonzero(~self.working.contains & (self.problem.curvature > 0))

    def _moments(self, gamma: float, precision: float, target: Floats) -> tuple[Floats, Floats]:
        """Return inclusion probabilities and weights of all columns (Eq. 8)."""
        c = self.problem.curvature
        w = np.where(target * self.prior.signs < 0, 0.0, target)
        m = expit(gamma + self.prior.offsets + 0.5 * precision * c * w**2)
        m[c <= 0] = 0.0
        return m, w


def _settled(change: float, previous: float, tolerance: float) -> bool:
    """Tell whether steps that shrink geometrically have less than ``tolerance`` to go."""
    if not change < previous:
        return change == 0.0
    ratio = change / previous
    return np.isfinite(previous) and change * max(1.0, ratio / (1 - ratio)) <= tolerance
