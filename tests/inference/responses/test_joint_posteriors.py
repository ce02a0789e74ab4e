"""Posteriors that several responses share: exact beside plain sums, walks beside sums, and effects."""

from itertools import product

import numpy as np
import pytest

from garrote import Problem, SingleEffectsRegressor
from garrote.inference import Enumerate, Metropolis, infer
from garrote.inference.responses.joint_effects import canonical_patterns, joint_single_effects
from garrote.inference.responses.joint_models import joint_models
from garrote.inference.responses.joint_problem import JointProblem, as_sets
from garrote.priors import BetaInclusion, GaussianSlab, GraphInclusion, SingleEffects
from reference_responses import log_evidence

D, K = 6, 3
NAMES = tuple(f"x{j}" for j in range(D))


def make(seed=0, n=60, responses=K, columns=D):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, columns))
    X[:, 1] += X[:, 0]
    B = np.zeros((columns, responses))
    B[0], B[3] = 0.35, [0.0, 0.5, -0.3][:responses]
    noise = np.linalg.cholesky(0.5 + 0.5 * np.eye(responses))
    return X, X @ B + rng.standard_normal((n, responses)) @ noise.T


def joint_of(X, Y):
    problems = tuple(Problem.from_rows(X, y) for y in Y.T)
    return JointProblem.of(problems, tuple(f"y{k}" for k in range(Y.shape[1])))


def law_of(law, joint):
    count = joint.first.n_features
    return as_sets(law.over(joint.usable, count), joint.usable, count)


LAWS = BetaInclusion(1.0, 2.0), GraphInclusion([(0, 1), (3, 4)], coupling=1.0, probability=0.2)


@pytest.mark.parametrize("law", LAWS)
def test_sums_over_all_models_are_those_of_plain_evidences(law):
    X, Y = make()
    joint = joint_of(X, Y)
    made = law_of(law, joint)
    found = joint_models(joint, GaussianSlab(0.5), made, Enumerate(), NAMES, 0)
    inside = np.array(list(product([False, True], repeat=D)))
    logs = made.log_prior(inside) + [log_evidence(X, Y, row, 0.5) for row in inside]
    share = np.exp(logs - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(found.posterior.inclusion_probability, share @ inside, rtol=1e-7)
    assert found.certificate.value < 1e-8
    # Coefficients given a model are those of ridge regression.
    Z, R = (X - X.mean(axis=0)) / X.std(axis=0), Y - Y.mean(axis=0)
    mean = np.zeros((K, D))
    for row, p in zip(inside, share, strict=True):
        gram = Z[:, row].T @ Z[:, row] + np.eye(row.sum()) / 0.5
        mean[:, row] += p * np.linalg.solve(gram, Z[:, row].T @ R).T
    np.testing.assert_allclose(found.posterior.mean, mean / X.std(axis=0), atol=1e-8)


@pytest.mark.parametrize("slab", [GaussianSlab(0.5), GaussianSlab()])
def test_walks_find_the_sums(slab):
    X, Y = make(1)
    joint = joint_of(X, Y)
    law = law_of(LAWS[1], joint)
    exact = joint_models(joint, slab, law, Enumerate(), NAMES, 0).posterior
    drawn = joint_models(joint, slab, law, Metropolis(n_steps=30_000), NAMES, 0)
    off = np.abs(drawn.posterior.inclusion_probability - exact.inclusion_probability).max()
    assert off < 0.04
    assert off < 5 * drawn.certificate.value + 0.01
    np.testing.assert_allclose(drawn.posterior.mean, exact.mean, atol=0.02)


def test_one_response_is_the_posterior_of_one():
    X, Y = make(2, responses=1)
    joint = joint_of(X, Y)
    law = law_of(BetaInclusion(), joint)
    for slab in (GaussianSlab(1.0), GaussianSlab()):
        found = joint_models(joint, slab, law, Enumerate(), NAMES, 0).posterior
        alone = infer(joint.first, slab, "enumerate", inclusion=BetaInclusion()).posterior
        atol = 1e-10 if slab.variance else 2e-3
        np.testing.assert_allclose(
            found.inclusion_probability, alone.inclusion_probability, atol=atol
        )
        np.testing.assert_allclose(found.mean[0], alone.mean, atol=max(atol, 1e-9))
    assert found.noise_covariance[0, 0] == pytest.approx(alone.noise_variance, rel=0.02)


def test_single_effects_of_one_response_are_those_of_one():
    X, Y = make(3, responses=1, n=150)
    joint = joint_of(X, Y)
    prior = SingleEffects(effects=3, doubt=False, refine=False)
    found = joint_single_effects(joint, prior, law_of(BetaInclusion(), joint), NAMES)
    alone = SingleEffectsRegressor(prior=prior).fit(X, Y[:, 0])
    np.testing.assert_allclose(
        found.posterior.inclusion_probability, alone.inclusion_probability_, atol=1e-3
    )
    assert found.posterior.log_evidence == pytest.approx(alone.posterior_.log_evidence, abs=1e-2)
    assert found.certificate.value < 0.02


def test_patterns_of_effects_are_learned():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 40))
    for name, row in (("shared", np.ones(3)), ("y1 alone", np.array([0.0, 1.0, 0.0]))):
        B = np.outer(rng.normal(0, 1, 6), row)
        Y = X[:, :6] @ B + rng.standard_normal((500, 3))
        joint = joint_of(X, Y)
        names = tuple(f"x{j}" for j in range(40))
        found = joint_single_effects(joint, SingleEffects(), law_of(BetaInclusion(), joint), names)
        weights = found.posterior.patterns
        assert max(weights, key=weights.get) == name
        assert weights[name] > 0.6
        rates = found.posterior.certain_sign[:, np.abs(B).max(axis=1).argmax()]
        assert rates[1] < 0.05
        assert (rates[0] < 0.05) == (name == "shared")


