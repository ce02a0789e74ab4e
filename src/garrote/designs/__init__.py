"""How X is stored: dense, sparse, only its Gram matrix, or one of them standardised on the fly."""

from garrote.designs.base import Design
from garrote.designs.dense import DenseDesign
from garrote.designs.gram import GramDesign
from garrote.designs.sparse import SparseDesign
from garrote.designs.standardized import StandardizedDesign

__all__ = [
    "DenseDesign",
    "Design",
    "GramDesign",
    "SparseDesign",
    "StandardizedDesign",
]
