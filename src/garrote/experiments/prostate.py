"""The prostate cancer table: 97 men, eight measurements, the logarithm of their antigen level."""

import csv
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.experiments.data import find

# As published, and with the known error of one lweight (a test row) that Murphy's numbers have.
CORRECTED, MURPHYS = "prostate.csv", "prostate_murphy.csv"


class Prostate(NamedTuple):
    """Variables, the response lpsa, which rows are for training, and the variables' names."""

    X: Floats
    y: Floats
    train: Array
    names: tuple[str, ...]

    def standardised_on_training(self) -> tuple[Floats, Floats]:
        """Return the training rows: columns in standard deviations (N - 1), both centred."""
        X, y = self.X[self.train], self.y[self.train]
        return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), y - y.mean()


def load_prostate(file: str = CORRECTED) -> Prostate:
    """Read the table from the folder of published data."""
    with find(file).open(newline="") as opened:
        header, *rows = csv.reader(opened)
    values = np.array(rows, dtype=np.float64)
    return Prostate(values[:, :8], values[:, 8], values[:, 9] == 1, tuple(header[:8]))
