"""Likelihoods sample by sample, and maximum likelihood by Newton's method."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bernoulli, gamma, invgauss, nbinom, norm, poisson

from garrote._jit import kernel
from garrote.likelihoods import (
    FAMILIES,
    Binomial,
    Gamma,
    Gaussian,
    Huber,
    InverseGaussian,
    NegativeBinomial,
    Poisson,
    Probit,
    Quantile,
    Tweedie,
    adapt_to_data,
    conjugate,
    curvature,
    deviance_explained,
    gradient,
    inverse_link,
    log_likelihood,
    majoriser,
    null_mean,
    saturated,
)
from simulated import simulated

# Rows of those that couple them are tested together, in survival/test_cox.py.
SINGLE = {name: likelihood for name, likelihood in FAMILIES.items() if not likelihood.coupled}
ADAPTED = {name: adapt_to_data(likelihood, np.arange(4.0)) for name, likelihood in SINGLE.items()}
ALL = [*ADAPTED.values(), Quantile(0.8), NegativeBinomial(0.7), Tweedie(1.2)]
COMPILED = [likelihood for likelihood in ALL if likelihood.in_kernels]
CONCAVE = [likelihood for likelihood in ALL if likelihood.concave]
RESPONSES = {
    "gaussian": [-1.3, 0.0, 2.0],
    "binomial": [0.0, 1.0],
    "poisson": [0.0, 1.0, 7.0],
    "probit": [0.0, 1.0],
    "huber": [-1.3, 0.0, 2.0],
    "negative-binomial": [0.0, 1.0, 7.0],
    "gamma": [0.02, 1.0, 7.0],
    "tweedie": [0.0, 0.3, 7.0],
    "inverse-gaussian": [0.2, 1.0, 7.0],
    "quantile": [-1.3, 0.1, 2.0],
}
PREDICTORS = np.array([-30.0, -3.0, -0.5, 0.0, 0.7, 4.0, 30.0])


def responses(likelihood):
    return np.array(RESPONSES[likelihood.name])[:, None]


@pytest.mark.parametrize("likelihood", ALL, ids=repr)
def test_derivatives_are_those_of_the_log_likelihood(likelihood):
    y, eta, h = responses(likelihood), PREDICTORS[1:-1], 1e-5
    up, down = (log_likelihood(likelihood, y, eta + s) for s in (h, -h))
    slope = gradient(likelihood, y, eta)
    np.testing.assert_allclose(slope, (up - down) / (2 * h), rtol=1e-6, atol=1e-8)
    up, down = (gradient(likelihood, y, eta + s) for s in (h, -h))
    bend = np.broadcast_to(curvature(likelihood, y, eta), slope.shape)
    np.testing.assert_allclose(bend, -(up - down) / (2 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("likelihood", CONCAVE, ids=repr)
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


@pytest.mark.parametrize("likelihood", ALL, ids=repr)
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
        (NegativeBinomial(0.7), lambda y, m: nbinom.logpmf(y, 1 / 0.7, 1 / (1 + 0.7 * m))),
        (Gamma(), lambda y, m: gamma.logpdf(y, 1, scale=m)),
        (InverseGaussian(), lambda y, m: invgauss.logpdf(y, m)),
    ],
    ids=lambda f: getattr(f, "name", ""),
)
def test_the_log_likelihood_is_the_density_up_to_a_term_of_y(likelihood, log_density):
    y, eta = responses(likelihood), PREDICTORS[1:-1]
    ours = log_likelihood(likelihood, y, eta) - log_likelihood(likelihood, y, 0.3)
    mean, null = inverse_link(likelihood, eta), inverse_link(likelihood, 0.3)
    theirs = log_density(y, mean) - log_density(y, null)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("likelihood", ALL, ids=repr)
def test_no_predictor_does_better_than_the_saturated_model(likelihood):
    y, eta = responses(likelihood), np.linspace(-40, 40, 4001)
    best = log_likelihood(likelihood, y, eta).max(axis=1)
    np.testing.assert_allclose(best, saturated(likelihood, y)[:, 0], atol=1e-3)
    assert (best <= saturated(likelihood, y)[:, 0] + 1e-12).all()


@pytest.mark.parametrize("likelihood", ALL, ids=repr)
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


@pytest.mark.parametrize("likelihood", COMPILED, ids=repr)
def test_kernels_compute_what_arrays_do(likelihood):
    y, eta = np.array(RESPONSES[likelihood.name][:2]), np.array([-0.4, 1.7])
    whole = log_likelihood(likelihood, y, eta) + inverse_link(likelihood, eta)
    whole = whole + gradient(likelihood, y, eta) * curvature(likelihood, y, eta)
    whole = whole + saturated(likelihood, y)
    assert summed(likelihood, y, eta) == pytest.approx(whole.sum())


@pytest.mark.parametrize("likelihood", ALL, ids=repr)
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
        (Quantile(), [0.0, np.nan], "not finite at row 1"),
        (Probit(), [0.0, 2.0], "family='probit' needs labels 0 and 1"),
        (Probit(), [0.0, 0.0], "every label in y is 0"),
        (NegativeBinomial(), [0.0, -1.0, 3.0], "got -1 at row 1"),
        (NegativeBinomial(), [0.0, 0.0], "every count in y is 0"),
        (Gamma(), [1.0, 0.0], "got 0 at row 1 .*family='tweedie' has zeros"),
        (Gamma(), [1.0, np.inf], "got inf at row 1"),
        (InverseGaussian(), [1.0, -2.0], "needs positive numbers in y, got -2 at row 1"),
        (Tweedie(), [0.0, -2.0], "needs numbers of at least 0 in y, got -2 at row 1"),
        (Tweedie(), [0.0, 0.0], "every number in y is 0"),
    ],
)
def test_responses_of_another_kind_are_refused(likelihood, y, said):
    with pytest.raises(ValueError, match=said):
        likelihood.check_response(np.array(y))


@pytest.mark.parametrize("likelihood", ALL, ids=repr)
def test_explained_deviance_is_one_for_a_perfect_fit_and_zero_for_the_mean(likelihood):
    _, y = simulated(likelihood)
    assert deviance_explained(likelihood, y, y) == pytest.approx(1.0, abs=1e-10)
    mean = np.full(len(y), null_mean(likelihood, y))
    assert deviance_explained(likelihood, y, mean) == pytest.approx(0.0, abs=1e-12)
