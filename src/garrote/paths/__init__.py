"""From a problem to fits over a grid of strengths."""

from garrote.paths.following import Anneal, AnnealBound, FollowPath, OnPath, PathMethod
from garrote.paths.square_root import SquareRoot
from garrote.paths.strengths import Bound, PriorRate, Strength

__all__ = [
    "Anneal",
    "AnnealBound",
    "Bound",
    "FollowPath",
    "OnPath",
    "PathMethod",
    "PriorRate",
    "SquareRoot",
    "Strength",
]
