"""Unknown g: evidence, moments and inclusion probabilities against plain quadrature, model by model."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import betaln, hyp2f1, logsumexp

from garrote import SpikeSlabRegressor
from garrote.inference.models import over_models
from garrote.inference.models.enumerated import enumerate_findings
from garrote.priors import CCH, GaussianSlab, GPrior, HyperG
from garrote.priors.evidence import (
    log_evidence,
    log_evidence_ratio,
    noise_mean,
    slab_moments,
    tabled_g,
)
from garrote.priors.zellner import G_LAWS
from garrote.problem import Problem
from garrote.solvers.models.enumeration import enumerate_models

LAWS = [*G_LAWS, "eb"]
FIRST_LAWS = ["hyper-g", "hyper-g/n", "eb"]


def log_density(law, x, rows, k, always=1.0):
    """Return g and the log density of x = log(g - g0), as printed where the law was proposed."""
    if law == "robust":  # Bayarri et al. (2012)
        g = max((rows + 1) / (k + always) - 1, 0.0) + np.exp(x)
        return g, x - 1.5 * np.log1p(g)
    if law == "intrinsic":  # Womack et al. (2014), as a law of u = 1 / (1 + g) (Li & Clyde 2018)
        v, kappa = (rows + k + always) / (k + always), (rows + k + always) / rows
        g = v - 1 + np.exp(x)
        u = 1 / (1 + g)
        within = x + np.log(u)  # log(1 - v u)
        return g, x + 1.5 * np.log(u) - 0.5 * within - np.log(kappa + (1 - kappa) * v * u)
    g = np.exp(x)
    if law == "zellner-siow":
        return g, -0.5 * x - rows / (2 * g)
    if law == "beta-prime":  # Maruyama & George (2011)
        b = max(rows - k - 1.5, 0.5) / 2
        return g, b * x - (b + 0.25) * np.log1p(g)
    return g, x - 1.5 * np.log1p(g / (1.0 if law == "hyper-g" else rows))


def given_g(g, n, k, share):
    """Return the log evidence beside the empty model, given g."""
    return 0.5 * (n - k) * np.log1p(g) - 0.5 * n * np.log1p(g * share)


def by_quadrature(law, n, rows, k, share, always=1.0):
    """Return log evidence, E[q], E[q^2], E[q noise] and E[noise] over y'y; q = g / (1 + g)."""
    x = np.linspace(-160, 160, 24_001)
    if k == 0:
        return 0.0, 0.0, 0.0, 0.0, 1 / (n - 2)
    if law == "eb":
        near = x
        for reach in (0.014, 1e-4):
            best = near[np.argmax(given_g(np.exp(near), n, k, share))]
            near = best + reach * np.linspace(-1, 1, 4001)
        found = given_g(np.exp(near), n, k, share)
        # Where the best g is 0 no larger one is better.
        weight, value = np.zeros(4001), max(found.max(), 0.0)
        weight[np.argmax(found)], g = 1.0, np.exp(near if found.max() > 1e-12 else near - 99.0)
    else:
        g, prior = log_density(law, x, rows, k, always)
        logs = given_g(g, n, k, share) + prior
        weight = np.exp(logs - logsumexp(logs))
        value = logsumexp(logs) - logsumexp(prior)
    # q and 1 - q from g, each without cancellation.
    q, lost = 1 / (1 + 1 / g), 1 / (1 + g)
    noise = (lost + q * share) / (n - 2)
    return value, weight @ q, weight @ q**2, weight @ (q * noise), weight @ noise


def places(n, k):
    """Return shares of y'y that are left: at random, where fits begin to count, and the ends."""
    rng = np.random.default_rng(k)
    t = np.concatenate(
        [
            [0.0, -np.log(1e-6)],
            np.exp(rng.uniform(np.log(0.01 / n), np.log(13.8), 4)),
            (k + 3) / n * np.exp(rng.normal(0, 1 / np.sqrt(k), 4)),
        ]
    )
    return np.exp(-np.minimum(t, -np.log(1e-6)))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [5.0, 49.0, 1e4, 1e6])
