"""Bayesian selection as users call it: checks of scikit-learn, exact against sampled, hard cases."""

import json
import sys
import types

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import garrote
from garrote import SpikeSlabClassifier, SpikeSlabRegressor
from garrote.datasets import make_sparse_regression
from garrote.inference import MeanField, Metropolis, Sample
from garrote.priors import EffectSlab, ExpectedSize, GaussianSlab, GPrior
from scikit_checks import scikit_learn_checks

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")


@scikit_learn_checks(
    SpikeSlabRegressor(GaussianSlab()),
    variants=[SpikeSlabRegressor(), SpikeSlabRegressor(method=Sample(n_steps=400, burn_in=100))],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((70, 8))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    y = 3 + 0.6 * X[:, 0] + 0.4 * X[:, 4] + rng.standard_normal(70)
    return X, y


@pytest.mark.parametrize(
    ("prior", "settings"),
    [
        (GaussianSlab(0.7, 1.3), {"prior__variance": 0.7, "prior__noise_variance": 1.3}),
        (GaussianSlab(), {}),
        (GPrior(30.0), {"prior__g": 30.0}),
    ],
    ids=str,
)
def test_settings_of_a_prior_are_reached_from_the_estimator(data, prior, settings):
    one = SpikeSlabRegressor(prior).fit(*data)
    two = clone(SpikeSlabRegressor(type(prior)()).set_params(**settings)).fit(*data)
    assert {f"prior__{name}" for name in prior.get_params()} <= set(two.get_params())
    np.testing.assert_array_equal(one.inclusion_probability_, two.inclusion_probability_)


@pytest.mark.parametrize(
    ("prior", "settings", "said"),
    [
        (GPrior(), {"prior__g": "huge"}, "g of a GPrior must be a positive number"),
        (GPrior(), {"prior__g": -1.0}, "g of a GPrior must be a positive number"),
        (GaussianSlab(), {"prior__variance": 0.0}, "variance of a GaussianSlab must be positive"),
    ],
    ids=str,
)
def test_settings_of_a_prior_are_checked(prior, settings, said):
    with pytest.raises(ValueError, match=said):
        SpikeSlabRegressor(prior).set_params(**settings)


def test_an_exact_posterior_states_that_it_is(data):
    model = SpikeSlabRegressor().fit(*data)
    assert model.method_ == "enumerate"
    assert model.certificate_["log probability"] < 1e-6
    assert model.certificate_["slab variance"] < 1e-3
    assert model.posterior_.size_probability.sum() == pytest.approx(1.0)
    models = model.posterior_.models(5)
    assert len(models) == 5
    assert models.columns["probability"] == sorted(models.columns["probability"], reverse=True)


def test_draws_have_the_stated_means_and_frequencies(data):
    model = SpikeSlabRegressor(inclusion=(1.0, 1.0)).fit(*data)
    draws = model.posterior_.sample(20_000, random_state=0)
    np.testing.assert_allclose((draws != 0).mean(axis=0), model.inclusion_probability_, atol=0.02)
    np.testing.assert_allclose(draws.mean(axis=0), model.coef_, atol=0.02)
    spread = np.sqrt(model.posterior_.variance)
    np.testing.assert_allclose(draws.std(axis=0), spread, atol=0.02)


def test_discoveries_keep_the_expected_share_of_false_ones(data):
    posterior = SpikeSlabRegressor().fit(*data).posterior_
    found = posterior.discoveries(0.1)
    assert (1 - posterior.inclusion_probability[found]).mean() <= 0.1
    assert len(posterior.discoveries(0.0)) <= len(found) <= len(posterior.discoveries(0.9))


def test_predicted_deviations_cover_new_rows():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(20):
        X = rng.standard_normal((60, 8))
        y = X[:, 0] - 0.5 * X[:, 3] + rng.standard_normal(60)
        model = SpikeSlabRegressor(GaussianSlab(1.0)).fit(X[:40], y[:40])
        mean, deviation = model.predict(X[40:], return_std=True)
        inside.append(np.abs(y[40:] - mean) < 1.96 * deviation)
    assert 0.91 < np.mean(inside) < 0.98


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", ["enumerate", Sample(500)], ids=str)
def test_sparse_and_dense_agree(data, method):
    X, y = data
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    settings = {"method": method, "random_state": 0}
    dense = SpikeSlabRegressor(**settings).fit(X, y)
    sparse = SpikeSlabRegressor(**settings).fit(scipy.sparse.csc_array(X), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-8)


def test_duplicated_columns_share_their_probability(data):
    X, y = data
    double = np.column_stack([X[:, :6], X[:, 0]])
    model = SpikeSlabRegressor().fit(double, y)
    assert model.method_ == "enumerate"
    assert model.inclusion_probability_[0] == pytest.approx(model.inclusion_probability_[6])


def test_null_data_leave_the_model_empty():
    rng = np.random.default_rng(2)
    model = SpikeSlabRegressor(random_state=0).fit(
        rng.standard_normal((80, 60)), rng.standard_normal(80)
    )
    assert not model.get_support().any()
    assert model.inclusion_probability_.max() < 0.5


def test_strongly_correlated_variables_of_opposite_sign_are_both_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 100))
    X[:, 1] = 0.95 * X[:, 0] + np.sqrt(1 - 0.95**2) * X[:, 1]
    y = X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(200)
    model = SpikeSlabRegressor(random_state=0).fit(X, y)
    assert model.method_ == "sample"
    assert model.get_support(indices=True).tolist() == [0, 1]


