"""Maximum likelihood on a subset of the columns that grows and shrinks, for labels and counts.

Each subset is fitted by Newton's method. What a column more would change is its score test, what one
less would change its Wald test: both are the first step of the fit that they stand for.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.coupled import (
    per_weight,
    shared_rows,
    weighted_curvature,
    weighted_gradient,
    weighted_saturated,
)
from garrote.limits.budgets import ENTRIES_PER_BLOCK
from garrote.problem import Problem
from garrote.solvers.greedy.column_units import ColumnUnits
from garrote.solvers.greedy.subset_regression import DEPENDENT, Point, Step
from garrote.solvers.losses.newton import (
    Samples,
    independent_columns,
    make_workspace,
    maximise,
    null_intercept,
    stable_inverse,
)


class LabelRegression:
    """The most likely coefficients of a subset of columns; ``always`` are in every subset.

    ``separated`` says that the present subset matches the response so well that no maximum exists.
    """

    exact_swaps = False

    def __init__(self, problem: Problem, units: ColumnUnits, always: Array):
        self.problem, self.units, self._always = problem, units, np.sort(always)
        self.inside = np.zeros(len(units), dtype=bool)
        self._level = weighted_saturated(problem.likelihood, problem.response, problem.weights)
        self._columns: dict[int, Floats] = {}
        self._free_intercept = bool(problem.scale.intercept_count) and problem.likelihood.has_level
        self._fitted: _Fitted | None = None
        self.whole = self._fit([]).left

    @property
    def left(self) -> float:
        """The deviance that the subset leaves."""
        return self._now.left

    @property
    def separated(self) -> bool:
        """Whether the subset has no maximum of the likelihood."""
        return self._now.separated

    @property
    def _now(self) -> "_Fitted":
        if self._fitted is None or not np.array_equal(self._fitted.inside, self.inside):
            self._fitted = self._fit(np.flatnonzero(self.inside).tolist())
        return self._fitted

    def _fit(self, units: Sequence[int]) -> "_Fitted":
        """Fit some units and what is always in."""
        problem = self.problem
        inside = np.zeros(len(self.units), dtype=bool)
        inside[list(units)] = True
        chosen = [self.units.columns(unit) for unit in units]
        columns = np.unique(np.concatenate([self._always, *chosen]).astype(np.intp))
        columns = columns[problem.curvature[columns] > 0]
        values = [np.ones(len(problem.response))] * self._free_intercept
        table = np.ascontiguousarray([*values, *map(self._column, columns.tolist())])
        table = table.reshape(len(columns) + self._free_intercept, len(problem.response))
        known = np.asarray(problem.known_part, dtype=np.float64)
        samples = Samples(table, problem.response, problem.weights, known, np.zeros(len(table)))
        members = independent_columns((table * problem.weights) @ table.T)
        coef = np.zeros(len(members))
        if self._free_intercept:
            coef[0] = null_intercept(problem.likelihood, samples)
        work = make_workspace(samples, len(members))
        value, steps, moving = maximise(
            problem.likelihood, samples, members, len(members), coef, work
        )
        eta = known + coef @ table[members]
        first = int(self._free_intercept)
        kept = columns[members[first:] - first]
        level = float(coef[0]) if first else 0.0
        left = 2.0 * (self._level - float(value))
        return _Fitted(inside, kept, coef[first:], level, eta, left, bool(moving), int(steps))

    def _column(self, j: int) -> Floats:
        if j not in self._columns:
            self._columns[j] = self.problem.table.block(np.array([j]))[:, 0]
        return self._columns[j]

    def add(self, unit: int) -> Step:
        """Take a unit in."""
        self.inside[unit] = True
        yield from ()  # passes over X are made when scores are asked for

    def remove(self, unit: int) -> None:
        """Leave a unit out."""
        self.inside[unit] = False

    def become(self, units: Sequence[int]) -> Step:
        """Make the subset that of some units."""
        self.inside[:] = False
        self.inside[list(units)] = True
        yield from ()

    def _gradient(self) -> Floats:
        now, problem = self._now, self.problem
        rows = weighted_gradient(problem.likelihood, problem.response, problem.weights, now.eta)
        return problem.table.tdot(per_weight(rows, problem.weights)[None, :])[0]

    def scores(self) -> Floats:
        """Return the squared gradient of each unit beside the length of its columns."""
        found, length = self._gradient(), self.problem.curvature
        worth = np.divide(found**2, length, out=np.zeros(len(length)), where=length > 0)
        return self._by_unit(worth)

    def gains(self, candidates: int = 0) -> Floats:
        """Return by how much the deviance falls if a unit comes in: by score tests.

        Of so many ``candidates`` it is found by a fit; all others have 0 then.
        """
        tests = self._score_tests()
        if not candidates:
            return tests
        gains, inside = np.zeros(len(tests)), np.flatnonzero(self.inside).tolist()
        for unit in np.argsort(-tests, kind="stable")[:candidates].tolist():
            if tests[unit] > 0:
                gains[unit] = max(self.left - self.left_by([*inside, unit]), 0.0)
        return gains

    def _score_tests(self) -> Floats:
        """Return the score test of every unit: g' (H_jj - H_jM H_MM^-1 H_Mj)^-1 g."""
        now, problem, table = self._now, self.problem, self.problem.table
        slopes = self._gradient()
        curved = per_weight(self._curvatures(), problem.weights)
        level = [np.ones(len(curved))] * self._free_intercept
        beside = np.array([*level, *map(self._column, now.columns.tolist())])
        beside = beside.reshape(-1, len(curved))
        across = np.zeros((0, problem.n_features))
        if len(beside):
            across = table.tdot(curved * beside)
        among = (beside * (curved * problem.weights)) @ beside.T
        mine, length = self._shared(beside), _curved_lengths(problem, curved)
        among -= mine @ mine.T
        for some, block in _blocks_of(problem) if mine.shape[1] else ():
            other = self._shared(block.T)
            across[:, some] -= mine @ other.T
            length[some] -= np.einsum("jm,jm->j", other, other)
        explained = np.linalg.pinv(among, DEPENDENT, hermitian=True) @ across
        if self.units.single:
            pivot = length - np.einsum("ij,ij->j", across, explained)
            free = ~self.inside & (pivot > DEPENDENT * length) & (problem.curvature > 0)
            return np.divide(slopes**2, pivot, out=np.zeros(len(pivot)), where=free)
        tests = np.zeros(len(self.units))
        for unit in np.flatnonzero(~self.inside).tolist():
            columns = self.units.columns(unit)
            block = table.block(columns)
            products = block.T @ (block * (curved * problem.weights)[:, None])
            other = self._shared(block.T)
            products -= other @ other.T
            products -= across[:, columns].T @ explained[:, columns]
            inverse = np.linalg.pinv(products, DEPENDENT, hermitian=True)
            tests[unit] = float(slopes[columns] @ inverse @ slopes[columns])
        return tests

    def _curvatures(self) -> Floats:
        """Return the diagonal part of the curvature of all rows, at the present subset."""
        problem = self.problem
        return weighted_curvature(
            problem.likelihood, problem.response, problem.weights, self._now.eta
        )

    def _shared(self, columns: Floats) -> Floats:
        """Return what coupled rows take off the cross products of columns, each in a row."""
        problem, each = self.problem, np.ascontiguousarray(columns)
        return shared_rows(problem.likelihood, problem.weights, self._now.eta, each)

    def _by_unit(self, worth: Floats) -> Floats:
        """Return the sum over the columns of each unit that is out."""
        found = np.bincount(self.units.owner, worth, minlength=len(self.units))
        found[self.inside] = 0.0
        return np.asarray(found)

    def losses(self) -> tuple[Array, Floats]:
        """Return the units that are in, and by how much the deviance rises without each: Wald tests."""
        now, _problem = self._now, self.problem
        curved = self._curvatures()
        block = np.array([*map(self._column, now.columns.tolist())]).reshape(-1, len(curved))
        if self._free_intercept:
            block = block - (block @ curved / max(curved.sum(), 1e-300))[:, None]
        shared = self._shared(block)
        spread = stable_inverse((block * curved) @ block.T - shared @ shared.T)
        units = np.flatnonzero(self.inside)
        owner, rises = self.units.owner[now.columns], np.zeros(len(units))
        for place, unit in enumerate(units):
            places = np.flatnonzero(owner == unit)
            if len(places):
                coef = now.coef[places]
                rises[place] = float(coef @ np.linalg.solve(spread[np.ix_(places, places)], coef))
        return units, rises

    def best_swap(self) -> tuple[float, int, int]:
        """Return nothing: exchanges of labels are looked for among the most promising only."""
        return 0.0, -1, -1

    def left_by(self, units: Sequence[int]) -> float:
        """Return the deviance that a set of units would leave."""
        return self._fit(sorted(units)).left

    def point(self, strength: float | None = None, **parts: float) -> Point:
        """Return the present model."""
        now, size = self._now, float(np.count_nonzero(self.inside))
        return Point(
            size if strength is None else strength, now.columns, now.coef, now.intercept,
            max(now.steps, 1), parts or None,
        )  # fmt: skip


class _Fitted:
    """A fit to one subset."""

    def __init__(
        self, inside: Array, columns: Array, coef: Floats, intercept: float, eta: Floats,
        left: float, separated: bool, steps: int,
    ):  # fmt: skip
        self.inside, self.columns, self.coef, self.intercept = inside, columns, coef, intercept
        self.eta, self.left, self.separated, self.steps = eta, left, separated, steps


def _curved_lengths(problem: Problem, curved: Floats) -> Floats:
    """Return the squared length of every column with rows weighed by their curvatures."""
    weights, lengths = curved * problem.weights, np.zeros(problem.n_features)
    for some, block in _blocks_of(problem):
        lengths[some] = np.einsum("ij,ij,i->j", block, block, weights)
    return lengths


def _blocks_of(problem: Problem) -> Iterator[tuple[Array, Any]]:
    """Yield all columns, some at a time, and which they are."""
    count = problem.n_features
    together = max(1, ENTRIES_PER_BLOCK // len(problem.weights))
    for start in range(0, count, together):
        some = np.arange(start, min(start + together, count))
        yield some, problem.table.block(some)
