"""The Boston housing table: 506 tracts, 13 variables, the median value of homes."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.data import published_table

# R's name of the column that the source calls B.
_RENAMED = {"BLACK": "B"}


class Boston(NamedTuple):
    """Variables, their names, and the median value of homes in thousands of dollars."""

    X: Floats
    y: Floats
    names: tuple[str, ...]


def load_boston() -> Boston:
    """Return the table of R's package MASS, its columns named as in the source."""
    names, values = published_table("MASS", "Boston")
    capitals = [name.upper() for name in names[:-1]]
    X, y = np.ascontiguousarray(values[:, :-1]), values[:, -1].copy()
    return Boston(X, y, tuple(_RENAMED.get(name, name) for name in capitals))
