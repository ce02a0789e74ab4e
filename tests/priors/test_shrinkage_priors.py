"""Shrinkage priors as users call them: checks of scikit-learn, invariances, files, bad input."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning

import garrote
from garrote import ShrinkageRegressor, SpikeSlabRegressor
from garrote.cli.main import main
from garrote.inference import Gibbs
from garrote.priors import GaussianSlab
from garrote.priors.scale_mixture import (
    SHRINKAGE_PRIORS,
    FusedLaplacePrior,
    GroupLaplacePrior,
    HorseshoePrior,
    LaplacePrior,
)
from garrote.results.certificates import DRAWS
from reference_shrinkage import bayesian_lasso
from scikit_checks import scikit_learn_checks

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")
NAMES = [name for name in SHRINKAGE_PRIORS if name != "group-laplace"]
QUICK = {"random_state": 0, "method": Gibbs(n_steps=300, burn_in=100)}


@scikit_learn_checks(ShrinkageRegressor("horseshoe", Gibbs(n_steps=100, burn_in=20)))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 10))
    X[:, 1] = 0.6 * X[:, 0] + 0.8 * X[:, 1]
    y = 3 + 2 * X[:, 0] - 1.5 * X[:, 4] + rng.standard_normal(60)
    return X, y


def fit(X, y, prior="horseshoe", weights=None, names=None, **settings):
    """Fit a short chain; whether it has settled is not the question here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ShrinkageRegressor(prior, **{**QUICK, **settings})
        return model.fit(X, y, sample_weight=weights, feature_names=names)


