"""Exact posteriors over all models, against brute force written from the definitions."""

from itertools import combinations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betaln, hyp2f1, logsumexp
from scipy.stats import multivariate_normal

from garrote.priors import GaussianSlab, GPrior
from garrote.priors.evidence import log_evidence, log_evidence_ratio, slab_moments
from garrote.priors.inclusion import Inclusion
from garrote.solvers.models import enumeration
from garrote.solvers.models.enumeration import enumerate_models

N, D = 30, 7


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, D))
    X[:, 1] = 0.9 * X[:, 0] + 0.4 * X[:, 1]
    y = X[:, 0] - 0.6 * X[:, 2] + rng.standard_normal(N)
    X, y = X - X.mean(axis=0), y - y.mean()
    return X, y, X.T @ X, X.T @ y, float(y @ y)


SLABS = [
    GaussianSlab(0.7, noise_variance=1.3),
    GaussianSlab(2.0),
    GaussianSlab(1.0, shape=1.5, rate=0.4),
    GPrior(float(N)),
    GPrior("hyper-g"),
    GPrior("hyper-g/n"),
    GPrior("eb"),
]


def subsets(count):
    return [g for k in range(count + 1) for g in combinations(range(count), k)]


def brute_force(rule, gram, xty, yty, inclusion):
    """Sum over all models, each solved alone."""
    count = len(xty)
    logs, masks, means, squares = [], [], [], []
    for members in subsets(count):
        g, k = list(members), len(members)
        inside = gram[np.ix_(g, g)] + rule.ridge * np.eye(k)
        v = np.linalg.solve(inside, xty[g]) if k else np.zeros(0)
        left = yty - xty[g] @ v
        log_det = np.linalg.slogdet(inside)[1] if k else 0.0
        prior = inclusion.by_size[k] + inclusion.log_odds[g].sum()
        logs.append(log_evidence(rule, k, log_det, left) + prior)
        f1, f2, f3 = slab_moments(rule, k, left)
        mask, mean, square = np.zeros(count), np.zeros(count), np.zeros((count, count))
        mask[g], mean[g] = 1.0, f1 * v
        if k:
            square[np.ix_(g, g)] = f2 * np.outer(v, v) + f3 * np.linalg.inv(inside)
        masks.append(mask)
        means.append(mean)
        squares.append(square)
    p = np.exp(np.array(logs) - logsumexp(logs))
    return logs, p, p @ np.array(masks), p @ np.array(means), np.tensordot(p, np.array(squares), 1)


@pytest.mark.parametrize("slab", SLABS, ids=str)
@pytest.mark.parametrize("depth", [3, 18])
def test_every_sum_is_that_of_brute_force(data, slab, depth, monkeypatch):
    monkeypatch.setattr(enumeration, "COLUMNS_PER_CALL", depth)
    _, _, gram, xty, yty = data
    rule = slab.rule(N - 1.0, yty, D)
    inclusion = Inclusion.beta(1.0, 3.0, np.linspace(-0.5, 0.5, D))
    found = enumerate_models(rule, gram, xty, yty, inclusion.by_size, inclusion.log_odds)
    logs, p, mask, mean, square = brute_force(rule, gram, xty, yty, inclusion)
    assert found.log_total == pytest.approx(logsumexp(logs), abs=1e-9)
    np.testing.assert_allclose(found.inclusion, mask, atol=1e-10)
    np.testing.assert_allclose(found.mean, mean, atol=1e-10)
    np.testing.assert_allclose(found.second_moment, square, atol=1e-10)
    np.testing.assert_allclose(found.log_weights, np.sort(logs)[::-1], atol=1e-8)
    sizes = [len(g) for g in subsets(D)]
    np.testing.assert_allclose(found.size_probability, np.bincount(sizes, p, D + 1), atol=1e-10)
    best = subsets(D)[int(np.argmax(logs))]
    assert found.models[0] == sum(1 << j for j in best)


@pytest.mark.parametrize("noise", [None, 1.3])
def test_a_gaussian_slab_is_the_density_of_the_response(data, noise):
    X, y, gram, xty, yty = data
    slab = GaussianSlab(0.7, noise_variance=noise, shape=2.0, rate=0.5)
    rule = slab.rule(float(N), yty, D)
    values = []
    for g in ([], [0], [0, 2], [1, 3, 5]):
        cover = np.eye(N) + 0.7 * X[:, g] @ X[:, g].T
        if noise is not None:
            values.append(multivariate_normal(np.zeros(N), noise * cover).logpdf(y))
        else:  # a Student law, by quadrature over the noise variance
            squared, log_det = y @ np.linalg.solve(cover, y), np.linalg.slogdet(cover)[1]
            rate = 0.5 + squared / 2
            integral, _ = quad(
                lambda s, r=rate: np.exp(-(2.0 + N / 2) * np.log(s) - r / s + 60) / s,
                1e-3, 60.0, points=[0.5, 1, 2, 5], limit=500,
            )  # fmt: skip
            values.append(np.log(integral) - 0.5 * log_det)
        inside = gram[np.ix_(g, g)] + rule.ridge * np.eye(len(g))
        left = yty - xty[g] @ np.linalg.solve(inside, xty[g]) if g else yty
        log_det = np.linalg.slogdet(inside)[1] if g else 0.0
        values[-1] -= log_evidence(rule, len(g), log_det, left)
    np.testing.assert_allclose(values, values[0], atol=1e-6)


