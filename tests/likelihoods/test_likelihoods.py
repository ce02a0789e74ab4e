"""Likelihoods sample by sample, and maximum likelihood by Newton's method."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import bernoulli, norm, poisson
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor

from garrote._jit import kernel
from garrote.likelihoods import (
    FAMILIES,
    Binomial,
    Gaussian,
    Huber,
    Poisson,
    Probit,
    adapt_to_data,
    conjugate,
    curvature,
    deviance,
    deviance_explained,
    families_with_posteriors,
    gradient,
    inverse_link,
    log_likelihood,
    majoriser,
    null_mean,
    saturated,
    total_log_likelihood,
)
from garrote.solvers.losses.newton import fit_newton

COMPILED = [FAMILIES[name] for name in families_with_posteriors()]
ALL = [adapt_to_data(likelihood, np.arange(4.0)) for likelihood in FAMILIES.values()]
RESPONSES = {
    "gaussian": [-1.3, 0.0, 2.0],
    "binomial": [0.0, 1.0],
    "poisson": [0.0, 1.0, 7.0],
    "probit": [0.0, 1.0],
    "huber": [-1.3, 0.0, 2.0],
}
PREDICTORS = np.array([-30.0, -3.0, -0.5, 0.0, 0.7, 4.0, 30.0])


def responses(likelihood):
    return np.array(RESPONSES[likelihood.name])[:, None]


def simulated(likelihood, n=200, d=4, seed=0, offset=0.0):
    """Rows of a model of this likelihood, its columns far from standardised."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.array([1.0, 5.0, 0.2, 2.0])[:d] + np.arange(d)
    eta = (X - X.mean(axis=0)) @ np.array([0.8, -0.1, 1.5, 0.0])[:d] + 0.3 + offset
    if likelihood.name in ("binomial", "probit"):
        return X, (rng.random(n) < inverse_link(likelihood, eta)).astype(float)
    if likelihood.name == "poisson":
        return X, rng.poisson(np.exp(eta)).astype(float)
    return X, eta + rng.standard_normal(n)