def test_too_many_columns_to_enumerate_are_refused_with_the_time_it_would_take():
    X = np.random.default_rng(0).standard_normal((20, 40))
    with pytest.raises(
        ValueError, match=r"40 columns would take about .* hours; use method='sample'"
    ):
        SpikeSlabRegressor(method="enumerate").fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prior": "lasso"}, "prior must be one of .*spike-slab., .g-prior."),
        ({"method": "guess"}, "method must be one of"),
        ({"inclusion": 1.5}, "between 0 and 1"),
        ({"inclusion": (1.0, -1.0)}, "the pair .a, b. of a Beta"),
        ({"inclusion": ExpectedSize(99)}, "below the number of columns"),
        ({"prior": "horseshoe"}, "prior must be one of"),
        (
            {"prior": EffectSlab()},
            "EffectSlab is for a binomial response or a response whose models",
        ),
        ({"method": Sample(n_chains=0)}, "n_chains must be an integer"),
        ({"method": MeanField("guess")}, "hyperparameters must be one of"),
        ({"method": "single-effects"}, "method must be one of"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(data, settings, said):
    with pytest.raises(ValueError, match=said):
        SpikeSlabRegressor(**settings).fit(*data)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "method", ["auto", Sample(n_steps=300), "mean-field", MeanField("em"), "enumerate"]
)
def test_labels_as_0_and_1_have_the_posterior_of_the_classifier(data, method):
    X, y = data[0][:, :5], (data[1] > 0).astype(float)
    weights, offset = 1.0 + (np.arange(len(y)) % 2), 0.1 * X[:, 0]
    settings = {"method": method, "random_state": 0}
    numbers = SpikeSlabRegressor(family="binomial", **settings)
    labels = SpikeSlabClassifier(**settings)
    for model in (numbers, labels):
        model.fit(X, y, sample_weight=weights, offset=offset)
    np.testing.assert_array_equal(numbers.inclusion_probability_, labels.inclusion_probability_)
    np.testing.assert_array_equal(numbers.coef_, labels.coef_[0])
    assert numbers.method_ == labels.method_
    mean, deviation = numbers.predict(X, return_std=True, offset=offset)
    np.testing.assert_allclose(mean, labels.predict_proba(X, offset)[:, 1], rtol=1e-12)
    np.testing.assert_allclose(deviation, np.sqrt(mean * (1 - mean)), rtol=1e-12)
    np.testing.assert_array_equal(numbers.predict(X, offset=offset), mean)


def test_an_unsettled_chain_is_announced():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60))
    X[:, 1:30] = X[:, [0]] + 0.05 * rng.standard_normal((40, 29))
    y = X[:, 0] + 0.5 * rng.standard_normal(40)
    model = SpikeSlabRegressor(method=Metropolis(n_steps=100, burn_in=0), random_state=0)
    with pytest.warns(ConvergenceWarning, match="raise n_steps"):
        model.fit(X, y)
    assert not model.selection_.converged


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_chains_do_not_depend_on_threads(data):
    settings = {"method": Sample(n_steps=300), "random_state": 3}
    one = SpikeSlabRegressor(**settings).fit(*data)
    two = SpikeSlabRegressor(n_jobs=2, **settings).fit(*data)
    np.testing.assert_array_equal(one.inclusion_probability_, two.inclusion_probability_)


