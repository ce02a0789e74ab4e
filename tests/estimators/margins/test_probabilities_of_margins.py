"""Probabilities of support vector machines, and of several classes from those of two."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from garrote import SmoothSVC
from garrote.estimators.margins.calibration import logistic_curves
from garrote.estimators.margins.pairs import coupled, pairs_of
from pairwise import by_pairs


def test_probabilities_of_rows_held_out_tell_more_than_shares_of_classes():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    machine = SmoothSVC(calibration=3).fit(X[::2], y[::2])
    chances = machine.predict_proba(X[1::2])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert log_loss(y[1::2], chances) < 0.12


def test_a_precomputed_kernel_has_the_same_probabilities_with_several_classes():
    X, y = load_iris(return_X_y=True)
    rows = SmoothSVC(gamma=0.2, calibration=3).fit(X, y).predict_proba(X)
    kernel = rbf_kernel(X, gamma=0.2)
    given = SmoothSVC("precomputed", calibration=3).fit(kernel, y).predict_proba(kernel)
    np.testing.assert_allclose(rows, given, atol=1e-6)
    assert np.mean(rows.argmax(axis=1) == y) > 0.95


@by_pairs(
    kernel=("rbf", "linear", "precomputed"),
    kind=("dense", "sparse", "float32"),
    loss=("gaussian", "huber"),
    balanced=(None, "balanced"),
    classes=(2, 3),
)
def test_rows_without_weight_are_as_good_as_left_out(kernel, kind, loss, balanced, classes):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((90, 4))
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(90), [0.0, 0.8][: classes - 1])
    weights = rng.integers(0, 3, 90).astype(float)
    kept = np.flatnonzero(weights > 0)
    given, some = X, X[kept]
    if kernel == "precomputed":
        given = rbf_kernel(X, gamma=0.3)
        some = given[np.ix_(kept, kept)]
    elif kind == "sparse":
        given = scipy.sparse.csr_array(X)
    if kind == "float32":
        given = given.astype(np.float32)
    settings = {"gamma": 0.3, "calibration": 3, "class_weight": balanced, "tol": 1e-6}
    whole = SmoothSVC(kernel, 4.0, loss, **settings).fit(given, y, weights)
    part = SmoothSVC(kernel, 4.0, loss, **settings).fit(some, y[kept], weights[kept])
    chances = whole.predict_proba(given)
    other = part.predict_proba(given[:, kept] if kernel == "precomputed" else X)
    np.testing.assert_allclose(chances, other, atol=5e-3)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)


def test_curves_are_those_of_a_general_optimiser():
    rng = np.random.default_rng(0)
    y, decisions = np.repeat([0, 1], 30), rng.standard_normal(60)
    decisions[30:] += 2.0
    weights = rng.integers(1, 3, 60).astype(float)
    slope, offset = logistic_curves(decisions[:, None], y, weights, np.array([0, 1]))
    above, below = weights[30:].sum(), weights[:30].sum()
    target = np.where(y == 1, (above + 1) / (above + 2), 1 / (below + 2))

    def cost(parameters):
        eta = parameters[0] * decisions + parameters[1]
        return weights @ (np.logaddexp(0, eta) - target * eta)

    best = minimize(cost, [1.0, 0.0], options={"gtol": 1e-8}).x
    np.testing.assert_allclose([slope[0], offset[0]], best, atol=1e-5)


def test_coupled_probabilities_are_those_that_duels_came_from():
    true = np.array([[0.5, 0.3, 0.15, 0.05], [0.1, 0.1, 0.1, 0.7]])
    duels = np.column_stack([true[:, j] / (true[:, i] + true[:, j]) for i, j in pairs_of(4)])
    np.testing.assert_allclose(coupled(duels, 4), true, atol=1e-10)


def test_without_calibration_there_are_no_probabilities():
    X, y = load_iris(return_X_y=True)
    assert not hasattr(SmoothSVC().fit(X, y), "predict_proba")
    with pytest.raises(ValueError, match="calibration must be"):
        SmoothSVC(calibration=1).fit(X, y)
    with pytest.raises(ValueError, match="two rows of every class"):
        SmoothSVC(calibration=3).fit(X[:52], np.append(y[:51], 2))