def test_evidence_and_moments_are_those_of_a_quadrature_model_by_model(law, n):
    rule = GPrior(law).rule(n, 2.0, 500, spent=1.0)
    reference = GPrior(law).reference_rule(n, 2.0, spent=1.0)
    near = 1e-7 if law == "intrinsic" else 1e-8
    for k in (1, 2, 7, 40, 400):
        if k > n - 1:
            continue
        for share in places(n, k):
            value, *moments = by_quadrature(law, n, n + 1, k, share)
            # What is tabled and what the certificate goes by have nothing but the law in common.
            for one in (rule, reference):
                found = log_evidence(one, k, 0.0, 2.0 * share)
                assert found == pytest.approx(value, rel=0, abs=near)
            f1, f2, f3 = slab_moments(rule, k, 2.0 * share)
            noise = np.array([f3, noise_mean(rule, k, 2.0 * share)]) / 2.0
            # Of the best g a scan knows half the digits that it knows of its evidence.
            tol = 1e-5 if law == "eb" else near
            np.testing.assert_allclose([f1, f2], moments[:2], rtol=0, atol=tol)
            np.testing.assert_allclose(noise, moments[2:], rtol=3 * tol, atol=tol / n)


@pytest.mark.parametrize("a", [2.2, 4.0])
def test_other_laws_of_g_are_as_exact(a):
    rule = GPrior(HyperG(a)).rule(30.0, 1.0, 5)
    for k, share in [(1, 0.97), (3, 0.4), (5, 0.02)]:
        exact = np.log((a - 2) / (k + a - 2) * hyp2f1(15.0, 1, (k + a) / 2, 1 - share))
        assert log_evidence(rule, k, 0.0, share) == pytest.approx(exact, abs=1e-9)
    with pytest.raises(ValueError, match="a of a HyperG must be above 2, got 2"):
        HyperG(a=2.0)


@pytest.mark.parametrize("law", ["hyper-g", "hyper-g/n", "robust"])
def test_models_beyond_the_table_are_not_taken_for_smaller_ones(law):
    rule = GPrior(law).rule(3000.0, 1.0, 1000)
    for k in (399, 401, 405, 700):
        value, *moments = by_quadrature(law, 3000.0, 3000.0, k, 0.6, always=0.0)
        assert log_evidence(rule, k, 0.0, 0.6) == pytest.approx(value, abs=1e-8)
        assert slab_moments(rule, k, 0.6) == pytest.approx(moments[:3], rel=1e-7)


@pytest.mark.parametrize("law", FIRST_LAWS)
def test_a_model_of_as_many_variables_as_rows_has_the_evidence_of_the_empty_one(law):
    """(1 + g)^0 (1 + 0 g)^(-n / 2) is 1 whatever g is, so that its law is the prior's."""
    rule = GPrior(law).rule(7.0, 3.0, 9)
    assert log_evidence(rule, 7, 0.0, 3e-14) == pytest.approx(0.0, abs=1e-12)
    kept, squared, noise = slab_moments(rule, 7, 3e-14)
    if law == "hyper-g":  # g / (1 + g) ~ Beta(1, 1 / 2)
        assert (kept, squared) == pytest.approx((2 / 3, 8 / 15), rel=1e-9)
        assert noise == pytest.approx(3.0 / 5.0 * (2 / 3 - 8 / 15), rel=1e-9)
    elif law == "eb":  # no g is better than none
        assert (kept, squared, noise) == (0.0, 0.0, 0.0)


def brute_force(X, y, law, rows, log_odds=0.0):
    """Return inclusion probabilities and sizes, every model solved alone; X and y are centred."""
    n, D, yty = rows - 1, X.shape[1], y @ y
    logs, masks = [], []
    for k in range(min(n, D) + 1):
        for members in map(list, combinations(range(D), k)):
            residual = y - X[:, members] @ np.linalg.lstsq(X[:, members], y, rcond=None)[0]
            # As many variables as rows leave nothing, and have the evidence of the empty model.
            share = max(residual @ residual / yty, 1e-6)
            logs.append(0.0 if k == n else by_quadrature(law, n, rows, k, share)[0])
            logs[-1] += k * log_odds
            masks.append(np.isin(np.arange(D), members))
    p, masks = np.exp(np.array(logs) - logsumexp(logs)), np.array(masks)
    return p @ masks, np.bincount(masks.sum(axis=1), p, D + 1)


def centred(rows, D, effect, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, D))
    X[:, 1] = 0.7 * X[:, 0] + 0.7 * X[:, 1]
    y = effect * X[:, 0] + rng.standard_normal(rows)
    return X - X.mean(axis=0), y - y.mean()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("rows", "D"), [(8, 8), (50, 4), (1000, 4), (10_000, 4)])
