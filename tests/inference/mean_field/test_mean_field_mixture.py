"""Mean field as a mixture of all its optima: weights, laws of coefficients, bounds on the evidence."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import betaln, logsumexp, softmax, xlog1py, xlogy

from garrote import SpikeSlabClassifier, SpikeSlabRegressor, load
from garrote.inference import Beliefs, MeanField, infer
from garrote.inference.mean_field.evidence_bound import evidence_bounds, mix
from garrote.inference.mean_field.prior_grid import (
    Cell,
    odds_ranges,
    variance_ranges,
    whole_odds_range,
    whole_variance_range,
)
from garrote.priors import GaussianSlab
from garrote.priors.inclusion import Inclusion
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.laws import Mixture

FACTORISED = [{"method": how} for how in ("mean-field", MeanField("em"), MeanField("anneal"), "em")]


def with_copies(away=0.0, effect=3.0, seed=0):
    """Return a table whose first two columns are copies, but for so much noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 5))
    X[:, 1] = X[:, 0] + away * rng.standard_normal(60)
    return X, effect * X[:, 0] + rng.standard_normal(60)


@pytest.fixture(scope="module", params=FACTORISED, ids=lambda way: "-".join(map(str, way.values())))
def fitted(request):
    X, y = with_copies()
    return X, SpikeSlabRegressor(GaussianSlab(), **request.param).fit(X, y)


@pytest.mark.parametrize("way", FACTORISED[:3], ids=lambda way: "-".join(map(str, way.values())))
def test_copies_of_a_column_have_the_same_probability(way):
    for seed in range(2):
        X, y = with_copies(effect=1.0, seed=seed)
        p = SpikeSlabRegressor(GaussianSlab(), **way).fit(X, y).inclusion_probability_
        exact = SpikeSlabRegressor(GaussianSlab()).fit(X, y).inclusion_probability_
        assert exact[0] == pytest.approx(exact[1])
        assert p[0] == pytest.approx(p[1], abs=0.01)
        assert p[0] == pytest.approx(exact[0], abs=0.12)


@pytest.mark.parametrize("seed", [1, 7])
def test_near_copies_share_their_probability_as_they_do_exactly(seed):
    """Of two optima of nearly the same weight neither is counted at one prior only."""
    X, y = with_copies(away=0.02, effect=1.0, seed=seed)
    model = SpikeSlabRegressor(GaussianSlab(), "mean-field").fit(X, y)
    exact = SpikeSlabRegressor(GaussianSlab(), "enumerate").fit(X, y).inclusion_probability_
    assert model.posterior_.optima.weights[:2].min() > 0.2
    p = model.inclusion_probability_
    assert p[0] - p[1] == pytest.approx(exact[0] - exact[1], abs=0.05)


def test_two_pairs_of_copies_have_four_optima():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    X[:, 1], X[:, 3] = X[:, 0], X[:, 2]
    y = X[:, 0] - X[:, 2] + 0.5 * rng.standard_normal(60)
    model = SpikeSlabRegressor(GaussianSlab(1.0), "mean-field", inclusion=0.2).fit(X, y)
    assert len(model.posterior_.optima) >= 4
    np.testing.assert_allclose(model.posterior_.optima.weights[:4], 0.25, atol=0.02)
    p = model.inclusion_probability_
    np.testing.assert_allclose(p[:4], p[0], atol=0.01)


def test_of_two_copies_one_is_in_for_certain(fitted):
    X, model = fitted
    exact = SpikeSlabRegressor(GaussianSlab()).fit(X, 3.0 * X[:, 0] + _noise(X))
    wanted = exact.posterior_.sample(20_000, random_state=0)[:, :2].sum(axis=1).std()
    posterior = model.posterior_
    pair = np.isin(posterior.support, [0, 1]).astype(float)
    assert np.sqrt(pair @ posterior.covariance @ pair) == pytest.approx(wanted, rel=0.25)
    drawn = posterior.sample(20_000, random_state=0)[:, :2]
    assert drawn.sum(axis=1).std() == pytest.approx(wanted, rel=0.25)
    assert (drawn != 0).any(axis=1).mean() > 0.99


def _noise(X):
    """Return the noise that `with_copies` has added at its first seed."""
    return with_copies()[1] - 3.0 * X[:, 0]


