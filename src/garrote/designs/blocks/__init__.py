"""Tables larger than memory: designs that are read a block of rows at a time, here or on a cluster."""

from garrote.designs.blocks.base import BlockDesign
from garrote.designs.blocks.chunked import ChunkedDesign
from garrote.designs.blocks.condensed import CondensedDesign
from garrote.designs.blocks.on_cluster import DaskDesign

__all__ = ["BlockDesign", "ChunkedDesign", "CondensedDesign", "DaskDesign"]
