"""Small tables with word columns, coded by indicators, for tests of groups."""

import numpy as np


def indicators(levels, count, reference=0):
    """Return indicator columns of all levels but a reference; of all where that is None."""
    table = np.eye(count)[levels]
    return table if reference is None else np.delete(table, reference, axis=1)


def make_table(seed=0, n=60, reference=(0, 0)):
    """Return X, y and groups: a word of four levels, three numbers and a word of three levels."""
    rng = np.random.default_rng(seed)
    site, kind = rng.integers(4, size=n), rng.integers(3, size=n)
    numbers, noise = rng.standard_normal((n, 3)), rng.standard_normal(n)
    one, two = indicators(site, 4, reference[0]), indicators(kind, 3, reference[1])
    groups = [*[0] * one.shape[1], 1, 2, 3, *[4] * two.shape[1]]
    y = np.array([0.0, 0.7, -0.5, 0.3])[site] + 0.4 * numbers[:, 0] + noise
    return np.column_stack([one, numbers, two]), y, groups


def by_group(values, groups):
    """Return the value that all columns of each group share."""
    first = np.unique(groups, return_index=True)[1]
    np.testing.assert_allclose(values, values[first][groups], rtol=1e-12, atol=1e-14)
    return values[first]
