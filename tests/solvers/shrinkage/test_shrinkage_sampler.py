"""The Gibbs sampler of shrinkage priors against sums over grids, and what it is made of."""

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

from garrote import Problem
from garrote.inference import Gibbs, infer
from garrote.priors.scale_mixture import (
    ElasticNetPrior,
    FusedLaplacePrior,
    GroupLaplacePrior,
    HALPrior,
    HorseshoePrior,
    LaplacePrior,
    NEGPrior,
    NormalGammaPrior,
    StudentPrior,
)
from garrote.scale_mixtures.laws import (
    HALLaw,
    HorseshoeLaw,
    LaplaceLaw,
    NEGLaw,
    NormalGammaLaw,
    StudentLaw,
)
from garrote.solvers.algebra.gaussian_draws import ByColumns, ByRows
from garrote.solvers.diagnostics import diagnose_draws
from garrote.solvers.shrinkage.local_moves import move_locally
from garrote.solvers.shrinkage.shrinkage_gibbs import ShrinkageTarget, rescale
from garrote.solvers.shrinkage.swap_moves import exchange_variances, similar_pairs
from reference_shrinkage import Grid, gamma_rate, half_cauchy, inverse_gamma


def sum_of(law):
    """The log density of independent coefficients; at 0 some are infinite."""
    return lambda v: law.log_density(np.maximum(np.abs(v), 1e-9)).sum(axis=-1)


def elastic_net(v):
    """Eq. 13.128 with a lasso part of 0.4."""
    return -0.4 * np.abs(v).sum(axis=-1) - 0.6 * np.square(v).sum(axis=-1) / 2


def fused(v):
    """Laplace of coefficients (0.3) and of their difference (0.7)."""
    return -0.3 * np.abs(v).sum(axis=-1) - 0.7 * np.abs(v[..., 1] - v[..., 0])


PRIORS = [
    (LaplacePrior, {}, sum_of(LaplaceLaw())),
    (HorseshoePrior, {}, sum_of(HorseshoeLaw())),
    (StudentPrior, {"degrees": 2.0}, sum_of(StudentLaw(2.0))),
    (NormalGammaPrior, {"shape": 0.7}, sum_of(NormalGammaLaw(0.7))),
    (NEGPrior, {"shape": 1.0}, sum_of(NEGLaw(1.0))),
    (HALPrior, {"shape": 1.5}, sum_of(HALLaw(1.5))),
    (ElasticNetPrior, {"l1_ratio": 0.4}, elastic_net),
    (FusedLaplacePrior, {"l1_ratio": 0.3}, fused),
    (GroupLaplacePrior, {"groups": np.array([0, 0])}, lambda v: -np.linalg.norm(v, axis=-1)),
]


def kind(value):
    return getattr(value, "__name__", "") if isinstance(value, type) else ""


@pytest.fixture(scope="module")
def pair():
    """Two correlated columns, one weak effect, in standard deviations."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((12, 2))
    X[:, 1] += 0.8 * X[:, 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = 0.6 * X[:, 0] + rng.standard_normal(12)
    return X, y - y.mean()


def assert_agrees(posterior, grid):
    """Means, deviations and signs, as close as the sampler's own errors allow."""
    error = 4 * posterior.accuracy.monte_carlo_error + 0.01 * grid.deviation()
    assert (np.abs(posterior.mean - grid.mean()) < error).all()
    np.testing.assert_allclose(np.sqrt(posterior.variance), grid.deviation(), rtol=0.04)
    positive = (posterior.law.draws > 0).mean(axis=0)
    np.testing.assert_allclose(positive, grid.positive(), atol=0.025)


@pytest.mark.parametrize(("prior", "settings", "log_prior"), PRIORS, ids=kind)
def test_every_prior_gives_the_posterior_that_a_grid_sums(pair, prior, settings, log_prior):
    X, y = pair
    noise, scale = 0.9, 0.4
    grid = Grid(X, y, len(y) - 1, log_prior, [noise], [scale], 1.0)
    problem = Problem.from_rows(X, y)
    given = prior(scale=scale, noise_variance=noise, **settings)
    found = infer(problem, given, Gibbs(3000, 200), random_state=0)
    assert_agrees(found.posterior, grid)


