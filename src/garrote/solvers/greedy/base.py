"""What every greedy search is given, what it hands back, and what it says of itself."""

from collections.abc import Generator
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.settings import Settings
from garrote.solvers.greedy.column_units import ColumnUnits
from garrote.solvers.greedy.subset_regression import Point, Step

# Of a null model's error, what is left below this share is rounding.
NOTHING = 1e-13

Points = Generator[Floats, Floats, list[Point]]


class Limits(NamedTuple):
    """How far a search goes: so many units at most, and no further once so little is left.

    ``least`` is a share of the null model's error. ``grid`` are the strengths of a search that has any,
    and ``longest`` is the most models that a path may have.
    """

    most: int
    least: float = 0.0
    grid: Floats | None = None
    longest: int = 0

    def allow(self, regression: "Regression") -> bool:
        """Tell whether one more unit may come in."""
        enough = max(self.least, NOTHING) * regression.whole
        return bool(np.count_nonzero(regression.inside) < self.most and regression.left > enough)


class Regression(Protocol):
    """A fit to a subset of columns that searches change: of numbers, or of labels and counts.

    ``left`` is the squared error, or the deviance, of the present subset and ``whole`` that of the
    empty one.
    """

    problem: Problem
    units: ColumnUnits
    inside: Array

    @property
    def separated(self) -> bool:
        """Whether the present subset has no most likely coefficients."""

    @property
    def exact_swaps(self) -> bool:
        """Whether `best_swap` looks at all exchanges of one for one."""

    @property
    def left(self) -> float: ...

    @property
    def whole(self) -> float: ...

    def add(self, unit: int) -> Step:
        """Take a unit in."""

    def remove(self, unit: int) -> None:
        """Leave a unit out."""

    def become(self, units: Any) -> Step:
        """Make the subset that of some units."""

    def scores(self) -> Floats:
        """Return what each unit alone would explain of what is left."""

    def gains(self, candidates: int = 0) -> Floats:
        """Return by how much the error falls if a unit comes in."""

    def losses(self) -> tuple[Array, Floats]:
        """Return the units that are in, and by how much the error rises without each."""

    def best_swap(self) -> tuple[float, int, int]:
        """Return what the best exchange of one for one gains, who leaves and who comes."""

    def left_by(self, units: Any) -> float:
        """Return what a set of units would leave."""

    def point(self, strength: float | None = None, **parts: float) -> Point:
        """Return the present model."""


class GreedySearch(Settings):
    """A search among subsets of columns; see `garrote.GreedyRegressor`.

    ``strength`` is what its path runs over: "size", "steps" or "price". ``least_squares`` says that its
    answers are least-squares fits to the columns they have.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    strength: ClassVar[str] = "size"
    for_labels: ClassVar[bool] = False
    takes_groups: ClassVar[bool] = True
    least_squares: ClassVar[bool] = True
    single_answer: ClassVar[bool] = False

    def check(self, problem: Problem, units: ColumnUnits) -> None:
        """Refuse data that the search cannot begin with; the error says what can."""

    def grid(self, problem: Problem, units: ColumnUnits) -> Floats | None:
        """Return the strengths of the path, the same for all folds; None where they are counted."""
        return None

    def limits(self, problem: Problem, units: ColumnUnits, most: int, least: float) -> Limits:
        """Return how far the search goes, the same for all folds."""
        grid = self.grid(problem, units)
        longest = most + 1 if grid is None else len(grid)
        return Limits(most, least, grid, max(longest, getattr(self, "n_steps", 0) + 1))

    def promises(self, regression: Any, strength: float, limits: Limits) -> dict[str, float]:
        """Return how far a model is from what the search promises of it, by parts of a certificate."""
        return {}

    def follow(self, regression: Any, limits: Limits) -> Points:
        """Yield the products needed, return the models of the path from sparse to dense."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it searches")


def smallest_of_each_size(points: list[tuple[float, Point]]) -> list[Point]:
    """Return, of models with what they leave, the best of each size, from the empty one on."""
    best: dict[float, tuple[float, Point]] = {}
    for left, point in points:
        if point.strength not in best or left < best[point.strength][0]:
            best[point.strength] = left, point
    return [best[size][1] for size in sorted(best)]