def test_responses_together_find_what_each_alone_does_not():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((120, 30))
    Y = 0.35 * X[:, [7]] + rng.standard_normal((120, 5))
    together = joint_models(
        joint_of(X, Y), GaussianSlab(0.1), law_of(BetaInclusion(), joint_of(X, Y)), Metropolis(),
        tuple(f"x{j}" for j in range(30)), 0,
    )  # fmt: skip
    alone = [infer(Problem.from_rows(X, y), GaussianSlab(0.1), "mean-field").posterior for y in Y.T]
    each = [one.inclusion_probability[7] for one in alone]
    assert together.posterior.inclusion_probability[7] > 0.99
    assert min(each) < 0.9


def test_patterns_given_are_checked():
    joint = joint_of(*make())
    law = law_of(BetaInclusion(), joint)
    for given in ([np.eye(2)], [-np.eye(3)], [np.triu(np.ones((3, 3)))]):
        with pytest.raises(ValueError, match="symmetric and positive semidefinite, of 3 responses"):
            joint_single_effects(joint, SingleEffects(covariances=given), law, NAMES)
    with pytest.raises(ValueError, match="covariances must be one of"):
        SingleEffects(covariances="some")
    assert list(canonical_patterns(("a", "b")))[:2] == ["a alone", "b alone"]
    joint = joint_of(*make(n=400))
    found = joint_single_effects(joint, SingleEffects(covariances="canonical+data"), law, NAMES)
    assert "of the data" in found.posterior.patterns


def test_what_several_responses_cannot_have_is_refused():
    X, Y = make()
    with pytest.raises(ValueError, match="others being combinations of these"):
        _ = joint_of(X, np.column_stack([Y, Y[:, 0] + Y[:, 1]])).moments
    with pytest.raises(ValueError, match="'y1' is constant"):
        joint_of(X, np.column_stack([Y[:, 0], np.ones(len(Y))]))
    with pytest.raises(ValueError, match="too few for the noise of 3 responses"):
        joint_of(X[:8], Y[:8])
    joint = joint_of(X, Y)
    with pytest.raises(ValueError, match="single effects are independent of each other"):
        joint_single_effects(joint, SingleEffects(), law_of(LAWS[1], joint), NAMES)
