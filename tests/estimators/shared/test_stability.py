"""Refits on random parts of the rows: counted as plain refits on those rows count them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

from garrote import (
    SparseClassifier,
    SparseRegressor,
    SpikeSlabRegressor,
    VariationalGarrote,
    VariationalGarroteClassifier,
)
from garrote.estimators.registry import every_place
from garrote.estimators.shared import selectors
from garrote.inference import Sample
from garrote.priors import GaussianSlab, TwoHumpedSlab
from garrote.selecting.control.resampling import parts_of_rows

REFITS = 4


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 8))
    return X, X[:, 0] + 0.4 * X[:, 1] + 0.35 * X[:, 2] + rng.standard_normal(60)


def plain_counts(model, parts, X, y, weights, offset):
    """Fit the kept rows alone, one part after the other, and count what is selected."""
    counts = np.zeros(X.shape[1], dtype=int)
    for kept in (np.flatnonzero(part) for part in parts):
        refit = clone(model).fit(
            X[kept], y[kept], None if weights is None else weights[kept],
            offset=None if offset is None else offset[kept],
        )  # fmt: skip
        counts += refit.get_support()
    return counts


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        VariationalGarrote(gamma=-6.0, correct=False),
        SparseRegressor(alpha=0.2),
        SpikeSlabRegressor(GaussianSlab()),  # 8 columns: all models are summed
    ],
    ids=lambda model: type(model).__name__,
)
def test_refits_count_what_plain_fits_to_the_kept_rows_select(data, model, weighted, known):
    X, y = data
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 1.5, len(y)) if weighted else None
    offset = 0.3 * rng.standard_normal(len(y)) if known else None
    fitted = clone(model).set_params(stability=REFITS).fit(X, y, weights, offset=offset)
    parts = parts_of_rows(np.ones(len(y)) if weights is None else weights, REFITS, 0)
    found = fitted.selection_.stability
    assert found.refits == REFITS
    np.testing.assert_array_equal(found.found, plain_counts(model, parts, X, y, weights, offset))


@pytest.mark.parametrize("kind", [VariationalGarroteClassifier, SparseClassifier])
def test_labels_are_left_out_class_by_class(data, kind):
    X, y = data[0], np.where(data[1] > 0.7, "high", "low")
    strength = {"gamma": -3.0} if kind is VariationalGarroteClassifier else {"alpha": 0.05}
    found = kind(**strength, stability=REFITS).fit(X, y).selection_.stability
    parts = parts_of_rows(np.ones(len(y)), REFITS, 0, y)
    plain = plain_counts(kind(**strength), parts, X, y, None, None)
    np.testing.assert_array_equal(found.found, plain)


def test_all_rows_of_a_group_are_left_out_together(data):
    X, y = data
    groups = np.arange(len(y)) // 6
    model = SparseRegressor(alpha=0.2)
    found = clone(model).set_params(stability=REFITS).fit(X, y, groups=groups).selection_.stability
    parts = parts_of_rows(np.ones(len(y)), REFITS, 0, groups=groups)
    np.testing.assert_array_equal(found.found, plain_counts(model, parts, X, y, None, None))
    assert all(len({*part[groups == g]}) == 1 for part in parts for g in range(10))
    assert all((part == 0).sum() == 6 for part in parts)


def test_a_tenth_of_the_rows_that_count_is_left_out_of_every_class():
    weights = np.r_[np.zeros(10), np.full(60, 2.0)]
    classes = np.repeat(["a", "b", "c"], [30, 39, 1])
    for part in parts_of_rows(weights, 5, 1, classes):
        assert not part[:10].any()
        assert set(part[10:]) == {0.0, 2.0}
        assert [(part[classes == c] == 0).sum() for c in "abc"] == [12, 4, 0]


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_of_a_few_rows_one_is_left_out(rows):
    for part in parts_of_rows(np.ones(rows), 3, None):
        assert part.sum() == rows - 1


def test_lists_frames_and_words_are_refitted(data):
    X, y = data
    frame = pd.DataFrame(X, index=np.arange(60) + 7)
    plain = SparseRegressor(alpha=0.2, stability="auto").fit(X, y).selection_.stability
    for columns, response in ((X.tolist(), y.tolist()), (frame, pd.Series(y, index=frame.index))):
        again = SparseRegressor(alpha=0.2, stability="auto").fit(columns, response)
        np.testing.assert_array_equal(again.selection_.stability.found, plain.found)
    words = np.where(y > 1.5, "many", "few").tolist()
    assert SparseClassifier(alpha=0.05, stability="auto").fit(X, words).selection_.stability


def test_few_rows_are_refitted_on_request_only(data):
    X, y = data[0][:15], data[1][:15]
    assert SparseRegressor(alpha=0.2, stability="auto").fit(X, y).selection_.stability is None
    assert SparseRegressor(alpha=0.2, stability=3).fit(X, y).selection_.stability.refits == 3


def test_sparse_columns_and_threads_change_nothing(data):
    X, y = data
    few = np.where(abs(X) > 0.5, X, 0.0)
    dense = SparseRegressor(alpha=0.1, stability=REFITS, n_jobs=1).fit(few, y)
    sparse = SparseRegressor(alpha=0.1, stability=REFITS, n_jobs=2).fit(
        scipy.sparse.csc_array(few), y
    )
    np.testing.assert_array_equal(
        dense.selection_.stability.found, sparse.selection_.stability.found
    )


def test_a_refit_keeps_the_strength_that_was_chosen_and_does_less_work(data):
    X, y = data
    chosen = SparseRegressor().fit(X, y)
    assert chosen._refit_settings() == {"alpha": chosen.alpha_}
    sampled = SpikeSlabRegressor(method=Sample(n_steps=500, burn_in=100), random_state=0).fit(X, y)
    brief = sampled._refit_settings()["method"]
    assert (type(brief), brief.n_chains) == (Sample, 1)


def test_refits_that_would_take_long_are_made_only_where_they_are_asked_for(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(selectors, "ENTRIES_REFITTED", X.size - 1)
    assert SparseRegressor(alpha=0.2, stability="auto").fit(X, y).selection_.stability is None
    assert SparseRegressor(alpha=0.2, stability=2).fit(X, y).selection_.stability.refits == 2
    monkeypatch.setattr(selectors, "ENTRIES_REFITTED", X.size)
    assert SparseRegressor(alpha=0.2, stability="auto").fit(X, y).selection_.stability.refits == 20


@pytest.mark.parametrize("given", [1, 0, -3, 2.5, "often", True])
def test_what_is_no_number_of_refits_is_refused_before_any_work(data, given):
    with pytest.raises(ValueError, match="stability must be an integer >= 2"):
        SparseRegressor(stability=given).fit(*data)


@pytest.mark.parametrize("name", sorted(place.estimator for _, place in every_place()))
def test_every_estimator_has_the_setting(name):
    import garrote

    assert getattr(garrote, name)().get_params()["stability"] is None


def test_the_selection_tells_who_did_not_come_back(data):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((30, 200)), rng.standard_normal(30)
    selection = SparseRegressor(alpha=0.25, stability=10).fit(X, y).selection_
    rare = selection.stability.rare(selection.selected)
    assert len(rare), "noise should not come back"
    assert "most refits do not find again" in selection.headline
    assert selection.table().columns["found again"][0].endswith(" of 10")
    told = selection.to_dict()
    assert [one["position"] for one in told["stability"]["rare"]] == rare.tolist()
    assert all(0 <= v["found_again"] <= 10 for v in told["variables"])


def test_parts_that_cannot_be_fitted_are_not_counted_and_leave_the_fit_alone(data):
    X, y = data
    one_group = np.zeros(60, dtype=int)
    with pytest.warns(UserWarning, match="there are no refits"):
        model = SparseRegressor(alpha=0.2, stability=3).fit(X, y, groups=one_group)
    assert model.selection_.stability is None
    # Without its second group there is one class alone: refits that leave it out are not counted.
    groups, classes = np.repeat([0, 1, 2], 20), np.repeat([0, 1, 0], 20)
    fitted = SparseClassifier(alpha=0.05, stability=12).fit(X, classes, groups=groups)
    assert 2 <= fitted.selection_.stability.refits < 12


def test_refits_keep_the_shape_that_all_rows_had(data):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((52, 5))
    model = SpikeSlabRegressor(stability=2).fit(X, X[:, 0] + rng.standard_normal(52))
    assert model.posterior_.shapes is not None
    assert model._refit_settings()["prior"] == TwoHumpedSlab()
