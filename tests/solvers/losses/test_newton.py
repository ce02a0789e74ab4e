"""Newton's method for the likelihoods without a penalty: maxima, separation, and columns that depend."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor

from garrote.likelihoods import (
    FAMILIES,
    Binomial,
    NegativeBinomial,
    Poisson,
    curvature,
    deviance,
    gradient,
    inverse_link,
    log_likelihood,
)
from garrote.solvers.losses.newton import fit_newton
from simulated import simulated

# Rows that are coupled: tests/estimators/families/test_cox_beside_others.py.
ALONE = [one for one in FAMILIES.values() if one.integration is not None and not one.coupled]
# Of scikit-learn's models none is one of negative binomial counts.
KNOWN = [one for one in ALONE if not one.from_data]
COMPILED = [*KNOWN, NegativeBinomial(0.7)]


def reference_model(likelihood):
    if likelihood.name == "binomial":
        return LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
    if likelihood.name == "poisson":
        return PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=10_000, solver="newton-cholesky")
    return LinearRegression()


@pytest.mark.parametrize("likelihood", KNOWN, ids=lambda f: f.name)
def test_newton_agrees_with_scikit_learn(likelihood):
    X, y = simulated(likelihood)
    fit, theirs = fit_newton(likelihood, X, y), reference_model(likelihood).fit(X, y)
    np.testing.assert_allclose(fit.coef, np.ravel(theirs.coef_), rtol=1e-3, atol=1e-4)
    assert fit.certificate < 1e-8
    assert not fit.separated


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("likelihood", COMPILED, ids=lambda f: f.name)
def test_newton_finds_the_maximum_with_weights_and_offset(likelihood, intercept):
    rng = np.random.default_rng(3)
    offset = 0.5 * rng.standard_normal(200)
    X, y = simulated(likelihood, d=3, offset=offset)
    weights = rng.integers(0, 4, 200).astype(float)
    weights[0] = 0.0
    fit = fit_newton(
        likelihood, X, y, sample_weight=weights, offset=offset, fit_intercept=intercept
    )
    Z = np.column_stack([np.full(200, float(intercept)), X])

    def loss(b):
        eta = offset + Z @ b
        slope = Z.T @ (weights * gradient(likelihood, y, eta))
        return -(weights @ log_likelihood(likelihood, y, eta)), -slope

    best = minimize(loss, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert fit.log_likelihood == pytest.approx(-best.fun, rel=1e-9)
    np.testing.assert_allclose(np.r_[fit.intercept, fit.coef], best.x, rtol=1e-4, atol=1e-5)
    eta = offset + Z @ np.r_[fit.intercept, fit.coef]
    assert fit.deviance == pytest.approx(deviance(likelihood, y, eta, weights), rel=1e-9)
    bend = weights * curvature(likelihood, y, eta)
    kept = slice(0 if intercept else 1, None)
    information = (Z.T * bend) @ Z
    np.testing.assert_allclose(
        fit.covariance[kept, kept], np.linalg.inv(information[kept, kept]), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("likelihood", COMPILED, ids=lambda f: f.name)
def test_weights_are_repeats(likelihood):
    X, y = simulated(likelihood)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = fit_newton(likelihood, X, y, sample_weight=counts)
    repeated = fit_newton(likelihood, np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-8)
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-6)


@pytest.mark.parametrize("likelihood", COMPILED, ids=lambda f: f.name)
def test_the_null_model_predicts_the_mean(likelihood):
    X, y = simulated(likelihood)
    fit = fit_newton(likelihood, X[:, :0], y)
    assert inverse_link(likelihood, fit.intercept) == pytest.approx(y.mean())


def test_a_poisson_null_model_with_exposures_is_the_ratio_of_sums():
    rng = np.random.default_rng(0)
    exposure = rng.uniform(0.1, 20.0, 100)
    y = rng.poisson(0.7 * exposure).astype(float)
    fit = fit_newton(Poisson(), np.zeros((100, 0)), y, offset=np.log(exposure))
    assert np.exp(fit.intercept) == pytest.approx(y.sum() / exposure.sum())


def test_complete_separation_is_noticed_and_the_log_likelihood_converges():
    X, _ = simulated(Binomial())
    y = (X[:, 0] > 0.2).astype(float)
    fit = fit_newton(Binomial(), X, y)
    assert fit.separated
    assert "separated" in fit.message
    assert -1e-8 < fit.log_likelihood <= 0.0
    assert np.isfinite(fit.coef).all()
    assert np.isfinite(fit.covariance).all()


@pytest.mark.parametrize("likelihood", [Binomial(), Poisson()], ids=lambda f: f.name)
def test_in_quasi_separation_the_rest_is_fitted_as_if_alone(likelihood):
    """A group whose responses are all zero: its own coefficient diverges, the others do not."""
    X, y = simulated(likelihood, d=2)
    group = np.arange(200) < 60
    fit = fit_newton(likelihood, np.column_stack([group, X]), np.where(group, 0.0, y))
    alone = fit_newton(likelihood, X[~group], y[~group])
    assert fit.separated
    assert not alone.separated
    np.testing.assert_allclose(fit.coef[1:], alone.coef, atol=1e-4)
    assert fit.log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-7)
    assert fit.coef[0] < -10
    assert np.sqrt(fit.covariance[1, 1]) > 100


@pytest.mark.parametrize("likelihood", COMPILED, ids=lambda f: f.name)
def test_sure_but_not_separated_data_have_a_finite_maximum(likelihood):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = (X[:, 0] > 0).astype(float)
    y[0] = 1.0 - y[0]
    fit = fit_newton(likelihood, X, y)
    assert not fit.separated
    assert fit.certificate < 1e-6


@pytest.mark.parametrize("likelihood", COMPILED, ids=lambda f: f.name)
def test_dependent_columns_have_no_coefficient_and_change_nothing(likelihood):
    X, y = simulated(likelihood)
    more = np.column_stack([X[:, :2], np.full(200, 3.0), X[:, 0] - 2 * X[:, 1] + 1, X[:, 2:]])
    fit, plain = fit_newton(likelihood, more, y), fit_newton(likelihood, X, y)
    assert fit.dependent.tolist() == [2, 3]
    np.testing.assert_allclose(fit.coef, np.insert(plain.coef, [2, 2], 0.0), rtol=1e-7, atol=1e-10)
    assert fit.log_likelihood == pytest.approx(plain.log_likelihood)


def test_a_column_with_a_huge_offset_keeps_its_digits():
    X, y = simulated(Binomial())
    moved = fit_newton(Binomial(), X + np.array([1e6, 0.0, 0.0, 0.0]), y)
    np.testing.assert_allclose(moved.coef, fit_newton(Binomial(), X, y).coef, rtol=1e-6)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"offset": np.zeros(3)}, "as many entries"),
        ({"offset": np.full(200, -np.inf)}, "exposures must be positive"),
        ({"sample_weight": -np.ones(200)}, "non-negative"),
    ],
)
def test_bad_arrays_are_refused(changed, said):
    X, y = simulated(Poisson())
    with pytest.raises(ValueError, match=said):
        fit_newton(Poisson(), X, y, **changed)
