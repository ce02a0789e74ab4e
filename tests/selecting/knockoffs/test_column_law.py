"""The law of the columns is that of the rows, shrunk as scikit-learn has it, or as given."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf
from sklearn.preprocessing import scale

from garrote.knockoffs import ModelX
from garrote.selecting.knockoffs.column_law import law_of_columns
from garrote.selecting.knockoffs.kinds import ToCopy

X = np.random.default_rng(0).standard_normal((60, 5)) @ (np.eye(5) + 0.5) * [1, 10, 0.1, 5, 2] + 3


def test_correlations_are_shrunk_as_far_as_ledoit_and_wolf_say():
    found = law_of_columns(X, np.ones(60), "shrunk", None)
    expected, shrinkage = ledoit_wolf(scale(X), assume_centered=True)
    deviation = X.std(axis=0)
    assert found.shrinkage == pytest.approx(shrinkage)
    np.testing.assert_allclose(
        found.covariance / np.outer(deviation, deviation), expected, atol=1e-12
    )
    np.testing.assert_allclose(found.mean, X.mean(axis=0))


def test_units_of_columns_make_no_difference():
    one, other = (
        law_of_columns(X * unit, np.ones(60), "shrunk", None)
        for unit in (1.0, np.array([1, 1e6, 1e-6, 3, 7]))
    )
    assert one.shrinkage == pytest.approx(other.shrinkage)


def test_weights_are_repeats():
    times = np.random.default_rng(1).integers(1, 4, 60)
    one = law_of_columns(X, times.astype(float), "empirical", None)
    other = law_of_columns(X.repeat(times, axis=0), np.ones(times.sum()), "empirical", None)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-10)


@pytest.mark.parametrize(
    ("covariance", "mean", "said"),
    [
        ("best", None, "covariance must be one of"),
        (np.eye(4), None, "5 x 5 finite numbers"),
        (np.triu(np.ones((5, 5))), None, "covariance must be symmetric"),
        (np.eye(5) - 0.9, None, "eigenvalue -3.5"),
        (np.eye(5), np.zeros(4), "mean must be 5 finite numbers"),
    ],
)
def test_what_is_no_law_is_refused(covariance, mean, said):
    table = ToCopy(X, np.ones(60), np.arange(5), True)
    with pytest.raises(ValueError, match=said):
        ModelX(covariance, mean).make(table, "mvr", np.random.default_rng())
