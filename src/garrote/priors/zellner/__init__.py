"""Zellner's g-prior: g known, the best for each model, or unknown under one of many laws."""

from garrote.priors.zellner.g_prior import GPrior
from garrote.priors.zellner.laws import (
    CCH,
    G_LAWS,
    BetaPrime,
    HyperG,
    Intrinsic,
    Robust,
    UnknownG,
    ZellnerSiow,
)

__all__ = [
    "CCH",
    "G_LAWS",
    "BetaPrime",
    "GPrior",
    "HyperG",
    "Intrinsic",
    "Robust",
    "UnknownG",
    "ZellnerSiow",
]
