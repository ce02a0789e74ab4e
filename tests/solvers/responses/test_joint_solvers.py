"""Solvers of several responses: evidences and single effects as plain NumPy has them."""

import numpy as np
import pytest

from garrote.solvers.responses.joint_effects import (
    JointEffectsTask,
    fit_joint_effects,
    joint_effect,
    turned,
)
from garrote.solvers.responses.joint_evidence import JointMoments, Scratch, joint_evidence
from reference_responses import centred, log_evidence, single_effect


def make(seed=0, n=60, D=6, K=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    X[:, 1] += X[:, 0]
    B = np.zeros((D, K))
    B[0], B[3] = 0.6, [0.0, 0.8, -0.5][:K]
    noise = np.linalg.cholesky(0.5 + 0.5 * np.eye(K))
    return X, X @ B + rng.standard_normal((n, K)) @ noise.T


def moments(X, Y):
    Z, R = centred(X, Y)
    return JointMoments(Z.T @ Z, Z.T @ R, R.T @ R, len(Y) - 1.0)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_evidences_are_those_of_all_rows(K):
    X, Y = make(K=K)
    data, scratch = moments(X, Y), Scratch.of(6, K)
    known, found = [], []
    for members in ([], [0], [1, 0], [3, 0, 5], [0, 1, 2, 3, 4, 5]):
        own = np.array(members, dtype=np.int64)
        found.append(joint_evidence.py_func(data, 1 / 0.7, own, len(own), scratch))
        known.append(log_evidence(X, Y, own, 0.7))
    np.testing.assert_allclose(np.diff(found), np.diff(known), rtol=1e-9)


def test_an_effect_has_the_probabilities_of_densities():
    X, Y = make()
    Z, R = centred(X, Y)
    V = np.cov(R.T)
    patterns = np.eye(3), np.ones((3, 3)), np.diag([0.0, 1.0, 0.0])
    weights, log_prior = np.array([0.5, 0.3, 0.2]), np.log(np.full(6, 1 / 6))
    found = joint_effect(
        Z.T @ R, (Z**2).sum(axis=0), log_prior, turned(V, patterns), weights, known_variance=0.2
    )
    scaled = [0.2 * U for U in patterns]
    probability, mean, log_bf = single_effect(Z, R, V, scaled, weights, log_prior)
    np.testing.assert_allclose(found.probability, probability, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(found.mean, mean[found.columns], rtol=1e-7, atol=1e-9)
    assert found.log_bayes_factor == pytest.approx(log_bf, rel=1e-9)
    # Signs of an effect on one response alone are known of that response only.
    alone = joint_effect(
        Z.T @ R, (Z**2).sum(axis=0), log_prior, turned(V, patterns[2:]), np.ones(1), 0.2
    )
    assert alone.sign_rate()[1] < 0.05
    np.testing.assert_allclose(alone.sign_rate()[[0, 2]], 1.0)


def test_the_bound_never_falls_and_is_below_the_sum_over_all_columns():
    X, Y = make(1)
    patterns = tuple(U for U in (np.eye(3), np.ones((3, 3))))
    log_prior = np.log(np.full(6, 1 / 6))
    task = JointEffectsTask(moments(X, Y), log_prior, patterns, None, None, 4, 1e-7, 500)
    fit = fit_joint_effects(task)
    assert fit.converged
    assert np.diff(fit.bounds).min() > -1e-6
    best = [int(effect.probability.argmax()) for effect in fit.effects[:2]]
    assert sorted(best) == [0, 3]


def test_one_effect_of_known_noise_has_its_evidence_for_a_bound():
    X, Y = make(2)
    Z, R = centred(X, Y)
    V = np.cov(R.T)
    data, log_prior = moments(X, Y), np.log(np.full(6, 1 / 6))
    task = JointEffectsTask(data, log_prior, (np.eye(3),), 0.3, V, 1, 1e-10, 50)
    fit = fit_joint_effects(task)
    log_bf = single_effect(Z, R, V, [0.3 * np.eye(3)], np.ones(1), log_prior)[2]
    null = -0.5 * data.n * (np.linalg.slogdet(V)[1] + 3 * np.log(2 * np.pi))
    null -= 0.5 * np.sum(np.linalg.inv(V) * data.yty)
    assert fit.bounds[-1] == pytest.approx(null + log_bf, rel=1e-9)