@pytest.mark.parametrize(("prior", "settings", "log_prior"), [PRIORS[0], PRIORS[2]], ids=kind)
def test_unknown_noise_and_scale_are_integrated_over(pair, prior, settings, log_prior):
    X, y = pair
    noise, scales = np.exp(np.linspace(-2.0, 4.0, 17)), np.exp(np.linspace(-9.0, 7.0, 33))
    typical = 0.5
    grid = Grid(X, y, len(y) - 1, log_prior, noise, scales, typical)
    problem = Problem.from_rows(X, y)
    given = prior(typical_scale=typical, **settings)
    found = infer(problem, given, Gibbs(5000, 300), random_state=0)
    assert_agrees(found.posterior, grid)
    assert found.posterior.noise_variance == pytest.approx(grid.noise_mean, rel=0.03)


MOVED = [
    (HorseshoeLaw(), half_cauchy),
    (NEGLaw(0.5), gamma_rate(0.5)),
    (StudentLaw(1.0), inverse_gamma(1.0)),
]


@pytest.mark.parametrize(
    ("law", "mixing"), MOVED, ids=lambda v: str(v) if hasattr(v, "cost") else ""
)
@pytest.mark.parametrize("by_rows", [False, True])
def test_local_moves_leave_variances_in_their_law_given_the_other_coefficients(
    law, mixing, by_rows
):
    """Columns at right angles are as many independent chains of one law."""
    count, bend, pull, scale, noise = 800, 20.0, 9.0, 0.3, 1.2
    rng = np.random.default_rng(0)
    columns = np.asfortranarray(np.sqrt(bend) * np.eye(count))
    response = np.full(count, pull / np.sqrt(bend))
    form = ByRows(columns, response)
    if not by_rows:
        form = ByColumns(bend * np.eye(count), np.full(count, pull), float(response @ response))
    coef, variance = np.zeros(count), np.ones(count)
    for _ in range(60):
        coef, variance = move_locally(
            form, law.variances, form.curvature, scale, noise, coef, variance, rng
        )
    log_t = np.linspace(-60, 60, 24_001)
    spread = noise * (1 / bend + scale**2 * np.exp(log_t))
    with np.errstate(divide="ignore", under="ignore"):
        log = np.log(mixing(np.exp(log_t))) + log_t - 0.5 * np.log(spread)
    density = np.exp(log - 0.5 * (pull / bend) ** 2 / spread)
    below = np.cumsum(density) / density.sum()
    found = scipy.stats.kstest(np.log(variance), lambda t: np.interp(t, log_t, below))
    assert found.pvalue > 1e-3
    # And the coefficients are shrunk as these variances say.
    ratio = bend * scale**2 * np.exp(log_t)
    expected = (density * ratio / (1 + ratio)).sum() / density.sum() * pull / bend
    assert coef.mean() == pytest.approx(expected, abs=4 * coef.std() / np.sqrt(count))


def test_rows_and_moments_give_the_same_draws():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((30, 4))
    y = X[:, 0] + rng.standard_normal(30)
    X, y = X - X.mean(axis=0), y - y.mean()
    rows, moments = (
        infer(problem, HorseshoePrior(), Gibbs(200, 20), random_state=0)
        for problem in (
            Problem.from_rows(X, y, fit_intercept=False),
            Problem.from_moments(X.T @ X, X.T @ y, y @ y, 30),
        )
    )
    # Moments have spent a row on means, so that the noise is drawn from another law.
    np.testing.assert_allclose(rows.posterior.mean, moments.posterior.mean, atol=0.1)
    assert rows.method == moments.method == "gibbs"


def autoregressive(rng, correlation, shape):
    draws = np.empty(shape)
    draws[:, 0] = rng.standard_normal((shape[0], shape[2]))
    for k in range(1, shape[1]):
        fresh = rng.standard_normal((shape[0], shape[2]))
        draws[:, k] = correlation * draws[:, k - 1] + np.sqrt(1 - correlation**2) * fresh
    return draws


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_effective_sizes_of_autoregressive_chains_are_known(correlation):
    draws = autoregressive(np.random.default_rng(0), correlation, (2, 4000, 20))
    found = diagnose_draws(draws)
    expected = 8000 * (1 - correlation) / (1 + correlation)
    assert np.median(found.effective_size) == pytest.approx(expected, rel=0.1)
    np.testing.assert_allclose(found.error, found.effective_size**-0.5)
    assert found.split_r_hat.max() < 1.05


def test_chains_that_disagree_drift_or_stand_still_are_told_of():
    rng = np.random.default_rng(1)
    draws = rng.standard_normal((2, 500, 5))
    draws[1, :, 1] += 3  # another place
    draws[:, :, 2] += np.linspace(0, 5, 500)  # drift
    draws[:, :, 3] = np.log(0.2)  # known
    draws[:, :, 4] = np.array([[0.0], [1.0]])  # stuck apart
    found = diagnose_draws(draws)
    assert found.split_r_hat[0] < 1.05
    assert (found.split_r_hat[[1, 2, 4]] > 1.5).all()
    assert (found.effective_size[[1, 2, 4]] < 20).all()
    assert found.split_r_hat[3] == 1.0
    assert found.effective_size[3] == 1000