def test_report_json_and_saving_work_as_for_every_estimator(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X).add_prefix("v")
    model = SpikeSlabRegressor().fit(frame, y)
    document = json.loads(model.selection_.to_json())
    assert document["path"] is None
    assert document["certificate"]["parts"].keys() == {"log probability", "slab variance"}
    model.selection_.report(tmp_path / "report.html")
    model.save(tmp_path / "model.garrote")
    again = garrote.load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert str(again.posterior_.models()) == str(model.posterior_.models())
    assert "v0" in str(model.summary())
    clone(model)


def test_draws_reach_arviz_in_the_form_of_either_version(data, monkeypatch):
    """Both signatures of arviz.from_dict, which moved its groups into one mapping in version 1."""
    posterior = SpikeSlabRegressor().fit(*data).posterior_
    seen = {}

    def old(posterior=None, *, coords=None, dims=None):
        seen["old"] = posterior, coords, dims

    def new(data, *, coords=None, dims=None):
        seen["new"] = data["posterior"], coords, dims

    for version in (old, new):
        monkeypatch.setitem(sys.modules, "arviz", types.SimpleNamespace(from_dict=version))
        posterior.to_arviz(50, random_state=0)
    for group, coords, dims in seen.values():
        assert group["coefficient"].shape == group["included"].shape == (1, 50, 8)
        assert coords["variable"][3] == "x3"
        assert dims["coefficient"] == ["variable"]
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match="pip install arviz"):
        posterior.to_arviz()


def test_covariates_have_the_errors_of_least_squares_where_nothing_else_matters():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 4))
    y = 0.7 * X[:, 0] + rng.standard_normal(200)
    model = SpikeSlabRegressor(inclusion=1e-6, covariates=[0, 1]).fit(X, y)
    design = np.column_stack([np.ones(200), X[:, :2]])
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    # The noise has 197 degrees of freedom, and its posterior mean 195 in the denominator.
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design))[1:] * (left @ left) / 195)
    np.testing.assert_allclose(model.selection_.standard_error[:2], errors, rtol=1e-3)
    draws = model.posterior_.sample(4000, random_state=0)
    np.testing.assert_allclose(draws[:, :2].std(axis=0), errors, rtol=0.1)


def test_most_probable_and_median_model_hold_the_covariates_and_may_differ():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 5))
    X[:, 2] = X[:, 1] + 0.05 * rng.standard_normal(60)
    X[:, 3] = X[:, 1] + 0.05 * rng.standard_normal(60)
    y = 2 * X[:, 0] + X[:, 1] + rng.standard_normal(60)
    posterior = SpikeSlabRegressor(inclusion=0.05, covariates=[4]).fit(X, y).posterior_
    best = posterior.most_probable_model
    np.testing.assert_array_equal(best, np.sort(posterior.law.models.members[0]))
    assert {0, 4} < set(best)
    # Three columns share one effect: none of them is more likely in than out.
    np.testing.assert_array_equal(posterior.median_model, [0, 4])


def test_a_method_without_models_has_a_median_model_and_no_most_probable_one():
    data = make_sparse_regression(80, 10, 2, random_state=0)
    posterior = SpikeSlabRegressor(method="mean-field").fit(data.X, data.y).posterior_
    np.testing.assert_array_equal(posterior.median_model, np.flatnonzero(data.coef))
    with pytest.raises(ValueError, match="keeps no models"):
        _ = posterior.most_probable_model


def test_the_selection_lists_models_with_their_effects():
    data = make_sparse_regression(60, 8, 2, random_state=1)
    model = SpikeSlabRegressor(covariates=[0]).fit(data.X, data.y)
    found, listed = model.posterior_.law.models, model.selection_.models
    np.testing.assert_allclose(listed.probability, found.probability[: len(listed.probability)])
    assert 0 not in listed.columns
    for row in range(3):
        members = [j for j in found.members[row] if j != 0]
        assert set(listed.columns[~np.isnan(listed.effect[row])]) == set(members)
        assert listed.size[row] == len(members)
        for j in members:
            own = found.mean[row][list(found.members[row]).index(j)]
            assert listed.effect[row, list(listed.columns).index(j)] == own
    document = model.selection_.to_dict()["models"]
    assert document["effect"][0].count(None) == len(listed.columns) - listed.size[0]
