"""Ways to code signals over atoms that are given: what each finds, and how good that is."""

from garrote.coding.coders.base import Coded, CodingMethod
from garrote.coding.coders.lasso import LassoCoding
from garrote.coding.coders.non_negative import NonNegativeCoding
from garrote.coding.coders.pursuit import PursuitCoding
from garrote.coding.coders.spike_slab import SpikeSlabCoding
from garrote.coding.coders.threshold import ThresholdCoding

# By the name that stands for the default settings. A new way to code is a new row here.
CODERS = {
    coder.name: coder
    for coder in (PursuitCoding, LassoCoding, NonNegativeCoding, ThresholdCoding, SpikeSlabCoding)
}

__all__ = [
    "CODERS",
    "Coded",
    "CodingMethod",
    "LassoCoding",
    "NonNegativeCoding",
    "PursuitCoding",
    "SpikeSlabCoding",
    "ThresholdCoding",
]
