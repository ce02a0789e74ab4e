"""The picture of selection frequencies shows what the selection says, and refuses other evidence."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from garrote import Bolasso, SparseRegressor, StabilitySelection
from garrote.displays import InclusionDisplay, StabilityDisplay


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 10))
    return X, X[:, 3] - X[:, 6] + rng.standard_normal(80)


def test_curves_are_frequencies_and_the_line_is_the_threshold(data):
    model = StabilitySelection(n_resamples=10, n_features=3, threshold=0.8).fit(*data)
    display = StabilityDisplay.from_estimator(model)
    assert {text.get_text() for text in display.labels_} == {"x3", "x6"}
    assert display.threshold_line_.get_ydata()[0] == 0.8
    assert "probability" not in display.ax_.get_ylabel()
    along = model.frequencies_.along.toarray() / 10
    for line in display.lines_:
        column = int(line.get_label()[1:])
        np.testing.assert_allclose(line.get_ydata(), along[:, column])
        assert (np.diff(line.get_ydata()) >= 0).all()
    bars = InclusionDisplay.from_estimator(model)
    assert bars.threshold == 0.8


def test_other_evidence_and_bases_without_a_path_are_refused(data):
    with pytest.raises(ValueError, match="is not a frequency"):
        StabilityDisplay.from_estimator(SparseRegressor(alpha=0.1).fit(*data))
    model = Bolasso(garrote_without_path(), n_resamples=4).fit(*data)
    with pytest.raises(ValueError, match="path"):
        StabilityDisplay.from_estimator(model)


def garrote_without_path():
    from garrote import GreedyRegressor

    return GreedyRegressor(n_features=2)
