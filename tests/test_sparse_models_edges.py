"""Penalised models where data or settings are at an edge: constant columns, offsets, weights of 0."""

from itertools import product

import numpy as np
import pytest

from garrote import SparseRegressor
from garrote.combinations import is_possible
from garrote.penalties import PENALTIES

FAMILIES = ("gaussian", "binomial", "probit", "poisson", "huber")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 8))
    y = 2 * X[:, 0] - X[:, 1] + rng.normal(size=50)
    return X, y, rng.poisson(np.exp(0.5 * X[:, 0]))


def response(rows, family):
    _, y, counts = rows
    if family == "poisson":
        return counts
    return (y > 0).astype(int) if family in ("binomial", "probit") else y


@pytest.mark.parametrize(
    ("penalty", "family"),
    [
        pair
        for pair in product(PENALTIES, FAMILIES)
        if is_possible(PENALTIES[pair[0]](), pair[1], "coordinate")
    ],
)
def test_a_constant_column_changes_nothing(rows, penalty, family):
    X, y = rows[0], response(rows, family)
    model = SparseRegressor(penalty, "bic", family=family, alphas=8)
    without = model.fit(X, y).coef_
    largest = model.path_.strengths[0]
    model.fit(np.c_[np.ones(len(y)), X], y)
    np.testing.assert_allclose(model.path_.strengths[0], largest, rtol=1e-9)
    np.testing.assert_allclose(model.coef_, np.append(0.0, without), atol=1e-6)


@pytest.mark.parametrize("penalty", ["log-sum", "bridge", "normal-gamma", "normal-jeffreys"])
def test_a_column_that_is_always_in_sets_no_strength(rows, penalty):
    X, y, _ = rows
    path = SparseRegressor(penalty, "bic", alphas=8, penalty_factor={0: 0}).fit(X, y).path_
    assert 0 < path.strengths[0] < 100
    assert path.size[0] == 0


@pytest.mark.parametrize("shape", [(40, 80), (100, 30)])
@pytest.mark.parametrize("twin", [False, True])
def test_ridge_with_columns_that_are_always_in_is_its_closed_form(shape, twin):
    N, D = shape
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape)
    if twin:  # what the columns that are always in explain has a coefficient of 0
        X[:, 3] = X[:, 0]
    y = X[:, 0] + rng.normal(size=N)
    model = SparseRegressor("ridge", 5.0, alphas=[6.0], penalty_factor={0: 0, 7: 0}).fit(X, y)
    Z, factor = (X - X.mean(axis=0)) / X.std(axis=0), np.ones(D)
    factor[[0, 7]] = 0.0
    expected = np.linalg.solve(Z.T @ Z / N + 5.0 * np.diag(factor), Z.T @ (y - y.mean()) / N)
    np.testing.assert_allclose(model.coef_, expected / X.std(axis=0), atol=1e-12)
    assert model.certificate_.gap < 1e-12
    assert (model.coef_[3] == 0) == twin
