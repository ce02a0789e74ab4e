"""Bad input: the right answer, or an error before any work that names the cause and the remedy."""

import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from garrote import (
    Problem,
    ShrinkageRegressor,
    SingleEffectsRegressor,
    SparseRegressor,
    SpikeSlabRegressor,
    VariationalGarrote,
    VariationalGarroteClassifier,
    fit_path,
)
from garrote.paths import Anneal
from garrote.priors import ExpectedSize


def regression(n=60, d=8, seed=0, noise=0.5):
    """Rows with two true variables, 1 and 4."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = 2 * X[:, 1 % d] - (X[:, 4] if d > 4 else 0.0) + noise * rng.standard_normal(n)
    return X, y


@contextmanager
def refused(*parts):
    """Expect a ValueError whose text contains every part, whatever the case."""
    with pytest.raises(ValueError, match=r".") as error:
        yield
    text = str(error.value).lower()
    missing = [part for part in parts if str(part).lower() not in text]
    assert not missing, f"{missing} not in: {error.value}"


def garrote_with(**settings):
    """Return a garrote whose method has the settings that are the method's."""
    own = {name: settings.pop(name) for name in [*settings] if name in Anneal().get_params()}
    return VariationalGarrote(method=Anneal(**own), **settings)


def assert_sound(model, X, y):
    """Check that an answer is finite, certified and predicts finite values."""
    for values in (model.coef_, model.intercept_, model.inclusion_probability_):
        assert np.isfinite(values).all()
    assert model.noise_variance_ >= 0
    assert model.certificate_.value <= Anneal.of(model.method).tol
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()


def must_not_start(_progress):
    raise AssertionError("work has begun")


# --- not numbers


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["float64", "float32", "csc", "csr"])
def test_entries_that_are_not_finite_are_named_by_row_and_column(bad, kind):
    X, y = regression()
    X[37, 5] = bad
    given = {
        "float64": X,
        "float32": X.astype(np.float32),
        "csc": scipy.sparse.csc_array(X),
        "csr": scipy.sparse.csr_array(X),
    }[kind]
    with refused("row 37", "column 5", "impute"):
        VariationalGarrote(callback=must_not_start).fit(given, y)


def test_missing_entries_of_a_data_frame_are_named_by_its_column_name():
    X, y = regression()
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(8)])
    frame.loc[12, "gene 3"] = np.nan
    with refused("row 12", "'gene 3'", "impute"):
        VariationalGarrote().fit(frame, y)


def test_null_entries_of_a_polars_frame_are_named_by_its_column_name():
    X, y = regression()
    columns = {f"gene {j}": list(X[:, j]) for j in range(8)}
    columns["gene 3"][12] = None
    with refused("row 12", "'gene 3'", "impute"):
        VariationalGarrote().fit(pl.DataFrame(columns), y)


