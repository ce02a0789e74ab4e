"""Data that break naive Bayesian selection: each gets a right answer, or an error with a remedy."""

import numpy as np
import pytest

from garrote import SpikeSlabRegressor
from garrote.inference import Gibbs, Metropolis, Sample, Search
from garrote.inference.gaussian_models import refuse_long_enumeration
from garrote.priors import GaussianSlab, GPrior

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

WAYS = {
    "enumerated": {"method": "enumerate"},
    "enumerated, Gaussian slab": {"method": "enumerate", "prior": GaussianSlab()},
    "enumerated, g-prior": {"method": "enumerate", "prior": "g-prior"},
    "enumerated, fixed g": {"method": "enumerate", "prior": GPrior(50.0)},
    "enumerated, best g": {"method": "enumerate", "prior": GPrior("eb")},
    "enumerated, BIC": {"method": "enumerate", "prior": "bic"},
    "sampled": {"method": Sample(n_steps=500)},
    "sampled, g-prior": {"method": Sample(n_steps=500), "prior": "g-prior"},
    "sampled, BIC": {"method": Sample(n_steps=500), "prior": "bic"},
    "Metropolis": {"method": Metropolis(n_steps=5000)},
    "Gibbs": {"method": Gibbs(n_steps=1000)},
    "searched": {"method": Search(n_steps=300)},
    "mean field": {"method": "mean-field"},
}


def simulated(n=80, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, 1.5 * X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(n)


def fitted(way, X, y, **settings):
    """Fit, and see to it that everything that is stated is a number."""
    model = SpikeSlabRegressor(random_state=0, **WAYS[way] | settings).fit(X, y)
    posterior = model.posterior_
    mean, deviation = model.predict(X[:3], return_std=True)
    stated = (
        model.coef_, posterior.inclusion_probability, posterior.standard_error, mean, deviation,
        posterior.sample(5, random_state=0), model.noise_variance_, posterior.correlation,
    )  # fmt: skip
    assert all(np.isfinite(values).all() for values in stated)
    assert posterior.inclusion_probability.min() >= 0
    assert posterior.inclusion_probability.max() <= 1 + 1e-12
    return model


@pytest.mark.parametrize("way", WAYS)
def test_constant_responses_have_no_effects_and_a_warning(way):
    X, _ = simulated()
    with pytest.warns(UserWarning, match="y is constant"):
        model = fitted(way, X, np.full(80, 3.0))
    assert not model.get_support().any()
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-6)
    np.testing.assert_allclose(model.predict(X), 3.0, atol=1e-6)
    assert model.noise_variance_ < 1e-6
    assert any("y is constant" in text for text in model.selection_.warnings)


@pytest.mark.parametrize("way", WAYS)
def test_a_response_that_covariates_explain_is_left_to_them(way):
    X, _ = simulated()
    with pytest.warns(UserWarning, match="explained by the covariates"):
        model = fitted(way, X, 2 * X[:, 4] + 1, covariates=[4])
    assert model.get_support(indices=True).tolist() == [4]
    np.testing.assert_allclose(model.predict(X), 2 * X[:, 4] + 1, atol=1e-6)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_constant_columns_leave_the_mean(way):
    _, y = simulated()
    model = fitted(way, np.ones((80, 5)), y)
    assert model.inclusion_probability_.tolist() == [0.0] * 5
    np.testing.assert_allclose(model.predict(np.ones((1, 5))), y.mean())
    assert "left out, without variation" in model.selection_.warnings[-1]


@pytest.mark.parametrize("way", WAYS)
def test_a_response_without_noise_is_explained_by_its_variables(way):
    X, _ = simulated()
    model = fitted(way, X, 2 * X[:, 0] - X[:, 3] + 4)
    assert model.get_support(indices=True).tolist() == [0, 3]
    shrunk = 0.1 if model.prior in ("spike-slab", GaussianSlab(), GPrior(50.0)) else 1e-3
    np.testing.assert_allclose(model.coef_[[0, 3]], [2, -1], atol=shrunk)


@pytest.mark.parametrize("way", WAYS)
def test_dependent_columns_share_what_they_explain(way):
    X, y = simulated(d=6)
    sums = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]])
    model = fitted(way, sums, y)
    assert model.score(sums, y) > 0.9
    assert model.inclusion_probability_[[4, 5]].max() < 0.3


@pytest.mark.parametrize("way", [way for way in WAYS if "BIC" not in way])
def test_more_columns_than_rows_do_not_interpolate(way):
    # All signs of 14 columns are too many for a quick test.
    X, y = simulated(**({"n": 7, "d": 8} if way == "enumerated" else {"n": 12, "d": 14}), seed=3)
    model = fitted(way, X, y)
    assert set(model.get_support(indices=True)) <= {0, 1}


