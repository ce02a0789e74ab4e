"""Curves of survival: what is drawn is what the model predicts."""

import matplotlib as mpl
import numpy as np
import pytest

from garrote import SparseRegressor
from garrote.displays import SurvivalDisplay
from garrote.likelihoods import survival_times

mpl.use("Agg")


def test_curves_are_the_predictions_and_limits_are_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    y = survival_times(rng.exponential(np.exp(-X[:, 0])), rng.random(50) < 0.8)
    model = SparseRegressor(family="cox", alpha=0.05).fit(X, y)
    display = SurvivalDisplay.from_estimator(model, X[:2], labels=["one", "two"])
    times, drawn = display.lines_[1].get_data()
    np.testing.assert_allclose(drawn, model.predict_survival(X[1:2], times)[0])
    assert drawn[0] == 1.0
    assert display.ax_.get_ylim()[0] == 0.0
    with pytest.raises(ValueError, match="give 10 rows"):
        SurvivalDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match="1 labels for 2 rows"):
        SurvivalDisplay.from_estimator(model, X[:2], labels=["one"])
    with pytest.raises(TypeError, match="has no baseline_"):
        SurvivalDisplay.from_estimator(SparseRegressor(alpha=0.1).fit(X, X[:, 0]), X[:1])
