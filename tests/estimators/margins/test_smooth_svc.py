"""Support vector machines for labels: beside libsvm, products of features, files, bad input."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import garrote
from garrote import SmoothSVC
from pairwise import by_pairs


def objective(decision, coef, support, intercept, y, cost):
    """Return w'w + the hinges of decisions f = sum of coef k(x_i, x) + intercept."""
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    norm = (decision[support] - intercept) @ coef
    return norm + cost @ np.maximum(1 - signs * decision, 0)


def table(name):
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
    elif name == "iris":
        X, y = load_iris(return_X_y=True)
        X, y = X[y > 0], y[y > 0]
    elif name == "wine":
        X, y = load_wine(return_X_y=True)
        X, y = X[y > 0], y[y > 0]
    else:
        X, y = load_digits(return_X_y=True)
        X, y = X[(y == 3) | (y == 8)], y[(y == 3) | (y == 8)]
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("name", ["breast cancer", "iris", "wine", "digits 3 and 8"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_objectives_are_within_a_thousandth_of_those_of_libsvm(name, kernel):
    X, y = table(name)
    for C in (2.0, 20.0):
        ours = SmoothSVC(kernel, C).fit(X, y)
        theirs = SVC(C=C / 2, kernel=kernel).fit(X, y)
        cost = np.full(len(y), C)
        best = objective(
            theirs.decision_function(X), theirs.dual_coef_[0], theirs.support_,
            theirs.intercept_[0], y, cost,
        )  # fmt: skip
        found = objective(
            ours.decision_function(X), ours.dual_coef_[0], ours.basis_, ours.intercept_[0], y, cost
        )
        assert found <= best * 1.001
        assert ours.objective_[0] <= best * (1 + ours.certificate_.value + 1e-9)
        assert ours.certificate_.value <= 1e-4


FEATURES = {
    "kernel": ("rbf", "linear", "poly", "precomputed"),
    "kind": ("dense", "sparse", "float32"),
    "loss": ("gaussian", "huber"),
    "weighted": (False, True),
    "balanced": (None, "balanced"),
    "classes": (2, 3),
}


@by_pairs(**FEATURES)
def test_products_of_features_agree_with_libsvm(kernel, kind, loss, weighted, balanced, classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 4))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(90), [0.6, 1.2])
    y = np.minimum(y, classes - 1)
    weights = rng.integers(0, 3, 90).astype(float) if weighted else np.ones(90)
    given = X
    if kernel == "precomputed":
        given = rbf_kernel(X, gamma=0.3)
    elif kind == "sparse":
        given = scipy.sparse.csr_array(X)
    if kind == "float32":
        given = given.astype(np.float32)
    settings = {"kernel": kernel, "gamma": 0.3, "coef0": 1.0, "class_weight": balanced}
    ours = SmoothSVC(C=6.0, loss=loss, tol=1e-7, **settings).fit(given, y, weights)
    kept = weights > 0
    if balanced:  # scikit-learn's support vector machines do not count weights there
        total = np.bincount(y, weights)
        settings["class_weight"] = None
        weights = weights * (total.sum() / (classes * total))[y]
    theirs = SVC(C=3.0, tol=1e-8, **settings)
    if kernel == "precomputed":
        dense = given.astype(np.float64)
        theirs.fit(dense[np.ix_(kept, kept)], y[kept], weights[kept])
        expected = theirs.decision_function(dense[:, kept])
    else:
        theirs.fit(X[kept], y[kept], weights[kept])
        expected = theirs.decision_function(X)
    assert ours.certificate_.value <= 1e-7
    if classes == 2:
        np.testing.assert_allclose(ours.decision_function(given), expected, atol=2e-2)
    assert np.mean(ours.predict(given) == theirs.classes_[_best(expected)]) > 0.98


def _best(decisions):
    return (decisions > 0).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)


