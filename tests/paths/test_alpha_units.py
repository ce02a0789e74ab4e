"""Alphas are those of 1/(2n) ||y - Xw||^2 + alpha * penalty in the user's units, however y is stored."""

import numpy as np
import pytest
from sklearn.linear_model import lasso_path

from garrote import Problem, SparseRegressor, fit_path
from garrote.paths import FollowPath
from garrote.paths.surfaces import fit_surface
from garrote.penalties import (
    L1,
    MCP,
    BestSubset,
    Bridge,
    ElasticNet,
    FusedLasso,
    GroupLasso,
    LogSum,
    Ridge,
    Terms,
)
from reference import sparse_regression

ALPHAS = [40.0, 15.0, 4.0]


def rows():
    """Return X, and y in units of which its standard deviation is some hundreds."""
    X, y, _ = sparse_regression(60, 10, 4, correlation=0.5)
    return X * np.linspace(0.5, 2, 10), 70 * y + 1000


def storages(X, y, standardize):
    """Return the same regression with y in standard deviations, by its moments, and in its own units."""
    Z, left = X - X.mean(axis=0), y - y.mean()
    return {
        "rows": Problem.from_rows(X, y, standardize=standardize),
        "moments": Problem.from_moments(
            Z.T @ Z, Z.T @ left, left @ left, len(y), standardize=standardize
        ),
        "own units": Problem.from_rows(X, y, standardize=standardize, scale_response=False),
    }


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("solver", ["coordinate", "homotopy", "fista"])
def test_the_lasso_has_the_alphas_of_scikit_learn(standardize, solver):
    X, y = rows()
    scale = X.std(axis=0) if standardize else np.ones(10)
    Z = (X - X.mean(axis=0)) / scale
    _, theirs, _ = lasso_path(Z, y - y.mean(), alphas=ALPHAS, tol=1e-12, max_iter=100_000)
    for problem in storages(X, y, standardize).values():
        path = fit_path(problem, L1(), ALPHAS, solver=solver)
        np.testing.assert_array_equal(path.strengths, ALPHAS)
        ours = path.coefficients().toarray()
        np.testing.assert_allclose(ours, theirs.T / scale, atol=1e-3 * np.abs(ours).max())


@pytest.mark.parametrize("standardize", [True, False])
def test_paths_begin_and_walk_at_the_strengths_of_the_data(standardize):
    X, y = rows()
    Z = (X - X.mean(axis=0)) / (X.std(axis=0) if standardize else 1.0)
    largest = np.abs(Z.T @ (y - y.mean())).max() / len(y)
    for problem in storages(X, y, standardize).values():
        assert fit_path(problem, L1(), 3).strengths[0] == pytest.approx(largest)
        assert fit_path(problem, L1(), solver="homotopy").strengths[0] == pytest.approx(largest)
        assert fit_surface(problem, [3.0], 3).strengths[0] == pytest.approx(largest)


@pytest.mark.parametrize(
    "penalty",
    [
        *(L1(), ElasticNet(0.4), ElasticNet(0.4, corrected=True), Ridge(), MCP(2.0), LogSum(5.0)),
        *(Bridge(0.7), Bridge(1.5), BestSubset(), GroupLasso(np.arange(10) // 3), FusedLasso()),
    ],
    ids=lambda penalty: penalty.name,
)
def test_how_the_response_is_stored_changes_no_penalised_fit(penalty):
    X, y = rows()
    bounds = Terms(np.linspace(0.5, 2, 10), np.full(10, -np.inf), np.full(10, np.inf))
    together = isinstance(penalty, GroupLasso | FusedLasso | BestSubset)
    paths = [
        fit_path(problem, penalty, ALPHAS, terms=None if together else bounds)
        for problem in storages(X, y, True).values()
    ]
    for path in paths[:2]:
        np.testing.assert_allclose(
            path.coefficients().toarray(), paths[2].coefficients().toarray(), rtol=1e-5, atol=1e-5
        )
        losses = [[fit.loss for fit in one.fits] for one in (path, paths[2])]
        np.testing.assert_allclose(*losses, rtol=1e-6)


def test_an_estimator_has_the_alpha_of_its_path():
    X, y = rows()
    model = SparseRegressor(alpha=15.0, method=FollowPath(alphas=[40.0])).fit(X, y)
    path = fit_path(Problem.from_rows(X, y), L1(), [40.0, 15.0])
    np.testing.assert_allclose(model.coef_, path.coefficients().toarray()[-1], atol=1e-4)
    chosen = SparseRegressor(method=FollowPath(alphas=10)).fit(X, y)
    assert chosen.path_.strengths[0] == pytest.approx(
        fit_path(Problem.from_rows(X, y), L1(), 3).strengths[0]
    )


def test_bounds_and_covariates_are_in_the_units_of_the_response():
    X, y = rows()
    bounds = Terms(np.ones(10), np.full(10, -30.0), np.full(10, 30.0))
    for problem in storages(X, y, False).values():
        found = fit_path(problem, L1(), [4.0], terms=bounds).coefficients().toarray()
        assert np.abs(found).max() == pytest.approx(30.0)
    always = [
        fit_path(
            Problem.from_rows(X, y, covariates=np.array([0]), scale_response=scaled), L1(), [15.0]
        )
        for scaled in (True, False)
    ]
    assert always[0].coefficients()[0, 0] != 0
    np.testing.assert_allclose(*(one.coefficients().toarray() for one in always), rtol=1e-9)
    np.testing.assert_allclose(*(one.intercepts for one in always), rtol=1e-9)


def test_z_scores_have_their_alphas_in_standard_deviations():
    X, y = rows()
    Z, left = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    r = Z.T @ left / len(y)
    z = r * np.sqrt((len(y) - 2) / (1 - r**2))
    model = SparseRegressor(alpha=0.05, method=FollowPath(alphas=[0.1])).fit_zscores(
        z, Z.T @ Z / 60, 60, mismatch=0.0
    )
    _, theirs, _ = lasso_path(Z, left, alphas=[0.05], tol=1e-12)
    np.testing.assert_allclose(model.coef_, theirs[:, 0], atol=0.02)
    assert model.path_.scale.response_scale == 1.0
