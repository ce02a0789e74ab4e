"""Paired mean field by the garrote's loops: the plain algorithm, its bound, and the audit."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning

from garrote import BayesianSelector
from garrote.inference import choosing
from garrote.paths import fit_path
from garrote.priors.garrote import GarrotePrior
from garrote.priors.inclusion import Inclusion
from garrote.priors.slab import GaussianSlab
from garrote.problem import Problem
from garrote.solvers.annealing import Control
from garrote.solvers.enumeration import enumerate_models
from reference import paired_mean_field

GAMMAS = np.array([-9.0, -6.0, -4.0, -2.0, -1.0])


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 12))
    X[:, 1] = 0.6 * X[:, 0] + 0.8 * X[:, 1]
    return Problem.from_rows(X, X[:, :3] @ [0.8, 0.4, 0.5] + rng.standard_normal(60))


@pytest.mark.parametrize("noise", [None, 0.4])
@pytest.mark.parametrize("variance", [0.1, 1.0, 20.0])
def test_solutions_are_those_of_the_plain_algorithm(problem, variance, noise):
    prior = GarrotePrior.with_slab(variance, np.zeros(12), problem.curvature, noise)
    path = fit_path(problem, prior, GAMMAS, control=Control(1e-10, 10_000))
    for fit in path.forward:
        alpha, mu, sigma = paired_mean_field(
            problem.whole_gram(), problem.xty, problem.yty, problem.n,
            np.full(12, fit.strength), variance, noise,
        )  # fmt: skip
        assert fit.certificate.value < 1e-9
        assert fit.noise_variance == pytest.approx(sigma, abs=1e-8)
        everywhere = np.zeros(12)
        everywhere[fit.columns] = fit.probability
        np.testing.assert_allclose(everywhere, alpha, atol=1e-8)
        np.testing.assert_allclose(fit.weight, mu[fit.columns], atol=1e-8)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_columns_outside_of_the_working_set_are_covered_too(sparse_rows):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 600))
    y = X[:, 0] - X[:, 7] + 0.5 * rng.standard_normal(50)
    given = X
    if sparse_rows:
        import scipy.sparse

        X = np.where(np.abs(X) > 1, X, 0.0)
        given = scipy.sparse.csc_array(X)
    problem = Problem.from_rows(given, y)
    prior = GarrotePrior.with_slab(1.0, np.zeros(600), problem.curvature)
    path = fit_path(problem, prior, np.linspace(-20, -5, 8), control=Control(1e-8, 10_000))
    dense = Problem.from_rows(X, y)
    fit = path.forward[-1]
    alpha, _, sigma = paired_mean_field(
        dense.whole_gram(),
        dense.xty,
        dense.yty,
        dense.n,
        np.full(600, fit.strength),
        1.0,
        None,
        400,
    )
    everywhere = np.zeros(600)
    everywhere[fit.columns] = fit.probability
    np.testing.assert_allclose(everywhere, alpha, atol=1e-6)
    assert fit.noise_variance == pytest.approx(sigma, abs=1e-6)


@pytest.mark.parametrize("variance", [0.3, 3.0])
def test_the_free_energy_bounds_the_evidence(problem, variance):
    noise = 0.5
    prior = GarrotePrior.with_slab(variance, np.zeros(12), problem.curvature, noise)
    path = fit_path(problem, prior, GAMMAS, control=Control(1e-8, 10_000))
    rule = GaussianSlab(variance, noise).rule(problem.n, problem.yty, 12)
    constant = -0.5 * problem.n * np.log(2 * np.pi * noise)
    for fit in path.fits:
        inclusion = Inclusion.independent(np.full(12, expit(fit.strength)), np.zeros(12))
        exact = enumerate_models(
            rule, problem.whole_gram(), problem.xty, problem.yty, inclusion.by_size,
            inclusion.log_odds,
        )  # fmt: skip
        bound = -fit.free_energy - 12 * np.logaddexp(0.0, fit.strength)
        evidence = exact.log_total + constant
        assert bound <= evidence + 1e-9
        assert bound > evidence - 3.0


def test_the_free_energy_is_stationary(problem):
    """It is least in the noise variance: the solution at a fixed noise nearby costs more."""
    prior = GarrotePrior.with_slab(1.0, np.zeros(12), problem.curvature)
    control = Control(1e-10, 10_000)
    free = fit_path(problem, prior, GAMMAS, control=control).forward[-1]
    for factor in (0.9, 1.1):
        noise = factor * free.noise_variance
        fixed = GarrotePrior.with_slab(1.0, np.zeros(12), problem.curvature, noise)
        assert fit_path(problem, fixed, GAMMAS, control=control).forward[-1].free_energy > (
            free.free_energy
        )


def test_independent_columns_have_nearly_exact_probabilities():
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((200, 12)) - 0.0)
    X = Q * np.sqrt(200)
    y = X[:, :3] @ [0.3, 0.2, 0.15] + rng.standard_normal(200)
    settings = {"slab_variance": 1.0, "inclusion": 0.2, "noise_variance": 1.0}
    exact = BayesianSelector(method="enumerate", **settings).fit(X, y)
    quick = BayesianSelector(method="mean-field", **settings).fit(X, y)
    np.testing.assert_allclose(
        quick.inclusion_probability_, exact.inclusion_probability_, atol=0.02
    )
    np.testing.assert_allclose(quick.coef_, exact.coef_, atol=0.01)
    assert quick.posterior_.audit().largest_difference < 0.02


def test_the_audit_tells_where_correlation_makes_mean_field_too_sure():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((100, 8))
    X[:, 1] = 0.98 * X[:, 0] + np.sqrt(1 - 0.98**2) * X[:, 1]
    y = 0.6 * X[:, 0] + rng.standard_normal(100)
    exact = BayesianSelector(method="enumerate").fit(X, y)
    quick = BayesianSelector(method="mean-field").fit(X, y)
    audit = quick.posterior_.audit()
    off = np.abs(quick.inclusion_probability_ - exact.inclusion_probability_).max()
    assert off > 0.1
    assert audit.largest_difference > 0.1
    checked = np.zeros(8)
    checked[audit.columns] = audit.checked
    np.testing.assert_allclose(checked, exact.inclusion_probability_, atol=0.1)
    assert any("exact sums" in said for said in quick.selection_.warnings)


def test_a_g_prior_does_not_factorise():
    X = np.random.default_rng(0).standard_normal((30, 4))
    with pytest.raises(ValueError, match="does not factorise"):
        BayesianSelector("g-prior", "mean-field").fit(X, X[:, 0])


def test_own_odds_are_used(problem):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 5))
    y = rng.standard_normal(60)
    odds = np.array([0.9, 0.1, 0.1, 0.1, 0.1])
    settings = {"inclusion": odds, "slab_variance": 0.01, "noise_variance": 1.0}
    model = BayesianSelector(method="mean-field", **settings).fit(X, y)
    exact = BayesianSelector(method="enumerate", **settings).fit(X, y)
    assert logit(exact.inclusion_probability_[0]) > 0.5
    np.testing.assert_allclose(
        model.inclusion_probability_, exact.inclusion_probability_, atol=0.03
    )


def test_an_unsettled_solution_is_said_to_be_one(monkeypatch):
    X = np.random.default_rng(0).standard_normal((40, 6))
    y = X[:, 0] + np.random.default_rng(1).standard_normal(40)
    settings = {"method": "mean-field", "slab_variance": 1.0}
    assert BayesianSelector(**settings).fit(X, y).selection_.converged
    monkeypatch.setattr(choosing, "Control", lambda callback: Control(1e-13, 1, callback))
    with pytest.warns(ConvergenceWarning, match="did not settle"):
        model = BayesianSelector(**settings).fit(X, y)
    assert not model.selection_.converged