@pytest.mark.parametrize("likelihood", ALL, ids=lambda f: f.name)
def test_derivatives_are_those_of_the_log_likelihood(likelihood):
    y, eta, h = responses(likelihood), PREDICTORS[1:-1], 1e-5
    up, down = (log_likelihood(likelihood, y, eta + s) for s in (h, -h))
    slope = gradient(likelihood, y, eta)
    np.testing.assert_allclose(slope, (up - down) / (2 * h), rtol=1e-6, atol=1e-8)
    up, down = (gradient(likelihood, y, eta + s) for s in (h, -h))
    bend = np.broadcast_to(curvature(likelihood, y, eta), slope.shape)
    np.testing.assert_allclose(bend, -(up - down) / (2 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("likelihood", ALL, ids=lambda f: f.name)
@given(eta=st.floats(-30, 30), other=st.floats(-30, 30), share=st.floats(0, 1))
def test_conjugates_bound_every_predictor_and_touch_at_the_gradient(likelihood, eta, other, share):
    """The inequality of Fenchel and Young, for every slope between 0 and a gradient."""
    y = responses(likelihood)[:, 0]
    slope = gradient(likelihood, y, np.full(len(y), eta))
    size = 1 + np.abs(slope * eta) + np.abs(log_likelihood(likelihood, y, eta))
    touching = log_likelihood(likelihood, y, eta) - slope * eta
    np.testing.assert_allclose(conjugate(likelihood, y, slope) / size, touching / size, atol=1e-12)
    above = conjugate(likelihood, y, share * slope)
    reached = log_likelihood(likelihood, y, other) - share * slope * other
    assert (above >= reached - 1e-12 * (size + np.abs(reached))).all()


@pytest.mark.parametrize("likelihood", ALL, ids=lambda f: f.name)
def test_majorisers_lie_above_where_they_are_more_than_the_curvature(likelihood):
    y, eta = responses(likelihood), PREDICTORS[1:-1]
    bend = np.broadcast_to(majoriser(likelihood, y, eta), (len(y), len(eta)))
    assert (bend > 0).all()
    assert (bend >= curvature(likelihood, y, eta)).all()
    if likelihood.name == "huber":
        away = np.linspace(-20, 20, 401)[:, None, None]
        parabola = log_likelihood(likelihood, y, eta) + gradient(likelihood, y, eta) * away
        parabola = parabola - 0.5 * bend * away**2
        assert (log_likelihood(likelihood, y, eta + away) >= parabola - 1e-10).all()


@pytest.mark.parametrize(
    ("likelihood", "log_density"),
    [
        (Gaussian(), lambda y, m: norm.logpdf(y, m)),
        (Binomial(), lambda y, m: bernoulli.logpmf(y.astype(int), m)),
        (Poisson(), lambda y, m: poisson.logpmf(y, m)),
        (Probit(), lambda y, m: bernoulli.logpmf(y.astype(int), m)),
    ],
    ids=lambda f: getattr(f, "name", ""),
)
def test_the_log_likelihood_is_the_density_up_to_a_term_of_y(likelihood, log_density):
    y, eta = responses(likelihood), PREDICTORS[1:-1]
    ours = log_likelihood(likelihood, y, eta) - log_likelihood(likelihood, y, 0.3)
    mean, null = inverse_link(likelihood, eta), inverse_link(likelihood, 0.3)
    theirs = log_density(y, mean) - log_density(y, null)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("likelihood", ALL, ids=lambda f: f.name)
def test_no_predictor_does_better_than_the_saturated_model(likelihood):
    y, eta = responses(likelihood), np.linspace(-40, 40, 4001)
    best = log_likelihood(likelihood, y, eta).max(axis=1)
    np.testing.assert_allclose(best, saturated(likelihood, y)[:, 0], atol=1e-3)
    assert (best <= saturated(likelihood, y)[:, 0] + 1e-12).all()


@pytest.mark.parametrize("likelihood", ALL, ids=lambda f: f.name)
def test_extreme_predictors_give_numbers_and_keep_small_ones(likelihood):
    eta = np.array([-800.0, 800.0])
    for values in (
        log_likelihood(likelihood, 1.0, eta),
        gradient(likelihood, 1.0, eta),
        curvature(likelihood, 1.0, eta),
        inverse_link(likelihood, eta),
    ):
        assert np.isfinite(values).all()
    assert inverse_link(Binomial(), -100.0) == pytest.approx(np.exp(-100.0))
    assert gradient(Binomial(), 1.0, 100.0) == pytest.approx(np.exp(-100.0))


@kernel
def summed(likelihood, y, eta):
    total = 0.0
    for i in range(len(y)):
        total += log_likelihood(likelihood, y[i], eta[i]) + inverse_link(likelihood, eta[i])
        total += gradient(likelihood, y[i], eta[i]) * curvature(likelihood, y[i], eta[i])
        total += saturated(likelihood, y[i])
    return total


@pytest.mark.parametrize("likelihood", COMPILED, ids=lambda f: f.name)
def test_kernels_compute_what_arrays_do(likelihood):
    y, eta = np.array(RESPONSES[likelihood.name][:2]), np.array([-0.4, 1.7])
    whole = log_likelihood(likelihood, y, eta) + inverse_link(likelihood, eta)
    whole = whole + gradient(likelihood, y, eta) * curvature(likelihood, y, eta)
    whole = whole + saturated(likelihood, y)
    assert summed(likelihood, y, eta) == pytest.approx(whole.sum())


@pytest.mark.parametrize("likelihood", ALL, ids=lambda f: f.name)
def test_link_and_mean_are_inverse(likelihood):
    eta = np.array([-3.0, 0.0, 2.5])
    np.testing.assert_allclose(likelihood.link(inverse_link(likelihood, eta)), eta, atol=1e-12)


@pytest.mark.parametrize(
    ("likelihood", "y", "said"),
    [
        (Binomial(), [0.0, 0.5, 1.0], "labels 0 and 1 in y, got 0.0, 0.5, 1.0"),
        (Binomial(), [1.0, 2.0], "code one class as 1"),
        (Binomial(), [1.0, 1.0], "every label in y is 1"),
        (Poisson(), [0.0, -1.0, 3.0], "got -1 at row 1"),
        (Poisson(), [0.0, 2.5, 3.5], r"got 2.5 at row 1 \(2 in all\)"),
        (Poisson(), [0.0, 0.0], "every count in y is 0"),
        (Gaussian(), [0.0, np.nan], "not finite at row 1"),
        (Huber(), [0.0, np.nan], "not finite at row 1"),
        (Probit(), [0.0, 2.0], "family='probit' needs labels 0 and 1"),
        (Probit(), [0.0, 0.0], "every label in y is 0"),
    ],
)
def test_responses_of_another_kind_are_refused(likelihood, y, said):
    with pytest.raises(ValueError, match=said):
        likelihood.check_response(np.array(y))


@pytest.mark.parametrize("likelihood", ALL, ids=lambda f: f.name)
def test_explained_deviance_is_one_for_a_perfect_fit_and_zero_for_the_mean(likelihood):
    _, y = simulated(likelihood)
    assert deviance_explained(likelihood, y, y) == pytest.approx(1.0, abs=1e-10)
    mean = np.full(len(y), null_mean(likelihood, y))
    assert deviance_explained(likelihood, y, mean) == pytest.approx(0.0, abs=1e-12)


def reference_model(likelihood):
    if likelihood.name == "binomial":
        return LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
    if likelihood.name == "poisson":
        return PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=10_000, solver="newton-cholesky")
    return LinearRegression()


@pytest.mark.parametrize("likelihood", COMPILED, ids=lambda f: f.name)
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
        return -total_log_likelihood(likelihood, y, eta, weights), -slope

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
