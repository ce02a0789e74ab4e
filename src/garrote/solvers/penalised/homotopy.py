"""The exact path of the lasso, knot by knot (LARS), and that of least angle regression (LAR).

Between two knots the coefficients are linear in alpha: those in the model move so that their gradients
stay at the penalty's slope, which falls with alpha. A knot is where a gradient from outside reaches that
slope, or where a coefficient becomes 0 (Efron, Hastie, Johnstone & Tibshirani 2004; Osborne, Presnell &
Turlach 2000). At a knot the variables with coefficient 0 and their gradient at the slope are undecided.
Which of them move is a small non-negative least-squares problem (Lawson & Hanson 1974), whose solution
covers one variable that joins, one that leaves, and any number of ties.

A ridge that does not change along the path is added to the products of columns with themselves. That is
the reduction of the elastic net to a lasso on more rows (Murphy 2012, exercise 13.5), with no row added.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.results.path import Move
from garrote.solvers.algebra.active_factor import ActiveFactor
from garrote.solvers.algebra.active_products import active_products

# Knots closer than this share of the largest alpha are one.
_TIE = 1e-12
# A gradient that falls slower than its bound by no more than this share stays within it.
_PARALLEL = 1e-10
# Gradients of no more than this share of the null model's are what rounding leaves.
_EXPLAINED = 1e-10
# After so many knots coefficients and gradients are made anew, so that rounding does not add up.
_REFRESH = 50


class Point(NamedTuple):
    """The coefficients that are not 0 at one strength."""

    strength: float
    columns: Array
    coef: Floats


@dataclass
class Walked:
    """Where a walk has been: its knots, solutions at strengths asked for, and who came and went."""

    knots: list[Point] = field(default_factory=list)
    asked: list[Point] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    cut: str | None = None


def check_signs(
    lower: Floats, upper: Floats, factor: Floats, named: Callable[[int], str] = str
) -> None:
    """Refuse bounds other than sign constraints, and those on columns that are always in."""
    signs = np.isin(lower, [0.0, -np.inf]) & np.isin(upper, [0.0, np.inf])
    signs &= (factor > 0) | (np.isinf(lower) & np.isinf(upper))
    if not signs.all():
        j = int(np.argmin(signs))
        raise ValueError(
            f"solver 'homotopy' knows sign constraints of penalised columns only, and column {named(j)} "
            f"has {lower[j]:g} to {upper[j]:g} with a penalty factor of {factor[j]:g}; use "
            "'coordinate'"
        )


def walk(
    problem: Problem,
    rule: Any,
    last: float = 0.0,
    asked: Sequence[float] | Floats = (),
    *,
    eps: float = 0.0,
    drops: bool = True,
    max_knots: int = 10_000,
) -> Generator[Floats, Floats, Walked]:
    """Walk from the empty model down to ``last``, or to ``eps`` of the first alpha if that is more.

    ``rule`` is the penalty at strength 1: its thresholds grow with the strength, its ridge does not.
    ``asked`` are strengths, descending, at which solutions are wanted besides the knots. Without
    ``drops`` no variable leaves: least angle regression.
    """
    check_signs(rule.lower, rule.upper, rule.threshold)
    walker = _Walker(problem, rule, drops)
    yield from walker.begin()
    found = walker.found
    last = max(last, eps * walker.alpha)
    waiting = [float(strength) for strength in asked]
    while waiting and waiting[0] >= walker.alpha:
        found.asked.append(walker.point(waiting.pop(0)))
    for made in range(max_knots):
        if walker.alpha <= last:
            return found
        decided = yield from walker.decide()
        if not decided:
            found.cut = f"path ended at alpha = {walker.alpha:.4g}: ties there were not resolved"
            return found
        if (made + 1) % _REFRESH == 0:
            yield from walker.refresh()
        length = walker.length(last)
        while waiting and waiting[0] >= walker.alpha - length:
            found.asked.append(walker.point(waiting.pop(0)))
        walker.go(length, last)
    if walker.alpha > last:
        found.cut = f"path ended at alpha = {walker.alpha:.4g}, after {max_knots} knots"
    return found


class _Walker:
    """Where the walk is: alpha, coefficients, gradients (X'r / N), and how they go on."""

    def __init__(self, problem: Problem, rule: Any, drops: bool):
        count = problem.n_features
        self.found = Walked()
        self.problem, self.ridge, self.drops = problem, rule.ridge, drops
        self.slope = rule.threshold
        self.products, self.factor = active_products(problem), ActiveFactor()
        self.columns = np.zeros(0, np.intp)  # by place in the products
        self.coef, self.step = np.zeros(count), np.zeros(count)
        self.gradient, self.fall = problem.xty / problem.n, np.zeros(count)
        self.sign = np.zeros(count)
        self.active, self.undecided = np.zeros((2, count), dtype=bool)
        usable = (problem.curvature > 0) & (self.slope > 0)
        self.open = np.array([usable & (rule.lower < 0), usable & (rule.upper > 0)])
        self.joining = self.vanishing = np.zeros(0, np.intp)
        self.alpha = self.start = 0.0

    def begin(self) -> Generator[Floats, Floats, None]:
        """Solve for the variables without penalty, and find the largest alpha that keeps others out."""
        free = np.flatnonzero((self.slope == 0) & (self.problem.curvature > 0))
        for column in free:
            self._append(column)
        for _ in range(2 if len(free) else 0):  # the second time refines the first
            yield from self.refresh()
        with np.errstate(divide="ignore", invalid="ignore"):
            reached = self.gradient / self.slope * np.array([[-1.0], [1.0]])
        reached[~self.open] = 0.0
        self.alpha = self.start = float(reached.max(initial=0.0))
        # Where the variables without penalty explain all, what they leave is rounding.
        scale = np.abs(self.problem.xty).max(initial=0.0) / self.problem.n
        if len(free) and self.alpha * self.slope.max(initial=0.0) <= _EXPLAINED * scale:
            self.alpha = self.start = 0.0
        near = reached >= self.start * (1 - _TIE)
        self.joining = np.flatnonzero(near.any(axis=0))
        self.sign[self.joining] = np.where(near[1, self.joining], 1.0, -1.0)
        self.found.knots.append(self.point(self.alpha))

    def point(self, strength: float) -> Point:
        """Return the coefficients at a strength between here and the next knot."""
        columns = self.members
        ahead = max(self.alpha - strength, 0.0)
        coef = self.coef[columns] + ahead * self.step[columns]
        return Point(strength, columns[coef != 0], coef[coef != 0])

    @property
    def members(self) -> Array:
        """The columns in the model, in order of their coming."""
        return self.columns[self.factor.members]

    def decide(self) -> Generator[Floats, Floats, bool]:
        """Find out who moves from here on, and how; False where rounding keeps it from ending."""
        before = self.active.copy()
        for column in self.vanishing:
            self._remove(column)
            self.coef[column] = 0.0
        left = np.flatnonzero(self.undecided & ~self.active)
        bound = self.slope[left] * (self.alpha - _TIE * self.start)
        self.undecided[:] = False
        self.undecided[left[self.sign[left] * self.gradient[left] >= bound]] = True
        self.undecided[self.joining] = self.undecided[self.vanishing] = True
        decided = yield from (self._choose() if self.drops else self._take_all())
        for column in np.flatnonzero(before != self.active):
            self.found.moves.append(Move(self.alpha, int(column), bool(self.active[column])))
        return decided

    def _take_all(self) -> Generator[Floats, Floats, bool]:
        for column in self.joining:
            self._append(column)
        self._solve_step()
        self.fall = yield from self.products.with_all(self._placed(self.step))
        return True

    def _choose(self) -> Generator[Floats, Floats, bool]:
        """Let those move whose gradients would else stay behind: Lawson & Hanson's algorithm."""
        candidates = np.flatnonzero(self.undecided)
        refused: set[int] = set()
        if len(self.vanishing):
            self._solve_step()
            self.fall = yield from self.products.with_all(self._placed(self.step))
        for _ in range(10 + 10 * len(candidates)):
            out = np.array([j for j in candidates if not self.active[j] and j not in refused], int)
            behind = 1.0 - self.sign[out] * self.fall[out] / self.slope[out]
            if behind.max(initial=0.0) <= _PARALLEL:
                return True
            column = int(out[np.argmax(behind)])
            # A column that depends on those inside keeps up with them.
            if not self._append(column) or not self._step_within(candidates, column):
                refused.add(column)
                continue
            self.fall = yield from self.products.with_all(self._placed(self.step))
        return False

    def _step_within(self, candidates: Array, newest: int) -> bool:
        """Solve for the step; take out candidates that would go against their signs, one by one."""
        while True:
            old = self.step.copy()
            self._solve_step()
            inside = candidates[self.active[candidates]]
            wrong = inside[self.sign[inside] * self.step[inside] <= 0]
            if not len(wrong):
                return True
            if newest in wrong and old[newest] == 0.0:
                self._remove(newest)
                self.step = old
                return False
            share = old[wrong] / (old[wrong] - self.step[wrong])
            first = wrong[np.argmin(share)]
            self.step = old + share.min() * (self.step - old)
            self._remove(first)

    def _solve_step(self) -> None:
        columns = self.members
        self.step = np.zeros(len(self.coef))
        if len(columns):
            self.step[columns] = self.factor.solve(self.sign[columns] * self.slope[columns])

    def refresh(self) -> Generator[Floats, Floats, None]:
        """Move coefficients to where the members' gradients are at their bounds, up to rounding."""
        columns = self.members
        yield from self._look()
        off = self.gradient[columns] - self.ridge[columns] * self.coef[columns]
        off -= self.alpha * self.sign[columns] * self.slope[columns]
        self.coef[columns] += self.factor.solve(off)
        yield from self._look()

    def _look(self) -> Generator[Floats, Floats, None]:
        """Compute all gradients from the coefficients."""
        taken = yield from self.products.with_all(self._placed(self.coef))
        self.gradient = self.problem.xty / self.problem.n - taken

    def length(self, last: float) -> float:
        """Return how far alpha falls to the next knot, and note who makes it."""
        times, side = _joining_times(
            self.gradient, self.fall, self.slope, self.alpha, self.sign, self.undecided,
            self.active, self.open,
        )  # fmt: skip
        columns = self.members
        leaving = np.full(len(columns), np.inf)
        if self.drops:
            coef, step = self.coef[columns], self.step[columns]
            back = (self.sign[columns] * step < 0) & (self.slope[columns] > 0)
            leaving[back] = np.maximum(-coef[back] / step[back], 0.0)
        tie = _TIE * self.start
        length = min(times.min(initial=np.inf), leaving.min(initial=np.inf))
        if length >= self.alpha - last - tie:
            self.joining = self.vanishing = np.zeros(0, np.intp)
            return self.alpha - last
        self.joining = np.flatnonzero(times <= length + tie)
        self.vanishing = columns[leaving <= length + tie]
        self.sign[self.joining] = side[self.joining]
        return float(length)

    def go(self, length: float, last: float) -> None:
        """Take the step."""
        self.coef += length * self.step
        self.gradient -= length * self.fall
        self.alpha = max(self.alpha - length, last)
        self.coef[self.vanishing] = 0.0
        self.found.knots.append(self.point(self.alpha))

    def _append(self, column: Any) -> bool:
        """Take a column into the model, unless it depends on those inside."""
        place = self.products.place(int(column))
        if place == len(self.columns):
            self.columns = np.append(self.columns, column)
        products = self.products.products(place)
        joined = self.factor.append_one(
            place, products[self.factor.members], float(products[place]), float(self.ridge[column])
        )
        self.active[column] |= joined
        return joined

    def _remove(self, column: Any) -> None:
        self.factor.remove_one(int(np.flatnonzero(self.members == column)[0]))
        self.active[column] = False

    def _placed(self, values: Floats) -> Floats:
        return np.where(self.active[self.columns], values[self.columns], 0.0)


@kernel
def _joining_times(gradient, fall, slope, alpha, sign, undecided, active, opened):
    """Return when gradients from outside reach their bounds, as a fall of alpha, and at which side."""
    count = gradient.shape[0]
    times, side = np.full(count, np.inf), np.zeros(count)
    for j in range(count):
        if active[j]:
            continue
        for k in range(2):
            up = 2.0 * k - 1.0
            # One that was found to stay at its bound, or to fall behind it, does not reach it again.
            if not opened[k, j] or (undecided[j] and sign[j] == up):
                continue
            rate = slope[j] - up * fall[j]
            if rate > _PARALLEL * slope[j]:
                time = max((slope[j] * alpha - up * gradient[j]) / rate, 0.0)
                if time < times[j]:
                    times[j], side[j] = time, up
    return times, side
