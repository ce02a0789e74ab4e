"""One cross-validation for every kind of path: folds, their errors, and the rows that are shown."""

from types import SimpleNamespace

import numpy as np
import pytest

from garrote import Problem
from garrote.selecting.cross_validation import HeldOut, cross_validate, make_folds

STRENGTHS = np.array([3.0, 2.0, 1.0])


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.standard_normal((12, 2)), np.arange(12.0), np.ones(12)


def splits():
    places = np.arange(12)
    return [(places[places % 3 != k], places[places % 3 == k]) for k in range(3)]


def mean_of_training_rows(fold, shown):
    """Predict by the mean of the training rows plus the strength."""
    yield from ()
    y = np.arange(12.0)
    mean = fold.problem.scale.response_mean
    left = y - (mean + STRENGTHS[:, None])
    errors = np.array([fold.mean_error(row**2) for row in left])
    return HeldOut(errors, left[:, shown], fold.mean_error((y - mean) ** 2))


def whole_path(reached):
    yield from ()
    return SimpleNamespace(strengths=STRENGTHS[:reached])


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_row_is_measured_by_the_fold_that_held_it_out(rows, n_jobs):
    X, y, weights = rows
    whole = Problem.from_rows(X, y)
    folds = make_folds(weights, splits(), lambda inside: Problem.from_rows(X, y, inside))
    _, found = cross_validate(mean_of_training_rows, folds, whole, whole_path(3), n_jobs)
    assert found.strengths.tolist() == STRENGTHS.tolist()
    assert found.errors.shape == (3, 3)
    for k, (train, test) in enumerate(splits()):
        expected = [np.mean((y[test] - y[train].mean() - s) ** 2) for s in STRENGTHS]
        np.testing.assert_allclose(found.errors[k], expected)
        np.testing.assert_allclose(found.null_errors[k], np.mean((y[test] - y[train].mean()) ** 2))
        np.testing.assert_allclose(found.residuals[0, test], y[test] - y[train].mean() - 3.0)
    assert found.rows.tolist() == list(range(12))
    assert found.choose("min") == int(np.argmin(found.mean))
    assert set(found.results("alpha")) >= {"alpha", "mean_error", "fold_errors"}


def test_errors_end_where_the_path_of_all_rows_does(rows):
    X, y, weights = rows
    folds = make_folds(weights, splits(), lambda inside: Problem.from_rows(X, y, inside))
    whole = Problem.from_rows(X, y)
    path, found = cross_validate(mean_of_training_rows, folds, whole, whole_path(2))
    assert found.errors.shape == (3, 2)
    assert found.residuals.shape == (2, 12)
    assert found.strengths.tolist() == path.strengths.tolist()


def test_folds_without_rows_are_refused(rows):
    X, y, weights = rows
    empty = [(np.arange(12), np.zeros(0, int))]
    with pytest.raises(ValueError, match="fold 0 has no test rows"):
        make_folds(weights, empty, lambda inside: Problem.from_rows(X, y, inside))
    with pytest.raises(ValueError, match="no splits"):
        make_folds(weights, [], lambda inside: Problem.from_rows(X, y, inside))
