"""Single effects by Laplace: beside quadrature, Wakefield's Bayes factors, and a known truth."""

import numpy as np
import pytest
from scipy.integrate import quad

from garrote import SingleEffectsRegressor
from garrote.inference.glm_models import make_samples
from garrote.likelihoods import Cox, survival_times
from garrote.priors import SingleEffects
from garrote.problem import Problem
from garrote.solvers.effects.fitted_effects import FittedColumns
from garrote.solvers.losses.newton import fit_newton
from reference_cox import log_partial_likelihood, make_times

VARIANCE = 0.3


def bayes_factors(likelihood, X, y, weights=None):
    """Return log Bayes factors of all columns as single effects have them, from equal odds."""
    problem = Problem.from_rows(X, y, weights, likelihood=likelihood, standardize=False)
    samples, fixed, _ = make_samples(problem)
    columns = FittedColumns(problem.likelihood, samples, fixed)
    flat = np.zeros(X.shape[1])
    found = columns.effect(samples.offset, VARIANCE, flat, flat)
    return found, np.log(found.probability) + found.log_bayes_factor


def test_bayes_factors_of_times_are_those_of_quadrature():
    X, y, parts = make_times(20, n=80)
    found, logs = bayes_factors(Cox(), X, y, parts["weights"])
    for j in range(X.shape[1]):

        def relative(b, x=X[:, j]):
            return log_partial_likelihood(b * x, **parts, ties="efron")

        empty, best = relative(0.0), relative(found.mean[j])

        def density(b, relative=relative, best=best):
            prior = np.exp(-(b**2) / (2 * VARIANCE)) / np.sqrt(2 * np.pi * VARIANCE)
            return np.exp(relative(b) - best) * prior

        away = 8 * np.sqrt(found.variance[j])
        area = quad(density, found.mean[j] - away, found.mean[j] + away, epsabs=1e-10)[0]
        assert logs[j] == pytest.approx(np.log(area) + best - empty, abs=0.05)


def test_wakefields_bayes_factors_are_near():
    """By the maximum of the likelihood and its standard error; the two differ by third derivatives."""
    X, y, parts = make_times(21, n=200)
    _, logs = bayes_factors(Cox(), X, y, parts["weights"])
    for j in range(X.shape[1]):
        fit = fit_newton(Cox(), X[:, [j]], y, sample_weight=parts["weights"])
        coef, square = float(fit.coef[0]), float(fit.covariance[1, 1])
        shrunk = VARIANCE / (square + VARIANCE)
        wakefield = 0.5 * np.log1p(-shrunk) + 0.5 * coef**2 / square * shrunk
        assert logs[j] == pytest.approx(wakefield, abs=0.02 + 0.1 * abs(wakefield))


def test_bayes_factors_of_counts_integrate_the_intercept_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    X -= X.mean(axis=0)
    y = rng.poisson(np.exp(0.5 + 0.4 * X[:, 0])).astype(float)
    found, logs = bayes_factors("poisson", X, y)
    # With a flat level the counts given their sum are multinomial: its probability has no level.
    for j in range(3):

        def relative(b, x=X[:, j]):
            return y @ (b * x) - y.sum() * np.log(np.exp(b * x).sum())

        top = relative(found.mean[j])

        def density(b, relative=relative, top=top):
            prior = np.exp(-(b**2) / (2 * VARIANCE)) / np.sqrt(2 * np.pi * VARIANCE)
            return np.exp(relative(b) - top) * prior

        area = quad(density, -3, 3, points=[found.mean[j]], epsabs=1e-12)[0]
        exact = np.log(area) + top - relative(0.0)
        assert logs[j] == pytest.approx(exact, abs=0.02)


def many_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 30)) + 2.0
    X[:, 5] = X[:, 2] + 0.05 * rng.standard_normal(300)
    eta = 0.8 * X[:, 2] - 0.6 * X[:, 9]
    time, censored = rng.exponential(np.exp(-eta + eta.mean())), rng.exponential(2.0, 300)
    return X, survival_times(np.minimum(time, censored), time <= censored)


def test_sets_hold_the_effects_on_times():
    X, y = many_columns()
    model = SingleEffectsRegressor(family="cox").fit(X, y)
    sets = [set(one.variables.tolist()) for one in model.posterior_.credible_sets(0.95)]
    assert {2, 5} in sets
    assert {9} in sets
    assert model.certificate_.value < 1e-3
    mean, deviation = model.predict(X[:5], return_std=True)
    eta = X[:5] @ model.coef_ + model.intercept_
    assert (np.abs(np.log(mean) - eta) < 0.1).all()  # means of exp(eta) are a little higher
    assert (deviation > 0).all()
    assert model.score(X, y) > 0.7
    assert (np.diff(model.predict_survival(X[:5])) <= 0).all()


def test_covariates_are_fitted_beside_the_effects():
    X, y = many_columns()
    model = SingleEffectsRegressor(SingleEffects(effects=2), family="cox", covariates=[9]).fit(X, y)
    fit = fit_newton(Cox(), X[:, [2, 9]], y)
    assert model.coef_[9] == pytest.approx(fit.coef[1], abs=0.05)
    assert model.posterior_.sample(50, random_state=0)[:, 9].std() > 0.01


def test_settings_without_meaning_are_refused():
    X, y = many_columns()
    with pytest.raises(ValueError, match="have no noise"):
        SingleEffectsRegressor(SingleEffects(noise_variance=1.0), family="cox").fit(X, y)
