"""Stationary points of one problem at one gamma: on the working set alone, or on all columns.

Inside the working set sweeps run to a fixed point. Outsiders, whose inclusion probabilities are small
but may be many, are swept in turn on the residuals, one pass over X for each round.
"""

import numpy as np
from scipy.special import expit

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.rules import moments_among, noise_share
from garrote.solvers.descent.full_sweep import full_sweep
from garrote.solvers.garrote.screening import Screening
from garrote.solvers.garrote.sweeps import Start, State
from garrote.solvers.garrote.working_set import WorkingSet

# Sweeps stop at this share of the tolerance that the certificate has to meet ...
_INNER = 0.1
# ... and rounds over all columns at this.
_OUTER = 0.5
# Coefficients of outsiders move only by more than this share of the tolerance, in standard errors.
_RESOLUTION = 0.003
# Outsiders are lively when included this many times more probably than a priori.
_LIVELY = 5.0
_LIVELY_ROUNDS = 20
# They are still at this share of the change that the others made.
_STILL = 0.01
# More than this share of all columns are updated without an index.
_MANY = 8
# Two points that have converged to the tolerance may be so many tolerances apart and be one solution.
_APART = 5.0


class Relaxation:
    """Finds stationary points of one problem, keeping one working set for all of them."""

    def __init__(self, problem: Problem, prior: SpikeTerms, tol: float, max_iter: int):
        self.problem = problem
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.working = WorkingSet(problem)
        # Whoever shares a switch is in the set from the start, so that outsiders have their own.
        self.working.add(prior.together(problem.usable))
        self.screening = Screening(self.working, tol)

    def inside(self, gamma: float, coef: Floats, precision: float, tolerance: float) -> State:
        """Solve on the working set, all outsiders being out of the model."""
        start, residual = self.working.start_from(coef)
        return self._fixed_point(gamma, precision, start, 0.0, residual, _INNER * tolerance)

    def spread(self, inside: State, gradient: Floats) -> State:
        """Extend a solution on the working set to all columns, as X'Wr says they should be."""
        c = self.problem.curvature
        target = np.divide(gradient, c, out=np.zeros_like(c), where=c > 0)
        target[self.working.columns] = inside.target
        coef, m = np.zeros((2, len(c)))
        state = inside._replace(coef=coef, target=target, probability=m)
        self.respond(state, np.zeros(len(c), dtype=bool))
        return state

    def resume(self, fit: Fit, residual: Floats, targets: Floats | None = None) -> State:
        """Make a state of a solution, given its residuals, and maybe the targets of all columns."""
        coef, target, m = np.zeros((3, self.problem.n_features))
        coef[fit.columns] = fit.coef
        c = self.problem.curvature[fit.columns]
        target[fit.columns] = self.prior.targets(fit.weight, c, fit.precision)
        m[fit.columns] = fit.probability
        target = target if targets is None else targets
        return State(fit.strength, fit.precision, coef, target, 0, m, residual)

    def leads_to(self, known: Fit, residual: Floats | None, start: Fit, tolerance: float) -> bool:
        """Tell whether the working set converges from ``start`` to a known solution.

        Outsiders stay as they are in that solution, whose ``residual`` is given (None where there are
        only moments): it has converged on all columns, and if the working set comes to it again,
        so will the others.
        """
        members, c = self.working.columns, self.problem.curvature[self.working.columns]
        m = self.on_working_set(known.columns, known.probability)
        coef = self.on_working_set(known.columns, known.coef)
        first = self.on_working_set(start.columns, start.coef)
        if residual is None:
            begin, _ = self.working.start_from(first)
        else:
            residual = residual + self.working.fitted_by(coef - first)
            begin = self._start_at(first, residual)
        variance = self._variance_outside(known)
        found = self._fixed_point(
            known.strength, start.precision, begin, variance, residual, _INNER * tolerance
        )
        again = np.empty(len(members))
        rule = self.prior.rule(found.gamma, found.precision, members)
        _include(rule, c, found.target, np.arange(len(members)), again)
        off = np.abs(found.coef - coef) * np.sqrt(known.precision * c)
        apart = (off.max(initial=0.0), np.abs(again - m).max(initial=0.0))
        return bool(max(*apart, abs(found.precision / known.precision - 1)) <= _APART * tolerance)

    def on_working_set(self, columns: Array, values: Floats) -> Floats:
        """Return values that are given on some columns on those of the working set, 0 elsewhere."""
        everywhere = np.zeros(self.problem.n_features)
        everywhere[columns] = values
        return everywhere[self.working.columns]

    def _variance_outside(self, point: Fit) -> float:
        """Return the outsiders' share of the noise equation."""
        outside = ~self.working.contains[point.columns]
        c = self.problem.curvature[point.columns[outside]]
        shares = self.prior.noise_shares(
            point.probability[outside], point.weight[outside], c, point.precision
        )
        return float(shares.sum())

    def _start_at(self, coef: Floats, residual: Floats) -> Start:
        """Return the start of sweeps over the working set, given the residuals."""
        return Start(
            coef, self.working.products(residual), float(residual**2 @ self.problem.weights)
        )

    def everywhere(self, start: State, gamma: float, tolerance: float) -> State:
        """Solve on all columns, outsiders and working set in turn, from a state with residuals.

        Rounds over the livelier outsiders only, which cost little, come between those over all.
        """
        state = start._replace(
            gamma=gamma, coef=start.coef.copy(), target=start.target.copy(),
            probability=np.zeros(self.problem.n_features), residual=start.residual.copy(),
        )  # fmt: skip
        variance, change = self._judge(state, self.working.outside), np.inf
        state, _ = self._fixed_point_among(state, variance, tolerance, change)
        while change > _OUTER * tolerance and state.sweeps < self.max_iter:
            state, change = self._lively_rounds(state, variance, tolerance, change)
            state, variance, change = self._round(
                state, self.working.outside, 0.0, tolerance, change
            )
        self._include(state, self.problem.usable)
        return state

    def _lively_rounds(
        self, state: State, variance: float, tolerance: float, previous: float
    ) -> tuple[State, float]:
        """Sweep the outsiders that are much more probable than a priori, until they hardly change.

        That is by a small share of the tolerance, or of ``previous``, the change of the last round over
        all outsiders. Returns the state and the last change.
        """
        lively = self._lively(state)
        quiet = max(variance - self._include(state, lively), 0.0)
        still = max(0.3 * _OUTER * tolerance, _STILL * min(previous, 1.0))
        for _ in range(_LIVELY_ROUNDS):
            state, _, change = self._round(state, lively, quiet, tolerance, previous)
            if _converged(change, previous, still):
                break
            previous = change
        return state, change

    def _lively(self, state: State) -> Array:
        outside = self.working.outside
        prior = expit(state.gamma + self.prior.offsets[outside])
        return outside[state.probability[outside] > _LIVELY * prior]

    def _round(
        self, state: State, columns: Array, elsewhere: float, tolerance: float, previous: float
    ) -> tuple[State, float, float]:
        """Sweep outsiders, then solve the working set; ``state``'s arrays change in place.

        ``elsewhere`` is the variance of the outsiders that are not swept. Returns that of them all,
        and the largest change that the round made, in standard errors.
        """
        columns = columns[~self.working.contains[columns]]
        step = full_sweep(
            self.problem.table, self.prior.alone(state.gamma, state.precision), columns,
            state.coef, state.target, state.residual, self.problem.curvature,
            _RESOLUTION * tolerance / np.sqrt(state.precision),
        )  # fmt: skip
        step *= np.sqrt(state.precision)
        variance = elsewhere + self._judge(state, columns)
        state, change = self._fixed_point_among(state, variance, tolerance, previous)
        return state._replace(sweeps=state.sweeps + 1), variance, max(step, change)

    def _fixed_point_among(
        self, state: State, variance: float, tolerance: float, previous: float
    ) -> tuple[State, float]:
        """Solve the working set while outsiders, of given variance, stay as they are.

        Returns also how far off it was, in standard errors.
        """
        members, residual = self.working.columns, state.residual
        begin = self._start_at(state.coef[members], residual)
        # No more digits than the outsiders have at this stage.
        accuracy = min(max(_INNER * tolerance, 0.01 * previous), 0.1)
        found = self._fixed_point(state.gamma, state.precision, begin, variance, residual, accuracy)
        residual -= self.working.fitted_by(found.coef - begin.coef)
        c = self.problem.curvature[members]
        off = np.abs(begin.gradient / c + begin.coef - state.target[members]) * np.sqrt(c)
        state.coef[members], state.target[members] = found.coef, found.target
        sweeps = state.sweeps + found.sweeps
        change = float(np.sqrt(state.precision) * off.max(initial=0.0))
        return state._replace(precision=found.precision, sweeps=sweeps), change

    def _fixed_point(
        self,
        gamma: float,
        precision: float,
        start: Start,
        other_variance: float,
        residual: Floats | None,
        tolerance: float,
    ) -> State:
        rule = self.prior.rule(gamma, precision, self.working.columns)
        known = self.prior.noise_variance is not None
        coef, target, sweeps = self.working.find_fixed_point(
            rule, start, other_variance, known, tolerance, self.max_iter, residual
        )
        return State(gamma, float(rule.precision[0]), coef, target, sweeps)

    def solution(self, state: State, tolerance: float) -> Fit:
        """List the columns of a solution that matter, alone or together; it is not certified."""
        return self.listed(state, self.screening.negligible(state, tolerance))

    def listed(self, state: State, cutoff: float = 0.0) -> Fit:
        """List the columns of a solution whose probability is above a cutoff; it is not certified."""
        columns = np.flatnonzero(state.probability > cutoff)
        weight = self._weights(state, columns)
        return Fit.uncertified(
            state.gamma, columns, state.probability[columns], weight, 1.0 / state.precision,
            state.sweeps, float(state.probability.sum()),
        )  # fmt: skip

    def neglect(self, state: State, tolerance: float) -> None:
        """Take the columns out of a state, in place, that do not matter, alone or together."""
        small = state.probability <= self.screening.negligible(state, tolerance)
        small &= ~self.working.contains
        state.probability[small] = 0.0
        state.coef[small] = 0.0

    def respond(self, state: State, skipped: Array | None = None) -> float:
        """Set columns by their targets, in place; return their share of the noise equation.

        By default those outside of the working set.
        """
        skipped = self.working.contains if skipped is None else skipped
        return self.prior.respond(
            state.gamma, state.precision, state.target, self.problem.curvature, skipped,
            state.probability, state.coef,
        )  # fmt: skip

    def converge_inside(self, state: State, variance: float, start: State) -> State:
        """Solve the working set from where another state has it; outsiders stay as they are."""
        members = self.working.columns
        state.residual[:] -= self.working.fitted_by(start.coef[members] - state.coef[members])
        state.coef[members] = start.coef[members]
        state = state._replace(precision=start.precision)
        state, _ = self._fixed_point_among(state, variance, self.tol, 0.0)
        self._include(state, members)
        # What is in the residual is what a certificate has to be of.
        weight, m = self._weights(state, members), state.probability[members]
        np.divide(state.coef[members], weight, out=m, where=weight != 0)
        state.probability[members] = np.clip(m, 0.0, 1.0)
        return state

    def _judge(self, state: State, columns: Array) -> float:
        """Set the inclusion probabilities of outsiders, and let those join the set that must.

        Returns the others' share of the noise equation.
        """
        variance = self._include(state, columns)
        newcomers = self.screening.newcomers(state, columns)
        if len(newcomers):
            self.working.add(newcomers)
            variance -= self._include(state, newcomers)
        return variance

    def _include(self, state: State, columns: Array) -> float:
        """Set inclusion probabilities (Eq. 8); return the columns' share of the noise equation."""
        if len(columns) * _MANY > self.problem.n_features:
            others = np.ones(self.problem.n_features, dtype=bool)
            others[columns] = False
            return self.respond(state._replace(coef=np.empty_like(state.target)), others)
        rule = self.prior.rule(state.gamma, state.precision)
        return _include(rule, self.problem.curvature, state.target, columns, state.probability)

    def _weights(self, state: State, columns: Array) -> Floats:
        """Return the weights that least-squares values are shrunk to, given inclusion."""
        target, curvature = state.target[columns], self.problem.curvature
        return self.prior.weights(target, curvature, columns, state.precision)


@kernel
def _include(rule, curvature, target, columns, probability):
    total = 0.0
    for j in columns:
        m, w, variance = moments_among(rule, j, target, curvature)
        probability[j] = m
        total += noise_share(rule, target[j], m, w, variance, curvature[j])
    return total


def _converged(change: float, previous: float, tolerance: float) -> bool:
    """Tell whether steps that shrink geometrically have less than ``tolerance`` to go."""
    if not change < previous:
        return change == 0.0
    ratio = change / previous
    return np.isfinite(previous) and change * max(1.0, ratio / (1 - ratio)) <= tolerance
