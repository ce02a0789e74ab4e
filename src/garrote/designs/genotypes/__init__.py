"""Genotypes in place of X, read where they lie: 2 bits each in files of PLINK."""

from garrote.designs.genotypes.plink import PlinkDesign
from garrote.designs.genotypes.variants import People, Region, Variants

__all__ = ["People", "PlinkDesign", "Region", "Variants"]
