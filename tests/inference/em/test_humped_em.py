"""EM of a narrow spike beside two humps: the plain algorithm, ascent, and how near to sums it comes."""

import numpy as np
import pytest

from garrote import SpikeSlabRegressor
from garrote.inference import EM, Beliefs
from garrote.inference.em.narrow_spike import NarrowSpike
from garrote.inference.em.steps import run_em
from garrote.inference.mean_field.hyperparameters import Learning
from garrote.priors import TwoHumpedSlab
from garrote.priors.inclusion import BetaInclusion
from garrote.problem import Problem
from garrote.solvers.algebra.weighted_ridge import WeightedRidge
from garrote.solvers.control import Control
from reference_humps import humped_spike_em

SPIKE = 0.005


def _table(n=120, D=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, :3] @ [0.8, -0.8, 0.7] + rng.standard_normal(n)
    return X, y - y.mean()


def _model(X, y, prior):
    problem = Problem.from_rows(X, y)
    beliefs = Beliefs.about(problem, prior, BetaInclusion(1.0, 3.0))
    return NarrowSpike(problem, Learning.under(beliefs, "em"), WeightedRidge(problem), SPIKE)


@pytest.mark.parametrize("variance", [0.6, None])
def test_the_spike_beside_two_humps_is_solved_as_by_the_plain_algorithm(variance):
    X, y = _table()
    start = np.full(8, 0.5)
    model = _model(X, y, TwoHumpedSlab(variance, separation=0.9))
    found = run_em(model, model.first(start), Control(1e-9, 5000))
    # The first step of both begins with these probabilities and no signs.
    scale = model.problem.scale.response_scale
    plain = humped_spike_em(X, y / scale, start, SPIKE, 0.9, 1.0, 3.0, variance)
    np.testing.assert_allclose(found.state.probability, plain[0].sum(axis=0), atol=1e-6)
    np.testing.assert_allclose(found.state.weight, plain[1], atol=1e-6)
    assert found.state.noise == pytest.approx(plain[2], rel=1e-6)
    assert found.state.at.variance == pytest.approx(plain[3], rel=1e-5)
    assert found.fit.certificate.value < 1e-6


@pytest.mark.parametrize("shape", [(120, 8), (30, 60)])
def test_no_step_lowers_the_objective(shape):
    X, y = _table(*shape)
    model = _model(X, y, TwoHumpedSlab(separation=0.9))
    state = model.first(np.full(shape[1], 0.1))
    trace = np.array(run_em(model, state, Control(1e-6, 200)).trace)
    assert (np.diff(trace) > -1e-9 * np.abs(trace[:-1])).all()


def test_clear_effects_alike_in_size_are_found_and_their_shape_is_told():
    X, y = _table()
    exact = SpikeSlabRegressor(TwoHumpedSlab(), "enumerate").fit(X, y)
    found = SpikeSlabRegressor(TwoHumpedSlab(), EM(spike_variance=SPIKE)).fit(X, y)
    # The shape that is chosen decides on what is doubtful: one has .38, and here next to nothing.
    clear = exact.inclusion_probability_ > 0.9
    np.testing.assert_array_equal(clear, [True] * 3 + [False] * 5)
    np.testing.assert_allclose(found.inclusion_probability_[clear], 1.0, atol=1e-3)
    assert (found.inclusion_probability_[~clear] < 0.1).all()
    np.testing.assert_allclose(found.coef_[clear], exact.coef_[clear], atol=0.05)
    assert "two humps of separation" in found.selection_.rule
