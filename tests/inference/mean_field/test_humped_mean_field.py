"""Mean field under slabs of two humps: solutions against the plain algorithm, averages against sums."""

import numpy as np
import pytest

from garrote import SpikeSlabRegressor
from garrote.inference import MeanField
from garrote.paths.annealed import fit_path
from garrote.priors import GaussianSlab, TwoHumpedSlab
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.solvers.control import Control
from reference_humps import humped_free_energy, humped_mean_field

GAMMAS = np.array([-12.0, -9.0, -6.0, -4.0, -2.0])


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 8))
    X[:, 1] = 0.6 * X[:, 0] + 0.8 * X[:, 1]
    return Problem.from_rows(X, X[:, :3] @ [0.7, 0.0, -0.7] + rng.standard_normal(60))


@pytest.mark.parametrize("noise", [None, 0.6])
@pytest.mark.parametrize("separation", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("variance", [0.3, 2.0])
def test_solutions_are_those_of_the_plain_algorithm(problem, variance, separation, noise):
    prior = SpikeTerms.with_slab(variance, np.zeros(8), problem.curvature, noise, separation)
    path = fit_path(problem, prior, GAMMAS, control=Control(1e-10, 10_000))
    moments = problem.whole_gram(), problem.xty, problem.yty, problem.n
    q = None
    for fit in path.forward:
        slab = np.full(8, fit.strength), variance, separation
        q = humped_mean_field(*moments, *slab, noise, start=q)
        assert fit.certificate.value < 1e-9
        assert fit.noise_variance == pytest.approx(q.noise, abs=1e-8)
        np.testing.assert_allclose(fit.probability, q.inclusion[fit.columns], atol=1e-8)
        weight = q.coef[fit.columns] / q.inclusion[fit.columns]
        np.testing.assert_allclose(fit.weight, weight, atol=1e-8)
        energy = humped_free_energy(*moments, *slab, q)
        assert fit.free_energy == pytest.approx(energy, abs=1e-7)


def _table(n=100, D=8, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    X[:, 1] = X[:, 0] + 0.4 * X[:, 1]
    return X, X @ np.resize([0.7, 0.0, -0.7, 0.0, 0.6, 0.0], D) + rng.standard_normal(n)


@pytest.mark.parametrize("hyperparameters", ["average", "em", "anneal"])
def test_averages_are_near_sums_over_all_models_and_bound_the_evidence(hyperparameters):
    X, y = _table()
    prior = TwoHumpedSlab(separation=0.95)
    exact = SpikeSlabRegressor(prior, "enumerate").fit(X, y)
    found = SpikeSlabRegressor(prior, MeanField(hyperparameters)).fit(X, y)
    off = np.abs(found.inclusion_probability_ - exact.inclusion_probability_)
    assert off.max() < 0.03
    np.testing.assert_allclose(found.coef_, exact.coef_, atol=0.03)
    bound, evidence = found.posterior_.log_evidence, exact.posterior_.log_evidence
    assert evidence - 0.4 < bound < evidence
    assert found.certificate_.value < 1e-4
    assert found.posterior_.shapes is None


def test_shapes_are_weighed_by_their_bounds_nearly_as_by_their_evidence():
    X, y = _table()
    exact = SpikeSlabRegressor(TwoHumpedSlab(), "enumerate").fit(X, y)
    found = SpikeSlabRegressor(TwoHumpedSlab(), "mean-field").fit(X, y)
    np.testing.assert_allclose(
        found.posterior_.shapes.probability, exact.posterior_.shapes.probability, atol=0.05
    )
    off = np.abs(found.inclusion_probability_ - exact.inclusion_probability_)
    assert off.max() < 0.1
    assert 0 < exact.posterior_.log_evidence - found.posterior_.log_evidence < 0.5


def test_the_bound_of_a_learned_shape_has_its_prior_probability():
    X, y = _table()
    exact = SpikeSlabRegressor(TwoHumpedSlab(), "enumerate").fit(X, y)
    found = SpikeSlabRegressor(TwoHumpedSlab(), MeanField("em")).fit(X, y)
    assert found.posterior_.log_evidence < exact.posterior_.log_evidence
    assert "two humps of separation 0.98" in found.selection_.rule


def test_one_hump_is_the_gaussian_slab():
    X, y = _table()
    plain = SpikeSlabRegressor(GaussianSlab(1.0), "mean-field").fit(X, y)
    flat = SpikeSlabRegressor(TwoHumpedSlab(1.0, separation=0.0), "mean-field").fit(X, y)
    np.testing.assert_allclose(
        flat.inclusion_probability_, plain.inclusion_probability_, atol=1e-12
    )