def test_words_are_classes_and_files_keep_the_machine(tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    for settings in ({}, {"kernel": "linear"}, {"landmarks": 20, "random_state": 0}):
        machine = SmoothSVC(**settings).fit(X, names)
        assert machine.score(X, names) > 0.95
        assert machine.decision_function(X).shape == (150, 3)
        machine.save(tmp_path / "machine.garrote")
        again = garrote.load(tmp_path / "machine.garrote")
        assert (again.decision_function(X) == machine.decision_function(X)).all()


def test_landmarks_that_are_all_rows_span_the_kernel_and_fewer_come_near():
    X, y = table("breast cancer")
    exact, near = SmoothSVC().fit(X, y), SmoothSVC(landmarks=100, random_state=0).fit(X, y)
    same = SmoothSVC(landmarks=10_000).fit(X, y)
    np.testing.assert_allclose(same.decision_function(X), exact.decision_function(X))
    assert near.dual_coef_.shape == (1, 100)
    assert np.mean(near.predict(X) == exact.predict(X)) > 0.98
    # Of machines that landmarks span none can be better than the best of all.
    assert near.objective_[0] >= exact.objective_[0] * (1 - 1e-4)


@by_pairs(
    kernel=("rbf", "laplacian", "poly", "precomputed"),
    kind=("dense", "sparse"),
    loss=("gaussian", "huber"),
    weighted=(False, True),
    balanced=(None, "balanced"),
    classes=(2, 3),
    shrinking=(True, 0.5),
)
def test_products_with_landmarks_agree_with_libsvm_on_what_they_span(
    kernel, kind, loss, weighted, balanced, classes, shrinking
):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 3))
    y = np.digitize(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(80), [0.0, 0.8][: classes - 1])
    weights = rng.integers(0, 3, 80).astype(float) if weighted else np.ones(80)
    named = "rbf" if kernel == "precomputed" else kernel
    settings = {"coef0": 1.0} if named == "poly" else {}
    values = pairwise_kernels(X, metric=named, gamma=0.3, **settings)
    given = values if kernel == "precomputed" else X
    if kind == "sparse" and kernel in ("rbf", "poly"):
        given = scipy.sparse.csr_array(X)
    machine = SmoothSVC(
        kernel, 6.0, loss, gamma=0.3, coef0=1.0, landmarks=20, random_state=3,
        shrinking=shrinking, class_weight=balanced, tol=1e-7,
    ).fit(given, y, weights)  # fmt: skip
    basis = machine.basis_
    assert len(basis) == 20
    assert (weights[basis] > 0).all()
    spanned = values[:, basis] @ np.linalg.pinv(values[np.ix_(basis, basis)]) @ values[basis]
    kept = weights > 0
    if balanced:
        total = np.bincount(y, weights)
        weights = weights * (total.sum() / (classes * total))[y]
    theirs = SVC(C=3.0, kernel="precomputed", tol=1e-8)
    theirs.fit(spanned[np.ix_(kept, kept)], y[kept], weights[kept])
    expected = theirs.decision_function(spanned[:, kept])
    assert machine.certificate_.value <= 1e-7
    if classes == 2:
        np.testing.assert_allclose(machine.decision_function(given), expected, atol=2e-2)
    assert np.mean(machine.predict(given) == theirs.classes_[_best(expected)]) > 0.98


def test_a_constant_column_and_copies_of_rows_change_no_decision():
    X, y = table("iris")
    machine = SmoothSVC("linear", tol=1e-8).fit(X, y)
    wider = SmoothSVC("linear", tol=1e-8).fit(np.column_stack([X, np.full(100, 7.0)]), y)
    assert abs(wider.coef_[0, -1]) < 1e-9
    np.testing.assert_allclose(wider.coef_[0, :-1], machine.coef_[0], atol=1e-4)
    twice = SmoothSVC(C=1.0, gamma=0.25, tol=1e-8).fit(np.vstack([X, X]), np.append(y, y))
    once = SmoothSVC(C=2.0, gamma=0.25, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(twice.decision_function(X), once.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_where_rows_hardly_differ_the_intercept_alone_is_found(kernel):
    X, y = table("iris")
    X, y = X[:80], y[:80]  # 50 and 30 rows
    machine = SmoothSVC(kernel, C=1e-9).fit(X, y)
    assert machine.certificate_.value <= 1e-4
    assert machine.objective_[0] == pytest.approx(2e-9 * 30, rel=1e-4)
    assert machine.n_iter_[0] < 20
    nothing = SmoothSVC("linear").fit(np.zeros((3, 5)), ["a", "b", "a"])
    assert nothing.certificate_.value <= 1e-12
    assert nothing.objective_[0] == pytest.approx(4.0)


@pytest.mark.parametrize("loss", ["gaussian", "huber"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_rows_that_can_be_separated_have_one_machine_at_all_large_costs(kernel, loss):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    best = SmoothSVC(kernel, 1e4, loss, tol=1e-6).fit(X, y)
    assert (np.abs(2 * best.dual_coef_) < 1e3).all()  # no multiplier is at its bound
    theirs = SVC(C=1e10, kernel=kernel, tol=1e-8).fit(X, y)
    for C in (1e8, 1e12):
        hard = SmoothSVC(kernel, C, loss).fit(X, y)
        assert hard.certificate_.value <= 1e-4
        assert hard.objective_[0] == pytest.approx(best.objective_[0], rel=2e-4)
        np.testing.assert_allclose(
            hard.decision_function(X), theirs.decision_function(X), atol=2e-2
        )


def test_a_machine_that_is_stopped_says_how_far_it_may_be():
    X, y = table("breast cancer")
    with pytest.warns(Warning, match="after 3 Newton steps"):
        machine = SmoothSVC(max_iter=3).fit(X, y)
    best = SmoothSVC().fit(X, y).objective_[0]
    assert machine.objective_[0] * (1 - machine.certificate_.value) <= best


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"C": 0}, "C must be positive"),
        ({"C": np.nan}, "C must be positive"),
        ({"sigma": 0.0}, "sigma must be positive"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"kernel": "triangle"}, "kernel must be one of"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"shrinking": 1.5}, "shrinking must be"),
        ({"landmarks": 0}, "landmarks must be"),
        ({"kernel": "precomputed"}, "a row and a column for each sample"),
        ({"kernel": "sigmoid", "gamma": 5.0}, "not positive semidefinite"),
        ({"kernel": "poly", "degree": 2.5}, "take a whole number for degree"),
        (
            {"class_weight": {1: -1.0, 2: 1.0}},
            "class_weight must be >= 0 and finite, got -1 for class 1",
        ),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings, said):
    X, y = table("iris")
    with pytest.raises(ValueError, match=said):
        SmoothSVC(**settings).fit(X, y)


