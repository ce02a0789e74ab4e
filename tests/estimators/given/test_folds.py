"""Folds: the same for the same table, in whatever order its rows come."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import KFold

from garrote import SparseClassifier, SparseRegressor, VariationalGarrote
from garrote.estimators.given.folds import split_rows


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    return X, X[:, 1] - X[:, 4] + rng.standard_normal(60)


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("stored", [np.asarray, scipy.sparse.csr_array])
def test_rows_are_held_out_together_whatever_their_order(data, labels, stored):
    X, y = data
    y = (y > 0.5).astype(float) if labels else y
    order = np.argsort(y, kind="stable")
    as_given = split_rows(5, stored(X), y, labels=labels)
    by_y = split_rows(5, stored(X[order]), y[order], labels=labels)
    for (train, test), (other_train, other_test) in zip(as_given, by_y, strict=True):
        assert set(test) == set(order[other_test])
        assert set(train) == set(order[other_train])


def test_every_row_is_held_out_once_and_folds_of_labels_have_both_classes(data):
    X, y = data[0], (data[1] > 1).astype(float)
    splits = split_rows(5, X, y, labels=True)
    held_out = np.concatenate([test for _, test in splits])
    assert sorted(held_out) == list(range(60))
    shares = [y[test].mean() for _, test in splits]
    assert max(shares) - min(shares) < 0.1


@pytest.mark.parametrize("labels", [False, True])
def test_rows_of_a_group_share_a_fold(data, labels):
    X, y = data[0], (data[1] > 0).astype(float)
    groups = np.arange(60) % 12
    for train, test in split_rows(4, X, y, groups, labels=labels):
        assert not set(groups[train]) & set(groups[test])


def test_splitters_and_splits_are_used_as_they_are(data):
    splitter = KFold(3, shuffle=True, random_state=7)
    for given in (splitter, list(splitter.split(*data))):
        for (train, test), (same, held) in zip(
            split_rows(given, *data), splitter.split(*data), strict=True
        ):
            np.testing.assert_array_equal(train, same)
            np.testing.assert_array_equal(test, held)


def test_other_seeds_make_other_folds(data):
    one, two = (split_rows(5, *data, seed=seed)[0][1] for seed in (0, 1))
    assert set(one) != set(two)
    assert set(one) == set(split_rows(5, *data, seed=0)[0][1])


@pytest.mark.parametrize(
    "model",
    [SparseRegressor(), VariationalGarrote(correct=False), SparseClassifier()],
    ids=lambda model: type(model).__name__,
)
def test_a_table_sorted_by_y_has_the_same_answer(data, model):
    X, y = data
    y = y > 0 if isinstance(model, SparseClassifier) else y
    order = np.argsort(y, kind="stable")
    as_given = model.fit(X, y).coef_.copy()
    np.testing.assert_allclose(model.fit(X[order], y[order]).coef_, as_given, atol=1e-6)
