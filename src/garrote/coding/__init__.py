"""Sparse codes of signals: dictionaries given or learned, non-negative factors, as transformers."""

from garrote.coding.coders import (
    CODERS,
    CodingMethod,
    LassoCoding,
    PursuitCoding,
    SpikeSlabCoding,
    ThresholdCoding,
)
from garrote.coding.codes import Codes
from garrote.coding.dictionaries import dct_dictionary
from garrote.coding.sparse_coder import SparseCoder

# What files may hold beside the estimators of `garrote`. A new transformer is a new entry here.
TRANSFORMERS = {one.__name__: one for one in (SparseCoder,)}

__all__ = [
    "CODERS",
    "TRANSFORMERS",
    "Codes",
    "CodingMethod",
    "LassoCoding",
    "PursuitCoding",
    "SparseCoder",
    "SpikeSlabCoding",
    "ThresholdCoding",
    "dct_dictionary",
]
