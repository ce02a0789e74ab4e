"""Columns of which each resembles the one before it."""

import numpy as np

from garrote.arrays import Floats


def autoregressive(rng: np.random.Generator, rows: int, columns: int, correlation: float) -> Floats:
    """Return standard normal columns, neighbours with a given correlation; 0 makes them independent."""
    X = rng.standard_normal((rows, columns))
    for j in range(1, columns):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    return X
