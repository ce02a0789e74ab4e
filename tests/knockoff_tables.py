"""Tables with a known truth for knockoffs: Gaussian columns that are independent or an AR(1) series."""

import numpy as np
from scipy.linalg import toeplitz

N_ROWS, N_COLUMNS, N_EFFECTS = 300, 100, 30
# The size of all effects by the correlation of neighbours: closer columns need larger ones to be found.
EFFECTS = {0.0: 0.25, 0.5: 0.3, 0.9: 0.6}


def covariance(rho, n_columns=N_COLUMNS):
    """Return the correlations of columns of which neighbours have ``rho``."""
    return toeplitz(rho ** np.arange(n_columns)) if rho else np.eye(n_columns)


def make_table(rho, seed, n_rows=N_ROWS, n_columns=N_COLUMNS, n_effects=N_EFFECTS, effect=None):
    """Return X, y and which columns have effects, of size EFFECTS[rho], beside noise of variance 1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    for j in range(1, n_columns if rho else 0):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    truth = np.zeros(n_columns, dtype=bool)
    truth[rng.choice(n_columns, n_effects, replace=False)] = True
    coef = truth * (effect or EFFECTS[rho]) * rng.choice([-1.0, 1.0], n_columns)
    return X, X @ coef + rng.standard_normal(n_rows), truth


def shares(selected, truth):
    """Return the share of false ones among the selected, and of found ones among the effects."""
    false = int((selected & ~truth).sum())
    return false / max(1, int(selected.sum())), float((selected & truth).sum() / truth.sum())
