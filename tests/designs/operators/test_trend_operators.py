"""Trends as an operator: that of the dense matrix, and Bayesian trend filtering by single effects."""

import numpy as np
import pytest

from garrote import SingleEffectsRegressor
from garrote.designs.operators import Steps, Trends
from garrote.priors import SingleEffects


@pytest.mark.parametrize("order", [0, 1, 2])
def test_products_are_those_of_the_matrix(order):
    places = np.cumsum(np.linspace(0.5, 2.0, 12))
    trends = Trends(12, order, places)
    dense = trends @ np.eye(12)
    np.testing.assert_allclose(trends.T @ np.eye(12), dense.T, atol=1e-9)
    for bend, column in enumerate(dense[:, order + 1 :].T):
        assert not column[: bend + order + 1].any()  # nothing before it
    if order == 0:
        np.testing.assert_array_equal(dense, Steps(12) @ np.eye(12))


@pytest.mark.parametrize("order", [0, 1])
def test_single_effects_find_where_a_signal_bends_without_the_matrix(order):
    rng = np.random.default_rng(0)
    trends, start = Trends(120, order), np.zeros(120)
    start[[40, 90]] = [1.0, -2.0] if order == 0 else [0.1, -0.2]
    y = trends @ start + 0.3 * rng.standard_normal(120)
    prior = SingleEffects(max_iter=2000)  # lines that bend nearby are near copies of each other
    model = SingleEffectsRegressor(prior).fit(trends, y)
    dense = SingleEffectsRegressor(prior).fit(trends @ np.eye(120), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-9)
    sets = model.selection_.credible_sets
    assert len(sets) == 2
    for place, near in ((40, 4 * order), (90, 4 * order)):
        assert any(np.abs(found.variables - place).min() <= near for found in sets)


def test_what_is_no_signal_is_refused():
    with pytest.raises(ValueError, match="trends are of signals"):
        Trends((4, 4))
    with pytest.raises(ValueError, match="order must be"):
        Trends(9, 3)