@pytest.mark.parametrize("missing", [None, pd.NA])
def test_missing_entries_of_pandas_nullable_columns_are_named(missing):
    X, y = regression()
    frame = pd.DataFrame(X).astype("Float64").add_prefix("gene ")
    frame.loc[12, "gene 3"] = missing
    with refused("row 12", "'gene 3'"):
        VariationalGarrote().fit(frame, y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_responses_that_are_not_finite_are_named_by_row(bad):
    X, y = regression()
    y[41] = bad
    with refused("y", "row 41"):
        VariationalGarrote().fit(X, y)


def test_new_rows_with_missing_entries_are_named_too():
    X, y = regression()
    model = VariationalGarrote(gamma=-5.0).fit(X, y)
    X[3, 2] = np.nan
    with refused("row 3", "column 2"):
        model.predict(X)


def test_text_columns_are_named_with_the_remedy():
    X, y = regression()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    frame["town"], frame["b"] = "Delft", "x"
    with refused("'town'", "'b'", "OneHotEncoder"):
        VariationalGarrote().fit(frame, y)
    with refused("'town'", "OneHotEncoder"):
        VariationalGarrote().fit(pl.DataFrame({"a": X[:, 0], "town": ["Delft"] * 60}), y)


def test_dates_and_categories_are_refused_like_text():
    X, y = regression()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    frame["day"] = pd.date_range("2020-01-01", periods=60)
    frame["kind"] = pd.Categorical(["u", "v"] * 30)
    with refused("'day'", "'kind'"):
        VariationalGarrote().fit(frame, y)


def test_text_in_an_object_array_is_refused():
    X, y = regression()
    X = X.astype(object)
    X[7, 2] = "n/a"
    with refused("n/a"):
        VariationalGarrote().fit(X, y)


def test_numbers_in_object_boolean_and_integer_columns_are_accepted():
    X, y = regression()
    whole = np.round(3 * X).astype(np.int64)
    expected = VariationalGarrote(gamma=-5.0).fit(whole.astype(float), y).coef_
    for given in (whole, whole.astype(object), whole.astype(np.int8), pd.DataFrame(whole)):
        np.testing.assert_allclose(VariationalGarrote(gamma=-5.0).fit(given, y).coef_, expected)
    flags = VariationalGarrote(gamma=-5.0).fit(X > 0, y)
    np.testing.assert_allclose(
        flags.coef_, VariationalGarrote(gamma=-5.0).fit((X > 0).astype(float), y).coef_
    )


def test_complex_numbers_are_refused():
    X, y = regression()
    with refused("complex"):
        VariationalGarrote().fit(X + 1j, y)


# --- shapes


def test_a_response_of_the_wrong_length_is_refused_with_both_lengths():
    X, y = regression()
    with refused(60, 59):
        VariationalGarrote().fit(X, y[:-1])


def test_a_response_with_two_columns_is_refused_by_what_takes_one():
    X, y = regression()
    with refused("(60, 2)"):
        ShrinkageRegressor().fit(X, np.column_stack([y, y]))
    with refused("others being combinations of these"):
        SpikeSlabRegressor().fit(X, np.column_stack([y, y]))


def test_a_response_of_text_is_refused():
    X, _ = regression()
    with refused("y must hold numbers", "'a', 'b'", "take VariationalGarroteClassifier for labels"):
        VariationalGarrote().fit(X, np.array(["a", "b"] * 30))
    with refused("'a', 'b'", "take SingleEffectsClassifier"):
        SingleEffectsRegressor().fit(X, pd.Series(["a", "b"] * 30, dtype="category"))
    with refused("'a', 'b', 'c'", "take SparseClassifier"):  # the others take two classes
        SpikeSlabRegressor().fit(X, ["a", "b", "c"] * 20)
    with pytest.raises(ValueError, match=r"y must hold numbers, got 'r10'.* and 55 more$"):
        SpikeSlabRegressor().fit(X, [f"r{row}" for row in range(10, 70)])


def test_a_slip_in_a_response_of_numbers_is_named_with_its_row():
    X, y = regression()
    cells = y.astype(object)
    cells[7] = "n/a"
    with refused("does but for 'n/a' in row 7"):
        SparseRegressor().fit(X, cells)
    with refused("does but for 'n/a' in row 7"):
        SparseRegressor().fit(X, np.column_stack([y, cells]))


def test_numbers_that_are_written_as_text_are_a_response():
    X, y = regression()
    model = SparseRegressor(alpha=0.1).fit(X, [str(value) for value in y])
    assert np.array_equal(model.coef_, SparseRegressor(alpha=0.1).fit(X, y).coef_)


def test_a_missing_response_is_refused():
    X, _ = regression()
    with refused("y"):
        VariationalGarrote().fit(X, None)


@pytest.mark.parametrize("shape", [(0, 5), (1, 5)])
def test_too_few_samples_are_refused_with_their_number(shape):
    with refused(f"{shape[0]} sample", "minimum of 2"):
        VariationalGarrote().fit(np.zeros(shape), np.zeros(shape[0]))


def test_no_features_are_refused_with_their_number():
    with refused("0 feature", "minimum of 1"):
        VariationalGarrote().fit(np.zeros((5, 0)), np.zeros(5))


def test_a_vector_as_x_is_refused_with_the_remedy():
    X, y = regression()
    with refused("reshape"):
        VariationalGarrote().fit(X[:, 0], y)


def test_three_dimensions_are_refused():
    X, y = regression()
    with refused("dim 3"):
        VariationalGarrote().fit(X[:, :, None], y)


def test_new_rows_with_other_columns_are_refused_with_both_numbers():
    X, y = regression()
    model = VariationalGarrote(gamma=-5.0).fit(X, y)
    with refused(7, 8):
        model.predict(X[:, :7])


@pytest.mark.parametrize("sparse", [False, True])
def test_one_feature_is_a_whole_model(sparse):
    X, y = regression(d=1)
    model = VariationalGarrote().fit(scipy.sparse.csc_array(X) if sparse else X, y)
    assert model.coef_.shape == (1,)
    assert model.get_support().tolist() == [True]
    slope = np.polyfit(X[:, 0], y, 1)[0]
    assert model.coef_[0] == pytest.approx(slope, rel=1e-3)
    assert_sound(model, X, y)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_very_few_samples_give_a_sound_answer_or_say_what_is_missing(n):
    X, y = regression(n=n, d=6)
    model = VariationalGarrote(cv=2) if n < 5 else VariationalGarrote()
    said = ""
    try:
        assert_sound(model.fit(X, y), X, y)
    except ValueError as error:
        said = str(error)
    assert not said or any(word in said for word in (str(n), "rows", "samples"))


def test_more_folds_than_samples_are_refused_with_both_numbers():
    X, y = regression(n=4)
    with refused(5, 4):
        VariationalGarrote(cv=5).fit(X, y)


# --- weights


@pytest.mark.parametrize("weight", [-1.0, -1e-300])
def test_negative_weights_are_refused(weight):
    X, y = regression()
    weights = np.ones(60)
    weights[9] = weight
    with refused("sample_weight", "negative"):
        VariationalGarrote(callback=must_not_start).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(bad):
    X, y = regression()
    weights = np.ones(60)
    weights[9] = bad
    with refused("sample_weight"):
        VariationalGarrote().fit(X, y, sample_weight=weights)


def test_weights_that_are_all_zero_are_refused_with_the_remedy():
    X, y = regression()
    with refused("sample_weight", "zero", "two rows"):
        VariationalGarrote().fit(X, y, sample_weight=np.zeros(60))


def test_weight_on_one_row_only_is_refused_with_the_remedy():
    X, y = regression()
    with refused("sample_weight", "1 sample", "two rows"):
        VariationalGarrote().fit(X, y, sample_weight=np.eye(60)[0])


def test_weights_of_the_wrong_length_are_refused():
    X, y = regression()
    with refused("sample_weight", 59):
        VariationalGarrote().fit(X, y, sample_weight=np.ones(59))


def test_a_fold_without_weight_is_named():
    X, y = regression()
    weights = np.ones(60)
    weights[:12] = 0.0  # all of the first contiguous fold
    with refused("fold 0", "weight", "cv"):
        VariationalGarrote(cv=KFold(5)).fit(X, y, sample_weight=weights)


def test_rows_of_weight_zero_may_hold_anything_finite():
    X, y = regression()
    weights = np.ones(60)
    weights[50:] = 0.0
    expected = VariationalGarrote(gamma=-5.0).fit(X[:50], y[:50])
    X[50:], y[50:] = 1e12, -1e12
    model = VariationalGarrote(gamma=-5.0).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)


