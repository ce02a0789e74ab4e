"""Estimators give the same answers for a table that is read by blocks as for one in memory."""

import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import RepeatedKFold

from garrote import (
    GreedyRegressor,
    RelevanceRegressor,
    ShrinkageRegressor,
    SingleEffectsRegressor,
    SparseClassifier,
    SparseRegressor,
    SpikeSlabRegressor,
    StabilitySelection,
    VariationalGarrote,
)
from garrote.designs import ChunkedDesign
from garrote.inference import Gibbs
from pairwise import by_pairs

ROWS, COLUMNS = 420, 7
MODELS = {
    "lasso": SparseRegressor(),
    "mcp": SparseRegressor("mcp", penalty_factor={"g0": 0.0}),
    "bic": SparseRegressor(alpha="bic", refit=True),
    "garrote": VariationalGarrote(),
    "covariate": VariationalGarrote(gamma="free_energy", covariates=["g2"]),
    "effects": SingleEffectsRegressor(),
    "models": SpikeSlabRegressor(method="enumerate"),
    "relevance": RelevanceRegressor(),
    "greedy": GreedyRegressor(),
}
FOLDS = {
    "five": 5,
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "groups": 4,
    "one split": [(np.arange(0, 300), np.arange(300, 400))],
}


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, COLUMNS)) + 0.7 * rng.standard_normal((ROWS, 1))
    X[:, 3] = 1e4 + 1e-2 * X[:, 3]
    y = 3.0 + X[:, 1] - 2 * X[:, 4] + rng.standard_normal(ROWS)
    return X, y


def from_array(X, folder):
    np.save(folder / "rows.npy", X)
    return ChunkedDesign(folder / "rows.npy", block_rows=77)


def from_parquet(X, folder):
    frame = pl.DataFrame({f"g{j}": X[:, j] for j in range(COLUMNS)})
    frame.write_parquet(folder / "rows.parquet")
    return ChunkedDesign(folder / "rows.parquet", block_rows=100)


def from_blocks(X, folder):
    return ChunkedDesign(lambda: (X[k : k + 50] for k in range(0, ROWS, 50)))


NAMES = [f"g{j}" for j in range(COLUMNS)]


@by_pairs(
    source=[from_array, from_parquet, from_blocks],
    model=list(MODELS),
    weights=["none", "counts", "some zero"],
    folds=list(FOLDS),
    offset=[False, True],
)
def test_answers_are_those_of_the_table_in_memory(source, model, weights, folds, offset, tmp_path):
    (X, y), rng = table(), np.random.default_rng(1)
    y = np.round(y, 1) if offset else y  # folds of equal responses depend on X
    given = {}
    if weights != "none":
        given["sample_weight"] = rng.integers(weights == "counts", 4, ROWS).astype(float)
    if offset:
        given["offset"] = rng.standard_normal(ROWS)
    estimator = clone(MODELS[model])
    if "cv" in estimator.get_params():
        estimator.set_params(cv=FOLDS[folds])
        if folds == "groups":
            given["groups"] = rng.integers(0, 30, ROWS)
    design, named = source(X, tmp_path), {"feature_names": NAMES}
    inside = clone(estimator).fit(X, y, **given, **named)
    outside = estimator.fit(design, y, **given, **({} if design.names else named))
    unit = X.std(axis=0)
    np.testing.assert_allclose(outside.coef_ * unit, inside.coef_ * unit, rtol=0, atol=1e-8)
    known = {"offset": given["offset"]} if offset else {}
    np.testing.assert_allclose(
        outside.predict(design, **known), inside.predict(X, **known), rtol=1e-8, atol=1e-8
    )
    ours, plain = outside.selection_, inside.selection_
    assert (ours.selected == plain.selected).all()
    assert ours.certificate.value == pytest.approx(plain.certificate.value, rel=1e-3, abs=1e-8)
    told = ours.provenance
    assert {key: told[key] for key in plain.provenance if key != "settings"} == {
        key: value for key, value in plain.provenance.items() if key != "settings"
    }
    if hasattr(inside, "cv_results_"):
        for key, value in inside.cv_results_.items():
            np.testing.assert_allclose(outside.cv_results_[key], value, rtol=1e-7)
    shown = ours.predictions
    np.testing.assert_array_equal(shown.observed, y[shown.rows])
    if not plain.predictions.held_out:
        np.testing.assert_allclose(shown.predicted, plain.predictions.predicted, atol=1e-6)


