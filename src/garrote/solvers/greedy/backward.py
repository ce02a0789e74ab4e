"""Backward selection: from all columns, leave out what the fit misses least, one after the other."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from garrote.problem import Problem
from garrote.solvers.greedy.base import GreedySearch, Limits, Points
from garrote.solvers.greedy.column_units import ColumnUnits
from garrote.solvers.greedy.subset_regression import SubsetRegression


@dataclass(frozen=True)
class Backward(GreedySearch):
    """Backward selection, for columns that are fewer than rows (Couvreur & Bresler 2000)."""

    name: ClassVar[str] = "backward"
    reference: ClassVar[str] = (
        "Couvreur & Bresler (2000), On the optimality of the backward greedy algorithm for the subset "
        "selection problem. SIAM Journal on Matrix Analysis and Applications 21, 797-808"
    )

    def check(self, problem: Problem, units: ColumnUnits) -> None:
        """Refuse more columns than could be fitted at once."""
        if len(problem.usable) > problem.max_rank:
            raise ValueError(
                f"backward selection begins with all columns, but {len(problem.usable)} of them fit any "
                f"response of these rows, of which {problem.max_rank} suffice for that: take "
                "search='forward'"
            )

    def follow(self, regression: SubsetRegression, limits: Limits) -> Points:
        """Take everything in, and leave out what matters least."""
        usable = regression.units.of(regression.problem.usable)
        yield from regression.become(usable.tolist())
        points = [regression.point()]
        while regression.inside.any():
            units, rises = regression.losses()
            regression.remove(int(units[np.argmin(rises)]))
            points.append(regression.point())
        return [point for point in points[::-1] if point.strength <= limits.most]
