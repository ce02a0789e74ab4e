"""The Boston housing table: 506 tracts, 13 variables, the median value of homes."""

import csv
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.data import find

FILE = "boston.csv"


class Boston(NamedTuple):
    """Variables, their names, and the median value of homes in thousands of dollars."""

    X: Floats
    y: Floats
    names: tuple[str, ...]


def load_boston() -> Boston:
    """Read the table from the folder of published data."""
    with find(FILE).open(newline="") as file:
        header, *rows = csv.reader(file)
    values = np.array(rows, dtype=np.float64)
    return Boston(values[:, :-1], values[:, -1], tuple(header[:-1]))
