"""What reads a posterior's models knows all of the probability, not only the best of them."""

from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2

from garrote import SpikeSlabClassifier, SpikeSlabRegressor
from garrote.inference import METHODS, Sample, glm_models
from garrote.inference.models import representative_models
from garrote.priors import EffectSlab, GaussianSlab, GPrior
from garrote.solvers.models import enumeration, enumeration_draws
from garrote.solvers.models.enumeration import begin, enumerate_models
from garrote.solvers.models.representatives import draw_evenly, represent

N, D = 40, 14
# A slab and odds that leave thousands of models in play.
FLAT = {"inclusion": 0.5, "prior": GaussianSlab(0.1)}


def weak_effects(n=N, d=D, seed=0, size=0.2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1::2] += 0.6 * X[:, : d - 1 : 2]
    return X, X @ np.full(d, size) * rng.choice([-1, 1]) + rng.standard_normal(n)


# What is left of y'y has a floor of a millionth of it, which all_models does without.
FLOOR = 1e-4


def all_models(X, y, slab_variance, inclusion):
    """Sum over every model, each solved alone: columns in deviations, noise with a flat logarithm.

    Returns which variables are in, probabilities, means and covariances given the model, and the means
    of the noise, all for columns and a response as they are.
    """
    n, d = X.shape
    scale = X.std(axis=0)
    Z, r = (X - X.mean(axis=0)) / scale, y - y.mean()
    gram, xty, yty = Z.T @ Z, Z.T @ r, r @ r
    inside = np.array(list(product([False, True], repeat=d)))
    logs, means, covariances, noises = [], [], [], []
    shape = (n - 1) / 2
    for row in inside:
        g = np.flatnonzero(row)
        precision = gram[np.ix_(g, g)] + np.eye(len(g)) / slab_variance
        inverse = np.linalg.inv(precision)
        v = inverse @ xty[g]
        rate = 0.5 * (yty - xty[g] @ v)
        log_det = np.linalg.slogdet(slab_variance * precision)[1]
        odds = len(g) * np.log(inclusion / (1 - inclusion))
        logs.append(odds - 0.5 * log_det - shape * np.log(rate))
        noises.append(rate / (shape - 1))
        mean, covariance = np.zeros(d), np.zeros((d, d))
        mean[g] = v
        covariance[np.ix_(g, g)] = noises[-1] * inverse
        means.append(mean / scale)
        covariances.append(covariance / np.outer(scale, scale))
    p = np.exp(np.array(logs) - max(logs))
    return inside, p / p.sum(), np.array(means), np.array(covariances), np.array(noises)


def few_models(monkeypatch, listed=20, drawn=100):
    monkeypatch.setattr(representative_models, "MOST_LISTED", listed)
    monkeypatch.setattr(representative_models, "MOST_DRAWN", drawn)
    monkeypatch.setattr(representative_models, "_FEW", 0)


@pytest.fixture(scope="module")
def flat():
    X, y = weak_effects()
    return X, y, SpikeSlabRegressor(**FLAT).fit(X, y)


def test_draws_have_the_frequencies_sizes_and_deviations_of_all_models(flat):
    *_, model = flat
    posterior = model.posterior_
    assert posterior.listed_probability < 0.6  # a list of the best would not do
    draws = posterior.sample(20_000, random_state=0)
    stated = posterior.inclusion_probability
    np.testing.assert_allclose((draws != 0).mean(axis=0), stated, atol=0.035)
    np.testing.assert_allclose(draws.std(axis=0), posterior.standard_error, rtol=0.08)
    np.testing.assert_allclose(draws.mean(axis=0), posterior.mean, atol=0.01)
    sizes = posterior.size_probability @ np.arange(D + 1)
    assert (draws != 0).sum(axis=1).mean() == pytest.approx(sizes, abs=0.1)


def test_noise_and_correlations_are_those_of_brute_force_and_not_of_a_list(monkeypatch):
    few_models(monkeypatch)
    X, y = weak_effects(d=9)
    posterior = SpikeSlabRegressor(**FLAT).fit(X, y).posterior_
    inside, p, mean, covariance, noise = all_models(X, y, 0.1, 0.5)
    assert posterior.listed_probability < 0.7
    centre = p @ mean
    total = np.tensordot(p, covariance, 1) + (mean - centre).T @ ((mean - centre) * p[:, None])
    np.testing.assert_allclose(posterior.inclusion_probability, p @ inside, atol=FLOOR)
    np.testing.assert_allclose(posterior.mean, centre, atol=FLOOR)
    np.testing.assert_allclose(posterior.covariance, total, atol=FLOOR * total.max())
    assert posterior.noise_variance == pytest.approx(p @ noise, rel=FLOOR)


