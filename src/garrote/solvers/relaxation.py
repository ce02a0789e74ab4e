"""Stationary points of one problem at one gamma: on the working set alone, or on all columns.

Inside the working set sweeps run to a fixed point. Outsiders, whose inclusion probabilities are small
but may be many, are swept in turn on the residuals, one pass over X for each round.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.garrote import GarrotePrior
from garrote.problem import Problem
from garrote.shrinkage import moments
from garrote.solvers.certificate import Candidate
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
_OUTER = 0.5
# Coefficients of outsiders move only by more than this share of the tolerance, in standard errors.
_RESOLUTION = 0.003
# Outsiders are lively when included this many times more probably than a priori.
_LIVELY = 5.0
_LIVELY_ROUNDS = 20
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
    residuals ``rows`` (empty where they are not needed).
    """

    gamma: float
    precision: float
    coef: Floats
    target: Floats
    probability: Floats
    rows: Floats
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
        return State(inside.gamma, inside.precision, m * w, target, m, np.zeros(0), inside.sweeps)

    def resume(self, candidate: Candidate, rows: Floats) -> State:
        """Make a state of a candidate, given its residuals."""
        coef, target, m = np.zeros((3, self.problem.n_features))
        coef[candidate.columns] = candidate.coef
        target[candidate.columns] = candidate.weight
        m[candidate.columns] = candidate.probability
        return State(candidate.strength, candidate.precision, coef, target, m, rows, 0)

    def everywhere(self, start: State, gamma: float, tolerance: float) -> State:
        """Settle on all columns, working set and outsiders in turn, from a state with residuals.

        Rounds over the livelier outsiders only, which cost little, come between those over all.
        """
        state = start._replace(
            gamma=gamma, coef=start.coef.copy(), target=start.target.copy(), rows=start.rows.copy()
        )
        m, _ = self._moments(gamma, state.precision, state.target)
        state = state._replace(probability=m)
        change = np.inf
        while change > _OUTER * tolerance and state.sweeps < self.max_iter:
            previous = change
            for _ in range(_LIVELY_ROUNDS):
                state, change = self._round(state, tolerance, previous, lively=True)
                if _settled(change, previous, 0.3 * _OUTER * tolerance):
                    break
                previous = change
            state, change = self._round(state, tolerance, change, lively=False)
        precision = state.precision
        if self.prior.noise_variance is None:
            nobody = np.zeros(self.problem.n_features, dtype=bool)
            rule = self.prior.rule(gamma, precision)
            total = float(state.rows**2 @ self.problem.weights)
            total += _variance(rule, self.problem.curvature, state.target, nobody)
            precision = 1.0 / max(self.problem.smallest_noise, total / self.problem.n)
            m, _ = self._moments(gamma, precision, state.target)
            state = state._replace(precision=precision, probability=m)
        return state

    def _round(
        self, state: State, tolerance: float, previous: float, lively: bool
    ) -> tuple[State, float]:
        """Settle the working set, then sweep outsiders; ``state``'s arrays change in place.

        Returns the largest change it made, or left to make, in standard errors.
        """
        problem, c = self.problem, self.problem.curvature
        gamma, precision, coef, target, m, rows, sweeps = state
        self.working.add(self._newcomers(gamma, m))
        own, outside = self.working.columns, self._outside()
        begin = Start(coef[own], self.working.products(rows), float(rows**2 @ problem.weights))
        # No more digits than the outsiders have at this stage.
        accuracy = min(max(_INNER * tolerance, 0.01 * previous), 0.1)
        others = _variance(self.prior.rule(gamma, precision), c, target, self.working.contains)
        settled = self._settle(gamma, precision, begin, others, rows, accuracy)
        rows -= self.working.fitted_by(settled.coef - coef[own])
        coef[own], target[own] = settled.coef, settled.target
        precision = settled.precision
        if lively:
            outside = outside[m[outside] > _LIVELY * expit(gamma + self.prior.offsets[outside])]
        step = full_sweep(
            problem.table, self.prior.rule(gamma, precision), outside, coef, target, rows, c,
            _RESOLUTION * tolerance / np.sqrt(precision),
        )  # fmt: skip
        off = np.abs(self.working.products(rows) / c[own] + coef[own] - target[own])
        change = np.sqrt(precision) * max(step, (off * np.sqrt(c[own])).max(initial=0.0))
        m, _ = self._moments(gamma, precision, target)
        sweeps += settled.sweeps + 1
        return State(gamma, precision, coef, target, m, rows, sweeps), float(change)

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
            rule, start, other_variance, known, tolerance, self.max_iter, rows
        )
        return Inside(gamma, float(rule.precision[0]), settled.coef, settled.target, settled.sweeps)

    def candidate(self, state: State, tolerance: float) -> Candidate:
        """List the columns of a solution that matter, alone or together."""
        cutoff = _NEGLIGIBLE * tolerance
        nobody = np.zeros(self.problem.n_features, dtype=bool)
        while cutoff > 0 and self._effect(state, nobody, cutoff) > _NEGLECTED_TOGETHER * tolerance:
            cutoff = cutoff / 10 if cutoff > _TINY else 0.0
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
        return self._effect(state, self.working.contains, 1.0) > _UNNOTICED * self.tol

    def _effect(self, state: State, left_out: Array, cutoff: float) -> float:
        """Return what columns do together to the least-squares value of an unrelated one.

        Of those not ``left_out`` whose probability is at most ``cutoff``. The root of their explained
        sum of squares is shared over N directions; the largest share among many columns is some four
        times the typical one. In standard errors.
        """
        squares = _explained(
            state.probability, state.target, self.problem.curvature, left_out, cutoff
        )
        return float(4 * np.sqrt(state.precision * squares / self.problem.n))

    def _newcomers(self, gamma: float, probability: Floats) -> Array:
        """Return the outsiders that must join the set, in some company, or none."""
        outside = self._outside()
        m = probability[outside]
        threshold = min(0.5, max(_JOINS, _JOINS_OVER_PRIOR * float(expit(gamma))))
        eager = int(np.count_nonzero(m > threshold))
        if not eager:
            return outside[:0]
        count = min(max(_COMPANY, min(eager, max(64, len(self.working)))), len(outside))
        strongest = np.sort(np.argpartition(-m, count - 1)[:count])
        return outside[strongest[np.argsort(-m[strongest], kind="stable")]]

    def _outside(self) -> Array:
        return np.flatnonzero(~self.working.contains & (self.problem.curvature > 0))

    def _moments(self, gamma: float, precision: float, target: Floats) -> tuple[Floats, Floats]:
        """Return inclusion probabilities and weights of all columns (Eq. 8)."""
        m, w = np.zeros((2, len(target)))
        _include(self.prior.rule(gamma, precision), self.problem.curvature, target, m, w)
        return m, w


@kernel
def _include(rule, curvature, target, probability, weight):
    for j in range(curvature.shape[0]):
        if curvature[j] > 0:
            probability[j], weight[j], _ = moments(rule, j, target[j], curvature[j])


@kernel
def _variance(rule, curvature, target, left_out):
    """Return the columns' share of the noise equation, the sum of m (1 - m) w^2 x'Wx."""
    total = 0.0
    for j in range(curvature.shape[0]):
        if curvature[j] > 0 and not left_out[j]:
            total += moments(rule, j, target[j], curvature[j])[2] * curvature[j]
    return total


@kernel
def _explained(probability, target, curvature, left_out, cutoff):
    total = 0.0
    for j in range(curvature.shape[0]):
        m = probability[j]
        if m <= cutoff and not left_out[j]:
            total += (m * target[j]) ** 2 * curvature[j]
    return total


def _settled(change: float, previous: float, tolerance: float) -> bool:
    """Tell whether steps that shrink geometrically have less than ``tolerance`` to go."""
    if not change < previous:
        return change == 0.0
    ratio = change / previous
    return np.isfinite(previous) and change * max(1.0, ratio / (1 - ratio)) <= tolerance
