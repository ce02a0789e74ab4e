"""Fits with SLOPE: against plain proximal steps, another library, and pairs of features."""

import numpy as np
import pytest
import scipy.sparse

from garrote import SparseClassifier, SparseRegressor, load
from garrote.paths import FollowPath
from garrote.penalties import Slope
from garrote.proximal import sorted_l1

SEQUENCE = np.array([2.0, 1.5, 1.2, 0.9, 0.6, 0.3])
LIGHT = FollowPath(alphas=8)


@pytest.fixture(scope="module")
def table():
    i, j = np.arange(30)[:, None], np.arange(6)
    X = np.sin(1.7 * i * (j + 1) + j) + 0.5 * np.cos(0.3 * i)
    eta = X @ [3.0, -3.0, 2.9, 0, 0, 1.0]
    y = eta + np.cos(2.3 * np.arange(30))
    return X, y, (np.sin(5.1 * np.arange(30)) < eta / 3).astype(int)


def test_fits_are_those_of_another_library(table):
    """The figures are those of sortedl1 1.11.3 (https://github.com/jolars/sortedl1), tol=1e-12."""
    X, y, labels = table
    ours = SparseRegressor(Slope(SEQUENCE), 0.3, standardize=False).fit(X, y)
    theirs = [2.32823039, -2.04324949, 2.32823039, 0.06400312, 0.06400312, 0.08193577]
    np.testing.assert_allclose(ours.coef_, theirs, atol=2e-8)
    ours = SparseClassifier(Slope(SEQUENCE), 0.03, standardize=False).fit(X, labels)
    theirs = [0.42602188, -0.73272988, 1.90225058, 0.42602188, 0.0, 0.42602188]
    np.testing.assert_allclose(ours.coef_[0], theirs, atol=2e-8)
    assert ours.intercept_[0] == pytest.approx(-0.28612692, abs=2e-8)


def by_proximal_steps(X, y, sequence, alpha):
    """Minimise by many small steps of the operator, which knows nothing of ties."""
    X, y = X - X.mean(axis=0), y - y.mean()
    X = X / X.std(axis=0)
    w, step = np.zeros(X.shape[1]), len(y) / np.linalg.norm(X, 2) ** 2
    for _ in range(4000):
        w = sorted_l1(w + step * X.T @ (y - X @ w) / len(y), step * alpha, sequence)
    return w


@pytest.mark.parametrize("shape", [(60, 12), (25, 40)])
def test_ties_are_those_of_plain_proximal_steps(shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) + rng.standard_normal((shape[0], 1))
    y = X[:, :4] @ [1.0, 1.0, -1.0, 0.5] + rng.standard_normal(shape[0])
    sequence = np.linspace(2.0, 0.2, shape[1])
    path = SparseRegressor(Slope(sequence), "bic", method=LIGHT).fit(X, y).path_
    assert path.certificate.max() < 1e-9
    for k in (1, 2):
        expected = by_proximal_steps(X, y, sequence, path.strengths[k])
        found = np.zeros(shape[1])
        found[path.fits[k].columns] = path.fits[k].coef
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("family", ["gaussian", "poisson", "huber", "binomial"])
def test_weights_offsets_covariates_and_sparse_columns_go_together(family):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((60, 7)) < 0.5, rng.standard_normal((60, 7)), 0.0)
    eta, known = X[:, 0] - X[:, 1], 0.3 * rng.standard_normal(60)
    y = {"poisson": rng.poisson(np.exp(eta)), "binomial": eta + rng.logistic(size=60) > 0}
    y = np.asarray(y.get(family, eta + rng.standard_normal(60)), dtype=float)
    counts = rng.integers(0, 3, 60)
    settings = {
        "penalty": Slope(),
        "alpha": 0.02,
        "family": family,
        "penalty_factor": [0, *[1] * 6],
    }
    whole = SparseRegressor(**settings).fit(
        np.repeat(X, counts, axis=0), np.repeat(y, counts), offset=np.repeat(known, counts)
    )
    parts = SparseRegressor(**settings).fit(scipy.sparse.csr_array(X), y, counts, offset=known)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-6)
    assert parts.coef_[0] != 0
    assert max(parts.certificate_["duality gap"], whole.certificate_["duality gap"]) < 1e-6


def test_several_classes_and_responses_have_one_order(table):
    X, y, _ = table
    model = SparseClassifier(Slope(), 0.02).fit(X, np.digitize(y, [-2.0, 2.0]))
    assert model.certificate_["duality gap"] < 1e-6
    both = SparseRegressor(Slope(SEQUENCE), 0.1).fit(X, np.column_stack([y, -y]))
    np.testing.assert_allclose(both.coef_[0], -both.coef_[1], atol=1e-9)


def test_it_is_cross_validated_saved_and_reported(table, tmp_path):
    X, y, _ = table
    model = SparseRegressor(Slope("gaussian"), method=LIGHT, cv=3).fit(X, y)
    model.save(tmp_path / "slope.garrote")
    again = load(tmp_path / "slope.garrote")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert "SLOPE" in model.selection_.method
    model.selection_.report(tmp_path / "slope.html")
    assert "SLOPE" in (tmp_path / "slope.html").read_text()