@pytest.mark.parametrize("prior", [*NAMES, "groups of two"])
@pytest.mark.parametrize("columns", [10, 150])
def test_every_prior_finds_strong_effects_by_columns_and_by_rows(data, prior, columns):
    X, y = data
    X = np.column_stack([X, np.random.default_rng(0).standard_normal((60, columns - 10))])
    if prior == "groups of two":
        prior = GroupLaplacePrior(groups=np.arange(columns) // 2)
    model = fit(X, y, prior)
    ranked = np.argsort(-np.abs(model.coef_ / np.sqrt(model.posterior_.variance)))
    assert {0, 4} <= set(ranked[:3])
    if columns == 10:
        assert {0, 4} <= set(model.get_support(indices=True))
        assert model.noise_variance_ == pytest.approx(1.4, rel=0.2)
    assert model.method_ == "gibbs"


def test_what_is_selected_has_an_interval_without_zero(data):
    model = ShrinkageRegressor("horseshoe", random_state=0).fit(*data)
    lower, upper = model.posterior_.interval(0.95)
    np.testing.assert_array_equal(model.get_support(), (lower > 0) | (upper < 0))
    np.testing.assert_array_equal(model.selection_.lower, lower)
    np.testing.assert_array_equal(model.get_support(), model.sign_probability_ > 0.975)
    assert model.selection_.evidence == "posterior sign probability"
    assert "95% interval excludes 0 (sign probability > 0.975)" in model.selection_.rule
    assert model.selection_.converged


def test_no_inclusion_probability_is_made_up(data):
    model = fit(*data, covariates=[2])
    assert not hasattr(model, "inclusion_probability_")
    posterior = model.posterior_
    assert posterior.inclusion_probability[2] == 1.0
    assert np.isnan(np.delete(posterior.inclusion_probability, 2)).all()
    with pytest.raises(ValueError, match="leaves no variable out"):
        _ = posterior.median_model
    with pytest.raises(ValueError, match="keeps no models"):
        posterior.models()


def test_draws_are_what_is_sampled_and_summarised(data):
    posterior = fit(*data).posterior_
    assert posterior.law.draws.shape == (600, 10)
    np.testing.assert_allclose(posterior.mean, posterior.law.draws.mean(axis=0))
    drawn = posterior.sample(50, random_state=0)
    assert all((posterior.law.draws == row).all(axis=1).any() for row in drawn)
    positive = (posterior.law.draws > 0).mean(axis=0)
    np.testing.assert_allclose(posterior.sign_probability, np.maximum(positive, 1 - positive))
    np.testing.assert_allclose(
        posterior.covariance.diagonal(), posterior.variance[posterior.support]
    )
    found = posterior.discoveries(0.05)
    assert (1 - posterior.sign_probability[found]).mean() <= 0.05
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        posterior.interval(1.5)


def test_shrinkage_factors_tell_effects_from_noise(data):
    posterior = fit(*data).posterior_
    assert (posterior.law.shrinkage[[0, 4]] < 0.1).all()
    assert (np.delete(posterior.law.shrinkage, [0, 4]) > 0.4).all()


def test_a_posterior_without_draws_says_where_intervals_are(data):
    with pytest.raises(ValueError, match="no draws of its own"):
        SpikeSlabRegressor().fit(*data).posterior_.interval()


def test_units_of_the_data_do_not_matter(data):
    X, y = data
    model = fit(X, y)
    factors = np.exp(np.linspace(-3, 3, 10))
    scaled = fit(X * factors + 7, 1000 * y - 5)
    np.testing.assert_allclose(scaled.coef_ * factors / 1000, model.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(scaled.get_support(), model.get_support())


@pytest.mark.parametrize("rows", [60, 8])
def test_sparse_float32_and_strided_columns_give_the_same_draws(data, rows):
    X, y = data
    X, y = np.where(np.abs(X) > 0.7, X, 0.0)[:rows], y[:rows]
    dense = fit(X, y)
    np.testing.assert_allclose(fit(scipy.sparse.csc_array(X), y).coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(fit(np.asfortranarray(X), y).coef_, dense.coef_, atol=1e-6)
    single = X.astype(np.float32)
    np.testing.assert_allclose(fit(single, y).coef_, fit(single.astype(float), y).coef_, atol=1e-3)


@pytest.mark.parametrize("columns", [10, 110])
def test_weights_are_repeats(data, columns):
    X, y = data
    X = np.column_stack([X, np.random.default_rng(1).standard_normal((60, columns - 10))])
    weights = np.random.default_rng(0).integers(0, 3, 60)
    settings = {"method": Gibbs(n_steps=2000, burn_in=300)}
    weighted = fit(X, y, LaplacePrior(scale=0.1), weights, **settings).posterior_
    repeated = fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights), LaplacePrior(scale=0.1), **settings
    )
    error = np.hypot(
        weighted.accuracy.monte_carlo_error, repeated.posterior_.accuracy.monte_carlo_error
    )
    assert (np.abs(weighted.mean - repeated.coef_) < 5 * error).all()
    np.testing.assert_allclose(weighted.noise_variance, repeated.noise_variance_, rtol=0.1)


def test_covariates_are_drawn_beside_the_others():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((50, 4))
    y = X @ [1.0, 0.0, 2.0, 0.0] + rng.standard_normal(50)
    settings = {"covariates": [0, 2], "method": Gibbs(n_steps=2000, burn_in=100)}
    prior = LaplacePrior(scale=1e-4, noise_variance=1.0)
    posterior = fit(X, y, prior, **settings).posterior_
    # The others are shrunk to nothing: least squares of the covariates is left.
    design = np.column_stack([np.ones(50), X[:, [0, 2]]])
    covariance = np.linalg.inv(design.T @ design)
    expected = (covariance @ design.T @ y)[1:]
    np.testing.assert_allclose(posterior.mean[[0, 2]], expected, atol=0.02)
    spread = np.sqrt(np.diag(covariance)[1:])
    np.testing.assert_allclose(np.sqrt(posterior.variance[[0, 2]]), spread, rtol=0.06)
    assert posterior.sign_probability[[0, 2]].tolist() == [1.0, 1.0]


def test_the_seed_and_not_the_threads_decides_the_draws(data):
    one, two = fit(*data, n_jobs=1), fit(*data, n_jobs=2)
    np.testing.assert_array_equal(one.posterior_.law.draws, two.posterior_.law.draws)
    assert (fit(*data, random_state=1).posterior_.law.draws != one.posterior_.law.draws).any()


def test_predicted_deviations_cover_new_rows():
    rng = np.random.default_rng(0)
    inside = []
    for seed in range(10):
        X = rng.standard_normal((90, 40))
        y = X[:, 0] - 0.5 * X[:, 3] + rng.standard_normal(90)
        model = fit(X[:50], y[:50], random_state=seed)
        mean, deviation = model.predict(X[50:], return_std=True)
        inside.append(np.abs(y[50:] - mean) < 1.96 * deviation)
    assert 0.9 < np.mean(inside) < 0.985


def test_chains_that_have_not_settled_are_warned_of(data):
    X, y = data
    X = np.column_stack([X, np.random.default_rng(0).standard_normal((60, 60))])
    with pytest.warns(ConvergenceWarning, match=r"split R-hat is .* raise n_steps \(100\)"):
        model = ShrinkageRegressor("horseshoe", Gibbs(n_steps=100, burn_in=0), random_state=0).fit(
            X, y
        )
    assert model.certificate_.kind == DRAWS
    assert not model.selection_.converged
    least = model.posterior_.accuracy.effective_sample_size.min()
    assert model.certificate_.value >= 1 / np.sqrt(least) - 1e-12


def test_fused_effects_are_constant_over_pieces():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 150))
    truth = np.repeat([0.0, 1.0, 0.0, -1.0, 0.0], 30)
    y = X @ truth + rng.standard_normal(60)
    fused = fit(X, y, FusedLaplacePrior(l1_ratio=0.1), standardize=False)
    plain = fit(X, y, "laplace", standardize=False)
    assert np.square(fused.coef_ - truth).sum() < 0.5 * np.square(plain.coef_ - truth).sum()


