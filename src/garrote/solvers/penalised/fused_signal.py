"""A signal that is fused: least squares without mixed products, so that no column has to be stored.

Rows with equal weights are solved by one proximal point, exactly; in linear time along a chain. With
unequal weights, or none where there are no data, that is where pieces start to be split and merged.
"""

from collections.abc import Generator
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design
from garrote.problem import Problem
from garrote.rules import Evaluated, RuleOfPieces, Structure, structure
from garrote.solvers.losses.least_squares import WorkingSquares, as_seen
from garrote.solvers.penalised.fused_partition import Pieces
from garrote.solvers.penalised.fused_quadratic import solve_fused


class FusedDiagonal:
    """The quadratic sum_j curvature_j w_j^2 / 2 - pull_j w_j, coefficients and the gradient there."""

    most_pieces = np.inf

    def __init__(self, rule: RuleOfPieces, curvature: Floats, pull: Floats, coef: Floats):
        self.rule, self.curvature, self.pull, self.coef = rule, curvature, pull, coef
        self.gradient = pull - curvature * coef

    def products(self, pieces: Pieces) -> Floats:
        """Return the curvatures of pieces."""
        return pieces.sums(self.curvature)

    def look(self, change: Floats) -> tuple[float, float]:
        """Return the slope and the curvature along a change."""
        return float(change @ self.gradient), float(self.curvature @ change**2)

    def move(self, ahead: Floats) -> None:
        """Set the coefficients."""
        self.coef[:] = ahead
        self.gradient = self.pull - self.curvature * ahead

    def begin(self) -> None:
        """Go to the proximal point of the data, if that is better: exact where curvatures are equal."""
        known = self.curvature > 0
        if not known.any():
            return
        steep = float(self.curvature[known].mean())
        target = self.pull / np.where(known, self.curvature, 1.0)
        rule = self.rule
        if not known.all():
            target = _filled(rule, target, known)
        ahead = rule.proximal_pieces(target, rule.weight / steep, rule.threshold / steep)
        change = ahead - self.coef
        slope, curvature = self.look(change)
        if slope - 0.5 * curvature + rule.charge(self.coef) - rule.charge(ahead) > 0:
            self.move(ahead)


def _filled(rule: RuleOfPieces, values: Floats, known: Array) -> Floats:
    """Return values with gaps filled by what the neighbours have, a ring after the other."""
    filled, have = np.where(known, values, 0.0), known.copy()
    one, other = rule.graph.edges.T
    ends, sources = np.append(one, other), np.append(other, one)
    while True:
        usable = ~have[ends] & have[sources]
        if not usable.any():
            return filled
        count = np.bincount(ends[usable], minlength=len(values))
        total = np.bincount(ends[usable], filled[sources[usable]], len(values))
        new = count > 0
        filled[new], have[new] = total[new] / count[new], True


class SignalSquares(WorkingSquares):
    """Half the mean squared residual where a row has one column at most, and a column one row."""

    @property
    def null(self) -> Evaluated:
        """The fit without any column."""
        return self._seen(np.zeros(0, np.intp), np.zeros(0))

    def grow(self, columns: Array) -> None:
        """Take more columns into the working set: all of them, as they cost nothing."""
        if len(columns):
            self.columns = np.arange(self.problem.n_features)
            self.inside[:] = True
            self.coef = np.zeros(self.problem.n_features)

    def solve(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        """Minimise the loss plus a penalty over the working set; return the rounds it took."""
        if not len(self.coef):
            return 0
        if structure(rule) is Structure.TRENDS:
            self.coef[:] = rule.solved(self.curvature, self.problem.xty / self.problem.n)
            return 1
        state = FusedDiagonal(rule, self.curvature, self.problem.xty / self.problem.n, self.coef)
        state.begin()
        return solve_fused(state, tolerance, max_rounds)

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients, from the data alone."""
        yield from ()
        return self._seen(self.columns, self.coef)

    def _seen(self, columns: Array, coef: Floats) -> Evaluated:
        problem, everywhere = self.problem, np.zeros(self.problem.n_features)
        everywhere[columns] = coef
        gradient = problem.xty - problem.curvature * everywhere
        explained = float(everywhere @ problem.xty)
        squared = problem.yty - explained - float(everywhere @ gradient)
        return as_seen(problem, max(squared, 0.0), gradient, explained)


def is_signal(problem: Problem) -> bool:
    """Tell whether no two columns of a Gaussian problem share a row: X = I, or rows of it."""
    if not problem.likelihood.least_squares:
        return False
    if not problem.has_rows:
        return int(np.count_nonzero(problem.design.whole_gram())) <= problem.n_features
    design = problem.table
    if design.centered or design.basis.shape[1]:
        return False
    matrix = design.stored.few_entries()
    if matrix is None:
        return False
    used = matrix.indices[matrix.data != 0]
    return bool(len(np.unique(used)) == len(used))


def holds_intercept(stored: Design) -> bool:
    """Tell whether equal coefficients of all columns are an intercept: X = I, or rows of it."""
    matrix = stored.few_entries()
    if matrix is None:
        return False
    kept = matrix.data != 0
    used, values = matrix.indices[kept], matrix.data[kept]
    return len(used) == stored.shape[0] == len(np.unique(used)) and len(np.unique(values)) == 1
