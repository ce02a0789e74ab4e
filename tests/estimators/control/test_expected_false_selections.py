"""On many simulated tables, no more than the bound are selected of what it is a bound for."""

import numpy as np
import pytest

from garrote import SparseRegressor, StabilitySelection
from garrote.paths import FollowPath
from garrote.selecting.control.bounds import BOUNDS

TABLES, ROWS, COLUMNS = 100, 100, 60
TRUE = np.arange(10, 60, 20)


def table(seed, correlation):
    """Return columns of an autoregression, three of which have effects."""
    rng = np.random.default_rng([seed, int(100 * correlation)])
    X = rng.standard_normal((ROWS, COLUMNS))
    for j in range(1, COLUMNS):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    return X, 0.6 * X[:, TRUE].sum(axis=1) + rng.standard_normal(ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_fewer_variables_of_low_selection_probability_are_selected_than_the_bound(correlation):
    base = SparseRegressor(method=FollowPath(alphas=40))
    frequency, selected = np.zeros((2, TABLES, COLUMNS))
    for k in range(TABLES):
        model = StabilitySelection(base, n_resamples=50, random_state=k)
        model.fit(*table(k, correlation))
        frequency[k], selected[k] = model.frequency_, model.get_support()
    size = model.n_features_per_half_
    low = frequency.mean(axis=0) <= size / COLUMNS
    assert low.sum() > COLUMNS / 3
    assert selected[:, TRUE].mean() > 0.3
    count = selected[:, low].sum(axis=1).mean()
    worst = BOUNDS["worst-case"].formula(size, COLUMNS, model.threshold_, 25)
    assert count <= model.expected_false_ <= worst
    if correlation == 0:  # all variables without effect are alike, and of low probability
        false = np.delete(selected, TRUE, axis=1).sum(axis=1).mean()
        assert false <= model.expected_false_
