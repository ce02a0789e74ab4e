"""What sparse means to a Bayesian."""

from garrote.priors.garrote import GarrotePrior, SpikeRule

__all__ = ["GarrotePrior", "SpikeRule"]
