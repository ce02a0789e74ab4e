"""First fits that do not know the scale of weights, and fits of labels without any penalty."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression

from garrote import NonNegativeGarrote, SparseClassifier, SparseRegressor
from garrote.penalties import AdaptiveLasso, BreimanGarrote


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12))
    y = X[:, :4] @ [1.0, -0.5, 0.3, 0.2] + rng.standard_normal(80)
    return X, y, rng.uniform(0.5, 2.0, 80)


MODELS = {
    "adaptive lasso": lambda: SparseRegressor(AdaptiveLasso(), 0.05),
    "by a ridge": lambda: SparseRegressor(AdaptiveLasso(first="ridge"), 0.05),
    "breiman": lambda: SparseRegressor(BreimanGarrote(first="ridge"), 0.05),
    "huber": lambda: SparseRegressor(AdaptiveLasso(), 0.05, family="huber"),
    "labels": lambda: SparseClassifier(AdaptiveLasso(), 0.02),
    "non-negative garrote": lambda: NonNegativeGarrote(first="lasso", alpha=0.05),
}


@pytest.mark.parametrize("name", MODELS)
def test_first_fits_do_not_change_with_the_scale_of_the_weights(table, name):
    X, y, weights = table
    y = y > 0 if name == "labels" else y
    once = MODELS[name]().fit(X, y, sample_weight=weights)
    assert np.any(once.coef_)
    for scale in (0.25, 30.0):
        again = MODELS[name]().fit(X, y, sample_weight=scale * weights)
        np.testing.assert_allclose(again.coef_, once.coef_, atol=1e-9)


def test_a_row_without_weight_counts_for_nothing_in_first_fits(table):
    X, y, weights = table
    gone = np.arange(80) % 4 == 0
    some = SparseRegressor(AdaptiveLasso(), 0.05).fit(X[~gone], y[~gone], weights[~gone])
    zeros = SparseRegressor(AdaptiveLasso(), 0.05).fit(X, y, np.where(gone, 0.0, weights))
    np.testing.assert_allclose(zeros.coef_, some.coef_, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["plain", "units", "weights", "sparse", "constant", "balanced"])
def test_labels_without_a_penalty_agree_with_scikit_learn(classes, kind):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 4))
    scores = X @ rng.standard_normal((4, classes)) + np.arange(classes) / 2
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    weights, balanced = None, "balanced" if kind == "balanced" else None
    X = X * [1e-3, 1.0, 1.0, 1e3] if kind == "units" else X
    if kind == "weights":
        weights = rng.integers(0, 4, len(y))
    if kind == "sparse":
        X = scipy.sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    told = X
    if kind == "constant":
        X[:, 2], told = 3.0, X[:, [0, 1, 3]]
    theirs = LogisticRegression(
        C=np.inf, tol=1e-12, solver="newton-cholesky", max_iter=100, class_weight=balanced
    ).fit(told, y, weights)
    for penalty, alpha in (("none", "cv"), ("lasso", 0.0), ("ridge", 0.0)):
        ours = SparseClassifier(penalty, alpha, class_weight=balanced).fit(X, y, weights)
        assert ours.certificate_.value < 1e-6
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(told), atol=1e-6)
