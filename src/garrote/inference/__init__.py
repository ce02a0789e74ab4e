"""Posteriors over models and coefficients: `infer` picks the solver."""

from garrote.inference.beliefs import Beliefs
from garrote.inference.choosing import Inferred, infer
from garrote.inference.sampling import Chains

__all__ = ["Beliefs", "Chains", "Inferred", "infer"]
