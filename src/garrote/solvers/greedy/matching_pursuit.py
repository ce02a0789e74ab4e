"""Matching pursuit: repeatedly move along the column that explains most of what is left.

A step changes one coefficient and refits no other, so that the squared error falls by exactly the
squared length of the step. Shortened steps make it least-squares boosting, whose path is near that of
the lasso.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.settings import check_count, is_number
from garrote.solvers.greedy.base import NOTHING, GreedySearch, Limits, Points
from garrote.solvers.greedy.column_units import ColumnUnits
from garrote.solvers.greedy.subset_regression import DEPENDENT, Point, SubsetRegression


@dataclass(frozen=True)
class MatchingPursuit(GreedySearch):
    """Matching pursuit: one coefficient a step, each by all that it alone explains.

    Parameters
    ----------
    n_steps : int, default=200
    """

    n_steps: int = 200
    name: ClassVar[str] = "matching-pursuit"
    reference: ClassVar[str] = (
        "Mallat & Zhang (1993), Matching pursuits with time-frequency dictionaries. IEEE Transactions "
        "on Signal Processing 41, 3397-3415"
    )
    strength: ClassVar[str] = "steps"
    least_squares: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_count("n_steps", self.n_steps, 1)

    def follow(self, regression: SubsetRegression, limits: Limits) -> Points:
        """Move by whole steps."""
        return (yield from _pursue(regression, limits, self.n_steps, 1.0))


@dataclass(frozen=True)
class Boosting(GreedySearch):
    """Least-squares boosting: matching pursuit by a share of each step.

    Parameters
    ----------
    learning_rate : float, default=0.1
        The share, above 0 and at most 1, with which it is matching pursuit.
    n_steps : int, default=500
    """

    learning_rate: float = 0.1
    n_steps: int = 500
    name: ClassVar[str] = "boosting"
    reference: ClassVar[str] = (
        "Buhlmann & Yu (2003), Boosting with the L2 loss: regression and classification. JASA 98, "
        "324-339"
    )
    strength: ClassVar[str] = "steps"
    least_squares: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_count("n_steps", self.n_steps, 1)
        if not (is_number(self.learning_rate) and 0 < self.learning_rate <= 1):
            raise ValueError(
                f"learning_rate must be above 0 and at most 1, got {self.learning_rate!r}"
            )

    def follow(self, regression: SubsetRegression, limits: Limits) -> Points:
        """Move by a share of each step."""
        return (yield from _pursue(regression, limits, self.n_steps, self.learning_rate))


def _pursue(regression: SubsetRegression, limits: Limits, n_steps: int, share: float) -> Points:
    """Make steps until there are enough of them, of units, or of what is explained."""
    problem, units = regression.problem, regression.units
    coef, gradient, left = np.zeros(problem.n_features), problem.xty.copy(), problem.yty
    moves = Moves(problem, units)
    points, inside = [_point(0, coef)], np.zeros(len(units), dtype=bool)
    for step in range(1, n_steps + 1):
        if left <= max(limits.least, NOTHING) * problem.yty:
            break
        worth = moves.worth(gradient)
        if np.count_nonzero(inside) >= limits.most:
            worth[~inside] = 0.0
        best = int(np.argmax(worth))
        if not worth[best] > NOTHING * problem.yty:
            break
        inside[best] = True
        columns, move = moves.move(best, gradient)
        for j, part in zip(columns.tolist(), (share * move).tolist(), strict=True):
            row = yield from regression.row(j)
            coef[j] += part
            gradient -= part * row
        left -= worth[best] * share * (2.0 - share)
        points.append(_point(step, coef))
    return points


def _point(step: int, coef: Floats) -> Point:
    columns = np.flatnonzero(coef)
    return Point(float(step), columns, coef[columns])


class Moves:
    """What the columns of each unit alone explain of a residual, and by which coefficients."""

    def __init__(self, problem: Problem, units: ColumnUnits):
        self._units, self._length = units, problem.curvature
        self._inverses: list[Floats] = []
        if not units.single:
            blocks = (problem.known_block(units.columns(unit)) for unit in range(len(units)))
            self._inverses = [
                np.asarray(np.linalg.pinv(block, DEPENDENT, hermitian=True), np.float64)
                for block in blocks
            ]

    def worth(self, gradient: Floats) -> Floats:
        """Return what each unit would explain of what is left, given X'Wr."""
        if self._units.single:
            length = self._length
            return np.divide(gradient**2, length, out=np.zeros(len(length)), where=length > 0)
        moves = (self.move(unit, gradient) for unit in range(len(self._units)))
        return np.array([float(move @ gradient[columns]) for columns, move in moves])

    def move(self, unit: int, gradient: Floats) -> tuple[Array, Floats]:
        """Return the columns of a unit, and the coefficients by which they explain most."""
        columns = self._units.columns(unit)
        if self._units.single:
            return columns, gradient[columns] / self._length[columns]
        return columns, self._inverses[unit] @ gradient[columns]
