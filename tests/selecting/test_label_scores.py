"""Scores of held-out labels, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from garrote import SparseClassifier, VariationalGarroteClassifier
from garrote.selecting import label_scores
from garrote.selecting.label_scores import BINS, ranked_right, score_labels


def labelled(classes, rows=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 5))
    scores = X[:, :classes] + 0.5 * rng.standard_normal((rows, classes))
    return X, scores.argmax(axis=1)


def test_two_classes_are_scored_as_scikit_learn_scores_them():
    rng = np.random.default_rng(1)
    truth, weights = rng.integers(0, 2, 60).astype(float), rng.integers(0, 3, 60).astype(float)
    p = np.round(np.clip(0.3 * truth + 0.7 * rng.random(60), 0, 1), 1)  # with ties
    found = score_labels(truth, p, weights)
    assert np.isclose(found.auc, roc_auc_score(truth, p, sample_weight=weights))
    expected = confusion_matrix(truth, (p > 0.5).astype(float), sample_weight=weights)
    np.testing.assert_allclose(found.confusion, expected)
    np.testing.assert_allclose(
        found.calibration.sum(axis=0), [weights.sum(), weights @ p, weights @ truth]
    )
    in_last = p >= 1 - 1 / BINS
    np.testing.assert_allclose(found.calibration[-1, 2], weights[in_last] @ truth[in_last])


def test_several_classes_are_scored_one_against_the_rest():
    X, y = labelled(3)
    p = LogisticRegression().fit(X[:40], y[:40]).predict_proba(X)
    found = score_labels(y.astype(float), p.T, np.ones(len(y)))
    assert np.isclose(found.auc, roc_auc_score(y, p, multi_class="ovr"))
    np.testing.assert_allclose(found.confusion, confusion_matrix(y, p.argmax(axis=1)))
    right = p.argmax(axis=1) == y
    assert found.calibration[:, 2].sum() == right.sum()


def test_one_class_alone_has_no_auc():
    found = score_labels(np.zeros(4), np.full(4, 0.2), np.ones(4))
    assert np.isnan(found.auc)
    assert found.confusion[0, 0] == 4


def test_many_rows_are_ranked_without_sorting(monkeypatch):
    rng = np.random.default_rng(2)
    p, weights = rng.random(500), rng.random(500)
    inside = rng.random(500) < p
    exact = ranked_right(inside, p[None], weights)
    monkeypatch.setattr(label_scores, "_SORTED", 100)
    assert abs(ranked_right(inside, p[None], weights) - exact).max() < 1e-3


@pytest.mark.parametrize("classes", [2, 3])
def test_the_lasso_states_what_its_folds_predict(classes):
    X, y = labelled(classes)
    words = np.array(["ant", "bee", "cat"])[y]
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model = SparseClassifier(cv=cv).fit(X, words)
    found = model.selection_.validation.labels
    assert found.classes == tuple(model.classes_)
    for k, (train, test) in enumerate(cv.split(X, words)):
        alone = SparseClassifier(alpha=model.alpha_).fit(X[train], words[train])
        p = alone.predict_proba(X[test])
        assert np.isclose(found.accuracy[k], accuracy_score(words[test], alone.predict(X[test])))
        expected = roc_auc_score(words[test], p[:, 1] if classes == 2 else p, multi_class="ovr")
        assert abs(found.auc[k] - expected) < 0.01  # folds are solved to a loose tolerance
    assert found.confusion.sum() == len(y)
    assert np.isclose(found.commonest, np.bincount(y).max() / len(y))


def test_the_garrote_states_what_its_folds_predict():
    X, y = labelled(2)
    model = VariationalGarroteClassifier(cv=3).fit(X, y)
    found = model.selection_.validation.labels
    assert found.classes == ("0", "1")
    assert found.confusion.shape == (3, 2, 2)
    assert found.accuracy.mean() > 0.7
