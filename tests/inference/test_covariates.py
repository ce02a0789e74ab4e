"""Covariates are projected out of everything, and are as uncertain as if they were not."""

import numpy as np
import pytest
from sklearn.base import clone

from garrote import (
    SingleEffectsClassifier,
    SingleEffectsRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    VariationalGarroteClassifier,
)


@pytest.fixture(scope="module")
def rows():
    """Rows in which a covariate (0) resembles a variable that matters (3)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6)) * [1, 1, 1, 1, 1, 5] + [0, 0, 3, 0, 0, 20]
    X[:, 3] = 0.7 * X[:, 0] + 0.7 * X[:, 3]
    return X, 2 * X[:, 0] + X[:, 3] + 0.2 * X[:, 5] + rng.standard_normal(80)


FACTORISED = [
    SingleEffectsRegressor(covariates=[0, 5]),
    SpikeSlabRegressor(method="mean-field", covariates=[0, 5]),
]


@pytest.mark.parametrize("model", FACTORISED)
def test_covariates_of_numbers_are_as_uncertain_as_in_a_sum_over_models(rows, model):
    X, y = rows
    exact = SpikeSlabRegressor(method="enumerate", covariates=[0, 5]).fit(X, y)
    model = clone(model).fit(X, y)
    wanted, stated = exact.selection_, model.selection_
    np.testing.assert_allclose(
        stated.standard_error[[0, 5]], wanted.standard_error[[0, 5]], rtol=0.1
    )
    new = X[:5] * [6, 1, 1, 1, 1, 2]
    np.testing.assert_allclose(
        model.predict(new, return_std=True)[1], exact.predict(new, return_std=True)[1], rtol=0.1
    )


def test_covariates_alone_have_the_errors_of_least_squares(rows):
    X, y = rows[0][:, [0, 5]], rows[1]
    model = SingleEffectsRegressor(covariates=[0, 1]).fit(X, y)
    basis = np.column_stack([np.ones(80), X])
    error = np.sqrt(model.noise_variance_ * np.diag(np.linalg.inv(basis.T @ basis))[1:])
    np.testing.assert_allclose(model.selection_.standard_error, error, rtol=1e-6)
    np.testing.assert_allclose(model.posterior_.sample(20_000, 0).std(axis=0), error, rtol=0.02)


@pytest.mark.parametrize("model", FACTORISED)
def test_draws_and_predictions_have_the_stated_covariances(rows, model):
    X, y = rows
    model = clone(model).fit(X, y)
    posterior = model.posterior_
    draws = posterior.sample(40_000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), model.coef_, atol=0.01)
    wanted = posterior.covariance
    size = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
    off = np.cov(draws[:, posterior.support].T) - wanted
    assert set(posterior.support[:2]) == {0, 5}
    assert np.abs(off / size)[:2].max() < 0.03
    _, deviation = model.predict(X[:20], return_std=True)
    around = (X[:20] - X.mean(axis=0)) @ (draws - model.coef_).T
    spread = np.sqrt(around.var(axis=1) + model.noise_variance_ * (1 + 1 / 80))
    np.testing.assert_allclose(spread, deviation, rtol=0.02)


@pytest.mark.parametrize(
    "model",
    [
        SpikeSlabClassifier(method="mean-field", covariates=[0, 5]),
        SingleEffectsClassifier(covariates=[0, 5]),
        VariationalGarroteClassifier(-2.0, covariates=[0, 5]),
    ],
)
def test_covariates_of_labels_are_about_as_uncertain_as_in_a_sum_over_models(rows, model):
    X, y = rows
    labels = y + 2 * np.random.default_rng(1).logistic(size=80) > np.median(y)
    exact = SpikeSlabClassifier(method="enumerate", covariates=[0, 5]).fit(X, labels)
    model.fit(X, labels)
    wanted = np.sqrt(exact.posterior_.variance[[0, 5]])
    np.testing.assert_allclose(model.selection_.standard_error[[0, 5]], wanted, rtol=0.35)
    np.testing.assert_allclose(
        model.posterior_.sample(20_000, 0).std(axis=0)[[0, 5]], wanted, rtol=0.35
    )