# --- settings


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"gamma": "aic"}, ["gamma", "'aic'", "'cv'", "'free_energy'"]),
        ({"gamma": np.nan}, ["gamma", "finite", "nan"]),
        ({"gamma": np.inf}, ["gamma", "finite", "inf"]),
        ({"gamma": None}, ["gamma", "None"]),
        ({"gamma": "5"}, ["gamma", "ExpectedSize", "'5'"]),
        ({"gamma": ExpectedSize(0)}, ["expected_size", "positive", 0]),
        ({"gamma": ExpectedSize(-2.0)}, ["expected_size", "positive", -2]),
        ({"gamma": ExpectedSize(8)}, ["expected_size", "8"]),
        ({"gamma": ExpectedSize(np.nan)}, ["expected_size", "nan"]),
        ({"gammas": 0}, ["gammas", 0]),
        ({"gammas": []}, ["gammas"]),
        ({"gammas": [-3.0, np.nan]}, ["gammas", "finite"]),
        ({"gammas": "many"}, ["gammas", "many"]),
        ({"eps": 0.0}, ["eps", "0 and 0.5"]),
        ({"eps": 0.7}, ["eps", 0.7]),
        ({"rule": "2se"}, ["rule", "'2se'", "1se"]),
        ({"solver": "newton"}, ["solver", "'newton'", "coordinate"]),
        ({"tol": 0.0}, ["tol", "positive", 0.0]),
        ({"tol": -1e-3}, ["tol", -0.001]),
        ({"max_iter": 0}, ["max_iter", 0]),
        ({"max_iter": 1.5}, ["max_iter", 1.5]),
        ({"n_starts": -1}, ["n_starts", -1]),
        ({"n_starts": 2.5}, ["n_starts", 2.5]),
        ({"noise_variance": 0.0}, ["noise_variance", "positive", 0.0]),
        ({"noise_variance": -1.0}, ["noise_variance", -1.0]),
        ({"noise_variance": np.inf}, ["noise_variance", "inf"]),
        ({"cv": 1}, ["1"]),
        ({"cv": "loo"}, ["cv", "loo"]),
        ({"covariates": ["age"]}, ["covariates", "'age'", "no column names"]),
        ({"covariates": [8]}, ["covariates", "column 8", "8 columns"]),
        ({"covariates": [True, False]}, ["covariates", "mask of 2", "8 columns"]),
        ({"covariates": [1.5]}, ["covariates", "1.5"]),
        ({"prior_log_odds": np.zeros(7)}, ["prior_log_odds", "8 entries", 7]),
        ({"prior_log_odds": {9: 1.0}}, ["prior_log_odds", "column 9", "8 columns"]),
        ({"prior_log_odds": {2: np.nan}}, ["prior_log_odds", "finite"]),
        ({"signs": np.zeros(3)}, ["signs", "8 entries", 3]),
        ({"signs": 2}, ["signs", 2]),
        ({"signs": {0: 0.5}}, ["signs", 0.5]),
        ({"start": np.zeros(5)}, ["start", "8 probabilities"]),
        ({"start": np.full(8, 1.5)}, ["start", "between 0 and 1"]),
        ({"start": np.full(8, np.nan)}, ["start", "between 0 and 1"]),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, dict) else "",
)
def test_settings_that_cannot_be_meant_are_refused_before_any_work(settings, parts):
    X, y = regression()
    with refused(*parts):
        garrote_with(**settings).set_params(callback=must_not_start).fit(X, y)


