"""Regressions for imputation are draws from the posterior under a flat prior."""

import numpy as np
import pytest
from sklearn.base import clone

from garrote.impute import completed_tables
from garrote.impute.drawn_regression import DrawnRegression


def test_draws_have_the_moments_of_the_closed_form():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3)) + np.array([0, 3, -1])
    X[:, 2] += X[:, 0]
    x = X @ [1.0, 0.0, -2.0] + rng.standard_normal(30) + 4
    design = np.column_stack([X, np.ones(30)])
    best, rss = np.linalg.lstsq(design, x)[:2]
    model, draws, variances = DrawnRegression(rng), [], []
    for _ in range(4000):
        drawn = clone(model).fit(X, x)
        coefficients = np.zeros(3)
        coefficients[drawn.predictors_] = drawn.coef_
        draws.append([*coefficients, drawn.intercept_])
        variances.append(drawn.sigma_**2)
    # Of an inverse chi^2 with 26 degrees of freedom, scaled by the residual sum of squares.
    variance = rss[0] / 24
    covariance = variance * np.linalg.inv(design.T @ design)
    errors = np.sqrt(np.diag(covariance))
    assert np.mean(variances) == pytest.approx(variance, rel=0.02)
    assert np.var(variances) == pytest.approx(2 * variance**2 / 22, rel=0.15)
    np.testing.assert_allclose((np.mean(draws, axis=0) - best) / errors, 0, atol=0.05)
    scale = np.outer(errors, errors)
    np.testing.assert_allclose(np.cov(np.transpose(draws)) / scale, covariance / scale, atol=0.06)


def test_one_draw_is_shared_by_all_rows():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 4))
    drawn = DrawnRegression(rng).fit(X, X[:, 1] + rng.standard_normal(40))
    mean, deviation = drawn.predict(X, return_std=True)
    np.testing.assert_allclose(
        mean, drawn.intercept_ + X[:, drawn.predictors_] @ drawn.coef_, rtol=1e-12
    )
    assert (deviation == drawn.sigma_).all()
    assert np.array_equal(drawn.predict(X), mean)


@pytest.mark.parametrize(("rows", "wanted"), [(3, 1), (12, 4), (100, 12)])
def test_the_response_is_always_among_few_predictors(rows, wanted):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((rows, 80))
    x = X[:, :30].sum(axis=1)
    found = DrawnRegression(rng).fit(X, x).predictors_
    assert found[0] == 79
    assert len(found) == len(set(found.tolist())) == wanted
    classes = DrawnRegression(rng, n_responses=3).fit(X, x).predictors_
    assert set(classes[:3].tolist()) <= {77, 78, 79}


def test_columns_that_matter_given_the_response_are_taken():
    rng = np.random.default_rng(3)
    others = rng.standard_normal((200, 60))
    x = rng.standard_normal(200)
    y = x + others[:, 7] + 0.3 * rng.standard_normal(200)
    found = DrawnRegression(rng).fit(np.column_stack([others, y]), x).predictors_
    assert found[:2].tolist() == [60, 7]


def test_what_complete_rows_cannot_tell_apart_does_not_run_wild():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 5))
    y = X[:, 0] + rng.standard_normal(60)
    gone = np.arange(60) < 20
    X[:, 3] = gone  # constant where the column is known
    X[~gone, 4] = X[~gone, 1]  # a copy there, and there alone
    X[gone, 0] = np.nan
    for table in completed_tables(X, y, 5, random_state=0):
        assert np.abs(table).max() < 8