def test_groups_may_be_named_as_for_the_group_lasso():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((40, 4)), columns=["a1", "a2", "b1", "b2"])
    y = frame.a1 + frame.a2 + rng.standard_normal(40)
    by_name = fit(frame, y, GroupLaplacePrior(groups=[["a1", "a2"], ["b1", "b2"]]))
    by_label = fit(frame.to_numpy(), y, GroupLaplacePrior(groups=[0, 0, 1, 1]))
    np.testing.assert_array_equal(by_name.coef_, by_label.coef_)


def test_the_bayesian_lasso_of_the_diabetes_table_is_that_of_a_plain_sampler():
    """Park & Casella's (2008) own steps, on their data with columns of unit length."""
    X, y = load_diabetes(return_X_y=True)
    rate = 0.25
    prior = LaplacePrior(scale=1 / rate / np.sqrt(len(y)))
    # Quantiles of 15,000 and of 60,000 draws differ by 0.02 deviations: a tolerance of 0.1 is no luck.
    posterior = (
        ShrinkageRegressor(prior, Gibbs(n_steps=15_000), random_state=0).fit(X, y).posterior_
    )
    X = X - X.mean(axis=0)
    length = np.linalg.norm(X, axis=0)
    plain = bayesian_lasso(X / length, y - y.mean(), rate, 600, np.random.default_rng(0)) / length
    expected = np.quantile(plain, [0.5, 0.025, 0.975], axis=0)
    found = np.array([np.median(posterior.law.draws, axis=0), *posterior.interval(0.95)])
    assert (np.abs(found - expected) < 0.1 * plain.std(axis=0)).all()
    np.testing.assert_allclose(posterior.law.draws.std(axis=0), plain.std(axis=0), rtol=0.05)


def test_constant_and_repeated_columns_do_no_harm(data):
    X, y = data
    X = np.column_stack([X, np.full(60, 3.0), X[:, 0]])
    model = fit(X, y, method=Gibbs(n_steps=1000, burn_in=100))
    assert model.coef_[10] == 0.0
    assert model.posterior_.sign_probability[10] == 0.5
    assert "x10" in model.selection_.constant
    # One of the two copies has the effect, or both share it.
    assert model.coef_[0] + model.coef_[11] == pytest.approx(2.0, abs=0.4)


