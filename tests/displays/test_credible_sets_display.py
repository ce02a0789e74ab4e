"""A locus: who is drawn where, in which colour."""

import numpy as np
import pytest

from garrote import SingleEffectsRegressor, SparseRegressor, VariationalGarroteClassifier
from garrote.displays import CredibleSetsDisplay

POSITIONS = 1000.0 * np.arange(20)[::-1]


def locus(seed=0, effect=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 20))
    X[:, 8] = X[:, 7] + 0.05 * rng.standard_normal(200)
    return X, effect * (X[:, 7] - X[:, 15]) + rng.standard_normal(200)


@pytest.fixture(scope="module")
def model():
    X, y = locus()
    return SingleEffectsRegressor().fit(X, y, feature_names=[f"rs{j}" for j in range(20)])


def test_points_of_a_set_are_at_their_positions_and_probabilities(model):
    display = CredibleSetsDisplay.from_estimator(model, positions=POSITIONS)
    members = [set(one.tolist()) for one in display.sets]
    assert {7, 8} in members
    assert {15} in members
    for points, one in zip(display.points_[1:], display.sets, strict=True):
        drawn = np.asarray(points.get_offsets())
        np.testing.assert_allclose(drawn[:, 0], POSITIONS[one])
        np.testing.assert_allclose(drawn[:, 1], model.inclusion_probability_[one])
    colours = {tuple(points.get_facecolor()[0]) for points in display.points_}
    assert len(colours) == len(display.points_)
    assert display.ax_.get_xlabel() == "position"
    assert {text.get_text() for text in display.texts_} <= {"rs7", "rs8", "rs15"}


def test_z_scores_are_those_of_regressions_on_one_variable(model):
    X, y = locus()
    display = CredibleSetsDisplay.from_estimator(model, y="z")
    for j in (0, 7, 15):
        x = X[:, j] - X[:, j].mean()
        slope = x @ y / (x @ x)
        left = y - y.mean() - slope * x
        expected = slope / np.sqrt(left @ left / 198 / (x @ x))
        assert np.isclose(display.z[j], expected)
    assert display.ax_.get_ylabel() == "z-score"
    assert display.ax_.get_xlabel() == "column"


def test_labels_have_score_tests():
    X, y = locus()
    model = VariationalGarroteClassifier(gamma=-3.0).fit(X, y > 0)
    z, labels = model.selection_.marginal_z, (y > 0).astype(float)
    x = X[:, 7] - X[:, 7].mean()
    share = np.corrcoef(x, labels)[0, 1]
    assert np.isclose(z[7], share * np.sqrt(198 / (1 - share**2)))


def test_z_scores_that_were_given_are_drawn_as_they_are():
    X, y = locus()
    X = (X - X.mean(0)) / X.std(0)
    z = X.T @ (y - y.mean()) / np.sqrt(200) / y.std()
    model = SingleEffectsRegressor().fit_zscores(z, X.T @ X / 200, 200, mismatch=0)
    np.testing.assert_allclose(CredibleSetsDisplay.from_estimator(model, y="z").z, z)


def test_without_sets_it_says_so():
    X, y = locus(effect=0.0)
    display = CredibleSetsDisplay.from_estimator(SingleEffectsRegressor().fit(X, y))
    assert [text.get_text() for text in display.ax_.texts] == ["no credible set was found"]


def test_what_cannot_be_drawn_is_refused(model):
    with pytest.raises(ValueError, match="y must be one of"):
        CredibleSetsDisplay.from_estimator(model, y="height")
    with pytest.raises(ValueError, match="positions must be 20 finite numbers"):
        CredibleSetsDisplay.from_estimator(model, positions=[1, 2])
    X, y = locus()
    with pytest.raises(ValueError, match="states no probabilities"):
        CredibleSetsDisplay.from_estimator(SparseRegressor(alpha=0.1).fit(X, y))
    with pytest.raises(ValueError, match="positions must be 20 finite numbers"):
        model.selection_.report("never.html", positions=[np.nan] * 20)


def test_a_document_keeps_those_of_sets_where_variables_are_many(model):
    found = model.selection_.locus
    thin = found.thinned(5)
    assert {7, 8, 15} <= set(thin.columns.tolist())
    assert len(thin.columns) == 5
    assert (np.diff(thin.at) >= 0).all()
