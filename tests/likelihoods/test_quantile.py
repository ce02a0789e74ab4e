"""Penalised quantiles: against scikit-learn's linear programmes, and an independent one with bounds."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import linprog
from sklearn.linear_model import QuantileRegressor

from garrote import SparseRegressor
from garrote.likelihoods import Quantile, as_likelihood
from garrote.paths import FollowPath
from garrote.solvers.losses.interior_point import Programme, solve_programme
from pairwise import by_pairs

SETTINGS = {"standardize": False, "method": FollowPath(alphas=8)}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6)) * np.array([1.0, 3.0, 0.3, 1.0, 1.0, 1.0])
    known = rng.standard_normal(60)
    y = 1.0 + X[:, 0] - 0.4 * X[:, 1] + known + rng.standard_t(3, 60)
    return X, y, rng.integers(0, 4, 60), known


def by_linear_programme(X, y, weights, tau, alpha, factor, intercept, bounds):
    """Minimise over coefficients, their sizes and both parts of residuals."""
    n, d = X.shape
    share = weights / weights.sum()
    one = np.ones((n, 1))
    rows = np.hstack([one, -one, X, -X, np.eye(n), -np.eye(n)])
    free = 0.0 if intercept else 1e6
    charge = alpha * factor
    cost = np.r_[free, free, charge, charge, tau * share, (1 - tau) * share]
    room = [(0, None)] * 2 + [(0, max(bounds[1], 0))] * d + [(0, max(-bounds[0], 0))] * d
    found = linprog(cost, A_eq=rows, b_eq=y, bounds=room + [(0, None)] * (2 * n), method="highs")
    return found.fun, found.x[2 : 2 + d] - found.x[2 + d : 2 + 2 * d]


@by_pairs(
    tau=(0.5, 0.1, 0.8),
    alpha=(0.02, 0.2),
    weighted=(False, True),
    offset=(False, True),
    sparse=(False, True),
    intercept=(False, True),
    bounds=((-np.inf, np.inf), (0.0, 0.5)),
    free=(False, True),
)
def test_fits_are_optima_of_linear_programmes(
    rows, tau, alpha, weighted, offset, sparse, intercept, bounds, free
):
    X, y, weights, known = rows
    weights = weights if weighted else np.ones(len(y))
    known = known if offset else np.zeros(len(y))
    factor = np.array([1.0, 1.0, 1.0, 0.5, 2.0, 0.0 if free else 1.0])
    model = SparseRegressor(
        alpha=alpha, family=Quantile(tau), fit_intercept=intercept, penalty_factor=factor,
        bounds=None if np.isinf(bounds[1]) else bounds, **SETTINGS,
    )  # fmt: skip
    model.fit(scipy.sparse.csc_array(X) if sparse else X, y, weights, offset=known)
    assert model.certificate_["duality gap"] < 1e-6
    best, coef = by_linear_programme(X, y - known, weights, tau, alpha, factor, intercept, bounds)
    left = y - known - X @ model.coef_ - model.intercept_
    share = weights / weights.sum()
    cost = share @ np.maximum(tau * left, (tau - 1) * left) + alpha * factor @ np.abs(model.coef_)
    assert cost == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)
    assert not ((model.coef_ != 0) & (np.abs(coef) < 1e-9)).any()


@pytest.mark.parametrize("tau", [0.5, 0.9])
@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_fits_are_those_of_scikit_learn(rows, tau, alpha):
    X, y, weights, _ = rows
    model = SparseRegressor(alpha=alpha, family=Quantile(tau), **SETTINGS).fit(X, y, weights)
    same = QuantileRegressor(quantile=tau, alpha=alpha).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-8)
    assert model.intercept_ == pytest.approx(same.intercept_, abs=1e-8)


def test_as_many_rows_are_met_as_there_are_coefficients(rows):
    X, y, _, _ = rows
    model = SparseRegressor(alpha=0.05, family="quantile(0.3)", **SETTINGS).fit(X, y)
    met = np.abs(y - model.predict(X)) < 1e-9
    assert met.sum() == model.get_support().sum() + 1
    below = (y < model.predict(X) - 1e-9).mean()
    assert below <= 0.3 <= below + met.mean()


@pytest.mark.parametrize("penalty", ["mcp", "scad", "elastic-net", "adaptive-lasso", "ridge"])
def test_other_penalties_of_single_coefficients_work(rows, penalty):
    X, y, _, _ = rows
    model = SparseRegressor(penalty, alpha="bic", family="quantile", **SETTINGS).fit(X, y)
    assert model.certificate_.value < 1e-6
    assert {0, 1} <= set(model.get_support(indices=True))


def test_ties_duplicates_and_more_columns_than_rows_are_no_obstacle():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (30, 40)).astype(float)
    X[:, 5] = X[:, 4]
    y = np.round(X[:, 0] + rng.standard_normal(30))
    model = SparseRegressor(alpha=None, family="quantile", **SETTINGS).fit(X, y)
    assert model.path_.certificate.max() < 1e-6
    constant = SparseRegressor(alpha=0.1, family="quantile", **SETTINGS)
    with pytest.warns(UserWarning, match="constant"):
        assert not constant.fit(X, np.ones(30)).coef_.any()


@pytest.mark.parametrize("tau", [0, 1, -0.1, 1.5, np.nan, "half", True])
def test_shares_outside_of_0_and_1_are_refused(tau):
    with pytest.raises(ValueError, match="tau of Quantile must lie between 0 and 1"):
        Quantile(tau)


def test_what_is_no_linear_programme_is_refused(rows):
    X, y, _, _ = rows
    with pytest.raises(ValueError, match="tau of Quantile"):
        as_likelihood("quantile(1.2)")
    with pytest.raises(ValueError, match="cannot fit penalty 'group lasso'"):
        SparseRegressor("group-lasso", family="quantile").fit(X, y)
    with pytest.raises(ValueError, match="change one of the three"):
        SparseRegressor(family="quantile", method="fista").fit(X, y)


def test_an_interior_point_has_a_dual_of_its_own(rows):
    X, y, _, _ = rows
    n, d = X.shape
    some = np.full(n, 0.5 / n)
    programme = Programme(X, np.zeros(0, np.intp), y, some, some, np.zeros(d))
    found = solve_programme(programme, 1e-11, np.zeros(d))
    assert np.abs(X.T @ found.dual).max() < 1e-9
    assert (np.abs(found.dual) <= some).all()
    left = y - X @ found.coef
    assert 0.5 * np.abs(left).mean() == pytest.approx(found.dual @ y, abs=1e-9)