def test_more_numbers_than_fit_are_thinned(monkeypatch):
    from garrote.inference import shrinkage

    rng = np.random.default_rng(7)
    X = rng.standard_normal((30, 5))
    problem = Problem.from_rows(X, X[:, 0] + rng.standard_normal(30))
    monkeypatch.setattr(shrinkage, "NUMBERS_DRAWN", 2 * 400 * 5 // 4)
    found = infer(problem, LaplacePrior(), Gibbs(400, 50), random_state=0)
    assert found.posterior.law.draws.shape == (200, 5)
    assert "one of 4 kept" in found.how


def test_a_run_of_days_is_refused_with_the_time_it_would_take(monkeypatch):
    from garrote.inference import shrinkage

    monkeypatch.setattr(shrinkage, "FLOPS", 1.0)
    problem = Problem.from_rows(np.random.default_rng(0).standard_normal((20, 9)), np.arange(20.0))
    with pytest.raises(
        ValueError, match=r"9 coefficients given 20 rows would take about \d+ hours"
    ):
        infer(problem, LaplacePrior())


@pytest.mark.slow
@pytest.mark.parametrize(
    "prior", [LaplacePrior(scale=0.3), HorseshoePrior(scale=0.05), NEGPrior(scale=0.05)], ids=str
)
@pytest.mark.parametrize("columns", [20, 120])
def test_intervals_cover_coefficients_that_come_from_the_prior(prior, columns):
    """Drawn from the prior, 95 % of coefficients lie in their intervals; ranks are uniform."""
    rng = np.random.default_rng(0)
    inside, rank = [], []
    for seed in range(150):
        X = rng.standard_normal((40, columns))
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        v = draw_from(prior.law, columns, rng)
        coef = prior.scale * v
        y = X @ coef + rng.standard_normal(40)
        problem = Problem.from_rows(X, y, standardize=False)
        known = prior.holding_noise(1.0)
        found = infer(problem, known, Gibbs(400, 100), random_state=seed).posterior
        lower, upper = found.interval(0.95)
        inside.append((lower < coef) & (coef < upper))
        rank.append((found.draws < coef).mean(axis=0))
    assert np.mean(inside) == pytest.approx(0.95, abs=0.01)
    assert np.mean(rank) == pytest.approx(0.5, abs=0.02)
    assert np.var(rank) == pytest.approx(1 / 12, rel=0.05)


def draw_from(law, count, rng):
    """Draw coefficients by their variances."""
    return np.sqrt(variances_from(law, count, rng)) * rng.standard_normal(count)


def variances_from(law, count, rng):
    if isinstance(law, LaplaceLaw):
        return rng.exponential(2.0, count)
    if isinstance(law, HorseshoeLaw):
        return rng.standard_cauchy(count) ** 2
    if isinstance(law, StudentLaw):
        return 0.5 * law.degrees / rng.gamma(0.5 * law.degrees, size=count)
    return rng.exponential(1.0, count) / rng.gamma(law.shape, size=count)


def test_columns_that_resemble_each_other_are_paired():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6))
    X[:, 4] = -X[:, 1] + 0.1 * rng.standard_normal(50)
    for form in (ByRows(np.asfortranarray(X), X[:, 0]), ByColumns(X.T @ X, X[:, 0], 1.0)):
        assert similar_pairs(form).tolist() == [[1, 4]]
    assert similar_pairs(ByColumns(np.eye(3), np.zeros(3), 1.0)).shape == (0, 2)


