"""Columns that are in or out in groups, through refits, files, gaps and z-scores."""

import numpy as np
import pytest
from sklearn.base import clone

import garrote
from garrote import (
    SingleEffectsClassifier,
    SingleEffectsRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    VariationalGarrote,
    VariationalGarroteClassifier,
)
from garrote.impute import completed_tables, pool
from garrote.priors import GroupedInclusion
from garrote.selecting.control.resampling import parts_of_rows
from word_columns import by_group, make_table

LABELS = ["site", "site", "site", "age", "dose", "time", "kind", "kind"]
LAW = GroupedInclusion(LABELS)
MODELS = {
    "spike-slab": SpikeSlabRegressor(inclusion=LAW),
    "spike-slab of labels": SpikeSlabClassifier(method="enumerate", inclusion=LAW),
    "garrote": VariationalGarrote(-3.0, inclusion=LAW),
    "garrote of labels": VariationalGarroteClassifier(-3.0, inclusion=LAW),
    "single effects": SingleEffectsRegressor(inclusion=LAW),
    "single effects of labels": SingleEffectsClassifier(inclusion=LAW),
}


@pytest.fixture(scope="module")
def table():
    X, y, groups = make_table(5, n=120)
    return X, y + 1.5 * X[:, 0] - X[:, 3], groups


@pytest.fixture(params=MODELS, scope="module")
def fitted(request, table):
    """A model of each kind with refits, and what it was fitted to."""
    X, y, _ = table
    labels = "labels" in request.param
    y = np.where(y > np.median(y), "yes", "no") if labels else y
    return clone(MODELS[request.param]).set_params(stability=3).fit(X, y), X, y


def test_refits_find_groups_whole_as_plain_refits_do(fitted, table):
    model, X, y = fitted
    groups = np.array(table[2])
    found = model.selection_.stability
    assert found.refits == 3
    by_group(found.found.astype(float), groups)
    counts = np.zeros(X.shape[1], dtype=int)
    strata = y if y.dtype.kind == "U" else None
    for part in parts_of_rows(np.ones(len(y)), 3, 0, strata):
        kept = np.flatnonzero(part)
        counts += clone(model).set_params(stability=None).fit(X[kept], y[kept]).get_support()
    np.testing.assert_array_equal(found.found, counts)
    assert found.found[0] == 3


def test_a_file_brings_groups_back(fitted, tmp_path):
    model, X, _ = fitted
    model.save(tmp_path / "model.garrote")
    again = garrote.load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    one, two = model.posterior_, again.posterior_
    np.testing.assert_array_equal(two.inclusion_probability, one.inclusion_probability)
    np.testing.assert_array_equal(two.discoveries(0.2), one.discoveries(0.2))
    assert two.groups.labels == one.groups.labels
    assert [s.names for s in two.credible_sets(0.9)] == [s.names for s in one.credible_sets(0.9)]
    np.testing.assert_array_equal(two.sample(5, random_state=0), one.sample(5, random_state=0))
    assert again.inclusion == model.inclusion
    assert again.selection_.to_json() == model.selection_.to_json()


@pytest.mark.parametrize("kind", ["spike-slab", "garrote", "single effects"])
def test_fillings_of_gaps_are_pooled_by_groups(table, kind):
    X, y, groups = table
    gappy = X.copy()
    gappy[:12, 3:6] = np.where(np.eye(3, dtype=bool)[np.arange(12) % 3], np.nan, X[:12, 3:6])
    model = pool(MODELS[kind], gappy, y, n_imputations=2, random_state=0)
    tables = completed_tables(gappy, y, 2, random_state=0)
    each = [clone(MODELS[kind]).fit(filled, y) for filled in tables]
    expected = np.mean([one.inclusion_probability_ for one in each], axis=0)
    np.testing.assert_allclose(model.inclusion_probability_, expected, rtol=1e-12)
    by_group(model.inclusion_probability_, groups)
    posterior = model.posterior_
    assert posterior.groups.labels == each[0].posterior_.groups.labels
    inside = posterior.sample(200, random_state=0) != 0
    assert (inside[:, 0] == inside[:, 1]).all()
    assert np.isin([0, 1, 2], posterior.discoveries()).all()
    with pytest.raises(ValueError, match="this method keeps no models"):
        posterior.models()
    if kind == "single effects":  # whose sets are those of effects, one filling's at a time
        with pytest.raises(ValueError, match="without what credible sets need"):
            posterior.credible_sets(0.5)
        return
    for one in posterior.credible_sets(0.5):
        assert len(set(np.asarray(groups)[one.variables])) == len(one.variables)


def test_z_scores_give_single_effects_of_groups_as_their_rows_do(table):
    X, y, groups = table
    n = len(y)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    r = X.T @ y / n
    z = r * np.sqrt((n - 2) / (1 - r**2))
    rows = SingleEffectsRegressor(inclusion=LAW).fit(X, y)
    scores = SingleEffectsRegressor(inclusion=LAW).fit_zscores(z, np.corrcoef(X.T), n)
    by_group(scores.inclusion_probability_, groups)
    np.testing.assert_allclose(
        scores.inclusion_probability_, rows.inclusion_probability_, atol=0.02
    )
    assert scores.groups_.labels == rows.groups_.labels
    found = [{s.names for s in model.posterior_.credible_sets()} for model in (rows, scores)]
    assert ("site",) in found[0]
    assert found[0] == found[1]
