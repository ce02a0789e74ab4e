"""How X is stored: dense, sparse, by its products or Gram matrix alone, or one of them standardised."""

from garrote.designs.base import Design
from garrote.designs.blocks import ChunkedDesign, DaskDesign
from garrote.designs.dense import DenseDesign
from garrote.designs.devices import DeviceDesign
from garrote.designs.genotypes import BgenDesign, PgenDesign, PlinkDesign
from garrote.designs.gram import GramDesign
from garrote.designs.joined import JoinedDesign
from garrote.designs.operator import OperatorDesign
from garrote.designs.sparse import SparseDesign
from garrote.designs.standardized import StandardizedDesign

__all__ = [
    "BgenDesign",
    "ChunkedDesign",
    "DaskDesign",
    "DenseDesign",
    "Design",
    "DeviceDesign",
    "GramDesign",
    "JoinedDesign",
    "OperatorDesign",
    "PgenDesign",
    "PlinkDesign",
    "SparseDesign",
    "StandardizedDesign",
]