def furthest(draws, mean, covariance):
    """Return how many standard errors the covariance of draws is from a stated one, at most."""
    away = draws - mean
    products = away[:, :, None] * away[:, None, :]
    errors = products.std(axis=0) / np.sqrt(len(draws))
    return np.abs((products.mean(axis=0) - covariance) / errors).max()


def test_the_covariance_is_that_of_draws(fitted):
    posterior = fitted[1].posterior_
    draws = posterior.sample(40_000, random_state=1)[:, posterior.support]
    mean = posterior.mean[posterior.support]
    assert furthest(draws, mean, posterior.covariance) < 4.5
    errors = posterior.standard_error / np.sqrt(len(draws))
    assert np.abs((draws.mean(axis=0) - mean) / errors).max() < 4.5


def test_predictive_deviations_are_those_of_draws(fitted):
    X, model = fitted
    posterior = model.posterior_
    rows = np.vstack([X[:4], 5.0 * np.eye(5)[:2]])
    deviation = model.predict(rows, return_std=True)[1]
    draws = posterior.sample(40_000, random_state=2)
    center = X.mean(axis=0)
    noise = posterior.noise_variance * (1.0 + 1.0 / len(X))
    expected = np.sqrt(((rows - center) @ draws.T).var(axis=1) + noise)
    np.testing.assert_allclose(deviation, expected, rtol=0.02)


def test_a_saved_model_draws_the_same(tmp_path):
    X, y = with_copies()
    model = SpikeSlabRegressor(GaussianSlab(), "mean-field").fit(X, y)
    model.save(tmp_path / "model.garrote")
    again = load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(
        again.posterior_.sample(50, random_state=0), model.posterior_.sample(50, random_state=0)
    )
    assert str(again.posterior_.local_optima()) == str(model.posterior_.local_optima())


def test_of_labels_too_copies_share_their_probability():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 5))
    X[:, 1] = X[:, 0]
    y = 1.5 * X[:, 0] + rng.logistic(size=150) > 0
    model = SpikeSlabClassifier(method="mean-field").fit(X, y)
    exact = SpikeSlabClassifier(method="enumerate").fit(X, y)
    p, posterior = model.inclusion_probability_, model.posterior_
    assert p[0] == pytest.approx(p[1], abs=0.01)
    assert p[0] == pytest.approx(exact.inclusion_probability_[0], abs=0.12)
    assert posterior.log_evidence < exact.posterior_.log_evidence
    np.testing.assert_allclose(posterior.optima.weights[:2], posterior.optima.weights[0], atol=0.01)
    assert posterior.optima.weights.sum() == pytest.approx(1.0)
    draws = posterior.sample(40_000, random_state=0)[:, posterior.support]
    assert furthest(draws, posterior.mean[posterior.support], posterior.covariance) < 4.5
    one_in = posterior.sample(2_000, random_state=0)[:, :2] != 0
    assert one_in.any(axis=1).mean() > 0.99
    np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(X), atol=0.05)


def random_case(seed):
    """Return a small table, half of them with copies, how to fit it, and settings for all methods."""
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(15, 80)), int(rng.integers(1, 8))
    X = rng.standard_normal((n, count))
    if count > 1 and seed % 2:
        X[:, 1] = X[:, 0] + rng.choice([0.0, 0.0, 0.1, 0.5]) * rng.standard_normal(n)
    if count > 3 and seed % 4 == 1:
        X[:, 3] = X[:, 0] + X[:, 2] + 0.2 * rng.standard_normal(n)
    w = rng.standard_normal(count) * (rng.random(count) < 0.5) * rng.choice([0.3, 1.0, 3.0])
    y = X @ w + rng.standard_normal(n)
    settings = [
        {"prior": GaussianSlab()},
        {"prior": GaussianSlab(1.0)},
        {"inclusion": 0.2, "prior": GaussianSlab()},
        {"inclusion": 0.3, "prior": GaussianSlab(0.5, noise_variance=1.0)},
        {"prior": GaussianSlab(noise_variance=1.0)},
    ][seed % 5]
    given = {} if seed % 3 else {"sample_weight": rng.integers(1, 4, n).astype(float)}
    return X, y, settings, given


