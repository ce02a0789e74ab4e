"""Simulators against the moments they promise, and real tables against their published form."""

import numpy as np
import pytest

from garrote.datasets import (
    load_diabetes_quadratic,
    load_prostate,
    make_kappen_gomez_1,
    make_kappen_gomez_2,
    make_sparse_regression,
    make_zhao_yu,
)

MAKERS = [make_kappen_gomez_1, make_kappen_gomez_2, make_sparse_regression, make_zhao_yu]


@pytest.mark.parametrize("make", MAKERS)
def test_response_is_the_true_model_plus_noise_of_the_stated_variance(make):
    data = make(20_000, random_state=0)
    residual = data.y - data.X @ data.coef
    assert data.X.shape == (20_000, len(data.coef))
    assert residual.var() == pytest.approx(data.noise_variance, rel=0.05)
    assert np.abs(data.X.T @ residual / len(residual)).max() < 0.05 * np.sqrt(data.noise_variance)


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_repeats_the_data_and_another_changes_them(make):
    first, second, third = (make(10, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    assert not np.array_equal(first.X, third.X)


@pytest.mark.parametrize(
    "random_state",
    [np.random.default_rng(0), np.random.RandomState(0), np.random.SeedSequence(0), None],
)
def test_every_kind_of_random_state_is_taken(random_state):
    assert np.isfinite(make_sparse_regression(10, random_state=random_state).y).all()


@pytest.mark.parametrize("correlation", [-0.6, 0.0, 0.5])
def test_columns_have_unit_variance_and_autoregressive_correlation(correlation):
    data = make_sparse_regression(40_000, 6, 2, correlation, random_state=0)
    lags = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    np.testing.assert_allclose(np.cov(data.X.T), correlation**lags, atol=0.03)


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_snr_is_the_ratio_of_signal_to_noise(correlation):
    data = make_sparse_regression(50_000, 30, 8, correlation, snr=3.0, random_state=1)
    assert np.count_nonzero(data.coef) == 8
    assert (data.X @ data.coef).var() / data.noise_variance == pytest.approx(3.0, rel=0.05)


def test_example_2_has_the_published_support():
    data = make_kappen_gomez_2(5, random_state=0)
    assert (np.flatnonzero(data.coef) + 1).tolist() == [1, 2, 5, 10, 50]


def test_zhao_and_yu_violates_the_irrepresentable_condition_in_example_a_only():
    for consistent, violated in ((False, True), (True, False)):
        data = make_zhao_yu(200_000, consistent, random_state=0)
        chi = np.cov(data.X.T)
        np.testing.assert_allclose(np.diag(chi), 1, atol=0.02)
        needed = chi[2, :2] @ np.linalg.solve(chi[:2, :2], np.sign(data.coef[:2]))
        assert (abs(needed) > 1) == violated
        assert needed == pytest.approx(4 / 3 if violated else 0, abs=0.02)


def test_split_gives_consecutive_rows_and_refuses_other_totals():
    data = make_kappen_gomez_1(10, random_state=0)
    first, second = data.split(4, 6)
    np.testing.assert_array_equal(np.vstack([first.X, second.X]), data.X)
    np.testing.assert_array_equal(np.concatenate([first.y, second.y]), data.y)
    with pytest.raises(ValueError, match="add up to 10"):
        data.split(4, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_kappen_gomez_2(5, 49), "at least 50.*49"),
        (lambda: make_sparse_regression(5, 4, 5), "between 0 and n_features = 4"),
        (lambda: make_sparse_regression(5, snr=0), "snr must be positive"),
        (lambda: make_sparse_regression(5, correlation=1.0), "between -1 and 1"),
        (lambda: make_zhao_yu(5, noise_variance=-1.0), "must be >= 0, got -1.0"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_diabetes_has_mains_squares_and_products_with_their_names():
    X, y, names = load_diabetes_quadratic()
    assert X.shape == (442, 64)
    assert y.shape == (442,)
    assert len(set(names)) == 64
    column = dict(zip(names, X.T, strict=True))
    np.testing.assert_allclose([column["bmi"].mean(), column["bmi"].std()], [0, 1], atol=1e-12)
    np.testing.assert_allclose(column["bmi^2"], column["bmi"] ** 2)
    np.testing.assert_allclose(column["age*bmi"], column["age"] * column["bmi"])
    assert "sex^2" not in names


def test_diabetes_is_the_published_table_up_to_centre_and_scale(shared_data):
    X, y, names = load_diabetes_quadratic()
    with np.load(shared_data / "diabetes_lars.npz", allow_pickle=False) as published:
        theirs, their_names = published["x2"], published["x2_names"]
        np.testing.assert_array_equal(y, published["y"])
    assert [name.replace("*", ":").replace("bp", "map") for name in names] == their_names.tolist()
    centered = X - X.mean(axis=0)
    # The published columns are rounded.
    np.testing.assert_allclose(
        centered / np.linalg.norm(centered, axis=0), theirs - theirs.mean(axis=0), atol=5e-5
    )


@pytest.mark.parametrize(("file", "corrected"), [("prostate", True), ("prostate_murphy", False)])
def test_prostate_is_the_published_table(shared_data, file, corrected):
    path = shared_data / f"{file}.csv"
    X, y, names, train = load_prostate(corrected=corrected)
    published = np.loadtxt(path, delimiter=",", skiprows=1)
    np.testing.assert_array_equal(np.column_stack([X, y, train]), published)
    assert [*names, "lpsa", "train"] == path.read_text().splitlines()[0].split(",")
