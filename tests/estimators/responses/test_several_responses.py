"""Estimators with a matrix y: what they store, predict, tell and refuse, and the garrote's equations."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.special import expit
from sklearn.model_selection import cross_val_score

from garrote import SingleEffectsRegressor, SpikeSlabRegressor, VariationalGarrote, load
from garrote.priors import AnnotatedInclusion, GPrior, GroupedInclusion

MODELS = {
    "models": SpikeSlabRegressor(),
    "effects": SingleEffectsRegressor(),
    "garrote": VariationalGarrote(gamma=-4.0, correct=False),
}


def make(seed=0, n=80, D=7):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    B = np.zeros((D, 3))
    B[2], B[4] = [0.0, 0.8, 0.0], 0.6
    return X, X @ B + rng.standard_normal((n, 3)) * [1.0, 0.5, 2.0] + [3.0, 0.0, -1.0]


@pytest.mark.parametrize("name", MODELS)
def test_weights_offsets_sparse_columns_and_covariates_go_together(name):
    X, Y = make()
    rng = np.random.default_rng(1)
    weights, shift = rng.integers(1, 3, len(Y)), rng.standard_normal(Y.shape)
    rows = np.repeat(np.arange(len(Y)), weights)
    model = MODELS[name].set_params(covariates=[0])
    one = model.fit(X, Y, weights, offset=shift)
    coef, level = one.coef_.copy(), one.intercept_.copy()
    assert coef.shape == (3, 7)
    two = model.fit(scipy.sparse.csc_array(X[rows]), Y[rows], offset=shift[rows])
    np.testing.assert_allclose(two.coef_, coef, atol=1e-6)
    np.testing.assert_allclose(two.intercept_, level, atol=1e-6)
    assert two.inclusion_probability_[0] == 1.0
    found = model.predict(X, offset=shift)
    np.testing.assert_allclose(found, X @ coef.T + level + shift, atol=1e-5)
    model.set_params(covariates=None)


@pytest.mark.parametrize("name", MODELS)
def test_selections_tables_reports_and_files(name, tmp_path):
    X, Y = make(1)
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    responses = pd.DataFrame(Y, columns=["height", "width", "depth"])
    model = MODELS[name].fit(frame, responses)
    assert model.get_support(indices=True).tolist() == [2, 4]
    assert model.selection_.response == "height, width, depth"
    assert [one.response for one in model.selections_] == ["height", "width", "depth"]
    assert model.selection_.by_class.names == ("height", "width", "depth")
    np.testing.assert_allclose(model.selections_[1].effect, model.coef_[1], atol=1e-12)
    table = model.posterior_.table()
    assert set(table.columns["variable"]) == {"c", "e"}
    assert "effect on width" in table.columns
    np.testing.assert_allclose(model.posterior_["width"].mean, model.coef_[1])
    mean, deviation = model.predict(frame, return_std=True)
    assert mean.shape == deviation.shape == (80, 3)
    off = (Y - mean) / deviation
    assert np.all(np.abs(off.std(axis=0) - 1) < 0.25)
    assert model.score(frame, Y) > 0.2
    model.selection_.report(tmp_path / "page.html")
    assert "width" in (tmp_path / "page.html").read_text()
    model.save(tmp_path / "model.garrote")
    np.testing.assert_array_equal(load(tmp_path / "model.garrote").predict(frame), mean)
    # One response after several leaves nothing of these.
    again = model.fit(frame, Y[:, 1])
    assert again.coef_.shape == (7,)
    assert not hasattr(again, "selections_")
    assert not hasattr(again, "noise_covariance_")


def test_units_of_responses_do_not_matter():
    X, Y = make(2)
    unit = np.array([10.0, 0.1, 3.0])
    for model in MODELS.values():
        one = model.fit(X, Y).inclusion_probability_.copy(), model.coef_.copy()
        two = model.fit(X, Y * unit)
        np.testing.assert_allclose(two.inclusion_probability_, one[0], atol=1e-3)
        np.testing.assert_allclose(two.coef_ / unit[:, None], one[1], atol=2e-3)


def test_the_garrote_satisfies_its_equations_over_all_responses():
    X, Y = make(3)
    model = VariationalGarrote(gamma=-4.0, correct=False).fit(X, Y)
    Z, R, n = X - X.mean(axis=0), Y - Y.mean(axis=0), len(Y)
    m, noise = model.inclusion_probability_, model.noise_variance_
    square = (Z**2).mean(axis=0)
    left = R - Z @ model.coef_.T
    # Least-squares values beside all others (Eq. 9), log odds by all responses together (Eq. 8).
    w = (Z.T @ left).T / (n * square) + model.coef_
    np.testing.assert_allclose(m * w, model.coef_, atol=1e-3)
    evidence = 0.5 * n * np.sum(square * w**2 / noise[:, None], axis=0)
    np.testing.assert_allclose(m, expit(-4.0 + evidence), atol=0.01)
    implied = (left**2).mean(axis=0) + (m * (1 - m) * w**2) @ square
    np.testing.assert_allclose(noise, implied, rtol=0.08)


def test_enrichments_are_learned_from_all_responses():
    X, Y = make(4)
    law = AnnotatedInclusion(np.isin(np.arange(7), [2, 4, 5]))
    for model in (SpikeSlabRegressor(inclusion=law), SingleEffectsRegressor(inclusion=law)):
        found = model.fit(X, Y).posterior_.enrichment
        assert found.positive[0] > 0.85
        assert "annotation +" in model.selection_.rule


def test_folds_score_all_responses():
    X, Y = make(5)
    with pytest.raises(ValueError, match="validate measures one response"):
        SpikeSlabRegressor().fit(X, Y).validate(X, Y)
    scores = cross_val_score(SpikeSlabRegressor(), X, Y, cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > 0


def test_what_is_for_one_response_is_refused():
    X, Y = make()
    refused = {
        "take family='gaussian'": SpikeSlabRegressor(family="poisson"),
        "prior='spike-slab', GaussianSlab": SpikeSlabRegressor(GPrior()),
        "for several responses, got 'em'": SpikeSlabRegressor(method="em"),
        "columns one by one": SpikeSlabRegressor(inclusion=GroupedInclusion([0, 0, 1, 2, 3, 4, 5])),
        "inclusion is for one response": VariationalGarrote(
            inclusion=GroupedInclusion([0, 0, 1, 2, 3, 4, 5])
        ),
        "noise_variance is for one response": VariationalGarrote(noise_variance=1.0),
    }
    for said, model in refused.items():
        with pytest.raises(ValueError, match=said):
            model.fit(X, np.abs(Y).round())
