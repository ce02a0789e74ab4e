"""The shooting algorithm: Algorithm 13.1 written plainly, its three orders, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse

from garrote import Problem, SparseClassifier, SparseRegressor, fit_path
from garrote.paths import FollowPath
from garrote.penalties import L1, ElasticNet
from garrote.solvers.control import ORDERS, Control
from pairwise import pairwise


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 30))
    X[:, 1:] += 0.7 * X[:, :-1]
    X[np.abs(X) < 0.3] = 0.0
    return X, 2 * X[:, 0] - X[:, 3] + rng.standard_normal(50)


def by_shooting(Z, y, alpha, sweeps, order, start):
    """Algorithm 13.1 for 1/(2n) ||y - Zw||^2 + alpha |w|, or with the steepest coordinate first."""
    n, d = Z.shape
    w = start.copy()
    for _ in range(sweeps):
        for j in range(d):
            gradient = Z.T @ (y - Z @ w) / n
            square = (Z**2).sum(axis=0) / n
            goal = w + gradient / square
            best = np.sign(goal) * np.maximum(np.abs(goal) - alpha / square, 0.0)
            k = j if order == "cyclic" else int(np.argmax(np.abs(best - w) * square))
            w[k] = best[k]
    return w


@pytest.mark.parametrize("order", ["cyclic", "greedy"])
def test_sweeps_are_those_of_the_text(order, data):
    X, y = data
    problem = Problem.from_rows(X, y, scale_response=False)
    control = Control(1e-15, max_iter=3, order=order)
    path = fit_path(problem, L1(), [0.1], solver="shooting", control=control)
    Z, yc = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    expected = by_shooting(Z, yc, 0.1, 3, order, np.zeros(30))
    np.testing.assert_allclose(
        path.coefficients().toarray()[0] * X.std(axis=0), expected, atol=1e-10
    )
    assert path.fits[0].n_iter == 3


SETTINGS = {
    "order": ORDERS,
    "weights": [False, True],
    "offset": [False, True],
    "factors": [None, "free"],
    "bounds": [None, (0, None), (-0.1, 0.5)],
    "storage": [np.asarray, scipy.sparse.csc_array, np.float32],
    "penalty": [L1(), ElasticNet(0.3)],
    "intercept": [True, False],
}


@pytest.mark.parametrize("row", pairwise(SETTINGS), ids=str)
def test_all_orders_reach_the_optimum_of_the_coordinate_solver(row, data):
    X, y = data
    rng = np.random.default_rng(1)
    X = X.astype(np.float32).astype(float)
    given = {
        "sample_weight": rng.integers(0, 3, 50) * 1.0 if row["weights"] else None,
        "offset": rng.standard_normal(50) if row["offset"] else None,
    }
    settings = {
        "penalty": row["penalty"],
        "alpha": 0.08,
        "bounds": row["bounds"],
        "fit_intercept": row["intercept"],
        "penalty_factor": None if row["factors"] is None else {0: 0.0, 5: 2.0},
    }
    way = FollowPath("shooting", alphas=[0.5, 0.2], tol=1e-10, order=row["order"])
    stored = X.astype(np.float32) if row["storage"] is np.float32 else row["storage"](X)
    shot = SparseRegressor(**settings, method=way).fit(stored, y, **given)
    other = SparseRegressor(**settings, method=FollowPath(tol=1e-12)).fit(X, y, **given)
    np.testing.assert_allclose(shot.coef_, other.coef_, atol=1e-5)
    assert shot.path_.certificate.max() <= 1e-10


def test_a_random_order_is_that_of_its_seed(data):
    X, y = data

    def way(seed, rounds=2):
        method = FollowPath("shooting", [0.1], max_iter=rounds, order="random", random_state=seed)
        with pytest.warns(Warning, match=f"reached .*{rounds}"):
            return SparseRegressor(alpha=0.1, method=method).fit(X, y).coef_

    np.testing.assert_array_equal(way(3), way(3))
    assert np.abs(way(3) - way(4)).max() > 1e-6


def test_moments_alone_are_enough(data):
    X, y = data
    Z, yc = X - X.mean(axis=0), y - y.mean()
    problem = Problem.from_moments(Z.T @ Z, Z.T @ yc, yc @ yc, 50)
    one, two = (fit_path(problem, L1(), [0.2], solver=s) for s in ("shooting", "coordinate"))
    np.testing.assert_allclose(
        one.coefficients().toarray(), two.coefficients().toarray(), atol=1e-3
    )


def test_orders_are_for_shooting_and_shooting_is_for_the_elastic_net(data):
    X, y = data
    with pytest.raises(ValueError, match="take solver='shooting', or leave order out"):
        SparseRegressor(method=FollowPath(order="greedy")).fit(X, y)
    with pytest.raises(ValueError, match="order must be one of"):
        SparseRegressor(method=FollowPath("shooting", order="sorted")).fit(X, y)
    with pytest.raises(ValueError, match="random_state must be an integer >= 0"):
        SparseRegressor(method=FollowPath("shooting", random_state=-1)).fit(X, y)
    for penalty in ("mcp", "group-lasso", "fused-lasso", "none", "basis-pursuit"):
        with pytest.raises(ValueError, match="'shooting' cannot fit penalty"):
            SparseRegressor(penalty, method="shooting").fit(X, y)
    with pytest.raises(ValueError, match="'shooting' cannot fit penalty"):
        SparseClassifier(method="shooting").fit(X, y > 0)
    wide = scipy.sparse.random_array((20, 20_000), density=0.001, rng=0, format="csc")
    with pytest.raises(ValueError, match="there may be 12247 and are 20000"):
        SparseRegressor(alpha=0.01, method="shooting").fit(wide, np.arange(20.0))
