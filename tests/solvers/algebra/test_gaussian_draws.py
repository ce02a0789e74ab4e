"""Draws of coefficients that are normal given their variances: by rows or by columns, one regression."""

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

from garrote import Problem
from garrote.priors.covariance_root import Chain, Diagonal
from garrote.solvers.algebra.gaussian_draws import ByColumns, ByRows, ridge_form


def roots(count):
    rng = np.random.default_rng(1)
    chain = Chain.of_precisions(rng.exponential(size=count), rng.exponential(size=count - 1))
    return [Diagonal(rng.exponential(size=count)), chain]


@pytest.mark.parametrize("which", [0, 1])
def test_rows_and_columns_are_one_regression(which):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((6, 9)), rng.standard_normal(6)
    root, scale = roots(9)[which], 0.7
    rows, columns = ByRows(X, y).given(root), ByColumns(X.T @ X, X.T @ y, y @ y).given(root)
    one, two = rows.factor(scale), columns.factor(scale)
    assert one.log_determinant == pytest.approx(two.log_determinant)
    assert one.left == pytest.approx(two.left)
    dense = np.array([root.times(row) for row in np.eye(9)]).T
    covariance = np.eye(6) + scale**2 * X @ dense @ dense.T @ X.T
    assert one.log_determinant == pytest.approx(np.linalg.slogdet(covariance)[1])
    assert one.left == pytest.approx(y @ np.linalg.solve(covariance, y))


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1.0, 1e20])
@pytest.mark.parametrize("large", [0, 40, 300])
def test_columns_of_little_variance_may_be_multiplied_in_single_precision(scale, large):
    rng = np.random.default_rng(6)
    problem = Problem.from_rows(rng.standard_normal((20, 300)), rng.standard_normal(20))
    form = ridge_form(problem)
    assert form.single is not None
    # So many columns add much to the covariance of the rows, the others between nothing and a tenth.
    adds = np.concatenate([10.0 ** rng.uniform(0, 6, large), rng.uniform(0, 0.1, 300 - large)])
    root = Diagonal(np.sqrt(adds / form.curvature) / scale)
    exact = ByRows(form.block, form.response).given(root).factor(scale)
    quick = form.given(root, scale).factor(scale)
    assert quick.log_determinant == pytest.approx(exact.log_determinant, abs=1e-5)
    assert quick.left == pytest.approx(exact.left, rel=1e-5)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("form", ["rows", "columns"])
def test_draws_have_the_mean_and_covariance_of_a_ridge_regression(which, form):
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((4, 5)), rng.standard_normal(4)
    root, scale, noise = roots(5)[which], 0.7, 0.3
    given = (ByRows(X, y) if form == "rows" else ByColumns(X.T @ X, X.T @ y, y @ y)).given(root)
    factor = given.factor(scale)
    draws = np.array([given.draw(factor, noise, rng) for _ in range(20_000)])
    draws *= scale * np.sqrt(noise)
    dense = np.array([root.times(row) for row in np.eye(5)]).T
    precision = X.T @ X + np.linalg.inv(scale**2 * dense @ dense.T)
    covariance = noise * np.linalg.inv(precision)
    error = np.sqrt(np.diag(covariance))
    off = (draws.mean(axis=0) - np.linalg.solve(precision, X.T @ y)) / error
    assert np.abs(off).max() < 4 / np.sqrt(20_000)
    np.testing.assert_allclose(
        np.cov(draws.T) / np.outer(error, error), covariance / np.outer(error, error), atol=0.05
    )


def test_a_matrix_that_rounding_makes_indefinite_is_still_factorised():
    ones = np.ones((3, 1))
    given = ByRows(ones @ np.ones((1, 4)), ones[:, 0]).given(Diagonal(np.full(4, 1e12)))
    factor = given.factor(1.0)
    assert np.isfinite(factor.log_determinant)
    assert np.isfinite(given.draw(factor, 1.0, np.random.default_rng(0))).all()


def test_the_smaller_form_is_taken_and_sparse_columns_stay_sparse():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((20, 120)), rng.standard_normal(20)
    assert isinstance(ridge_form(Problem.from_rows(X, y)), ByRows)
    sparse = Problem.from_rows(scipy.sparse.csc_array(X[:, :10]), y)
    dense = ridge_form(Problem.from_rows(X[:, :10], y))
    form = ridge_form(sparse)
    assert isinstance(form, ByColumns)
    np.testing.assert_allclose(form.gram, dense.gram, atol=1e-10)
