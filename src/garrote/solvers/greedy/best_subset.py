"""The best subset of each size, exactly, or with a bound on how much better another could be."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from garrote.problem import Problem
from garrote.settings import check_count
from garrote.solvers.greedy.base import GreedySearch, Limits, Points
from garrote.solvers.greedy.column_units import ColumnUnits
from garrote.solvers.greedy.splicing import Splicing
from garrote.solvers.greedy.subset_regression import SubsetRegression
from garrote.solvers.penalised.best_subset import best_subsets

# Beyond so many columns the inverses of all levels of the search take more than 200 MB.
_MOST_COLUMNS = 300


@dataclass(frozen=True)
class LeapsAndBounds(GreedySearch):
    """Best subsets of every size by branch and bound, beginning with what splicing finds.

    Some 40 columns are searched to the end; of more the certificate's "optimality gap" says how much
    smaller, as a share of the null model's, the error of another subset of that size could be.

    Parameters
    ----------
    nodes : int, default=20,000,000
        After so many models the search ends.
    """

    nodes: int = 20_000_000
    name: ClassVar[str] = "best-subset"
    reference: ClassVar[str] = (
        "Furnival & Wilson (1974), Regressions by leaps and bounds. Technometrics 16, 499-511"
    )
    takes_groups: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_count("nodes", self.nodes, 1)

    def check(self, problem: Problem, units: ColumnUnits) -> None:
        """Refuse more columns than could be fitted at once, or kept."""
        count = len(problem.usable)
        if count > min(problem.max_rank, _MOST_COLUMNS):
            raise ValueError(
                f"best subsets are bounded by the fit to all columns, of which there may be "
                f"{min(problem.max_rank, _MOST_COLUMNS)} here and are {count}: take search='splicing'"
            )

    def follow(self, regression: SubsetRegression, limits: Limits) -> Points:
        """Splice, and search for anything better."""
        spliced = yield from Splicing().follow(regression, limits)
        problem = regression.problem
        found = best_subsets(problem, limits.most, self.nodes, [point.columns for point in spliced])
        points = []
        for squared, bound, columns in zip(found.squared, found.bound, found.members, strict=True):
            yield from regression.become(columns.tolist())
            gap = max(float(squared - bound), 0.0) / (problem.yty or 1.0)
            # Below what sums of squares can tell there is no gap.
            gap = 0.0 if gap <= 4.0 * np.finfo(float).eps else gap
            points.append(regression.point(**{"optimality gap": gap}))
            if not limits.allow(regression):
                break
        return points
