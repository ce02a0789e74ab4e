"""Factors of signals with missing entries: dictionaries by a beta process, and sparse matrices."""

from garrote.coding.incomplete.beta_process_dictionary import BetaProcessDictionary
from garrote.coding.incomplete.draws import DictionaryDraws, Reconstruction
from garrote.coding.incomplete.factorising import FactorisingMethod
from garrote.coding.incomplete.penalised_factors import PenalisedFactors
from garrote.coding.incomplete.sparse_matrix_factorization import (
    FACTORISERS,
    SparseMatrixFactorization,
)
from garrote.coding.incomplete.spike_slab_factors import SpikeSlabFactors

__all__ = [
    "FACTORISERS",
    "BetaProcessDictionary",
    "DictionaryDraws",
    "FactorisingMethod",
    "PenalisedFactors",
    "Reconstruction",
    "SparseMatrixFactorization",
    "SpikeSlabFactors",
]