@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_signs_with_a_parallel_solver_are_refused_with_the_remedy(solver):
    X, y = regression()
    with refused(solver, "use 'coordinate'"):
        VariationalGarrote(signs=1, method=solver, callback=must_not_start).fit(X, y)


def test_an_unknown_covariate_is_named_with_those_that_are_known():
    X, y = regression()
    frame = pd.DataFrame(X, columns=["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4"])
    with refused("'height'", "'age'", "'bmi'"):
        VariationalGarrote(covariates=["sex", "height"]).fit(frame, y)


def test_groups_of_the_wrong_length_are_refused():
    from sklearn.model_selection import GroupKFold

    X, y = regression()
    with refused(59, 60):
        VariationalGarrote(cv=GroupKFold(3)).fit(X, y, groups=np.arange(59))


@pytest.mark.parametrize("splits", [[], [([0, 1, 2], [60])], [(range(50), [])]])
def test_splits_that_do_not_fit_the_rows_are_refused(splits):
    X, y = regression()
    with refused("fold" if splits else "cv"):
        VariationalGarrote(cv=splits).fit(X, y)


# --- gamma beyond every sensible range


def test_a_gamma_of_minus_a_million_is_the_empty_model():
    X, y = regression()
    model = VariationalGarrote(gamma=-1e6).fit(X, y)
    assert not model.coef_.any()
    assert not model.get_support().any()
    np.testing.assert_allclose(model.predict(X), y.mean())
    assert_sound(model, X, y)