def test_several_responses_are_condensed_together(tmp_path):
    X, y = table()
    Y = np.column_stack([y, y + X[:, 0], X[:, 5]])
    inside, outside = SparseRegressor().fit(X, Y), SparseRegressor().fit(from_array(X, tmp_path), Y)
    np.testing.assert_allclose(outside.coef_, inside.coef_, atol=1e-8)


def test_draws_are_the_same_as_in_memory(tmp_path):
    X, y = table()
    model = ShrinkageRegressor(method=Gibbs(n_steps=100, n_chains=1), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few draws
        inside, outside = clone(model).fit(X, y), clone(model).fit(from_array(X, tmp_path), y)
    np.testing.assert_allclose(
        outside.coef_ * X.std(axis=0), inside.coef_ * X.std(axis=0), atol=1e-8
    )


def test_labels_and_counts_are_fitted_by_passes(tmp_path):
    X, y = table()
    labels, design = y > 0, from_parquet(X, tmp_path)
    inside, outside = (SparseClassifier(cv=3).fit(part, labels) for part in (X, design))
    np.testing.assert_allclose(outside.coef_, inside.coef_, rtol=1e-8, atol=1e-10)
    assert outside.selection_.names == tuple(NAMES)
    assert (outside.predict(design) == inside.predict(X)).all()
    counts = np.random.default_rng(0).poisson(np.exp(X[:, 1] / 3))
    inside, outside = (
        SparseRegressor(family="poisson", alpha="bic").fit(part, counts) for part in (X, design)
    )
    np.testing.assert_allclose(outside.coef_, inside.coef_, rtol=1e-8, atol=1e-10)


def test_wide_table_is_fitted_by_passes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 90))
    y = X[:, 1] - X[:, 4] + rng.standard_normal(60)
    design = ChunkedDesign(lambda: iter([X[:20], X[20:]]), block_rows=25)
    for model in (SparseRegressor(), VariationalGarrote()):
        inside, outside = clone(model).fit(X, y), clone(model).fit(design, y)
        np.testing.assert_allclose(outside.coef_, inside.coef_, atol=1e-8)


def test_stability_is_that_of_the_table_in_memory(tmp_path):
    X, y = table()
    design = from_parquet(X, tmp_path)
    inside, outside = (
        SparseRegressor(alpha="bic", stability=3).fit(part, y) for part in (X, design)
    )
    assert (outside.selection_.stability.found == inside.selection_.stability.found).all()
    model = StabilitySelection(SparseRegressor(), n_resamples=4, random_state=0)
    inside, outside = clone(model).fit(X, y), clone(model).fit(design, y)
    assert (outside.selection_.probability == inside.selection_.probability).all()
    assert outside.selection_.names == tuple(NAMES)


def test_selection_tells_that_the_table_was_condensed(tmp_path):
    X, y = table()
    found = SparseRegressor().fit(from_array(X, tmp_path), y).selection_
    assert found.provenance["condensed"] == "420 rows in one pass, to 45 with the same moments"
    assert not found.predictions.held_out


def test_callback_is_told_how_much_has_been_read(tmp_path):
    X, y = table()
    heard = []
    SparseRegressor(alpha="bic", callback=heard.append).fit(from_array(X, tmp_path), y)
    read = [(event.done, event.total) for event in heard if event.stage == "reading"]
    assert read == [(min(k, ROWS), ROWS) for k in range(77, ROWS + 77, 77)]


def test_predictions_for_rows_are_made_block_by_block(tmp_path):
    X, y = table()
    model = SpikeSlabRegressor(method="enumerate").fit(X, y)
    for ours, plain in zip(
        model.predict(from_array(X, tmp_path), return_std=True),
        model.predict(X, return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(ours, plain, rtol=1e-10)
    assert model.transform(from_array(X, tmp_path)).shape == (ROWS, model.get_support().sum())


def test_bad_responses_and_folds_are_refused_before_the_pass(tmp_path):
    X, y = table()
    design = from_array(X, tmp_path)
    design.fold = None  # any pass would fail
    gap = y.copy()
    gap[7] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SparseRegressor().fit(design, gap)
    with pytest.raises(ValueError, match="420 rows and y 419"):
        SparseRegressor().fit(design, y[1:])
    with pytest.raises(ValueError, match="has row 420, but there are 420 rows"):
        SparseRegressor(cv=[([0, 1, 420], [2, 3])]).fit(design, y)
    with pytest.raises(ValueError, match="sample_weight"):
        SparseRegressor().fit(design, y, -np.ones(ROWS))


def test_missing_value_names_row_and_column(tmp_path):
    X, y = table()
    X[400, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN\) at row 400 of rows.parquet, column 'g2'"):
        VariationalGarrote().fit(from_parquet(X, tmp_path), y)
