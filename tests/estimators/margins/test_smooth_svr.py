"""Support vector regression beside libsvm, products of features, bad input."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_diabetes
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

from garrote import SmoothSVR
from pairwise import by_pairs


@pytest.mark.parametrize("C", [2.0, 2000.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_objectives_are_within_a_thousandth_of_those_of_libsvm(kernel, C):
    X, y = load_diabetes(return_X_y=True)
    ours = SmoothSVR(kernel, C, epsilon=5.0).fit(X, y)
    theirs = SVR(kernel=kernel, C=C / 2, epsilon=5.0).fit(X, y)
    f = theirs.predict(X)
    norm = (f[theirs.support_] - theirs.intercept_) @ theirs.dual_coef_[0]
    best = norm + C * np.maximum(np.abs(y - f) - 5.0, 0).sum()
    assert ours.objective_[0] <= best * 1.001
    assert ours.certificate_.value <= 1e-4


FEATURES = {
    "kernel": ("rbf", "linear", "precomputed"),
    "kind": ("dense", "sparse", "float32"),
    "loss": ("gaussian", "huber"),
    "weighted": (False, True),
    "epsilon": (0.0, 0.3),
}


@by_pairs(**FEATURES)
def test_products_of_features_agree_with_libsvm(kernel, kind, loss, weighted, epsilon):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((70, 4))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(70)
    weights = rng.integers(0, 3, 70).astype(float) if weighted else np.ones(70)
    given = rbf_kernel(X, gamma=0.3) if kernel == "precomputed" else X
    if kind == "sparse" and kernel != "precomputed":
        given = scipy.sparse.csr_array(X)
    if kind == "float32":
        given = given.astype(np.float32)
    settings = {"kernel": kernel, "epsilon": epsilon, "gamma": 0.3}
    ours = SmoothSVR(C=4.0, loss=loss, tol=1e-7, **settings).fit(given, y, weights)
    kept = weights > 0
    rows = rbf_kernel(X[kept], gamma=0.3) if kernel == "precomputed" else X[kept]
    new = rbf_kernel(X, X[kept], gamma=0.3) if kernel == "precomputed" else X
    theirs = SVR(C=2.0, tol=1e-8, **settings).fit(rows, y[kept], weights[kept])
    assert ours.certificate_.value <= 1e-7
    np.testing.assert_allclose(ours.predict(given), theirs.predict(new), atol=5e-3)


def test_equal_numbers_need_no_curve_and_a_wide_tube_costs_nothing():
    X = np.linspace(-1, 1, 20)[:, None]
    for y in (np.full(20, 3.0), 3.0 + 0.05 * X[:, 0]):
        machine = SmoothSVR().fit(X, y)
        np.testing.assert_allclose(machine.predict(X), 3.0, atol=0.06)
        assert machine.certificate_.value == 0.0


def test_words_and_widths_that_cannot_be_meant_are_refused():
    X = np.linspace(-1, 1, 20)[:, None]
    with pytest.raises(ValueError, match="epsilon must be >= 0"):
        SmoothSVR(epsilon=-1).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="y must hold numbers"):
        SmoothSVR().fit(X, np.repeat(["a", "b"], 10))
