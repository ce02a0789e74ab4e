"""Genotypes of heterogeneous-stock mice (Valdar et al. 2006), whose neighbours resemble each other."""

import numpy as np

from garrote.arrays import Array
from garrote.experiments.data import find


def distinct_genotypes() -> Array:
    """Return counts of alleles, mice x positions, without columns that repeat an earlier one."""
    with np.load(find("mice_genotypes.npz"), allow_pickle=False) as file:
        stored: Array = file["X"]
    columns = np.ascontiguousarray(stored.T)
    first = {column.tobytes(): j for j, column in reversed(list(enumerate(columns)))}
    return stored[:, np.sort(list(first.values()))]


def entropy(genotypes: Array) -> Array:
    """Return the entropy of each column's three values, by natural logarithms."""
    share = np.array([(genotypes == value).mean(axis=0) for value in (0, 1, 2)])
    return -np.sum(share * np.log(np.maximum(share, 1e-300)), axis=0)
