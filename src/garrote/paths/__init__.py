"""From a problem to fits over a grid of strengths."""

from garrote.paths.following import Anneal, AnnealBound, FollowPath, OnPath, PathMethod

__all__ = ["Anneal", "AnnealBound", "FollowPath", "OnPath", "PathMethod"]
