"""Trend filtering of quadratics: against its dual as a bounded least-squares problem."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from garrote.proximal.tied.trend_differences import (
    check_order,
    check_positions,
    difference_matrix,
    forces_of,
    products_of,
    signal_of,
    slopes_of,
)
from garrote.proximal.tied.trend_newton import Trend, objective, solve_trend

PLACES = np.cumsum(np.random.default_rng(5).uniform(0.2, 2.0, 18))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_polynomials_are_free_and_running_sums_invert_the_differences(order):
    D, slopes = difference_matrix(PLACES, order), slopes_of(PLACES, order)
    np.testing.assert_allclose(D @ np.vander(PLACES, order + 1), 0.0, atol=1e-9)
    basis = signal_of(np.eye(18), slopes)
    np.testing.assert_allclose(D @ basis[:, order + 1 :], np.eye(17 - order), atol=1e-8)
    np.testing.assert_allclose(D @ basis[:, : order + 1], 0.0, atol=1e-8)
    left = np.random.default_rng(0).standard_normal((18, 3))
    np.testing.assert_allclose(products_of(left, slopes), basis.T @ left, atol=1e-8)
    force = np.random.default_rng(1).standard_normal((17 - order, 2))
    np.testing.assert_allclose(forces_of(D.T @ force, slopes), force, atol=1e-8)


def test_differences_at_equal_distances_are_the_usual_ones():
    D = difference_matrix(10.0 * np.arange(6), 2).toarray()
    np.testing.assert_allclose(D, np.diff(np.eye(6), n=3, axis=0), atol=1e-12)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("limit", [0.05, 0.5, 20.0])
def test_the_minimiser_is_that_of_the_dual(order, dense, limit):
    """The dual is min ||R^-T (pull - D'u)||^2 over |u| <= limit, with H = R'R."""
    rng = np.random.default_rng(order)
    trend, pull = Trend.at(PLACES, order), 3 * np.sin(PLACES / 3) + rng.standard_normal(18)
    X = rng.standard_normal((40, 18))
    H = X.T @ X / 40 if dense else rng.uniform(0.5, 2.0, 18)
    w, bends = solve_trend(trend, H, pull, np.full(17 - order, limit))
    whole = H if dense else np.diag(H)
    root = np.linalg.inv(np.linalg.cholesky(whole))
    dual = lsq_linear(
        root @ trend.matrix.T.toarray(), root @ pull, (-limit, limit), tol=1e-14, max_iter=500
    )
    expected = np.linalg.solve(whole, pull - trend.matrix.T @ dual.x)
    limits = np.full(17 - order, limit)
    ours, theirs = (objective(trend, H, pull, limits, v) for v in (w, expected))
    assert ours <= theirs + 1e-9 * abs(theirs)
    np.testing.assert_allclose(w, expected, atol=2e-3)
    still = np.setdiff1d(np.arange(17 - order), bends)
    np.testing.assert_allclose((trend.matrix @ w)[still], 0.0, atol=1e-9)


@pytest.mark.parametrize("order", [3, -1, 1.0, True, "1"])
def test_other_orders_are_refused(order):
    with pytest.raises(ValueError, match="order must be 0"):
        check_order(order)


@pytest.mark.parametrize(
    ("positions", "said"),
    [
        ([0, 1, 1, 2], "must rise, got 1 and then 1 at place 2"),
        ([0, 1, np.nan, 2], "must be finite, got nan at place 2"),
        ([0, 1, 2], "a number for each of 4 places"),
    ],
)
def test_places_that_do_not_rise_are_refused(positions, said):
    with pytest.raises(ValueError, match=said):
        check_positions(positions, 4, 1)
    with pytest.raises(ValueError, match="needs at least 4 places, got 3"):
        check_positions(None, 3, 2)
