"""Compressed sensing: signals recovered from fewer measurements than they have entries."""

from garrote.coding.sensing.adapting import Adapted
from garrote.coding.sensing.bases import BASES
from garrote.coding.sensing.compressed_sensing import CompressedSensing
from garrote.coding.sensing.recovering import (
    RECOVERIES,
    LassoRecovery,
    PursuitRecovery,
    Recovery,
    RelevanceRecovery,
    SpikeSlabRecovery,
)

__all__ = [
    "BASES",
    "RECOVERIES",
    "Adapted",
    "CompressedSensing",
    "LassoRecovery",
    "PursuitRecovery",
    "Recovery",
    "RelevanceRecovery",
    "SpikeSlabRecovery",
]