def excess(seed, ways):
    """Return how far bounds on the log evidence are above the sum over all models."""
    X, y, settings, given = random_case(seed)
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(X, y, **given)
    return [
        SpikeSlabRegressor(**way, **settings).fit(X, y, **given).posterior_.log_evidence
        - exact.posterior_.log_evidence
        for way in ways
    ]


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_is_near_the_evidence_and_never_above(seed):
    over = np.array(excess(seed, FACTORISED[:1]))
    assert over.max() < 1e-6
    assert over.min() > -3.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_bound_is_above_the_evidence():
    over = np.array([excess(seed, FACTORISED) for seed in range(120)])
    assert over.max() < 1e-6
    assert np.median(over) > -1.0


def test_columns_beside_covariates_have_a_bound_too():
    X, y, _, _ = random_case(9)
    settings = {"covariates": [2], "prior": GaussianSlab(0.7)}
    exact = SpikeSlabRegressor(method="enumerate", **settings).fit(X, y)
    quick = SpikeSlabRegressor(method="mean-field", **settings).fit(X, y)
    over = quick.posterior_.log_evidence - exact.posterior_.log_evidence
    assert -3.0 < over < 1e-6


def plain_bound(X, y, m, mu, variance, pi, noise):
    """The bound of one solution, from its definition, by which enumeration has its constant."""
    X, y = X - X.mean(axis=0), y - y.mean()
    scale = X.std(axis=0)
    X, y = X / scale, y / y.std()
    c, n = (X**2).sum(axis=0), len(y) - 1
    left = ((y - X @ (m * mu)) ** 2).sum()
    left += (m * (1 - m) * mu**2 * c).sum() + (m * mu**2).sum() / variance
    fit = -0.5 * left / noise if noise else -0.5 * n * np.log(0.5 * max(1e-6 * (y @ y), left))
    slab = -0.5 * (m * np.log(1 + variance * c)).sum()
    return fit + slab - (xlogy(m, m / pi) + xlog1py(1 - m, (pi - m) / (1 - pi))).sum()


def everywhere(fit, count):
    m, mu = np.zeros((2, count))
    m[fit.columns], mu[fit.columns] = fit.probability, fit.weight
    return m, mu


def all_states(m):
    """Return the probability of every value of independent switches."""
    states = np.ones(1)
    for p in m:
        states = np.concatenate([states * p, states * (1 - p)])
    return states


def test_weights_are_those_of_the_highest_bound_of_a_mixture():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 7))
    X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(60)
    X[:, 3] = X[:, 2] + 0.1 * rng.standard_normal(60)
    y = X[:, 0] + 0.5 * X[:, 2] + rng.standard_normal(60)
    model = SpikeSlabRegressor(GaussianSlab(1.0), "mean-field", inclusion=0.2).fit(X, y)
    posterior = model.posterior_
    found = [everywhere(fit, 7) for fit in posterior.optima]
    bounds = np.array([plain_bound(X, y, m, mu, 1.0, 0.2, None) for m, mu in found])
    states = np.array([all_states(m) for m, _ in found])
    assert len(bounds) >= 3

    def of_mixture(weight):
        mixed = weight @ states
        return (
            weight @ bounds - xlogy(mixed, mixed).sum() + weight @ xlogy(states, states).sum(axis=1)
        )

    best = minimize(lambda z: -of_mixture(softmax(z)), np.zeros(len(bounds)), tol=1e-12)
    np.testing.assert_allclose(posterior.optima.weights, softmax(best.x), atol=1e-3)
    assert posterior.log_evidence == pytest.approx(-best.fun, abs=1e-5)
    assert posterior.log_evidence < logsumexp(bounds)
    mixed = posterior.optima.weights @ np.array([m for m, _ in found])
    np.testing.assert_allclose(posterior.inclusion_probability, mixed, atol=1e-6)


