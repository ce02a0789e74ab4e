"""From a problem to fits over a grid of strengths."""

from garrote.paths.following import Anneal, AnnealBound, FollowPath, OnPath, PathMethod
from garrote.paths.strengths import Bound, PriorRate, Strength

__all__ = [
    "Anneal",
    "AnnealBound",
    "Bound",
    "FollowPath",
    "OnPath",
    "PathMethod",
    "PriorRate",
    "Strength",
]