def test_tables_that_cannot_be_meant_are_refused():
    X, y = table("iris")
    with pytest.raises(ValueError, match="one class only"):
        SmoothSVC().fit(X, np.zeros(100))
    with pytest.raises(ValueError, match=r"row 3, column 1"):
        SmoothSVC().fit(np.where(np.arange(400).reshape(100, 4) == 13, np.nan, X), y)
    kernel = X @ X.T
    with pytest.raises(ValueError, match="not positive semidefinite"):
        SmoothSVC("precomputed").fit(kernel - 2 * np.eye(100), y)
    kernel[3, 5] += 1.0
    with pytest.raises(ValueError, match=r"symmetric, got .* row 3, column 5"):
        SmoothSVC("precomputed").fit(kernel, y)


def test_labels_that_are_missing_or_of_two_kinds_are_refused():
    X = np.random.default_rng(0).standard_normal((6, 2))
    for labels in (
        np.array(["a", None, "b"] * 2, dtype=object),
        pd.Series(["a", pd.NA, "b"] * 2),
        pd.Series(["a", None, "b"] * 2, dtype="category"),
        pd.Series(["a", np.nan, "b"] * 2, dtype=object),
    ):
        with pytest.raises(
            ValueError, match=r"y has no label at row 1 \(2 in all\): drop those rows"
        ):
            SmoothSVC().fit(X, labels)
    with pytest.raises(ValueError, match="words and numbers for labels, such as 'a' and 1"):
        SmoothSVC().fit(X, np.array(["a", 1] * 3, dtype=object))


@pytest.mark.parametrize("loss", ["gaussian", "huber"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_one_width_alone_ends_as_near_as_it_is_guaranteed_to(kernel, loss):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((80, 3))
        y = X[:, 0] + 0.3 * rng.standard_normal(80) > 0
        best = SmoothSVC(kernel, tol=1e-9).fit(X, y).objective_[0]
        one = SmoothSVC(kernel, loss=loss, shrinking=False).fit(X, y)
        null = 2.0 * 2.0 * min(y.sum(), (~y).sum())
        assert best * (1 - 1e-8) <= one.objective_[0] <= best + 1e-4 * null
        wide = SmoothSVC(kernel, loss=loss, shrinking=False, sigma=0.3).fit(X, y)
        assert wide.sigma_ == [0.3]
        assert wide.objective_[0] > one.objective_[0]
    with pytest.warns(ConvergenceWarning, match="sigma was not reached"):
        SmoothSVC(kernel, loss=loss, shrinking=False, max_iter=2).fit(X, y)


def test_a_kernel_matrix_beyond_memory_is_refused_with_the_remedy():
    X = scipy.sparse.csr_array((200_000, 3))
    with pytest.raises(ValueError, match="landmarks=1000"):
        SmoothSVC().fit(X, np.arange(200_000) % 2)
