"""What sparse means to a Bayesian."""

from garrote.priors.base import Prior, Slab
from garrote.priors.column_groups import ColumnGroups
from garrote.priors.garrote import SpikeRule, SpikeTerms
from garrote.priors.grouped_inclusion import GroupedInclusion, InclusionOfGroups
from garrote.priors.inclusion import (
    BetaInclusion,
    ExpectedSize,
    Inclusion,
    InclusionLaw,
    IndependentInclusion,
    as_inclusion,
)
from garrote.priors.names import PRIORS, as_prior, prior_class
from garrote.priors.relevance import RelevancePrior
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
from garrote.priors.slab import BIC, EffectSlab, GaussianSlab
from garrote.priors.structured.annotations import AnnotatedInclusion
from garrote.priors.structured.blocks import CategoryInclusion, TwoLevelInclusion
from garrote.priors.structured.chain import ChainInclusion
from garrote.priors.structured.graph import GraphInclusion
from garrote.priors.structured.heredity import HeredityInclusion
from garrote.priors.two_humped import TwoHumpedEffectSlab, TwoHumpedSlab
from garrote.priors.zellner import (
    CCH,
    BetaPrime,
    GPrior,
    HyperG,
    Intrinsic,
    Robust,
    UnknownG,
    ZellnerSiow,
)

__all__ = [
    "BIC",
    "CCH",
    "PRIORS",
    "SHRINKAGE_PRIORS",
    "AnnotatedInclusion",
    "BetaInclusion",
    "BetaPrime",
    "CategoryInclusion",
    "ChainInclusion",
    "ColumnGroups",
    "EffectSlab",
    "ElasticNetPrior",
    "ExpectedSize",
    "FusedLaplacePrior",
    "GPrior",
    "GaussianSlab",
    "GraphInclusion",
    "GroupLaplacePrior",
    "GroupedInclusion",
    "HALPrior",
    "HeredityInclusion",
    "HorseshoePrior",
    "HyperG",
    "Inclusion",
    "InclusionLaw",
    "InclusionOfGroups",
    "IndependentInclusion",
    "Intrinsic",
    "LaplacePrior",
    "NEGPrior",
    "NormalGammaPrior",
    "Prior",
    "RelevancePrior",
    "Robust",
    "ScaleMixturePrior",
    "SingleEffects",
    "Slab",
    "SpikeRule",
    "SpikeTerms",
    "StudentPrior",
    "TwoHumpedEffectSlab",
    "TwoHumpedSlab",
    "TwoLevelInclusion",
    "UnknownG",
    "ZellnerSiow",
    "as_inclusion",
    "as_prior",
    "prior_class",
]
