"""What sparse means to a Bayesian."""

from garrote.priors.garrote import GarrotePrior, SpikeRule
from garrote.priors.single_effects import SingleEffects

__all__ = ["GarrotePrior", "SingleEffects", "SpikeRule"]
