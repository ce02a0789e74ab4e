"""Posteriors under slabs of two humps: sums against the reference, chains against sums."""

import numpy as np
import pytest
import scipy.sparse
from scipy.special import betaln, logit
from scipy.stats import norm

from garrote import SpikeSlabRegressor
from garrote.inference import Gibbs, Metropolis, Sample
from garrote.priors import GaussianSlab, TwoHumpedSlab
from reference_humps import all_models, signed_sums


def _table(n=40, D=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    X[:, 1] = X[:, 0] + 0.4 * X[:, 1]
    return X, X @ np.resize([0.7, 0.0, -0.7, 0.0, 0.6, 0.0], D) + rng.standard_normal(n)


def _log_prior(D):
    """Return the log prior of models under Beta(1, sqrt(D))."""
    b = np.sqrt(D)
    return lambda own: betaln(1 + len(own), b + D - len(own)) - betaln(1.0, b)


def test_the_average_over_shapes_and_variances_is_that_of_the_reference():
    X, y = _table(24, 3)
    found = SpikeSlabRegressor(TwoHumpedSlab(), "enumerate").fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    # An intercept is a row less: the rows in an orthonormal basis of what sums to 0.
    basis = np.linalg.svd(np.eye(24) - 1 / 24)[0][:, :23]
    Z, v = basis.T @ Z, basis.T @ (y - y.mean())
    logs = np.linspace(-8, 24, 65)
    slabs = [
        (log + float(GaussianSlab.log_density(u)), float(np.exp(u)), shape.separation)
        for log, shape in TwoHumpedSlab().shapes()
        for u in logs
    ]
    exact = all_models(Z, v, _log_prior(3), slabs)
    np.testing.assert_allclose(found.inclusion_probability_, exact[0], atol=3e-4)
    np.testing.assert_allclose(found.coef_ * X.std(axis=0), exact[1], atol=3e-4)
    second = found.posterior_.variance + found.coef_**2
    np.testing.assert_allclose(second * X.var(axis=0), np.diag(exact[2]), atol=3e-4)
    shapes = exact[5].reshape(-1, len(logs)).sum(axis=1)
    np.testing.assert_allclose(found.posterior_.shapes.probability, shapes, atol=3e-4)
    assert found.certificate_["log probability"] < 1e-3


@pytest.mark.parametrize("noise", [None, 1.3])
def test_weights_offsets_covariates_and_odds_go_together(noise):
    X, y = _table(30, 4)
    rng = np.random.default_rng(1)
    X = np.where(np.abs(X) > 0.4, X, 0.0).astype(np.float32).astype(float)
    counts, offset = rng.integers(0, 4, 30), rng.standard_normal(30)
    odds = np.array([0.5, 0.0, -1.0, 1.5])
    found = SpikeSlabRegressor(
        TwoHumpedSlab(0.8, noise), "enumerate", inclusion=0.3, prior_log_odds=odds, covariates=[1]
    )
    found.fit(scipy.sparse.csr_array(X.astype(np.float32)), y, counts * 1.0, offset=offset)
    # The plain problem: rows as often as they count, in a basis of what intercept and covariate leave.
    rows, left = np.repeat(X, counts, axis=0), np.repeat(y - offset, counts)
    known = np.column_stack([np.ones(len(rows)), rows[:, 1]])
    basis = np.linalg.svd(np.eye(len(rows)) - known @ np.linalg.pinv(known))[0][:, :-2]
    own, scale = [0, 2, 3], rows.std(axis=0)
    exact = all_models(
        basis.T @ (rows[:, own] / scale[own]), basis.T @ left,
        lambda model: len(model) * logit(0.3) + odds[own][model].sum(),
        [(log, 0.8, shape.separation) for log, shape in TwoHumpedSlab(0.8).shapes()], noise,
    )  # fmt: skip
    np.testing.assert_allclose(found.inclusion_probability_[own], exact[0], atol=1e-5)
    np.testing.assert_allclose(found.coef_[own] * scale[own], exact[1], atol=1e-5)
    np.testing.assert_allclose(found.posterior_.shapes.probability, exact[5], atol=1e-5)


@pytest.mark.parametrize(
    "prior",
    [
        TwoHumpedSlab(1.0, separation=0.9),
        TwoHumpedSlab(separation=0.95),
        TwoHumpedSlab(),
        TwoHumpedSlab(noise_variance=1.0),
    ],
)
def test_chains_agree_with_sums_over_all_models(prior):
    X, y = _table()
    exact = SpikeSlabRegressor(prior, "enumerate").fit(X, y)
    drawn = SpikeSlabRegressor(prior, Sample(n_steps=30_000), random_state=0).fit(X, y)
    off = np.abs(drawn.inclusion_probability_ - exact.inclusion_probability_)
    assert off.max() < 0.03
    np.testing.assert_allclose(drawn.coef_, exact.coef_, atol=0.02)
    np.testing.assert_allclose(drawn.posterior_.variance, exact.posterior_.variance, atol=0.01)
    assert drawn.noise_variance_ == pytest.approx(exact.noise_variance_, rel=0.02)
    if exact.posterior_.shapes is not None:
        np.testing.assert_allclose(
            drawn.posterior_.shapes.probability, exact.posterior_.shapes.probability, atol=0.03
        )
    draws = drawn.posterior_.sample(20_000, random_state=0)
    np.testing.assert_allclose((draws != 0).mean(axis=0), exact.inclusion_probability_, atol=0.04)
    np.testing.assert_allclose(draws.mean(axis=0), exact.coef_, atol=0.03)


@pytest.mark.parametrize("method", [Metropolis(n_steps=60_000), Gibbs(n_steps=6000)])
def test_other_walks_agree_with_sums_over_all_models(method):
    X, y = _table()
    exact = SpikeSlabRegressor(TwoHumpedSlab(), "enumerate").fit(X, y)
    drawn = SpikeSlabRegressor(TwoHumpedSlab(), method, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        drawn.inclusion_probability_, exact.inclusion_probability_, atol=0.04
    )
    np.testing.assert_allclose(drawn.coef_, exact.coef_, atol=0.03)
    np.testing.assert_allclose(drawn.posterior_.variance, exact.posterior_.variance, atol=0.015)
    assert drawn.noise_variance_ == pytest.approx(exact.noise_variance_, rel=0.02)
    np.testing.assert_allclose(
        drawn.posterior_.shapes.probability, exact.posterior_.shapes.probability, atol=0.03
    )


def test_no_separation_is_the_gaussian_slab():
    X, y = _table()
    plain = SpikeSlabRegressor(GaussianSlab(), "enumerate").fit(X, y)
    flat = SpikeSlabRegressor(TwoHumpedSlab(separation=0.0), "enumerate").fit(X, y)
    np.testing.assert_allclose(
        flat.inclusion_probability_, plain.inclusion_probability_, atol=1e-12
    )
    assert flat.posterior_.shapes is None


def test_effects_of_equal_size_are_told_from_gaussian_ones():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 40))
    signs = np.where(rng.random(12) < 0.5, -1.0, 1.0)
    equal = X[:, :12] @ signs + rng.standard_normal(200)
    shapes = SpikeSlabRegressor(TwoHumpedSlab(), random_state=0).fit(X, equal).posterior_.shapes
    assert shapes.two_humped > 0.95
    assert shapes.mean_separation > 0.8
    sizes = 1.5 * norm.ppf((np.arange(12) + 0.5) / 12)
    mixed = X[:, :12] @ sizes + rng.standard_normal(200)
    shapes = SpikeSlabRegressor(TwoHumpedSlab(), random_state=0).fit(X, mixed).posterior_.shapes
    assert shapes.two_humped < 0.7


