"""From nothing, variable by variable: add what the evidence asks for, and leave out what it does not.

Given all others the best variance of one coefficient has a closed form, t = (q^2 - s) / s^2 where
q^2 > s and 0 else, with s and q the S_j and Q_j of `given_variances` less the column's own part (Tipping
& Faul 2003, Fast marginal likelihood maximisation for sparse Bayesian models, AISTATS). Here the
variables that gain most come in, several at a time where they do not resemble each other; the variances
of all that are in are set by Newton's method; those whose best variance is 0 go. Rows of X'X are
computed when a variable first comes in.

The noise begins large and falls. With as many columns as rows the evidence may rise all the way to
noise 0, where the fit interpolates: the way down ends where half of the rows are spent, and says so.
"""

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.control import Control
from garrote.solvers.relevance.evidence import (
    Hyperpriors,
    Solution,
    gain_of_one,
    gradient,
    log_evidence,
    next_noise,
    solution_of,
    without_itself,
)
from garrote.solvers.relevance.given_variances import Given, implied
from garrote.solvers.relevance.newton import Inside, newton

# So many variables come in at once at most, if each gains at least this share of what the best does.
_TOGETHER, _WORTH = 16, 0.25
# Of two that correlate more than this the better one comes in first.
_ALIKE = 0.3
# Newton's steps between two looks at who should come or go.
_STEPS = 4
# The noise falls to this share at most at a time, and has settled when it moves by less than the other.
_FALL, _STILL = 0.3, 1e-9
# A fixed point so near, in logarithms, is approached along the secant of two slopes.
_NEAR = 0.2
# On the way of the noise variances need not be better than this: what a change may add to the evidence.
_ROUGH = 0.03
# Variables that go are determined by the data to less than this share, or least of all.
_HARDLY = 1e-3
# Columns of which those inside leave no more than this share have no evidence of their own.
_COPY = 1e-10


def solve_sequentially(
    problem: Problem, laws: Hyperpriors, noise: float, control: Control
) -> tuple[Solution, int]:
    """Raise the evidence from the empty model and a noise variance; return also how many changes."""
    state = _State(problem, laws, noise)
    cut = False
    if laws.noise is None:
        cut = _lower_noise(state, max(_ROUGH, control.tol), control)
        if not cut:
            cut = _lower_noise(state, control.tol, control)
    state.maximise(control.tol, control.max_iter)
    return state.solution(cut), state.changes


def _lower_noise(state: "_State", tol: float, control: Control) -> bool:
    """Follow the noise to where the evidence is level; tell whether it was cut before.

    It is cut at the last noise at which no more coefficients are determined than may be.
    """
    laws = state.laws
    slopes: list[tuple[float, float]] = []
    while True:
        before = state.columns.copy(), state.variance.copy()
        state.maximise(tol, control.max_iter)
        variance, given = state.variance_of_all(), state.given()
        if slopes and variance @ given.strength > laws.spendable:
            (state.columns, state.variance), state.noise = before, slopes[-1][0]
            return True
        slopes.append((state.noise, gradient(given, variance, state.noise, laws)[1]))
        moved = _next_noise(next_noise(given, variance, state.noise, laws), slopes)
        moved = max(moved, laws.least_noise)
        still = abs(moved / state.noise - 1.0) <= max(_STILL, 0.1 * tol**2)
        if still or state.changes >= control.max_iter:
            return False
        state.noise = moved
        control.report("evidence", state.changes, control.max_iter)


def _next_noise(fixed: float, slopes: list[tuple[float, float]]) -> float:
    """Return the next noise variance: by the fixed point or, once that is near, by the secant."""
    noise, slope = slopes[-1]
    found = max(fixed, _FALL * noise)
    if len(slopes) == 1 or abs(np.log(found / noise)) >= _NEAR:
        return found
    last, other = slopes[-2]
    step = -slope * np.log(noise / last) / (slope - other) if slope != other else 0.0
    # The secant has to go the way that the slope does, and not far.
    return noise * float(np.exp(step)) if step * slope > 0 and abs(step) < 2 * _NEAR else found


