"""The integral over an unknown slab variance: its error is what its certificate says, or less."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import betaln, gammaln, logsumexp
from sklearn.exceptions import ConvergenceWarning

from garrote import SpikeSlabClassifier, SpikeSlabRegressor
from garrote.inference import Metropolis, Search
from garrote.inference.models.slab_integral import integrate_over_slab, shares
from garrote.priors.slab import EffectSlab, GaussianSlab


def table(seed):
    """Return a small table: effects of all sizes or none, columns alike or not, few rows or many."""
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(8, 120)), int(rng.integers(1, 6))
    X = rng.standard_normal((n, count))
    if seed % 3 == 0 and count > 1:
        X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(n)
    inside = rng.random(count) < rng.choice([0.0, 0.3, 1.0])
    w = rng.standard_normal(count) * inside * rng.choice([0.1, 1.0, 10.0, 1000.0])
    return X, X @ w + rng.standard_normal(n)


def fine_probabilities(X, y):
    """Sum over all models, each integrated over its slab's variance on a fine grid that is wide."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (y - y.mean()) / y.std()
    (n, count), log_v = X.shape, np.arange(-9.0, 90.0, 0.05)
    r = np.exp(-log_v)
    density = 0.5 * np.log(0.5) - gammaln(0.5) - 0.5 * log_v - 0.5 * r
    b = np.sqrt(count)
    logs, inside = [], []
    for size in range(count + 1):
        for model in combinations(range(count), size):
            lengths, vectors = np.linalg.eigh(X[:, model].T @ X[:, model])
            along = vectors.T @ (X[:, model].T @ y)
            left = y @ y - np.sum(along[:, None] ** 2 / (lengths[:, None] + r), axis=0)
            spread = 0.5 * np.log1p(np.maximum(lengths, 0.0)[:, None] / r).sum(axis=0)
            fit = -0.5 * (n - 1) * np.log(0.5 * np.maximum(left, 1e-6 * (y @ y)))
            prior = betaln(1 + size, b + count - size)
            logs.append(logsumexp(density + fit - spread) + prior)
            inside.append([j in model for j in range(count)])
    return np.exp(np.array(logs) - logsumexp(logs)) @ np.array(inside)


def error_and_certificate(seed):
    X, y = table(seed)
    model = SpikeSlabRegressor(GaussianSlab(), "enumerate").fit(X, y)
    error = np.abs(model.inclusion_probability_ - fine_probabilities(X, y)).max()
    return error, model.certificate_["slab variance"]


@pytest.mark.parametrize("seed", range(0, 36, 3))
def test_the_certificate_covers_the_error(seed):
    error, stated = error_and_certificate(seed)
    assert error <= stated <= 1e-3


@pytest.mark.slow
def test_the_certificate_covers_the_errors_of_many_tables():
    both = np.array([error_and_certificate(seed) for seed in range(120)])
    assert (both[:, 0] <= both[:, 1]).all()
    assert both[:, 0].max() < 1e-4
    assert np.median(both[:, 1]) <= 1e-3
    assert (
        both[:, 1].max() <= 0.02
    )  # where next to nothing is left of y, the integrand has a corner


class Peak:
    """An integrand: a Gaussian in log variance, and a probability that rises with it."""

    def __init__(self, log_variance, center, width):
        self.log_total = -0.5 * ((log_variance - center) / width) ** 2
        self.inclusion = np.array([1.0 / (1.0 + np.exp(-log_variance))])


@pytest.mark.parametrize("kind", [GaussianSlab, EffectSlab])
@pytest.mark.parametrize("center", [-3.0, 0.0, 5.0, 13.0])
@pytest.mark.parametrize("width", [0.3, 1.0, 10.0])
def test_peaks_are_found_wherever_they_are_and_however_narrow(kind, center, width):
    found = {}

    def find(slab):
        u = np.log(slab.variance)
        found[u] = Peak(u, center, width)
        return found[u]

    points, stated = integrate_over_slab(kind(), find)
    ours = shares(points) @ [point.part.inclusion[0] for point in points]
    grid = np.arange(-10.0, 100.0, 0.01)
    fine = [Peak(u, center, width) for u in grid]
    log = kind.log_density(grid) + np.array([one.log_total for one in fine])
    exact = np.exp(log - logsumexp(log)) @ np.array([one.inclusion[0] for one in fine])
    assert abs(ours - exact) <= stated <= 1e-3
    assert len(found) < 50


def test_the_integral_of_a_model_of_labels_has_a_certificate_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = X[:, 0] + rng.logistic(size=60) > 0
    certificate = SpikeSlabClassifier(method="enumerate").fit(X, y).certificate_
    assert 0 < certificate.value <= 1e-3


def test_shares_add_up_to_one_however_large_logs_are():
    X, y = table(3)
    heavy = SpikeSlabRegressor(method="enumerate").fit(X, y, sample_weight=np.full(len(y), 1e14))
    assert heavy.inclusion_probability_.max() <= 1.0 + 1e-9


def test_heavy_weights_leave_averages_over_variances_averages():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 3))
    y = rng.poisson(np.exp(0.8 * X[:, 0] - 0.6 * X[:, 1]))
    light, heavy = (
        SpikeSlabRegressor(method=Metropolis(n_steps=100), family="poisson", random_state=0).fit(
            X, 1.0 * y, sample_weight=np.full(60, weight)
        )
        for weight in (1e6, 1e13)
    )
    np.testing.assert_allclose(heavy.coef_, light.coef_, atol=1e-6)


def test_sums_over_fitted_models_say_when_rows_weigh_too_much():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 2))
    y = rng.poisson(np.exp(0.8 * X[:, 0] - 0.6 * X[:, 1]))
    model = SpikeSlabRegressor(method="enumerate", family="poisson")
    with pytest.warns(ConvergenceWarning, match=r"started afresh, differ.*lower sample_weight"):
        model.fit(X, 1.0 * y, sample_weight=np.full(60, 1e15))
    assert not model.selection_.converged


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_search_among_heavy_rows_finds_what_it_weighs():
    """Sums of 1e15 are rounded by more than models that are kept may be apart."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 4))
    y = 0.8 * X[:, 0] - 0.6 * X[:, 1] + rng.standard_normal(60)
    model = SpikeSlabRegressor(method=Search(n_steps=100), random_state=0)
    model.fit(X, y, sample_weight=np.full(60, 1e15))
    np.testing.assert_allclose(model.inclusion_probability_, 1.0)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(X - X.mean(0), y)[0], rtol=1e-9)


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_walks_over_fitted_models_integrate_the_variance_as_sums_do(family):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((200, 5))
    eta = 0.3 * X[:, :3].sum(axis=1)
    y = (
        rng.poisson(np.exp(eta))
        if family == "poisson"
        else rng.random(200) < 1 / (1 + np.exp(-eta))
    )
    exact, walked = (
        SpikeSlabRegressor(method=method, family=family, random_state=0).fit(X, 1.0 * y)
        for method in ("enumerate", Metropolis(600))
    )
    np.testing.assert_allclose(
        walked.inclusion_probability_, exact.inclusion_probability_, atol=2e-3
    )
    assert walked.posterior_.log_evidence == pytest.approx(exact.posterior_.log_evidence, abs=0.02)