def test_inclusion_probabilities_are_those_of_brute_force(law, rows, D):
    X, y = centred(rows, D, 3.0 / np.sqrt(rows), 2)
    exact, sizes = brute_force(X, y, law, rows)
    model = SpikeSlabRegressor(GPrior(law), "enumerate", inclusion=0.5, standardize=False).fit(X, y)
    np.testing.assert_allclose(model.posterior_.inclusion_probability, exact, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.posterior_.size_probability, sizes, rtol=0, atol=1e-8)
    assert model.certificate_.value < 1e-8


@pytest.mark.parametrize(("k", "rows"), [(1, 30.0), (4, 30.0), (9, 400.0)])
def test_the_beta_prime_law_has_the_closed_form_that_it_was_made_for(k, rows):
    """B(1/4 + k/2, b) / B(1/4, b) L^-b with b = (N - k - 1.5) / 2: Maruyama & George (2011)."""
    a, b = 0.25, (rows - k - 1.5) / 2
    rule = GPrior("beta-prime").rule(rows - 1, 1.0, 10, spent=1.0)
    for share in (0.9, 0.5, 0.01):
        exact = betaln(a + k / 2, b) - betaln(a, b) - b * np.log(share)
        assert log_evidence(rule, k, 0.0, share) == pytest.approx(exact, abs=1e-8)


def test_cch_laws_have_the_evidence_of_their_confluent_functions():
    """Li & Clyde (2018), Eq. 24, with r = 0: two functions of Humbert, here by plain quadrature."""
    n, a, b, s, r, v, kappa = 25.0, 1.3, 0.8, 4.0, 0.7, 2.5, 0.3
    rule = GPrior(CCH(a, b, s, r, v, kappa)).rule(n, 1.0, 5)
    half, weights = np.polynomial.legendre.leggauss(4000)
    z = 0.5 * (half + 1)  # 1 - v u = z^4, which takes the singularity at u = 1 / v away
    u, jacobian = (1 - z**4) / v, 4 * z**3 / v
    prior = (a / 2 - 1) * np.log(u) + (b / 2 - 1) * 4 * np.log(z)
    prior = prior - r * np.log(kappa + (1 - kappa) * v * u) - s * u + np.log(jacobian)
    for k, share in [(1, 0.8), (3, 0.2), (5, 0.6)]:
        given = given_g(1 / u - 1, n, k, share)
        exact = logsumexp(prior + given, b=weights) - logsumexp(prior, b=weights)
        assert log_evidence(rule, k, 0.0, share) == pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"g": "jeffreys"}, "g of a GPrior must be a positive number, one of .'hyper-g'"),
        ({"g": -1.0}, "g of a GPrior must be a positive number"),
        ({"g": np.inf}, "g of a GPrior must be a positive number"),
        ({"g": [1.0]}, "g of a GPrior must be a positive number"),
    ],
)
def test_laws_that_are_none_are_refused(given, error):
    with pytest.raises(ValueError, match=error):
        GPrior(**given)


@pytest.mark.parametrize(
    "given", [{"a": 0.0, "b": 1.0}, {"a": 1.0, "b": 1.0, "v": 0.5}, {"a": 1.0, "b": 1.0, "s": -1.0}]
)
def test_confluent_laws_that_integrate_to_nothing_are_refused(given):
    with pytest.raises(ValueError, match="of a CCH must be"):
        CCH(**given)


@pytest.mark.parametrize("n", [1000.0, 10_000.0, 1e6])
def test_one_column_of_z_score_1_has_a_probability_that_hardly_depends_on_n(n):
    rule = GPrior("hyper-g").rule(n, 1.0, 1)
    odds = np.exp(log_evidence_ratio(rule, 0, 1.0, 1.0, 1.0 / n))
    # In the limit of many rows the odds are sqrt(e) - 1.
    assert odds / (1 + odds) == pytest.approx(1 - np.exp(-0.5), abs=0.3 / n)


