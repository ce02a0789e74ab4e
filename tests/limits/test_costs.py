"""What a fit will cost is counted before it begins."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from garrote import VariationalGarroteClassifier
from garrote.limits.costs import CostWarning, points_in_all
from garrote.paths import AnnealBound


@pytest.mark.parametrize(
    ("cv", "folds"), [(None, 5), (3, 3), (KFold(4), 4), (ShuffleSplit(2), 2), ([], 5)]
)
def test_strengths_are_solved_on_all_rows_and_in_each_fold(cv, folds):
    assert points_in_all(30, cv, True) == 30 * (1 + folds)
    assert points_in_all(np.zeros(7), cv, False) == 7


def test_folds_that_are_not_named_cost_as_much_as_five(monkeypatch):
    def stop(*_):
        raise InterruptedError

    monkeypatch.setattr("garrote.estimators.variational_garrote_classifier.rows_left", lambda _: 0)
    monkeypatch.setattr("garrote.estimators.variational_garrote_classifier.Control", stop)
    X = np.broadcast_to(np.random.default_rng(0).standard_normal((400, 1)), (400, 20_000))
    y = np.arange(400) % 2
    for cv in (None, 5):
        model = VariationalGarroteClassifier(method=AnnealBound(gammas=200), cv=cv)
        with (
            pytest.warns(CostWarning, match="20000 columns at 1200 strengths"),
            pytest.raises(InterruptedError),
        ):
            model.fit(X, y)