@pytest.mark.parametrize(
    "settings",
    [{"prior": GaussianSlab(noise_variance=0.8)}, {"prior": GPrior(30.0)}, {"prior": "bic"}, {}],
    ids=["known noise", "g-prior", "bic", "default"],
)
def test_the_noise_is_averaged_over_models_under_every_prior(settings):
    X, y = weak_effects(d=6)
    posterior = SpikeSlabRegressor(**settings).fit(X, y).posterior_
    found = posterior.law.models
    assert posterior.listed_probability > 0.999
    averaged = found.probability @ found.noise_means / found.probability.sum()
    assert posterior.noise_variance == pytest.approx(averaged, rel=1e-4)


def test_covariates_have_the_deviations_of_all_models(monkeypatch):
    few_models(monkeypatch)
    X, y = weak_effects(d=9)
    model = SpikeSlabRegressor(covariates=[8], **FLAT).fit(X, y)
    error = model.posterior_.standard_error[-1]
    monkeypatch.undo()
    complete = SpikeSlabRegressor(covariates=[8], **FLAT).fit(X, y).posterior_
    assert complete.listed_probability > 0.999
    draws = complete.sample(40_000, random_state=0)[:, 8]
    assert error == pytest.approx(complete.standard_error[-1], rel=1e-9)
    assert error == pytest.approx(draws.std(), rel=0.02)


def test_predictive_deviations_are_those_of_all_models(monkeypatch):
    few_models(monkeypatch, 100, 500)
    X, y = weak_effects(d=11)
    model = SpikeSlabRegressor(**FLAT).fit(X, y)
    _, p, mean, covariance, noise = all_models(X, y, 0.1, 0.5)
    new = np.random.default_rng(1).standard_normal((30, 11))
    away = new - X.mean(axis=0)
    predicted = away @ mean.T
    within = np.array([np.sum((away @ c) * away, axis=1) for c in covariance]).T
    spread = (predicted - (predicted @ p)[:, None]) ** 2 @ p
    variance = spread + (within + noise * (1 + 1 / N)) @ p
    stated = model.predict(new, return_std=True)[1]
    assert model.posterior_.listed_probability < 0.6
    np.testing.assert_allclose(stated, np.sqrt(variance), rtol=0.02)


def test_listed_models_have_their_own_probabilities_and_the_table_says_how_much(flat):
    *_, model = flat
    posterior = model.posterior_
    table = posterior.models(1000)
    assert len(table) == 500
    assert sum(table.columns["probability"]) == pytest.approx(posterior.listed_probability)
    assert f"have {posterior.listed_probability:.3g} of the probability" in str(table)
    assert np.all(np.diff(table.columns["probability"]) <= 0)
    assert posterior.law.models.probability.sum() == pytest.approx(1.0)
    assert len(model.selection_.models.probability) == 50


def correlated(seed, n=60, d=12):
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((n, 3))
    X = 0.75 * common[:, np.arange(d) % 3] + 0.66 * rng.standard_normal((n, d))
    w = np.zeros(d)
    w[:3] = 0.35 + 0.25 * rng.random(3)
    return X, X @ w + rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(3))
def test_credible_sets_hold_what_they_state(seed):
    X, y = correlated(seed)
    posterior = SpikeSlabRegressor(GaussianSlab(0.3), inclusion=0.3).fit(X, y).posterior_
    inside, p, *_ = all_models(X, y, 0.3, 0.3)
    sets = [one for c in (0.6, 0.8, 0.95) for one in posterior.credible_sets(c, 0.2)]
    assert len(sets) > 2
    for one in sets:
        held = float(p @ inside[:, one.variables].any(axis=1))
        assert one.coverage == pytest.approx(held, abs=FLOOR)
        np.testing.assert_allclose(one.probability, p @ inside[:, one.variables], atol=FLOOR)


def test_draws_from_subtrees_follow_the_law_that_is_not_known_one_by_one(monkeypatch):
    monkeypatch.setattr(enumeration, "BLOCK_LEVELS", 4)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8))
    y = X[:, 0] + 0.3 * X[:, 5] + rng.standard_normal(30)

    gram, xty, yty = X.T @ X, X.T @ y, float(y @ y)
    rule = GaussianSlab(0.3).rule(29, yty, 8)
    arguments = rule, gram, xty, yty, np.zeros(9), np.full(8, -0.5)
    every = enumerate_models(*arguments, keep=2**8)
    found = enumerate_models(*arguments, keep=30)
    p = np.zeros(2**8)
    p[every.models.astype(int)] = np.exp(every.log_weights - every.log_total)
    np.testing.assert_allclose(found.blocks, p.reshape(16, 16).sum(axis=0), atol=1e-12)
    known = found.models[:-1].astype(int)  # the last is no better than those that are not kept
    p[known] = 0.0
    rest = enumeration_draws.beyond_best(found)
    np.testing.assert_allclose(rest, p.reshape(16, 16).sum(axis=0), atol=1e-12)
    places, into = draw_evenly(rest, 20_000)
    drawn = enumeration_draws.draw_models(rule, *begin(*arguments), found, places, into)
    assert len(drawn) == 20_000
    share = np.bincount(drawn, minlength=2**8) / 20_000
    # Each is drawn as often as its weight says, up to one draw at either end of its place.
    np.testing.assert_allclose(share, p / p.sum(), atol=2.01 / 20_000)


