"""Trend filtering of one signal: weights are repeats, gaps are bridged, and lines stay lines."""

import numpy as np
import pytest

from garrote.paths.signals import fuse_signal
from garrote.paths.trends import filter_trend


def test_a_signal_of_order_0_is_fused():
    y = np.random.default_rng(0).standard_normal(60).cumsum()
    trend, fused = filter_trend(y, 2.0, 0), fuse_signal(y, 2.0)
    np.testing.assert_allclose(trend.values, fused.values, atol=1e-9)
    assert trend.n_pieces == fused.n_pieces
    np.testing.assert_array_equal(np.flatnonzero(np.diff(fused.pieces)), trend.bends)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_gaps_and_weights(order):
    rng = np.random.default_rng(order)
    places = np.cumsum(rng.uniform(0.5, 1.5, 80))
    y = np.abs(places - 40) / 10 + 0.2 * rng.standard_normal(80)
    y[10:15] = np.nan
    weights = rng.integers(1, 4, 80).astype(float)
    found = filter_trend(y, 1.0, order, places, weights)
    assert found.gap < 1e-9
    assert np.isfinite(found.values).all()
    np.testing.assert_allclose(found.values, np.abs(places - 40) / 10, atol=1.0)
    # A gap adds nothing: the objective without it has the same minimum.
    moved = filter_trend(y + 1e6, 1.0, order, places, weights)
    np.testing.assert_allclose(moved.values - 1e6, found.values, atol=1e-7)


def test_what_lies_on_a_polynomial_stays_there():
    places = np.array([0.0, 1, 3, 4, 8, 9, 11])
    for order, y in ((0, 0 * places + 2), (1, 3 - places), (2, places**2)):
        found = filter_trend(y, 5.0, order, places)
        np.testing.assert_allclose(found.values, y, atol=1e-9)
        assert found.n_pieces == 1


@pytest.mark.parametrize(
    ("y", "settings", "said"),
    [
        (np.ones((3, 3)), {}, "must be a signal"),
        (np.ones(9), {"order": 4}, "order must be"),
        ([np.nan] * 8 + [1.0], {}, "a polynomial needs 2"),
        (np.ones(9), {"positions": np.zeros(9)}, "must rise"),
        (np.ones(9), {"sample_weight": -np.ones(9)}, "sample_weight"),
    ],
)
def test_what_cannot_be_is_refused(y, settings, said):
    with pytest.raises(ValueError, match=said):
        filter_trend(y, 1.0, **settings)