def law_of_pair(mixing, gram, pulls, scale, noise):
    """Sum over a grid of two log variances: how often the first is larger, and both means."""
    t = np.linspace(-30.0, 30.0, 601)
    first, second = np.meshgrid(np.exp(t), np.exp(t), indexing="ij")
    p, q = scale**2 * first, scale**2 * second
    free = 1 - gram[0, 1] ** 2 / (gram[0, 0] * gram[1, 1])
    determinant = 1 + p * gram[0, 0] + q * gram[1, 1] + p * q * gram[0, 0] * gram[1, 1] * free
    # (G + diag(1 / prior variances))^-1 b by Cramer's rule.
    one = p * ((1 + q * gram[1, 1]) * pulls[0] - q * gram[0, 1] * pulls[1]) / determinant
    two = q * ((1 + p * gram[0, 0]) * pulls[1] - p * gram[0, 1] * pulls[0]) / determinant
    fit = 0.5 * (pulls[0] * one + pulls[1] * two) / noise - 0.5 * np.log(determinant)
    log = np.log(mixing(np.exp(t))) + t
    density = np.exp(fit + log[:, None] + log[None, :] - fit.max())
    density /= density.sum()
    larger = np.tril(density, -1).sum() + 0.5 * np.trace(density)
    return larger, (density * one).sum(), (density * two).sum()


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize(("stretch", "scale", "effect"), [(1.0, 0.2, 1.4), (30.0, 0.002, 0.3)])
def test_exchanged_variances_have_the_law_that_a_grid_sums(by_rows, stretch, scale, effect):
    """Pairs at right angles to each other are as many independent chains of one law."""
    pairs, noise = 500, 1.1
    X = np.sqrt(30.0) * np.array([[1.0, 0.97], [0.0, np.sqrt(1 - 0.97**2)]]) * [1.0, stretch]
    y = X @ [effect, 0.0]
    columns = np.asfortranarray(np.kron(np.eye(pairs), X))
    form = ByRows(columns, np.tile(y, pairs))
    if not by_rows:
        form = ByColumns(columns.T @ columns, columns.T @ form.response, form.yty)
    law, rng = HorseshoeLaw(), np.random.default_rng(0)
    alike = similar_pairs(form)
    assert len(alike) == pairs
    coef, variance = np.zeros(2 * pairs), np.tile([1e-6, 100.0], pairs)  # all on the wrong side
    known = (form.curvature, scale, noise)
    larger, means = [], []
    for sweep in range(60):
        coef, variance = move_locally(form, law.variances, *known, coef, variance, rng)
        coef, variance = exchange_variances(form, alike, *known, coef, variance, rng)
        if sweep >= 20:
            larger.append(variance[::2] > variance[1::2])
            means.append(coef.reshape(-1, 2))
    expected, one, two = law_of_pair(half_cauchy, X.T @ X, X.T @ y, scale, noise)
    if stretch == 1.0:  # not what exchanges that are always taken would give
        assert 0.6 < expected < 0.9
    of_pairs = np.mean(larger, axis=0)
    assert of_pairs.mean() == pytest.approx(expected, abs=4 * of_pairs.std() / np.sqrt(pairs))
    found = np.mean(means, axis=0)
    error = 4 * found.std(axis=0) / np.sqrt(pairs)
    assert (np.abs(found.mean(axis=0) - [one, two]) < error).all()


@pytest.mark.parametrize("prior", [HorseshoePrior, StudentPrior, NEGPrior])
def test_scales_and_variances_that_move_together_keep_their_prior_and_their_products(prior):
    """Draws from the prior of a scale and two variances have that prior after any number of moves."""
    own, rng, count = prior(typical_scale=0.5), np.random.default_rng(0), 4000
    form = ByColumns(np.eye(2), np.zeros(2), 1.0)
    target = ShrinkageTarget(form, own, form.curvature, 10.0, 1.0)
    scale = 0.5 * np.abs(rng.standard_cauchy(count))
    variance = variances_from(own.law, 2 * count, rng).reshape(-1, 2)
    moved = list(zip(scale, variance, strict=True))
    for _ in range(10):
        moved = [rescale(target, s, v, rng) for s, v in moved]
    for (s, v), old, before in zip(moved, scale, variance, strict=True):
        np.testing.assert_allclose(s**2 * v, old**2 * before)
    new = np.array([s for s, _ in moved])
    assert np.corrcoef(np.log(new), np.log(scale))[0, 1] < 0.9
    half_cauchy_cdf = scipy.stats.halfcauchy(scale=0.5).cdf
    assert scipy.stats.kstest(new, half_cauchy_cdf).pvalue > 1e-3
    fresh = variances_from(own.law, 20_000, rng)
    assert scipy.stats.ks_2samp([v[0] for _, v in moved], fresh).pvalue > 1e-3


@pytest.mark.parametrize("alike", [0.99, 0.998, 0.9999])
def test_default_chains_settle_where_columns_are_near_copies(alike):
    """Without exchanges the worst of these coefficients had an effective sample size of 7 to 70."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((250, 15))
    for first in range(0, 14, 2):
        X[:, first + 1] = alike * X[:, first] + np.sqrt(1 - alike**2) * X[:, first + 1]
    y = 2 * (X[:, 0] - X[:, 2]) + rng.standard_normal(250)
    found = infer(Problem.from_rows(X, y), HorseshoePrior(), random_state=0)
    assert found.converged
    assert found.posterior.accuracy.effective_sample_size.min() > 400
    assert found.posterior.accuracy.split_r_hat.max() < 1.05
