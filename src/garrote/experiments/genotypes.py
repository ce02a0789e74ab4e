"""Genotypes of heterogeneous-stock mice (Valdar et al. 2006), whose neighbours resemble each other."""

from functools import cache
from pathlib import Path

import numpy as np

from garrote.arrays import Array
from garrote.experiments.data import find


def distinct_genotypes() -> Array:
    """Return counts of alleles, mice x positions, without columns that repeat an earlier one."""
    return _read(find("mice_genotypes.npz"))


@cache  # one study draws hundreds of tables from it
def _read(path: Path) -> Array:
    with np.load(path, allow_pickle=False) as file:
        stored: Array = file["X"]
    columns = np.ascontiguousarray(stored.T)
    first = {column.tobytes(): j for j, column in reversed(list(enumerate(columns)))}
    distinct = stored[:, np.sort(list(first.values()))]
    distinct.flags.writeable = False
    return distinct


def entropy(genotypes: Array) -> Array:
    """Return the entropy of each column's three values, by natural logarithms."""
    share = np.array([(genotypes == value).mean(axis=0) for value in (0, 1, 2)])
    return -np.sum(share * np.log(np.maximum(share, 1e-300)), axis=0)