def test_a_gamma_of_fifty_is_least_squares_where_rows_are_many():
    X, y = regression(n=60, d=8)
    model = VariationalGarrote(gamma=50.0).fit(X, y)
    centred = X - X.mean(axis=0)
    expected = np.linalg.lstsq(centred, y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(model.coef_, expected, atol=1e-4)
    assert model.get_support().all()
    assert_sound(model, X, y)


def test_a_gamma_of_fifty_warns_and_uses_the_densest_gamma_where_rows_are_few():
    X, y = regression(n=20, d=100)
    with pytest.warns(ConvergenceWarning, match="gamma = 50 is out of reach") as caught:
        model = VariationalGarrote(gamma=50.0).fit(X, y)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert f"gamma = {model.gamma_:.4g} is used instead" in text
    assert "more rows" in text
    assert model.gamma_ == model.path_.strengths[-1] < 0
    assert f"gamma = {model.gamma_:.4g}" in model.selection_.rule
    assert_sound(model, X, y)


def test_fewer_columns_than_rows_cannot_interpolate_and_every_gamma_is_reached():
    X, y = regression(n=15, d=10)
    model = VariationalGarrote(gamma=-1.0).fit(X, y)
    assert model.path_.cut is None
    assert model.gamma_ == -1.0
    assert_sound(model, X, y)


def test_a_grid_beyond_every_sensible_range_is_cut_and_said_so():
    X, y = regression(n=20, d=100)
    model = VariationalGarrote(method=Anneal(gammas=[-200.0, -1e4, -20.0, -5.0, 0.0, 40.0])).fit(
        X, y
    )
    assert "forward pass ended" in model.path_.cut
    assert model.path_.strengths[-1] < 40.0
    assert_sound(model, X, y)


def test_a_single_gamma_is_a_whole_path():
    X, y = regression()
    for settings in ({"gammas": 1}, {"gammas": [-6.0]}, {"gammas": 2}):
        assert_sound(garrote_with(**settings).fit(X, y), X, y)


# --- columns and responses without content


@pytest.mark.parametrize("value", [0.0, 7.0, 1e150, 0.1])
@pytest.mark.parametrize("kind", ["C", "F", "float32", "csc"])
def test_constant_columns_get_no_coefficient_and_are_listed(value, kind):
    if kind == "float32" and value > 1e38:
        value = 1e30
    X, y = regression()
    expected = VariationalGarrote(gamma=-5.0).fit(np.delete(X, [0, 6], axis=1), y)
    X[:, [0, 6]] = value
    convert = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "float32": np.float32,
        "csc": scipy.sparse.csc_array,
    }[kind]
    model = VariationalGarrote(gamma=-5.0).fit(convert(X), y)
    assert model.coef_[[0, 6]].tolist() == [0.0, 0.0]
    assert model.inclusion_probability_[[0, 6]].tolist() == [0.0, 0.0]
    assert model.selection_.constant == ("x0", "x6")
    assert "without variation of their own: 'x0', 'x6'" in str(model.summary())
    tolerance = 1e-5 if kind == "float32" else 1e-7
    np.testing.assert_allclose(np.delete(model.coef_, [0, 6]), expected.coef_, atol=tolerance)


@pytest.mark.parametrize("solver", ["coordinate", "primal", "dual"])
def test_a_design_of_constant_columns_is_the_empty_model(solver):
    y = regression()[1]
    model = VariationalGarrote(method=solver).fit(np.ones((60, 3)), y)
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(y.mean())
    assert model.selection_.constant == ("x0", "x1", "x2")


def test_without_an_intercept_a_constant_column_is_a_variable_like_others():
    X, y = regression()
    X[:, 0] = 1.0
    model = VariationalGarrote(fit_intercept=False).fit(X, y + 10.0)
    assert model.selection_.constant == ()
    assert model.coef_[0] == pytest.approx(10.0, abs=0.5)
    assert model.intercept_ == 0.0


@pytest.mark.parametrize("value", [0.0, 3.0, -1e-200, 1e150, 0.1])
@pytest.mark.parametrize("gamma", ["cv", "free_energy", -5.0])
def test_a_constant_response_is_the_empty_model_with_a_warning(value, gamma):
    X, _ = regression()
    with pytest.warns(UserWarning, match="y is constant"):
        model = VariationalGarrote(gamma=gamma).fit(X, np.full(60, value))
    assert not model.coef_.any()
    assert not model.get_support().any()
    assert np.isfinite(model.path_.strengths).all()
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        str(model.summary())
        model.selection_.to_json()


