"""Models that grow and shrink by a variable, or a group, at a time: pursuits, steps, splicing."""

from garrote.solvers.greedy.backward import Backward
from garrote.solvers.greedy.base import GreedySearch, Limits
from garrote.solvers.greedy.batch import omp_many
from garrote.solvers.greedy.best_subset import LeapsAndBounds
from garrote.solvers.greedy.column_units import ColumnUnits
from garrote.solvers.greedy.growing import OMP, Forward
from garrote.solvers.greedy.matching_pursuit import Boosting, MatchingPursuit
from garrote.solvers.greedy.replacing import FoBa, SingleBestReplacement
from garrote.solvers.greedy.splicing import Splicing
from garrote.solvers.greedy.subset_regression import SubsetRegression

# Searches by the names that stand for them with default settings.
SEARCHES: dict[str, type[GreedySearch]] = {
    search.name: search
    for search in (
        OMP, Forward, MatchingPursuit, Boosting, Backward, SingleBestReplacement, FoBa, Splicing,
        LeapsAndBounds,
    )
}  # fmt: skip

__all__ = [
    "OMP",
    "SEARCHES",
    "Backward",
    "Boosting",
    "ColumnUnits",
    "FoBa",
    "Forward",
    "GreedySearch",
    "LeapsAndBounds",
    "Limits",
    "MatchingPursuit",
    "SingleBestReplacement",
    "Splicing",
    "SubsetRegression",
    "omp_many",
]