@pytest.mark.parametrize("slab_variance", [0.1, None])
def test_models_of_many_columns_are_drawn_from_the_sum_too(slab_variance, monkeypatch):
    monkeypatch.setattr(enumeration, "BLOCK_LEVELS", 5)
    few_models(monkeypatch, 50, 1000)
    X, y = weak_effects(d=12)
    model = SpikeSlabRegressor(GaussianSlab(slab_variance), "enumerate", inclusion=0.5)
    posterior = model.fit(X, y).posterior_
    assert posterior.listed_probability < 0.5
    found = posterior.law.models
    assert found.probability.sum() == pytest.approx(1.0)
    inside = np.array([np.isin(np.arange(12), members) for members in found.members])
    frequency = found.probability @ inside
    # Four deviations of as many draws, whose strata make it less.
    np.testing.assert_allclose(
        frequency, posterior.inclusion_probability, atol=4 * 0.5 / np.sqrt(1000)
    )
    size = posterior.size_probability @ np.arange(13)
    assert found.probability @ inside.sum(axis=1) == pytest.approx(size, abs=0.25)
    if slab_variance is not None:
        truth, p, *_ = all_models(X, y, slab_variance, 0.5)
        best = np.sort(p)[::-1][: found.best]
        np.testing.assert_allclose(found.probability[: found.best], best, rtol=1e-3)
        for one in posterior.credible_sets(0.8, 0.0):
            assert p @ truth[:, one.variables].any(axis=1) >= 0.8


@pytest.mark.parametrize("method", ["sample", "metropolis", "gibbs", "search"])
def test_every_method_over_models_draws_from_all_that_it_saw(method, monkeypatch):
    few_models(monkeypatch, 20, 600)
    X, y = weak_effects()
    steps = {"gibbs": 3000, "search": 1500}.get(method, 6000)
    model = SpikeSlabRegressor(method=METHODS[method](n_steps=steps), random_state=0, **FLAT).fit(
        X, y
    )
    posterior = model.posterior_
    assert posterior.listed_probability < 0.3
    draws = posterior.sample(10_000, random_state=0)
    stated = posterior.inclusion_probability
    np.testing.assert_allclose((draws != 0).mean(axis=0), stated, atol=0.08)
    size = posterior.size_probability @ np.arange(len(posterior.size_probability))
    assert (draws != 0).sum(axis=1).mean() == pytest.approx(size, abs=0.25)
    exact = SpikeSlabRegressor(**FLAT).fit(X, y).posterior_
    assert posterior.noise_variance == pytest.approx(exact.noise_variance, rel=0.03)


@pytest.mark.parametrize("method", ["enumerate", "metropolis"])
def test_models_that_are_fitted_stand_for_all_of_them(method, monkeypatch):
    monkeypatch.setattr(glm_models, "MOST_FITTED", (15, 120))
    monkeypatch.setattr(representative_models, "_FEW", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = (rng.random(60) < expit(0.4 * X @ np.ones(8))).astype(float)
    method = Sample(n_steps=3000) if method == "sample" else method
    settings = {"inclusion": 0.5, "method": method, "random_state": 0, "prior": EffectSlab(0.2)}
    model = SpikeSlabClassifier(**settings).fit(X, y)
    posterior = model.posterior_
    assert posterior.listed_probability < 0.6
    draws = posterior.sample(20_000, random_state=0)
    stated = posterior.inclusion_probability
    np.testing.assert_allclose((draws != 0).mean(axis=0), stated, atol=0.1)
    np.testing.assert_allclose(draws.std(axis=0), posterior.standard_error, rtol=0.2)
    few = model.predict_proba(X)[:, 1]
    monkeypatch.undo()
    every = SpikeSlabClassifier(**settings).fit(X, y)
    assert every.posterior_.listed_probability > 0.999
    np.testing.assert_allclose(few, every.predict_proba(X)[:, 1], atol=0.02)
    assert model.intercept_ == pytest.approx(every.intercept_, abs=1e-3)


def test_sampled_labels_have_the_correlations_of_their_states():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12))
    X[:, 1] += 2 * X[:, 0]
    y = (rng.random(80) < expit(X[:, 0])).astype(float)
    model = SpikeSlabClassifier(method=Sample(n_steps=2000, burn_in=200), random_state=0)
    posterior = model.fit(X, y).posterior_
    states = posterior.law.coefficients[:, posterior.support].toarray()
    np.testing.assert_allclose(posterior.correlation, np.corrcoef(states.T), atol=1e-8)