def test_a_response_that_covariates_explain_is_the_empty_model_with_a_warning():
    X, _ = regression()
    y = 3 * X[:, 2] + 1
    with pytest.warns(UserWarning, match="y is constant"):
        model = VariationalGarrote(covariates=[2]).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-8)
    assert np.flatnonzero(model.get_support()).tolist() == [2]


@pytest.mark.parametrize("factor", [1.0, -2.0])
@pytest.mark.parametrize("kind", ["C", "csc", "dual"])
def test_duplicated_columns_are_said_to_be_interchangeable(factor, kind):
    X, y = regression(n=80)
    X[:, 6] = factor * X[:, 1]
    given = scipy.sparse.csc_array(X) if kind == "csc" else X
    solver = "dual" if kind == "dual" else "coordinate"
    model = VariationalGarrote(gamma=-8.0, method=solver).fit(given, y)
    assert_sound(model, X, y)
    both = {"x1", "x6"}
    chosen = both & set(np.array(model.selection_.names)[model.get_support()])
    assert chosen, "one of the two must be selected"
    for name in chosen:
        assert set(model.selection_.interchangeable[name]) == both - {name}
        (other,) = both - {name}
        assert f"{name} could be replaced by {other}" in str(model.summary())
    effect = model.coef_[1] + factor * model.coef_[6]
    alone = VariationalGarrote(gamma=-8.0).fit(np.delete(X, 6, axis=1), y)
    assert effect == pytest.approx(alone.coef_[1], rel=2e-2)


def test_exactly_collinear_columns_give_a_certified_answer():
    X, y = regression(n=80)
    X[:, 7] = X[:, 1] + X[:, 4]
    model = VariationalGarrote().fit(X, y)
    assert_sound(model, X, y)
    assert np.mean((y - model.predict(X)) ** 2) < 0.5


def test_identical_rows_are_not_mistaken_for_information():
    X, y = regression(n=12, d=40)
    model = VariationalGarrote(method=Anneal(gammas=30), gamma="free_energy").fit(
        np.repeat(X, 10, axis=0), np.repeat(y, 10)
    )
    # Eleven directions are left to 12 distinct rows, however often they are repeated.
    assert model.path_.expected_size.max() <= 11 / 2 + 1e-6


def test_all_rows_equal_is_the_empty_model_or_refused():
    X = np.tile(np.arange(4.0), (30, 1))
    y = np.random.default_rng(0).standard_normal(30)
    model = VariationalGarrote().fit(X, y)
    assert not model.coef_.any()


# --- scales


