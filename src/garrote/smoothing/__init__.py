"""Any objective made smooth: averaged over a law of its argument, whose parameters are moved instead."""

from garrote.smoothing.bernoulli import BernoulliBound
from garrote.smoothing.gaussian import GaussianBound
from garrote.smoothing.minimising import SmoothFit, minimise
from garrote.smoothing.optimisers import LBFGS, NaturalGradient, Newton
from garrote.smoothing.schedule import Shrinking
from garrote.solvers.smoothing.guarantee import smoothing_error, width_for

__all__ = [
    "LBFGS",
    "BernoulliBound",
    "GaussianBound",
    "NaturalGradient",
    "Newton",
    "Shrinking",
    "SmoothFit",
    "minimise",
    "smoothing_error",
    "width_for",
]
