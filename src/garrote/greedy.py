"""Greedy searches as objects with their settings, for `GreedyRegressor` and `GreedyClassifier`."""

from garrote.solvers.greedy import (
    OMP,
    SEARCHES,
    Backward,
    Boosting,
    FoBa,
    Forward,
    GreedySearch,
    LeapsAndBounds,
    MatchingPursuit,
    SingleBestReplacement,
    Splicing,
    SubsetRegression,
    omp_many,
)

__all__ = [
    "OMP",
    "SEARCHES",
    "Backward",
    "Boosting",
    "FoBa",
    "Forward",
    "GreedySearch",
    "LeapsAndBounds",
    "MatchingPursuit",
    "SingleBestReplacement",
    "Splicing",
    "SubsetRegression",
    "omp_many",
]
