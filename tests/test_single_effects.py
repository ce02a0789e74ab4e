"""Sums of single effects: one regression, the loop, the posterior, and what must not go wrong."""

import numpy as np
import pytest

from garrote.solvers.single_effect_regression import (
    best_prior_variance,
    expected_prior_variance,
    kl_from_prior,
    single_effect_regression,
)
from reference_single_effects import best_variance, lower_bound, regress_single_effect


def correlated_rows(n=80, D=30, rho=0.8, seed=0, effects=(1.0,), noise=1.0):
    """Centred rows whose neighbours correlate, and a response of a few columns."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, D))
    X[:, 0] = rng.standard_normal(n)
    for j in range(1, D):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * rng.standard_normal(n)
    chosen = rng.choice(D, len(effects), replace=False)
    y = X[:, chosen] @ np.array(effects) + noise * rng.standard_normal(n)
    return X - X.mean(axis=0), y - y.mean(), np.sort(chosen)


def uniform(D):
    return np.full(D, -np.log(D))


def test_one_single_effect_is_what_densities_of_the_estimates_say():
    X, y, _ = correlated_rows()
    log_prior = np.log(np.random.default_rng(1).dirichlet(np.ones(30)))
    log_bf, a, mu, var = regress_single_effect(X, y, log_prior, 0.3, 1.7)
    effect = single_effect_regression(X.T @ y, (X**2).sum(axis=0), log_prior, 0.3, 1.7)
    np.testing.assert_allclose(effect.probability, a, rtol=1e-10)
    np.testing.assert_allclose(effect.mean, mu, rtol=1e-10)
    np.testing.assert_allclose(effect.variance, var, rtol=1e-10)
    np.testing.assert_allclose(
        effect.log_bayes_factor, np.log(np.exp(log_prior) @ np.exp(log_bf)), rtol=1e-10
    )


@pytest.mark.parametrize("effect", [0.0, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_prior_variance_has_the_evidence_of_a_fine_grid(effect, seed):
    X, y, _ = correlated_rows(effects=(effect,), seed=seed)
    c, log_prior = (X**2).sum(axis=0), uniform(30)
    v = best_prior_variance(X.T @ y, c, log_prior, 1.0)
    slow = best_variance(X, y, log_prior, 1.0)
    found, wanted = (
        single_effect_regression(X.T @ y, c, log_prior, u).log_bayes_factor for u in (v, slow)
    )
    assert found >= wanted - 1e-8


def test_a_variance_is_never_worse_than_the_one_it_started_from():
    rng = np.random.default_rng(5)
    for start in 10.0 ** rng.uniform(-6, 3, 40):
        X, y, _ = correlated_rows(effects=(0.4, -0.4), seed=rng.integers(1000))
        b, c, log_prior = X.T @ y, (X**2).sum(axis=0), uniform(30)
        v = best_prior_variance(b, c, log_prior, 1.0, start)
        before, after = (
            single_effect_regression(b, c, log_prior, u).log_bayes_factor for u in (start, v)
        )
        assert after >= before - 1e-10


def test_steps_of_em_raise_the_evidence_of_the_prior_variance():
    X, y, _ = correlated_rows()
    b, c, log_prior = X.T @ y, (X**2).sum(axis=0), uniform(30)
    v, before = 0.01, -np.inf
    for _ in range(300):
        effect = single_effect_regression(b, c, log_prior, v)
        assert effect.log_bayes_factor >= before - 1e-12
        before, v = effect.log_bayes_factor, expected_prior_variance(effect)
    np.testing.assert_allclose(v, best_prior_variance(b, c, log_prior), rtol=1e-3)


def test_the_bound_of_one_effect_is_its_evidence():
    """With a single effect the variational family holds the exact posterior."""
    X, y, _ = correlated_rows()
    log_prior, v, s = uniform(30), 0.4, 1.3
    effect = single_effect_regression(X.T @ y, (X**2).sum(axis=0), log_prior, v, s)
    a, mu, var = (x[None] for x in (effect.probability, effect.mean, effect.variance))
    bound = lower_bound(X, y, log_prior, a, mu, var, np.array([v]), s)
    null = -len(y) / 2 * np.log(2 * np.pi * s) - y @ y / (2 * s)
    np.testing.assert_allclose(bound - null, effect.log_bayes_factor, rtol=1e-10)
    fit = X @ effect.coef
    gain = (2 * y @ fit - effect.second_moment @ (X**2).sum(axis=0)) / (2 * s)
    np.testing.assert_allclose(gain - kl_from_prior(effect, log_prior), bound - null, rtol=1e-9)


def test_enormous_bayes_factors_stay_finite():
    """susieR #201: log Bayes factors of infinity. Columns without content have no say."""
    X, y, _ = correlated_rows(effects=(1e6,), noise=1e-3)
    X[:, 4] = 0.0
    log_prior = np.where(np.arange(30) == 4, -np.inf, -np.log(29))
    b, c = X.T @ y, (X**2).sum(axis=0)
    v = best_prior_variance(b, c, log_prior, 1e-6)
    effect = single_effect_regression(b, c, log_prior, v, 1e-6)
    assert np.isfinite(effect.log_bayes_factor)
    assert effect.log_bayes_factor > 1e9
    assert np.isfinite(kl_from_prior(effect, log_prior))
    assert effect.probability[4] == 0
    assert effect.probability.sum() == pytest.approx(1)