def test_columns_without_any_content_leave_the_noise(data):
    _, y = data
    model = fit(np.ones((60, 3)), y)
    assert (model.coef_ == 0).all()
    assert not model.get_support().any()
    assert model.noise_variance_ == pytest.approx(np.var(y), rel=0.1)
    assert fit(
        np.ones((60, 3)), y, HorseshoePrior(noise_variance=2.0)
    ).noise_variance_ == pytest.approx(2.0)


def test_a_constant_response_selects_nothing(data):
    X, _ = data
    with pytest.warns(UserWarning, match="y is constant"):
        model = fit(X, np.full(60, 4.0))
    assert not model.get_support().any()
    np.testing.assert_allclose(model.predict(X), 4.0, rtol=1e-5)


def test_data_without_noise_are_fitted(data):
    X, _ = data
    y = X[:, 0] - 2 * X[:, 3]
    model = fit(X, y)
    np.testing.assert_allclose(model.coef_, np.array([1, 0, 0, -2, 0, 0, 0, 0, 0, 0]), atol=1e-2)


def test_a_column_with_a_huge_offset_keeps_its_digits(data):
    X, y = data
    moved = X.copy()
    moved[:, 4] += 1e7
    np.testing.assert_allclose(fit(moved, y).coef_, fit(X, y).coef_, atol=1e-4)


@pytest.mark.parametrize("prior", ["horseshoe", GroupLaplacePrior(groups=[0, 1] * 5)], ids=str)
def test_a_model_in_a_file_is_the_same(data, prior, tmp_path):
    X, y = data
    model = fit(X, y, prior)
    model.save(tmp_path / "m.garrote")
    same = garrote.load(tmp_path / "m.garrote")
    np.testing.assert_array_equal(
        same.predict(X, return_std=True), model.predict(X, return_std=True)
    )
    np.testing.assert_array_equal(same.posterior_.law.draws, model.posterior_.law.draws)
    assert same.prior == model.prior
    assert str(same.certificate_) == str(model.certificate_)
    clone(same)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prior": "horse"}, "prior must be .*'horseshoe'"),
        ({"method": "enumerate"}, r"method must be one of \('auto', 'gibbs'\)"),
        ({"prior": GaussianSlab(1.0)}, "prior must be one of .*'horseshoe'"),
        ({"prior": "group-laplace"}, r"give GroupLaplacePrior\(groups=...\)"),
        ({"prior": GroupLaplacePrior()}, "needs to know the groups"),
        ({"prior": GroupLaplacePrior(groups=[0, 1])}, "2 labels for 10 columns"),
        ({"prior": HorseshoePrior}, "prior must be"),
        ({"method": Gibbs(n_steps=10)}, "n_steps must be an integer >= 100"),
        ({"method": Gibbs(n_chains=None)}, "n_chains must be an integer"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(data, settings, said):
    with pytest.raises(ValueError, match=said):
        fit(*data, **settings)


def test_too_few_rows_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="3 rows are too few"):
        fit(X[:3], y[:3])


@pytest.fixture
def table(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(10)])
    frame["y"] = y
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def test_the_command_line_selects_and_writes(table, tmp_path, capsys):
    command = [
        "select",
        str(table),
        "--target",
        "y",
        "--method",
        "shrinkage",
        "--set",
        "prior=horseshoe",
    ]
    outputs = ["--json", str(tmp_path / "r.json"), "--report", str(tmp_path / "r.html")]
    assert main([*command, *outputs]) == 0
    printed = capsys.readouterr().out
    assert "v0" in printed
    assert "95% interval excludes 0" in " ".join(printed.split())
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["evidence"] == "posterior sign probability"
    assert {v["name"] for v in document["variables"] if v["selected"]} == {"v0", "v4"}
    assert set(document["certificate"]["parts"]) == {"error of a mean", "halves of chains"}
    page = " ".join((tmp_path / "r.html").read_text().split())
    assert "How sure the sign of a variable" in page
    assert "The coefficients were sampled" in page
    assert "The horseshoe estimator for sparse signals" in page


def test_the_display_marks_where_signs_are_sure(data):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from garrote.displays import InclusionDisplay

    display = InclusionDisplay.from_estimator(fit(*data))
    assert display.threshold_line_.get_xdata()[0] == 0.975