def test_rows_of_hyper_g_over_n_are_all_rows_with_their_weights_and_covariates():
    X, y = centred(20, 4, 0.8, 1)
    X, y = X + 3.0, y + 5.0
    weights = np.where(np.arange(20) < 5, 2.0, 1.0)

    def inclusion(*given, **settings):
        model = SpikeSlabRegressor(GPrior("hyper-g/n"), "enumerate", inclusion=0.5, **settings).fit(
            *given
        )
        return model.posterior_.inclusion_probability

    repeated = np.repeat(np.arange(20), weights.astype(int))
    plain = inclusion(X[repeated], y[repeated])
    np.testing.assert_allclose(inclusion(X, y, weights), plain, atol=1e-9)
    assert abs(plain - inclusion(X, y)).max() > 1e-3
    # A covariate takes a row off n, but none of N.
    own = np.column_stack([np.ones(20), X[:, 3]])
    left = [v - own @ np.linalg.lstsq(own, v, rcond=None)[0] for v in (X[:, :3], y)]
    beside = [
        (members, left[1] - left[0][:, members] @ np.linalg.lstsq(left[0][:, members], left[1])[0])
        for k in range(4)
        for members in map(list, combinations(range(3), k))
    ]
    logs = [
        by_quadrature("hyper-g/n", 18, 20, len(g), r @ r / (left[1] @ left[1]))[0]
        for g, r in beside
    ]
    p = np.exp(np.array(logs) - logsumexp(logs))
    exact = [sum(w for w, (g, _) in zip(p, beside, strict=True) if j in g) for j in range(3)]
    np.testing.assert_allclose(inclusion(X, y, covariates=[3])[:3], exact, atol=1e-8)


def test_the_certificate_is_independent_of_the_table(monkeypatch):
    X, y = centred(1000, 4, 0.08, 2)
    problem = Problem.from_rows(X, y)
    beliefs = over_models.Beliefs.about(problem, GPrior("hyper-g"))
    found, _ = enumerate_findings(problem, beliefs, None)
    assert over_models.certify_models(problem, beliefs, found).value < 1e-8
    monkeypatch.setattr(tabled_g, "_STEP", 1.5)
    tabled_g._table.cache_clear()
    coarse, _ = enumerate_findings(problem, beliefs, None)
    tabled_g._table.cache_clear()
    off = np.abs(coarse.inclusion - found.inclusion).max()
    assert off > 1e-5
    assert over_models.certify_models(problem, beliefs, coarse).value > off


def nearly_explained(share):
    """Return moments of one column that leaves a share of y'y, and one that is mostly noise."""
    gram = np.array([[1.0, 0.0], [0.0, 1.0]])
    return gram, np.array([np.sqrt(1 - 3 * share), np.sqrt(2 * share)])


def test_what_is_left_has_a_floor_and_is_not_raised_above_it():
    n, ridge = 20.0, 1e-9
    gram, xty = nearly_explained(3.5e-6)
    rule = GaussianSlab(1 / ridge).rule(n, 1.0, 2)
    found = enumerate_models(rule, gram, xty, 1.0, np.zeros(3), np.array([20.0, 0.0]))
    explained = xty**2 / (1 + ridge)
    left = {g: max(1 - explained[list(g)].sum(), 1e-6) for g in [(), (0,), (1,), (0, 1)]}
    logs = {
        g: -n / 2 * np.log(s) + len(g) * 0.5 * np.log(ridge) + 20.0 * (0 in g)
        for g, s in left.items()
    }
    p = np.exp(np.array(list(logs.values())) - logsumexp(list(logs.values())))
    assert found.inclusion[1] == pytest.approx(p[2] + p[3], abs=1e-9)


SLABS = [GaussianSlab(2.0), *[GPrior(law) for law in FIRST_LAWS]]


@pytest.mark.parametrize("slab", SLABS, ids=str)
def test_walks_and_sums_share_one_floor(slab):
    """One more variable below the floor, or across it, is worth what two evidences say."""
    rule = slab.rule(12.0, 3.0, 5)
    for left, drop in [(3e-5, 2.9e-5), (3e-5, 3e-5), (2e-6, 1e-6), (3e-3, 1e-3)]:
        small = log_evidence(rule, 2, 1.0, left)
        large = log_evidence(rule, 3, 1.0 + np.log(4.0), left - drop)
        ratio = log_evidence_ratio(rule, 2, left, 4.0, drop)
        assert ratio == pytest.approx(large - small, abs=1e-9)
    assert log_evidence(rule, 3, 0.0, 0.0) == log_evidence(rule, 3, 0.0, 3e-6)
