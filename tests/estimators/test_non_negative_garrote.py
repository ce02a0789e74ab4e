"""Breiman's garrote: a lasso with bounds at 0 on columns times first coefficients, in every guise."""

import numpy as np
import pytest

from garrote import NonNegativeGarrote, SparseRegressor
from garrote.orthogonal import breiman_garrote_curve
from garrote.paths import FollowPath
from scikit_checks import scikit_learn_checks

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")


@scikit_learn_checks(
    NonNegativeGarrote("ridge", method=FollowPath(alphas=10), cv=3),
    variants=[NonNegativeGarrote("ridge")],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def rows(n=80, d=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    return X, 2 * X[:, 1] - X[:, 4] + 0.3 * X[:, 6] + rng.standard_normal(n)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("alpha", [0.02, 0.2])
def test_it_is_a_lasso_with_lower_bound_0_on_columns_times_least_squares(alpha, standardize):
    X, y = rows()
    tight = FollowPath(tol=1e-12)
    model = NonNegativeGarrote(alpha=alpha, standardize=standardize, method=tight).fit(X, y)
    centred = X - X.mean(axis=0)
    first = np.linalg.lstsq(centred, y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(model.first_coef_, first, atol=1e-9)
    lasso = SparseRegressor(
        "lasso", alpha=alpha, bounds=(0, None), standardize=False, method=tight
    ).fit(X * first, y)
    np.testing.assert_allclose(model.factors_, lasso.coef_, atol=1e-6)
    np.testing.assert_allclose(model.coef_, lasso.coef_ * first, atol=1e-6)
    assert model.certificate_["duality gap"] < 1e-10


def test_on_orthogonal_columns_it_is_breimans_curve():
    rng = np.random.default_rng(1)
    X = np.linalg.qr(rng.standard_normal((50, 6)))[0] * np.sqrt(50)
    first = np.array([2.0, -1.0, 0.6, -0.45, 0.2, 0.0])
    y = X @ first
    for alpha in (0.05, 0.25):
        model = NonNegativeGarrote(alpha=alpha, fit_intercept=False, standardize=False).fit(X, y)
        np.testing.assert_allclose(model.coef_, breiman_garrote_curve(first, alpha), atol=1e-7)


@pytest.mark.parametrize("first", ["ols", "ridge", "lasso"])
def test_every_first_fit_has_a_certified_path_and_folds(first):
    X, y = rows()
    model = NonNegativeGarrote(first, rule="1se").fit(X, y)
    assert {1, 4} <= set(model.get_support(indices=True))
    assert model.path_.certificate.max() < 1e-6
    assert (model.factors_ >= 0).all()
    assert len(model.cv_results_["alpha"]) == len(model.path_)


def test_more_columns_than_rows_need_another_first_fit():
    X, y = rows(n=6)
    with pytest.raises(ValueError, match="first='ols' needs fewer columns than rows: 7 columns"):
        NonNegativeGarrote(alpha=0.1).fit(X, y)
    NonNegativeGarrote("ridge", alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"first must be one of .*, got 'em'"):
        NonNegativeGarrote("em").fit(X, y)
