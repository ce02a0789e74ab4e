"""Many responses: each as if it were fitted alone, one tidy file, nothing lost by an interruption."""

import numpy as np
import polars as pl
import pytest

from garrote import SingleEffectsRegressor, SparseRegressor, SpikeSlabRegressor
from garrote.designs import PlinkDesign
from garrote.many import fit_many
from genotype_files import drawn, filled, write_plink

N, D, K = 90, 24, 5


@pytest.fixture
def data(tmp_path):
    copies = drawn(N, D, 2, 0.02)
    X, rng = filled(copies), np.random.default_rng(0)
    Y = X[:, [3, 9, 15, 21, 4]] + 0.5 * rng.standard_normal((N, K))
    Y[:, 4] = rng.standard_normal(N)
    Y[5:12, 2] = np.nan
    return PlinkDesign(write_plink(tmp_path / "a.bed", copies)), X, Y, tmp_path / "found.parquet"


def windows():
    return [slice(0, 8), np.arange(6, 14), np.arange(12, 20), slice(16, 24), np.array([], int)]


def of(frame, trait):
    return frame.filter(pl.col("trait") == trait)


@pytest.mark.parametrize("method", ["effects", "mean field"])
def test_every_response_is_as_if_fitted_alone(data, method):
    design, X, Y, path = data
    model = (
        SingleEffectsRegressor() if method == "effects" else SpikeSlabRegressor(method="mean-field")
    )
    told = fit_many(design, Y, path, model=model, windows=windows(), batch=2)
    frame = pl.read_parquet(path)
    assert (told.traits, told.rows, told.resumed, told.failed) == (5, frame.height, 0, 1)
    assert not path.with_name("found.parquet.parts").exists()
    for k, window in enumerate(windows()[:4]):
        columns = np.arange(D)[window]
        known = np.isfinite(Y[:, k])
        alone = type(model)(**model.get_params(deep=False))
        alone.fit(np.asfortranarray(X[:, columns]), np.where(known, Y[:, k], 0.0), known * 1.0)
        rows = of(frame, f"y{k}")
        chance = alone.selection_.probability
        assert set(np.flatnonzero(chance >= 0.01)) <= {
            int(np.flatnonzero(columns == j)[0]) for j in rows["column"]
        }
        for row in rows.iter_rows(named=True):
            place = int(np.flatnonzero(columns == row["column"])[0])
            assert row["probability"] == pytest.approx(chance[place], abs=1e-8)
            assert row["effect"] == pytest.approx(alone.selection_.effect[place], abs=1e-8)
            assert row["variable"] == f"rs{row['column']}"
    assert of(frame, "y4")["note"].to_list() == ["its window has no column"]


def test_covariates_and_weights_are_those_of_a_fit(data):
    design, X, Y, path = data
    rng = np.random.default_rng(1)
    beside, weights = rng.standard_normal((N, 2)), rng.uniform(0.5, 2, N)
    fit_many(design, Y[:, :1], path, covariates=beside, sample_weight=weights, traits=["gene"])
    alone = SingleEffectsRegressor(covariates=[D, D + 1])
    alone.fit(np.asfortranarray(np.hstack([X, beside])), Y[:, 0], weights)
    frame = pl.read_parquet(path)
    assert set(frame["trait"]) == {"gene"}
    first = frame.row(0, named=True)
    assert first["column"] == 3
    assert first["probability"] == pytest.approx(alone.selection_.probability[3], abs=1e-8)


def test_an_interrupted_call_goes_on_where_it_was(data):
    design, _, Y, path = data
    fit_many(design, Y, path, windows=windows(), batch=2)
    whole = pl.read_parquet(path)
    path.write_bytes(b"older")

    def interrupt(done, of):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_many(design, Y, path, windows=windows(), batch=2, callback=interrupt)
    assert path.read_bytes() == b"older"
    with pytest.raises(ValueError, match="other data or settings"):
        fit_many(design, Y + 1.0, path, windows=windows(), batch=2)
    told = fit_many(design, Y, path, windows=windows(), batch=2)
    assert told.resumed == 4
    assert pl.read_parquet(path).equals(whole)


def test_a_response_that_cannot_be_fitted_says_why(data):
    design, _, Y, path = data
    Y = Y[:, :2].copy()
    Y[1:, 1] = np.nan
    told = fit_many(design, Y, path)
    assert told.failed == 1
    assert "y1" in pl.read_parquet(path).filter(pl.col("note").is_not_null())["trait"].to_list()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"Y": np.zeros((3, 2))}, "Y must have 90 rows"),
        ({"windows": [slice(0, 2)]}, "one for each of 5 responses"),
        ({"windows": [np.array([99])] * 5}, "window 0 has column 99"),
        ({"traits": ["a"] * 5}, "5 names are needed, each once"),
        ({"sample_weight": -np.ones(N)}, "at least 0"),
        ({"covariates": np.full(N, np.nan)}, "covariates must be finite"),
        ({"batch": 0}, "batch must be"),
    ],
)
def test_what_does_not_go_together_is_refused_before_any_work(data, change, match):
    design, _, Y, path = data
    with pytest.raises(ValueError, match=match):
        fit_many(**({"X": design, "Y": Y, "path": path} | change))
    assert not path.exists()
    assert not path.with_name(path.name + ".parts").exists()


def test_models_without_covariates_are_refused(data):
    with pytest.raises(TypeError, match="by a posterior, got SparseRegressor"):
        fit_many(*data[:1], data[2], data[3], model=SparseRegressor("lasso"))