@pytest.mark.parametrize("noise", [None, 0.8])
def test_the_bound_of_a_solution_is_its_definition(noise):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    y = X[:, 0] + rng.standard_normal(30)
    problem = Problem.from_rows(X, y)
    known = None if noise is None else noise * y.var()
    beliefs = Beliefs.about(
        problem, GaussianSlab(0.6, known), Inclusion.independent(np.full(4, 0.3), np.zeros(4))
    )
    cell = Cell(whole_variance_range(beliefs.prior), whole_odds_range(beliefs), beliefs.prior)
    m, mu = rng.uniform(size=4), rng.standard_normal(4)
    fit = Fit.uncertified(0.0, np.arange(4), m, mu, 1.0)
    (bound,) = evidence_bounds(problem, beliefs, [(cell, fit)])
    assert bound == pytest.approx(plain_bound(X, y, m, mu, 0.6, 0.3, noise), abs=1e-9)


def test_a_solution_that_is_there_twice_counts_once():
    one = Fit.uncertified(0.0, np.array([0, 2]), np.array([0.9, 0.3]), np.ones(2), 1.0)
    same = mix([-3.0, -3.0], [one, one])
    assert same.bound == pytest.approx(-3.0)
    other = Fit.uncertified(0.0, np.array([1]), np.array([1.0]), np.ones(1), 1.0)
    surely = Fit.uncertified(0.0, np.array([0]), np.array([1.0]), np.ones(1), 1.0)
    apart = mix([-3.0, -4.0], [surely, other])
    assert apart.bound == pytest.approx(np.logaddexp(-3.0, -4.0))
    np.testing.assert_allclose(apart.weight, softmax([-3.0, -4.0]))
    three = mix([-3.0, -3.0, -3.0], [surely, surely, other])
    assert three.bound == pytest.approx(-3.0 + np.log(2.0))
    assert three.weight[2] == pytest.approx(0.5)


@pytest.mark.parametrize("offsets", [np.zeros(6), np.linspace(-1, 1, 6)])
def test_ranges_of_priors_make_up_the_whole(offsets):
    rng = np.random.default_rng(0)
    problem = Problem.from_rows(rng.standard_normal((50, 6)), rng.standard_normal(50))
    beliefs = Beliefs.about(problem, GaussianSlab(), Inclusion.beta(1.0, 2.0, offsets))
    gammas, ranges = odds_ranges(beliefs)
    assert len(gammas) == len(ranges)
    for count in (0.0, 2.3, 6.0):
        parts = [one.log_integral(count * one.points) for one in ranges if one is not None]
        whole = betaln(1.0 + count, 8.0 - count) - betaln(1.0, 2.0)
        whole += beliefs.inclusion.by_size[0] - (betaln(1.0, 8.0) - betaln(1.0, 2.0))
        assert logsumexp(parts) == pytest.approx(whole, abs=1e-4)
        one = whole_odds_range(beliefs)
        assert one.log_integral(count * one.points) == pytest.approx(whole, abs=1e-4)
    parts = [one.log_integral(0.0) for _, one in variance_ranges(GaussianSlab())]
    assert logsumexp(parts) == pytest.approx(0.0, abs=1e-4)


def test_the_law_of_a_mixture_has_the_moments_of_its_draws():
    rng = np.random.default_rng(0)
    law = Mixture(
        np.array([1, 4, 5]), np.array([0.7, 0.3]), rng.uniform(size=(2, 3)),
        rng.standard_normal((2, 3)), rng.uniform(size=(2, 3)),
    )  # fmt: skip
    draws = law.sample(200_000, np.zeros(6), rng)[:, law.columns]
    np.testing.assert_allclose(np.cov(draws.T), law.covariance, atol=0.02)
    rows = rng.standard_normal((4, 3))
    np.testing.assert_allclose(
        law.variance_along(rows), np.einsum("ij,jk,ik->i", rows, law.covariance, rows)
    )


def test_moments_and_rows_have_one_mixture():
    X, y = with_copies(effect=1.0)
    X, y = X - X.mean(axis=0), y - y.mean()
    rows = Problem.from_rows(X, y)
    moments = Problem.from_moments(X.T @ X, X.T @ y, y @ y, 60)
    found = [infer(given, GaussianSlab(), "mean-field").posterior for given in (rows, moments)]
    np.testing.assert_allclose(
        found[0].inclusion_probability, found[1].inclusion_probability, atol=1e-3
    )
    assert found[0].log_evidence == pytest.approx(found[1].log_evidence, abs=1e-3)
    np.testing.assert_allclose(found[0].covariance, found[1].covariance, atol=1e-3)
