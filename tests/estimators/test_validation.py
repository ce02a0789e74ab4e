"""Whole methods measured on rows held out, against folds done by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, poisson
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold

from garrote import (
    SingleEffectsRegressor,
    SparseRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    VariationalGarrote,
)
from garrote.designs import DenseDesign
from garrote.priors import EffectSlab
from garrote.results.selections.held_out import PredictiveDensity


def regression(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 6))
    return X, X[:, 0] - X[:, 3] + rng.standard_normal(rows)


def folds(rows):
    return list(KFold(3).split(np.zeros((rows, 1))))


def _squares(X, y):
    """Return the squared errors of held-out rows, folds in order."""
    found = [
        (SpikeSlabRegressor().fit(X[train], y[train]).predict(X[test]) - y[test]) ** 2
        for train, test in folds(len(y))
    ]
    return np.concatenate(found)


def test_densities_of_numbers_are_those_of_folds_done_by_hand():
    X, y = regression()
    model = SpikeSlabRegressor().fit(X, y).validate(X, y, cv=folds(60))
    found = model.selection_.validation.density
    assert found.models == ("Spike-and-slab selection", "null model", "lasso")
    expected, null, lasso = [], [], []
    for train, test in folds(60):
        mean, deviation = (
            SpikeSlabRegressor().fit(X[train], y[train]).predict(X[test], return_std=True)
        )
        expected.append(norm.logpdf(y[test], mean, deviation))
        null.append(norm.logpdf(y[test], y[train].mean(), y[train].std(ddof=1)))
        other = SparseRegressor().fit(X[train], y[train])
        spread = np.sqrt(other.selection_.noise_variance)
        lasso.append(norm.logpdf(y[test], other.predict(X[test]), spread))
    for k, by_hand in enumerate((expected, null, lasso)):
        np.testing.assert_allclose(found.density[k], np.concatenate(by_hand), atol=1e-10)
        np.testing.assert_allclose(found.by_fold[k], [part.mean() for part in by_hand])
    shown = model.selection_.predictions
    assert shown.held_out
    np.testing.assert_allclose((shown.predicted[0] - shown.observed) ** 2, _squares(X, y))
    gain = np.concatenate(expected) - np.concatenate(null)
    assert np.allclose(found.advantage(1), (gain.mean(), gain.std(ddof=1) / np.sqrt(60)))


def test_the_null_model_has_covariates_weights_and_offsets():
    X, _ = regression(90)
    rng = np.random.default_rng(1)
    offset = rng.normal(size=90)
    y = 2 * X[:, 1] + offset + rng.standard_normal(90)
    weights = rng.integers(0, 3, 90).astype(float)
    model = SpikeSlabRegressor(covariates=[1]).fit(X, y, weights, offset=offset)
    model.validate(X, y, weights, cv=folds(90), offset=offset)
    found = model.selection_.validation
    errors = []
    for train, test in folds(90):
        null = LinearRegression().fit(X[train][:, [1]], (y - offset)[train], weights[train])
        off = (y - offset)[test] - null.predict(X[test][:, [1]])
        errors.append(np.average(off**2, weights=weights[test]))
    assert np.isclose(found.null, np.mean(errors))
    assert len(found.density.fold) == np.count_nonzero(weights)


def test_counts_have_the_probability_of_their_mean():
    X, _ = regression(60)
    rng = np.random.default_rng(2)
    y = rng.poisson(np.exp(0.5 * X[:, 0])).astype(float)
    model = SpikeSlabRegressor(family="poisson").fit(X, y).validate(X, y, cv=folds(60))
    train, test = folds(60)[0]
    rate = SpikeSlabRegressor(family="poisson").fit(X[train], y[train]).predict(X[test])
    found = model.selection_.validation
    np.testing.assert_allclose(found.density.density[0][:20], poisson.logpmf(y[test], rate))
    null = poisson.logpmf(y[test], y[train].mean())
    np.testing.assert_allclose(found.density.density[1][:20], null, rtol=1e-6)
    assert found.measure == "deviance"


def test_labels_have_accuracy_and_log_probabilities():
    X, y = regression(90)
    words = np.where(y > 0, "yes", "no")
    method = SpikeSlabClassifier(EffectSlab(1.0))
    model = clone(method).fit(X, words).validate(X, words, cv=folds(90))
    found = model.selection_.validation
    p = np.empty(90)
    for train, test in folds(90):
        p[test] = clone(method).fit(X[train], words[train]).predict_proba(X[test])[:, 1]
    right = (p > 0.5) == (words == "yes")
    assert np.isclose((found.labels.accuracy * 30).sum(), right.sum())
    true = np.where(words == "yes", p, 1 - p)
    np.testing.assert_allclose(found.density.density[0], np.log(true))
    np.testing.assert_allclose(
        found.mean[0], np.mean([-2 * np.log(true[t]).mean() for _, t in folds(90)])
    )
    null = LogisticRegression(C=np.inf).fit(np.zeros((60, 1)), words[folds(90)[0][0]])
    assert np.isclose(
        found.density.density[1][0],
        null.predict_log_proba([[0.0]])[0, int(words[0] == "yes")],
        atol=1e-4,
    )


@pytest.mark.parametrize("kind", [SingleEffectsRegressor, VariationalGarrote])
def test_data_frames_groups_and_paths_are_measured_too(kind):
    X, y = regression()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = kind().fit(frame, y)
    before = model.selection_.validation
    model.validate(frame, y, cv=3, groups=np.arange(60) // 2)
    found = model.selection_.validation
    assert found.density.mean[0] > found.density.mean[1]
    if before is not None:  # the curve along the path stays
        np.testing.assert_array_equal(found.mean, before.mean)
    model.selection_.to_json()


def test_rows_of_a_design_cannot_be_held_out():
    X, y = regression()
    model = SpikeSlabRegressor().fit(X, y)
    with pytest.raises(TypeError, match="rows cannot be picked out of a DenseDesign"):
        model.validate(DenseDesign(X), y)


def test_an_advantage_is_weighed_as_repeated_rows():
    rng = np.random.default_rng(3)
    density, weights = rng.standard_normal((2, 8)), np.array([1.0, 2, 1, 3, 1, 1, 2, 1])
    one = PredictiveDensity(("a", "b"), density, np.zeros(8, int), weights, np.zeros(2))
    gain = density[0] - density[1]
    assert np.isclose(one.advantage(1)[0], np.average(gain, weights=weights))
    assert np.isclose(one.mean[0], np.repeat(density[0], weights.astype(int)).mean())
