"""Sparse codes of signals: dictionaries given or learned, non-negative factors, as transformers."""

from garrote.coding.coders import (
    CODERS,
    CodingMethod,
    LassoCoding,
    NonNegativeCoding,
    PursuitCoding,
    SpikeSlabCoding,
    ThresholdCoding,
)
from garrote.coding.codes import Codes
from garrote.coding.components import SparsePCA
from garrote.coding.dictionaries import dct_dictionary
from garrote.coding.dictionary_learning import DictionaryLearning
from garrote.coding.images import (
    BetaProcessLaw,
    Denoiser,
    DictionaryLaw,
    Inpainter,
    MixtureLaw,
    PatchBetaProcess,
    PatchDictionary,
    PatchMixture,
    Restoration,
    estimate_noise,
)
from garrote.coding.incomplete import (
    FACTORISERS,
    BetaProcessDictionary,
    DictionaryDraws,
    FactorisingMethod,
    PenalisedFactors,
    Reconstruction,
    SparseMatrixFactorization,
    SpikeSlabFactors,
)
from garrote.coding.learners import KSVD, LEARNERS, Alternating, LearningMethod, Online
from garrote.coding.non_negative_factorization import NonNegativeFactorization
from garrote.coding.record import LearningRecord
from garrote.coding.sensing import (
    RECOVERIES,
    Adapted,
    CompressedSensing,
    LassoRecovery,
    PursuitRecovery,
    Recovery,
    RelevanceRecovery,
    SpikeSlabRecovery,
)
from garrote.coding.sparse_coder import SparseCoder

# What files may hold beside the estimators of `garrote`. A new transformer is a new entry here.
TRANSFORMERS = {
    one.__name__: one
    for one in (
        SparseCoder,
        DictionaryLearning,
        NonNegativeFactorization,
        SparsePCA,
        BetaProcessDictionary,
        SparseMatrixFactorization,
        CompressedSensing,
        Denoiser,
        Inpainter,
    )
}

__all__ = [
    "CODERS",
    "FACTORISERS",
    "KSVD",
    "LEARNERS",
    "RECOVERIES",
    "TRANSFORMERS",
    "Adapted",
    "Alternating",
    "BetaProcessDictionary",
    "BetaProcessLaw",
    "Codes",
    "CodingMethod",
    "CompressedSensing",
    "Denoiser",
    "DictionaryDraws",
    "DictionaryLaw",
    "DictionaryLearning",
    "FactorisingMethod",
    "Inpainter",
    "LassoCoding",
    "LassoRecovery",
    "LearningMethod",
    "LearningRecord",
    "MixtureLaw",
    "NonNegativeCoding",
    "NonNegativeFactorization",
    "Online",
    "PatchBetaProcess",
    "PatchDictionary",
    "PatchMixture",
    "PenalisedFactors",
    "PursuitCoding",
    "PursuitRecovery",
    "Reconstruction",
    "Recovery",
    "RelevanceRecovery",
    "Restoration",
    "SparseCoder",
    "SparseMatrixFactorization",
    "SparsePCA",
    "SpikeSlabCoding",
    "SpikeSlabFactors",
    "SpikeSlabRecovery",
    "ThresholdCoding",
    "dct_dictionary",
    "estimate_noise",
]
