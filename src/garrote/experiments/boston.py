"""The Boston housing table: 506 tracts, 13 variables, the median value of homes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.data import published_table

# R's name of the column that the source calls B.
_RENAMED = {"BLACK": "B"}
# The five columns that stand transformed in the table of Belsley, Kuh & Welsch (1980), p. 244.
_BELSLEY: dict[str, tuple[str, Callable[[Floats], Floats]]] = {
    "NOX": ("NOX^2", np.square),
    "RM": ("RM^2", np.square),
    "DIS": ("log DIS", np.log),
    "RAD": ("log RAD", np.log),
    "LSTAT": ("log LSTAT", np.log),
}


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


def as_belsley(data: Boston) -> Boston:
    """Return the columns as Belsley, Kuh & Welsch (1980) print them, five of them transformed."""
    X, names = data.X.copy(), list(data.names)
    for name, (written, transform) in _BELSLEY.items():
        j = data.names.index(name)
        X[:, j], names[j] = transform(X[:, j]), written
    return Boston(X, data.y, tuple(names))
