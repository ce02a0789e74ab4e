"""What sparse means to a Bayesian."""

from garrote.priors.base import Prior, Slab
from garrote.priors.garrote import GarrotePrior, SpikeRule
from garrote.priors.inclusion import (
    BetaInclusion,
    ExpectedSize,
    Inclusion,
    InclusionLaw,
    IndependentInclusion,
    as_inclusion,
)
from garrote.priors.scale_mixture import (
    SHRINKAGE_PRIORS,
    ElasticNetPrior,
    FusedLaplacePrior,
    GroupLaplacePrior,
    HALPrior,
    HorseshoePrior,
    LaplacePrior,
    NEGPrior,
    NormalGammaPrior,
    ScaleMixturePrior,
    StudentPrior,
)
from garrote.priors.single_effects import SingleEffects
from garrote.priors.slab import BIC, EffectSlab, GaussianSlab, GPrior, IndependentSlab

# Priors by the name that estimators know them by, for numbers; for labels and counts the slab is that of
# effects without noise.
PRIORS: dict[str, type[Prior]] = {
    "spike-slab": GaussianSlab,
    "g-prior": GPrior,
    "bic": BIC,
    "single-effects": SingleEffects,
    **SHRINKAGE_PRIORS,
}

__all__ = [
    "BIC",
    "PRIORS",
    "SHRINKAGE_PRIORS",
    "BetaInclusion",
    "EffectSlab",
    "ElasticNetPrior",
    "ExpectedSize",
    "FusedLaplacePrior",
    "GPrior",
    "GarrotePrior",
    "GaussianSlab",
    "GroupLaplacePrior",
    "HALPrior",
    "HorseshoePrior",
    "Inclusion",
    "InclusionLaw",
    "IndependentInclusion",
    "IndependentSlab",
    "LaplacePrior",
    "NEGPrior",
    "NormalGammaPrior",
    "Prior",
    "ScaleMixturePrior",
    "SingleEffects",
    "Slab",
    "SpikeRule",
    "StudentPrior",
    "as_inclusion",
]