class _State:
    """Who is in, with which variances, at which noise."""

    def __init__(self, problem: Problem, laws: Hyperpriors, noise: float):
        self.problem, self.laws, self.noise = problem, laws, noise
        self.rows = GramRows(problem, lazy=not GramRows.holds_all(problem))
        self.columns: Array = np.zeros(0, dtype=np.int64)
        self.variance: Floats = np.zeros(0)
        self.changes = 0

    def gram(self) -> Floats:
        """Return X'X of the variables that are in (rows) with all columns."""
        self.rows.hold(self.columns)
        return np.asarray(self.rows.rows[self.rows.slot[self.columns]])

    def variance_of_all(self) -> Floats:
        """Return the variances of all columns."""
        found = np.zeros(self.problem.n_features)
        found[self.columns] = self.variance
        return found

    def given(self) -> Given:
        """Return what the variances imply for all columns, computed anew."""
        return implied(self.problem, self.gram(), self.columns, self.variance, self.noise)

    def solution(self, cut: bool) -> Solution:
        """Return variances of the usable columns, noise and evidence."""
        found = solution_of(self.given(), self.variance_of_all(), self.noise, self.laws, cut)
        return found._replace(variance=found.variance[self.problem.usable])

    def maximise(self, tol: float, max_iter: int) -> None:
        """Let variables come and go until no change of one raises the evidence by more than tol."""
        while self.changes < max_iter:
            level = self._adjust(tol)
            given = self.given()
            gone = self._useless(given)
            came = self._gainful(given, tol)
            if not gone.any() and not len(came):
                if level:
                    return
                continue
            value, before = self._value(given), (self.columns, self.variance)
            self._change(given, gone, came)
            if self._value(self.given()) < value:  # together they are worth less: one at a time
                self.columns, self.variance = before
                self._change(given, *self._best_of(given, gone, came))

    def _value(self, given: Given) -> float:
        return log_evidence(given, self.variance_of_all(), self.noise, self.laws)

    def _change(self, given: Given, gone: Array, came: Array) -> None:
        """Let some variables go and others come, each with the variance that is best for it alone."""
        strength, pull = given.strength[came], given.pull[came]
        self.columns = np.concatenate([self.columns[~gone], came])
        best = (pull**2 - strength) / strength**2
        self.variance = np.concatenate([self.variance[~gone], best])
        self.changes += int(gone.sum()) + len(came)

    def _best_of(self, given: Given, gone: Array, came: Array) -> tuple[Array, Array]:
        """Return the single departure that matters least or, if there is none, the best arrival."""
        if not gone.any():
            return gone, came[:1]
        determined = np.where(gone, self.variance * given.strength[self.columns], np.inf)
        return np.arange(len(gone)) == np.argmin(determined), came[:0]

    def _adjust(self, tol: float) -> bool:
        """Move the variances of the variables that are in; tell whether they have settled."""
        if not len(self.columns):
            return True
        gram = self.gram()[:, self.columns]
        inside = Inside(gram, self.problem.xty[self.columns], self.noise)
        self.variance, level = newton(inside, self.variance, self.laws.rows, tol, _STEPS)
        return level

    def _useless(self, given: Given) -> Array:
        """Tell which of those that are in should go: their best variance, given all others, is 0.

        The one that the data determine least goes, and others that are hardly determined.
        """
        strength, pull = without_itself(given, self.variance_of_all())
        useless = np.asarray(pull[self.columns] ** 2 <= strength[self.columns])
        determined = self.variance * given.strength[self.columns]
        least = float(determined[useless].min(initial=1.0))
        return np.asarray(useless & (determined <= max(_HARDLY, least)))

    def _gainful(self, given: Given, tol: float) -> Array:
        """Return the variables that should come in: those that gain most, and do not resemble."""
        problem = self.problem
        alive = given.strength * self.noise > _COPY * problem.curvature
        gain = np.where(alive & (problem.curvature > 0), gain_of_one(given.strength, given.pull), 0)
        gain[self.columns] = 0.0
        order = np.argsort(-gain, kind="stable")[: 4 * _TOGETHER]
        order = order[gain[order] > max(tol, _WORTH * gain[order[0]])]
        if not len(order):
            return order
        self.rows.hold(np.concatenate([self.columns, order]))
        return _unlike(order, self.rows.rows[self.rows.slot[order]][:, order], problem.curvature)


def _unlike(order: Array, gram: Floats, curvature: Floats) -> Array:
    """Return the first of some columns, and of the others those that resemble none before them."""
    size = np.sqrt(curvature[order])
    likeness = np.abs(gram) / np.outer(size, size)
    chosen: list[int] = []
    for k in range(len(order)):
        if len(chosen) < _TOGETHER and (likeness[k, chosen] <= _ALIKE).all():
            chosen.append(k)
    return order[chosen]
