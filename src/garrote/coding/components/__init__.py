"""Sparse principal components: directions of much variance that few columns have a part in."""

from garrote.coding.components.sparse_pca import SparsePCA

__all__ = ["SparsePCA"]
