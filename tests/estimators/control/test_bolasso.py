"""The bolasso: intersections of plain lassos in bootstrap samples, refitted by least squares."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso

import garrote
from garrote import Bolasso, SparseClassifier, SparseRegressor, VariationalGarrote
from garrote.selecting.control.resampling import RowUnits, draw_resamples


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 12))
    return X, X[:, 2] - X[:, 7] + rng.standard_normal(90)


def samples(rows, count):
    streams = np.random.SeedSequence(0).spawn(count)
    return draw_resamples("bootstrap", count, streams, RowUnits.of(np.ones(rows)))


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_it_selects_what_plain_lassos_select_in_enough_samples(data, share):
    X, y = data
    base = SparseRegressor(alpha=0.1, standardize=False)
    model = Bolasso(base, share=share, n_resamples=20).fit(X, y)
    counts = np.zeros(12)
    for part in samples(90, 20):
        counts += Lasso(alpha=0.1, tol=1e-10).fit(X, y, sample_weight=part).coef_ != 0
    np.testing.assert_array_equal(model.frequency_, counts / 20)
    np.testing.assert_array_equal(model.get_support(), counts >= share * 20)
    chosen = model.get_support(indices=True)
    design = np.column_stack([np.ones(90), X[:, chosen]])
    plain = np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_[chosen], plain[1:], rtol=1e-8)


def test_samples_keep_the_alpha_that_all_rows_choose(data):
    X, y = data
    alpha = SparseRegressor().fit(X, y).alpha_
    chosen = Bolasso(n_resamples=10).fit(X, y)
    given = Bolasso(SparseRegressor(alpha=alpha), n_resamples=10).fit(X, y)
    np.testing.assert_array_equal(chosen.frequency_, given.frequency_)


@pytest.mark.parametrize("base", [None, VariationalGarrote(), Lasso(alpha=0.1)])
def test_threads_change_nothing_and_any_base_will_do(data, base):
    one = Bolasso(base, n_resamples=6, share=0.5).fit(*data)
    two = Bolasso(base, n_resamples=6, share=0.5, n_jobs=2).fit(*data)
    np.testing.assert_array_equal(one.frequency_, two.frequency_)
    assert {2, 7} <= set(one.get_support(indices=True))


def test_no_bound_is_claimed(data, tmp_path):
    model = Bolasso(n_resamples=6).fit(*data)
    assert np.isnan(model.error_control_.bound)
    assert "no bound on false selections is stated" in str(model.selection_)
    model.save(tmp_path / "model.garrote")
    again = garrote.load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))


def test_labels_are_drawn_class_by_class(data):
    X, y = data
    model = Bolasso(SparseClassifier(alpha=0.05), n_resamples=6).fit(X, y > 1.0)
    assert {2, 7} <= set(model.get_support(indices=True))
    assert model.score(X, y > 1.0) > 0.7


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"share": 0.0}, "share must be"),
        ({"share": 1.1}, "share must be"),
        ({"n_resamples": 1}, "n_re"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(data, settings, said):
    with pytest.raises(ValueError, match=said):
        Bolasso(**settings).fit(*data)