@pytest.mark.parametrize("fit", [0.02, 0.5, 0.95])
@pytest.mark.parametrize("size", [1, 4, 12])
def test_hyper_g_is_its_closed_form(size, fit):
    rule = GPrior("hyper-g").rule(46.0, 3.3, 15)
    bayes_factor = np.log(1 / (size + 1) * hyp2f1(23.0, 1, (size + 3) / 2, fit))
    ours = log_evidence(rule, size, 0.0, 3.3 * (1 - fit)) - log_evidence(rule, 0, 0.0, 3.3)
    assert ours == pytest.approx(bayes_factor, abs=1e-9)


@pytest.mark.parametrize("slab", SLABS, ids=str)
def test_the_ratio_for_one_more_variable_is_that_of_two_evidences(data, slab):
    *_, yty = data
    rule = slab.rule(N - 1.0, yty, D)
    left, pivot, drop = 0.7 * yty, 12.0, 0.2 * yty
    small = log_evidence(rule, 2, 5.0, left)
    large = log_evidence(rule, 3, 5.0 + np.log(pivot), left - drop)
    ratio = log_evidence_ratio(rule, 2, left, pivot, drop)
    assert ratio == pytest.approx(large - small, abs=1e-9)


def test_exact_copies_count_together_however_wide_the_slab_is():
    """Two copies in the model are one column of twice the length, and one of none."""
    length, product, yty, n, variance = 1e5, 9e4, 1e5, 1e5, 1e6
    ridge = 1.0 / variance
    rule = GaussianSlab(variance).rule(n, yty, 2)
    inclusion = Inclusion.beta(1.0, 1.0, np.zeros(2))
    found = enumerate_models(
        rule,
        np.full((2, 2), length),
        np.full(2, product),
        yty,
        inclusion.by_size,
        inclusion.log_odds,
    )
    one = log_evidence(rule, 1, np.log(length + ridge), yty - product**2 / (length + ridge))
    both = log_evidence(
        rule, 2, np.log(2 * length + ridge) + np.log(ridge), yty - product**2 / (length + ridge / 2)
    )
    logs = np.array([log_evidence(rule, 0, 0.0, yty), one, both]) + inclusion.by_size
    weights = np.exp(logs - logs.max()) * [1, 2, 1]
    np.testing.assert_allclose(found.size_probability, weights / weights.sum(), rtol=1e-4)


def test_models_can_be_limited_in_size(data):
    _, _, gram, xty, yty = data
    rule = GaussianSlab(1.0).rule(N - 1.0, yty, D)
    inclusion = Inclusion.independent(np.full(D, 0.5), np.zeros(D))
    found = enumerate_models(rule, gram, xty, yty, inclusion.by_size, inclusion.log_odds, most=2)
    assert len(found.models) == 1 + 7 + 21
    assert found.size_probability[3:].sum() == 0.0
    assert found.size_probability.sum() == pytest.approx(1.0)


def test_threads_change_nothing(data, monkeypatch):
    monkeypatch.setattr(enumeration, "COLUMNS_PER_CALL", 4)
    _, _, gram, xty, yty = data
    rule = GaussianSlab(1.0).rule(N - 1.0, yty, D)
    arguments = (rule, gram, xty, yty, np.zeros(D + 1), np.zeros(D))
    one, two = enumerate_models(*arguments), enumerate_models(*arguments, n_jobs=2)
    np.testing.assert_array_equal(one.second_moment, two.second_moment)
    np.testing.assert_array_equal(one.models, two.models)


def test_columns_that_depend_on_others_are_never_in_together_under_a_g_prior(data):
    _, _, gram, xty, yty = data
    double = np.r_[np.arange(D), 0]
    rule = GPrior(30.0).rule(N - 1.0, yty, D + 1)
    found = enumerate_models(
        rule, gram[np.ix_(double, double)], xty[double], yty, np.zeros(D + 2), np.zeros(D + 1)
    )
    assert found.inclusion[0] == pytest.approx(found.inclusion[D])
    together = (found.models & np.uint64(1)).astype(bool) & (found.models >> np.uint64(D)).astype(
        bool
    )
    assert not together.any()


def test_evidence_far_beyond_the_first_reference_does_not_overflow():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 4))
    y = X[:, 0] + 0.01 * rng.standard_normal(4000)
    rule = GaussianSlab(1.0).rule(3999.0, float(y @ y), 4)
    found = enumerate_models(rule, X.T @ X, X.T @ y, float(y @ y), np.zeros(5), np.zeros(4))
    assert found.inclusion[0] == pytest.approx(1.0)
    assert np.isfinite(found.log_total)


def test_a_shared_probability_integrates_to_the_beta_binomial_law():
    inclusion = Inclusion.beta(2.0, 5.0, np.zeros(6))
    by_hand = [
        quad(lambda t, k=k: t**k * (1 - t) ** (6 - k) * t * (1 - t) ** 4, 0, 1)[0] for k in range(7)
    ]
    np.testing.assert_allclose(np.exp(inclusion.by_size), by_hand / np.exp(betaln(2, 5)), rtol=1e-8)