def test_fits_repeat(flat):
    X, y, model = flat
    again = SpikeSlabRegressor(**FLAT).fit(X, y).posterior_.law.models
    for one, two in zip(model.posterior_.law.models.members, again.members, strict=True):
        np.testing.assert_array_equal(one, two)


# Representatives of weights.


def test_representatives_keep_the_heaviest_and_stand_for_all():
    weight = np.sort(np.random.default_rng(0).exponential(size=3000) ** 4)[::-1]
    few = represent(weight, 100, 200, order=np.arange(3000))
    np.testing.assert_array_equal(few.chosen[:100], np.arange(100))
    np.testing.assert_allclose(few.weight[:100], weight[:100] / weight.sum())
    assert few.weight.sum() == pytest.approx(1.0)
    assert len(few.chosen) == len(set(few.chosen.tolist())) <= 300
    # An average of anything that is smooth in the order is nearly that over all.
    value = np.sqrt(np.arange(3000))
    assert few.weight @ value[few.chosen] == pytest.approx(weight @ value / weight.sum(), rel=1e-2)


def test_all_are_taken_where_they_are_few():
    weight = np.array([5.0, 3.0, 2.0])
    few = represent(weight, 1, 2)
    assert few.listed == 3
    np.testing.assert_allclose(few.weight, weight / 10)


def size_ranks(draw, fit, seeds, n_draws=60):
    """Return the rank of the true model's size among sizes that a posterior draws, ties at random."""
    ranks = []
    for seed in seeds:
        rng = np.random.default_rng([seed, 7])
        X, y, size = draw(rng)
        drawn = (fit(X, y, seed).posterior_.sample(n_draws, random_state=seed) != 0).sum(axis=1)
        below, ties = np.count_nonzero(drawn < size), np.count_nonzero(drawn == size)
        ranks.append(below + rng.integers(ties + 1))
    return np.array(ranks)


def uniformity(ranks, n_draws=60, bins=4):
    counts = np.bincount(ranks * bins // (n_draws + 1), minlength=bins)
    expected = len(ranks) / bins
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), bins - 1)


def prior_draw(n, d, inclusion, slab_variance):
    """Return what draws a table whose effects and response follow the prior, with unit noise."""

    def draw(rng):
        X = rng.standard_normal((n, d))
        inside = rng.random(d) < inclusion
        w = inside * rng.normal(0.0, np.sqrt(slab_variance), d) / X.std(axis=0)
        return X, X @ w + rng.standard_normal(n), int(inside.sum())

    return draw


def test_ranks_of_model_sizes_are_even_for_exact_posteriors(monkeypatch):
    few_models(monkeypatch, 20, 60)
    draw = prior_draw(30, 10, 0.5, 0.1)

    def fit(X, y, seed):
        return SpikeSlabRegressor(GaussianSlab(0.1), inclusion=0.5).fit(X, y)

    assert uniformity(size_ranks(draw, fit, range(40))) > 0.005


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:sampled inclusion")  # short chains: ranks tell whether they do
@pytest.mark.parametrize(
    ("n", "d", "settings"),
    [
        (40, 14, {"inclusion": 0.5, "prior": GaussianSlab(0.05)}),
        (60, 30, {"prior": GaussianSlab(0.1), "method": Sample(n_steps=3000)}),
    ],
    ids=["exact", "sampled"],
)
def test_ranks_of_model_sizes_are_even(n, d, settings):
    variance, inclusion = settings["prior"].variance, settings.get("inclusion")

    def draw(rng):
        # By default all variables share a probability ~ Beta(1, sqrt(D)).
        shared = rng.beta(1.0, np.sqrt(d)) if inclusion is None else inclusion
        return prior_draw(n, d, shared, variance)(rng)

    def fit(X, y, seed):
        return SpikeSlabRegressor(random_state=seed, **settings).fit(X, y)

    assert uniformity(size_ranks(draw, fit, range(120))) > 0.005


def test_copies_are_told_apart_by_a_wide_slab_in_draws_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 3))
    X[:, 1] = X[:, 0]
    y = 2 * X[:, 0] + rng.standard_normal(100)
    model = SpikeSlabRegressor(GaussianSlab(1e10), "enumerate", inclusion=0.5).fit(X, y)
    error = model.posterior_.standard_error[0]
    assert error > 1e3
    drawn = model.posterior_.sample(20_000, random_state=0)[:, 0].std()
    assert drawn == pytest.approx(error, rel=0.1)