def test_ten_columns_are_summed_as_by_quadrature_over_noise_and_all_signs():
    X, y = _table(20, 10)
    prior = TwoHumpedSlab(0.8, separation=0.9)
    found = SpikeSlabRegressor(prior, "enumerate").fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    basis = np.linalg.svd(np.eye(20) - 1 / 20)[0][:, :19]
    exact, _ = signed_sums(basis.T @ Z, basis.T @ (y - y.mean()), _log_prior(10), 0.8, 0.9)
    np.testing.assert_allclose(found.inclusion_probability_, exact, atol=1e-6)


def test_near_copies_change_places_as_often_as_they_should():
    """Members are exchanged for what resembles them, with signs of their own."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((80, 6))
    X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(80)
    X[:, 3] = -X[:, 2] + 0.2 * rng.standard_normal(80)
    y = X[:, 0] + X[:, 2] + rng.standard_normal(80)
    exact = SpikeSlabRegressor(TwoHumpedSlab(), "enumerate").fit(X, y)
    drawn = SpikeSlabRegressor(TwoHumpedSlab(), Sample(n_steps=20_000), random_state=0).fit(X, y)
    truth = exact.inclusion_probability_
    assert (truth[:4] > 0.05).all()
    assert (truth[:2] < 0.95).all()
    np.testing.assert_allclose(drawn.inclusion_probability_, truth, atol=0.02)
