"""Genotypes in place of X, read where they lie: files of PLINK 1 and 2, and of BGEN."""

from garrote.designs.genotypes.base import GenotypeDesign
from garrote.designs.genotypes.bgen import BgenDesign
from garrote.designs.genotypes.opening import SUFFIXES, is_genotypes, open_genotypes
from garrote.designs.genotypes.pgen import PgenDesign
from garrote.designs.genotypes.plink import PlinkDesign
from garrote.designs.genotypes.variants import People, Region, Variants

__all__ = [
    "SUFFIXES",
    "BgenDesign",
    "GenotypeDesign",
    "People",
    "PgenDesign",
    "PlinkDesign",
    "Region",
    "Variants",
    "is_genotypes",
    "open_genotypes",
]