@pytest.mark.parametrize("way", WAYS)
def test_few_rows_are_answered_and_said_to_be_few(way):
    X, y = simulated(n=8, d=4)
    model = fitted(way, X, y)
    assert any("7 rows are left" in text for text in model.selection_.warnings)


@pytest.mark.parametrize("way", WAYS)
def test_too_few_rows_are_refused_with_the_number_needed(way):
    X, y = simulated(n=4, d=3)
    with pytest.raises(ValueError, match=r"4 rows are too few .* 1 covariates: at least 5"):
        fitted(way, X, y, covariates=[0])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_nothing_is_selected_from_noise(way):
    rng = np.random.default_rng(1)
    model = fitted(way, rng.standard_normal((80, 8)), rng.standard_normal(80))
    assert not model.get_support().any()


@pytest.mark.parametrize("way", WAYS)
def test_columns_of_any_scale_are_one_problem(way):
    X, y = simulated()
    scale = np.array([1e-8, 1e8, 1, 1, 1e3, 1, 1, 1e-3])
    plain, scaled = fitted(way, X, y), fitted(way, X * scale + scale, 1e6 * y + 1e9)
    np.testing.assert_allclose(
        plain.inclusion_probability_, scaled.inclusion_probability_, atol=1e-4
    )
    np.testing.assert_allclose(
        plain.coef_ * 1e6 / scale, scaled.coef_, rtol=1e-2, atol=1e3 / scale.max()
    )


@pytest.mark.parametrize("way", WAYS)
def test_copies_share_their_probability_and_it_is_said(way):
    X, y = simulated(d=6)
    copies = np.column_stack([X, X[:, 0], 1 - 3 * X[:, 0]])
    # Under shapes the optima of a mean field weigh the same to .0011 only.
    one_shape = {"prior": GaussianSlab()} if way == "mean field" else {}
    model = fitted(way, copies, y, **one_shape)
    inclusion = model.inclusion_probability_
    said = " ".join(model.selection_.warnings)
    sampled = hasattr(WAYS[way]["method"], "n_steps")
    tolerance = 0.2 if sampled else 1e-3 if way == "mean field" else 1e-6
    np.testing.assert_allclose(inclusion[[6, 7]], inclusion[0], atol=tolerance)
    assert "x0, x6, x7 are interchangeable and share their probability" in said
    assert "one of them is in with probability 1.00" in said
    if WAYS[way]["method"] == "enumerate":
        alone = fitted(way, X, y)
        np.testing.assert_allclose(model.predict(copies), alone.predict(X), atol=0.05)


def test_copies_that_do_not_matter_are_not_mentioned():
    X, y = simulated()
    model = fitted("enumerated", np.column_stack([X, X[:, 5]]), y)
    assert not any("share their" in text for text in model.selection_.warnings)


def test_thirty_columns_are_not_enumerated_and_the_time_is_stated():
    X = np.random.default_rng(0).standard_normal((60, 30))
    with pytest.raises(
        ValueError, match=r"30 columns .* about 5[0-9] minutes; use method='sample'"
    ):
        SpikeSlabRegressor(GaussianSlab(), "enumerate").fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"30 columns .* about 3.6 minutes"):
        SpikeSlabRegressor("g-prior", "enumerate").fit(X, X[:, 0])
    refuse_long_enumeration(29)  # which is not too long
    # With a slab variance to be integrated the same 29 columns take many times as long.
    with pytest.raises(ValueError, match="29 columns"):
        SpikeSlabRegressor(GaussianSlab(), "enumerate").fit(X[:, :29], X[:, 0])
    # Under a slab of unknown shape every variable has two signs.
    with pytest.raises(ValueError, match=r"15 columns .* about 4.3 minutes; .*prior=GaussianSlab"):
        SpikeSlabRegressor(method="enumerate").fit(X[:, :15], X[:, 0])


@pytest.mark.parametrize(
    ("count", "method"),
    [(12_000, "sample"), pytest.param(20_500, "mean-field", marks=pytest.mark.slow)],
)
def test_very_many_columns_are_answered(count, method):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, count), dtype=np.float32)
    y = 2 * X[:, 7] + 0.5 * rng.standard_normal(60)
    model = SpikeSlabRegressor(method=Sample(n_steps=300, burn_in=50), random_state=0).fit(X, y)
    assert model.method_ == method
    assert model.get_support(indices=True).tolist() == [7]