@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e150])
@pytest.mark.parametrize("kind", ["C", "F", "csc"])
def test_columns_of_any_scale_give_the_same_model(scale, kind):
    X, y = regression()
    expected = VariationalGarrote().fit(X, y)
    given = {
        "C": X * scale,
        "F": np.asfortranarray(X * scale),
        "csc": scipy.sparse.csc_array(X * scale),
    }[kind]
    model = VariationalGarrote().fit(given, y)
    np.testing.assert_allclose(model.coef_ * scale, expected.coef_, rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(model.get_support(), expected.get_support())
    np.testing.assert_allclose(model.predict(given), expected.predict(X), rtol=1e-3, atol=1e-4)
    assert model.certificate_.value <= Anneal.of(model.method).tol
    json_text = model.selection_.to_json()
    assert "NaN" not in json_text


@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e150])
def test_responses_of_any_scale_give_the_same_model(scale):
    X, y = regression()
    expected = VariationalGarrote().fit(X, y)
    model = VariationalGarrote().fit(X, y * scale)
    np.testing.assert_allclose(model.coef_ / scale, expected.coef_, rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(model.get_support(), expected.get_support())


def test_columns_of_very_different_scales_give_the_same_model():
    X, y = regression()
    expected = VariationalGarrote().fit(X, y)
    scales = 10.0 ** np.linspace(-120, 120, 8)
    model = VariationalGarrote().fit(X * scales, y)
    np.testing.assert_allclose(model.coef_ * scales, expected.coef_, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_float32_columns_of_any_scale_give_the_same_model(scale):
    X, y = regression()
    X = X.astype(np.float32)
    expected = VariationalGarrote(gamma=-5.0).fit(X, y)
    model = VariationalGarrote(gamma=-5.0).fit(X * np.float32(scale), y)
    np.testing.assert_allclose(model.coef_ * scale, expected.coef_, rtol=1e-3, atol=1e-4)


# --- interpolation


def test_data_that_can_be_interpolated_give_a_sound_answer():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((20, 100))
    y = X @ rng.standard_normal(100)  # without noise, and not sparse
    model = VariationalGarrote().fit(X, y)
    assert_sound(model, X, y)
    assert model.path_.expected_size.max() <= 19 / 2 + 1e-6


def test_noiseless_sparse_data_are_explained_exactly():
    X, _ = regression(n=40, d=100)
    y = 2 * X[:, 1] - X[:, 4] + 3.0
    model = VariationalGarrote().fit(X, y)
    assert np.flatnonzero(model.get_support()).tolist() == [1, 4]
    np.testing.assert_allclose(model.predict(X), y, atol=1e-3)
    assert_sound(model, X, y)


def test_a_column_equal_to_the_response_is_found():
    X, y = regression()
    X[:, 3] = y
    model = VariationalGarrote().fit(X, y)
    assert model.coef_[3] == pytest.approx(1.0, abs=1e-4)
    assert np.flatnonzero(model.get_support()).tolist() == [3]


def test_stopping_early_is_a_warning_with_the_certificate_that_was_reached():
    X, y = regression(n=30, d=60)
    X += 3 * X[:, :1]  # correlated, so that sweeps converge slowly
    with pytest.warns(ConvergenceWarning) as caught:
        model = VariationalGarrote(method=Anneal(tol=1e-10, max_iter=1)).fit(X, y)
    text = str(caught[0].message)
    assert f"{model.path_.certificate.max():.2e}" in text
    assert "max_iter (1)" in text
    assert model.path_.certificate.max() > 1e-10


# --- moments


def moments(n=60, d=5):
    X, y = regression(n=n, d=d)
    X, y = X - X.mean(axis=0), y - y.mean()
    return X.T @ X, X.T @ y, float(y @ y), n


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda g, b, s, n: (g[:, :4], b, s, n), ["square", "(5, 4)"]),
        (lambda g, b, s, n: (g, b[:4], s, n), ["xty", "5 entries", "(4,)"]),
        (lambda g, b, s, n: (g * np.nan, b, s, n), ["finite"]),
        (lambda g, b, s, n: (g, b * np.inf, s, n), ["finite"]),
        (lambda g, b, s, n: (g, b, np.nan, n), ["finite"]),
        (lambda g, b, s, n: (g, b, s, 1), ["n must", "1"]),
        (lambda g, b, s, n: (g, b, s, np.nan), ["n must", "nan"]),
        (lambda g, b, s, n: (np.triu(g), b, s, n), ["symmetric"]),
        (lambda g, b, s, n: (g - 1e3 * np.eye(5), b, s, n), ["negative", "diagonal"]),
        (lambda g, b, s, n: (g, b, -1.0, n), ["yty", "-1"]),
        (lambda g, b, s, n: (g, 100 * b, s, n), ["xty[1]", "Cauchy-Schwarz"]),
    ],
)
def test_moments_that_cannot_be_true_are_refused(change, parts):
    with refused(*parts):
        Problem.from_moments(*change(*moments()))


def test_a_gram_matrix_that_is_not_positive_semidefinite_is_refused():
    gram, xty, yty, n = moments()
    gram[0, 1] = gram[1, 0] = 1.5 * np.sqrt(gram[0, 0] * gram[1, 1])
    with refused("positive"):
        Problem.from_moments(gram, xty, yty, n)


def test_moments_of_a_constant_response_are_the_empty_model():
    gram, xty, _, n = moments()
    path = fit_path(Problem.from_moments(gram, 0 * xty, 0.0, n))
    # Without signal the prior is all there is.
    for fit in path.fits:
        assert fit.expected_size == pytest.approx(5 * expit(fit.strength), rel=1e-6)
        assert np.isfinite(fit.free_energy)
    assert not path.coefficients().toarray().any()


# --- found by review


def test_odds_of_its_own_for_one_variable_do_not_hide_the_others():
    X, y = regression()
    plain = set(VariationalGarrote().fit(X, y).get_support(indices=True))
    for extra in (20.0, 100.0):
        model = VariationalGarrote(prior_log_odds={0: extra}).fit(X, y)
        assert plain <= set(model.get_support(indices=True))


