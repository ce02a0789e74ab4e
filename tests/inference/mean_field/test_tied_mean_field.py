"""Mean fields under laws in which variables hang together: by plain sums over all sets."""

import numpy as np
import pytest
from scipy.special import expit

from garrote import Problem, SpikeSlabRegressor
from garrote.inference import infer
from garrote.priors import GaussianSlab, GroupedInclusion
from garrote.priors.structured.expected import ExpectedPrior, poisson_binomial, without
from structured_laws import LAWS, STORIES, D, log_story, sets, table

SOFT = [name for name in LAWS if name not in ("strong", "weak")]
M = np.array([0.9, 0.2, 0.05, 0.6, 0.35, 0.5, 0.01, 0.97])


def set_probabilities(m):
    inside = sets()
    return np.where(inside, m, 1 - m).prod(axis=1)


def expected_story(name, m):
    """Return the mean of the log prior over independent switches, by summing over all sets."""
    return float(set_probabilities(m) @ log_story(name))


@pytest.mark.parametrize("name", SOFT)
def test_the_expected_log_prior_is_the_mean_over_all_sets(name):
    found = ExpectedPrior(LAWS[name].over(np.arange(D), D), M).value()
    mean = expected_story(name, M)
    if name == "chain":  # unknown probabilities have a factor of their own: a bound, and near
        assert mean - 0.5 < found <= mean
    else:
        assert found == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("name", SOFT)
def test_gains_are_its_derivatives_also_after_changes(name):
    law, rng = LAWS[name].over(np.arange(D), D), np.random.default_rng(0)
    prior = ExpectedPrior(law, np.zeros(D))
    for g in rng.permutation(D):
        prior.set(int(g), float(M[g]))
    for g in range(D):
        up, down = M.copy(), M.copy()
        up[g], down[g] = up[g] + 1e-5, down[g] - 1e-5
        slope = (ExpectedPrior(law, up).value() - ExpectedPrior(law, down).value()) / 2e-5
        assert prior.gain(g) == pytest.approx(slope, abs=1e-5)


def test_a_count_loses_a_switch_from_either_side():
    for p in (1e-9, 0.3, 0.5, 0.8, 1 - 1e-9):
        whole = poisson_binomial(np.append(M, p))
        np.testing.assert_allclose(without(whole, p), poisson_binomial(M), atol=1e-9)


@pytest.mark.parametrize("name", [name for name in SOFT if name != "chain"])
def test_solutions_satisfy_the_equations_of_plain_sums_and_bound_the_evidence(name):
    X, y = table()
    slab = GaussianSlab(0.8, noise_variance=1.1)
    found = infer(Problem.from_rows(X, y), slab, "mean-field", inclusion=LAWS[name])
    fit = found.posterior.optima[0]
    Z, r, n = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean(), len(y)
    m, w, noise = fit.probability, fit.weight, 1.1
    scale = found.posterior.mean[0] / (m[0] * w[0]) * X[:, 0].std()
    w, ridge = w * scale, 1 / 0.8
    for j in range(D):
        others = r - Z @ (m * w) + Z[:, j] * m[j] * w[j]
        mu = Z[:, j] @ others / (n + ridge)
        assert w[j] == pytest.approx(mu, abs=1e-4)
        one, none = m.copy(), m.copy()
        one[j], none[j] = 1.0, 0.0
        prior = expected_story(name, one) - expected_story(name, none)
        evidence = 0.5 * np.log(ridge / (n + ridge)) + 0.5 * mu**2 * (n + ridge) / noise
        assert m[j] == pytest.approx(expit(prior + evidence), abs=1e-4)
    assert found.certificate.value < 1e-4
    logs = []
    for row in sets():
        own = Z[:, row]
        cover = 1.1 * (np.eye(n) + 0.8 * own @ own.T)
        logs.append(
            -0.5 * np.linalg.slogdet(2 * np.pi * cover)[1] - 0.5 * r @ np.linalg.solve(cover, r)
        )
    exact = np.logaddexp.reduce(np.array(logs) + log_story(name))
    unit = n * np.log(scale) if scale else 0.0
    assert found.posterior.log_evidence - unit <= exact + 1e-6
    assert found.posterior.log_evidence - unit > exact - 2.0


def test_an_estimator_takes_it_and_an_unknown_slab(tmp_path):
    X, y = table(5, 100)
    model = SpikeSlabRegressor(method="mean-field", inclusion=LAWS["graph"]).fit(X, y)
    exact = SpikeSlabRegressor(GaussianSlab(), "enumerate", inclusion=LAWS["graph"]).fit(X, y)
    off = np.abs(model.inclusion_probability_ - exact.inclusion_probability_).max()
    assert off < 0.2
    assert "in a graph of 4 edges" in model.selection_.rule
    np.testing.assert_allclose(model.predict(X), exact.predict(X), atol=0.2)


@pytest.mark.parametrize("name", ["strong", "weak"])
def test_hard_rules_and_groups_of_columns_are_refused(name):
    X, y = table()
    with pytest.raises(ValueError, match="rules sets out for sure: take method='sample'"):
        SpikeSlabRegressor(GaussianSlab(1.0), "mean-field", inclusion=LAWS[name]).fit(X, y)
    law = GroupedInclusion([0, 0, 1, 2, 3, 4, 5, 6])
    with pytest.raises(ValueError, match="no groups of columns"):
        SpikeSlabRegressor(GaussianSlab(1.0), "mean-field", inclusion=law).fit(X, y)
    assert name in STORIES
