"""Factors of signals with missing entries: dictionaries by a beta process, and sparse matrices."""

from garrote.coding.incomplete.beta_process_dictionary import BetaProcessDictionary
from garrote.coding.incomplete.draws import DictionaryDraws, Reconstruction
from garrote.coding.incomplete.factorising import (
    FACTORISERS,
    FactorisingMethod,
    PenalisedFactors,
    SpikeSlabFactors,
)
from garrote.coding.incomplete.sparse_matrix_factorization import SparseMatrixFactorization

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