def test_a_problem_refuses_data_that_are_not_finite_and_names_the_place():
    X, y = regression()
    bad = y.copy()
    bad[3] = np.nan
    with refused("not finite", "row 3"):
        Problem.from_rows(X, bad)
    wrong = X.copy()
    wrong[5, 2] = np.nan
    with refused("not finite", "column 2"):
        Problem.from_rows(wrong, y)
    with refused("entries"):
        Problem.from_rows(X, y[:-1])


def test_masks_are_splits_too():
    X, y = regression()
    splits = list(KFold(4).split(X))
    masks = [tuple(np.isin(np.arange(len(y)), part) for part in split) for split in splits]
    by_index = VariationalGarrote(cv=splits).fit(X, y)
    by_mask = VariationalGarrote(cv=masks).fit(X, y)
    np.testing.assert_array_equal(
        by_index.cv_results_["fold_errors"], by_mask.cv_results_["fold_errors"]
    )


def test_a_response_without_a_square_is_refused():
    X, y = regression()
    with refused("1e+151", "rescale y"):
        VariationalGarrote().fit(X, y * 1e160)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("gamma", True), ("gamma", 1e308), ("eps", "a"), ("noise_variance", "a"), ("gammas", True)],
)
def test_settings_of_the_wrong_kind_are_refused_by_name(setting, value):
    X, y = regression()
    with refused(setting, str(value) if value != 1e308 else "1e+308"):
        garrote_with(**{setting: value}).fit(X, y)


def test_new_rows_have_the_limits_of_the_fit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    counts = rng.poisson(np.exp(0.3 * X[:, 0])).astype(float)
    model = SparseRegressor(family="poisson", alpha=0.01).fit(X, counts, offset=np.full(40, 0.1))
    with pytest.raises(ValueError, match=r"offset is 5e\+03 at row 0: numbers beyond 1000"):
        model.predict(X[:2], offset=np.full(2, 5e3))
    plain = SparseRegressor(alpha=0.1).fit(pd.DataFrame(X, columns=list("abc")), X[:, 0])
    with pytest.raises(ValueError, match=r"X has more than one column named 'a'"):
        plain.predict(pd.DataFrame(X, columns=["a", "a", "b"]))
    labels = VariationalGarroteClassifier(gamma=-3.0).fit(X * 1e-150, X[:, 0] > 0)
    with pytest.raises(ValueError, match=r"predictions beyond 1e\+153 are refused"):
        labels.predict_proba(np.full((2, 3), 1e151))


def test_weights_that_are_next_to_no_rows_are_refused_for_labels():
    X = np.random.default_rng(0).standard_normal((40, 3))
    with pytest.raises(ValueError, match=r"4e-05 rows are too few"):
        VariationalGarroteClassifier().fit(X, X[:, 0] > 0, sample_weight=np.full(40, 1e-6))


def test_all_that_is_wrong_with_a_data_frame_is_said_at_once():
    X, y = regression(40, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).astype(object)
    frame.loc[7, "a"] = "67 F"
    frame.loc[:4, "b"] = None
    frame = frame.assign(who=[f"p{i}" for i in range(40)], text=["1.5"] * 40, site=["u", "v"] * 20)
    y[:2] = np.nan
    with refused(
        "'a' is a column of numbers but for '67 F' in row 7",
        "'text' holds numbers that are stored as text",
        "columns are not numbers: 'who' (another text in nearly every row), 'site'. Encode them",
        "values are missing in 'b' (5)",
        "garrote.impute.pool",
        "y has no value in 2 rows",
    ):
        VariationalGarrote(callback=must_not_start).fit(frame, y)
    for kind in (pd.DataFrame, pl.DataFrame):
        with refused("columns are not numbers: 'g'"):
            VariationalGarrote().fit(kind({"g": ["u", "v"] * 20, "x": X[:, 0]}), X[:, 1])


def test_objects_that_are_all_numbers_are_taken():
    X, y = regression(40, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = VariationalGarrote().fit(frame.astype(object), y)
    np.testing.assert_array_equal(fitted.coef_, VariationalGarrote().fit(frame, y).coef_)
