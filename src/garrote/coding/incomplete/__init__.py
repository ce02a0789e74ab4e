"""Factors of signals with missing entries: dictionaries by a beta process, and sparse matrices."""

from garrote.coding.incomplete.beta_process_dictionary import BetaProcessDictionary
from garrote.coding.incomplete.draws import DictionaryDraws, Reconstruction

__all__ = ["BetaProcessDictionary", "DictionaryDraws", "Reconstruction"]
