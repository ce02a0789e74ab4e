"""Penalties: every scalar rule against brute force, every path against an independent answer."""

import itertools

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.linear_model import Ridge as SklearnRidge

from garrote import Problem, fit_path
from garrote.datasets import load_prostate
from garrote.designs import StandardizedDesign
from garrote.likelihoods import Binomial, Gaussian, Poisson
from garrote.paths.surfaces import fit_surface
from garrote.penalties import (
    HAL,
    L1,
    MCP,
    NEG,
    PENALTIES,
    SCAD,
    AdaptiveLasso,
    BestSubset,
    Bridge,
    ElasticNet,
    LogSum,
    NoPenalty,
    NormalGamma,
    NormalJeffreys,
    Ridge,
    Terms,
    thresholding,
)
from garrote.penalties.mixtures import _largest_minimum
from garrote.rules import cost, second_derivative, shrink, slope
from garrote.solvers.descent.extrapolation import Extrapolation
from garrote.solvers.losses.generalised import GeneralisedLoss
from reference import hierarchical_adaptive_lasso, lasso_by_shooting, sparse_regression

RULES = [
    *(L1(), ElasticNet(0.5), Ridge(), BestSubset()),
    *(MCP(), MCP(0.7), MCP(np.inf), SCAD(), SCAD(1.5), LogSum(), LogSum(2.0)),
    *(Bridge(b) for b in (0.1, 0.5, 0.9, 1.0, 1.2, 1.9, 2.0)),
]
MIXTURES = [HAL(1.0, 0.3), HAL(3.0, 2.0), NEG(0.5, 0.2), NEG(2.0, 1.0), NormalGamma(0.8, 1.0)]
UNBOUNDED = [NormalJeffreys(), NormalGamma(0.3, 0.5)]


def described(penalty):
    return f"{penalty.name}-{'-'.join(str(v) for v in vars(penalty).values())}"


def scalar_objective(rule, w, z, curvature):
    charged = np.array([cost(rule, 0, v) for v in np.atleast_1d(w)])
    return 0.5 * curvature * (np.atleast_1d(w) - z) ** 2 + charged


def candidates(z, lower, upper):
    """A grid that is fine everywhere and finer near 0, within the bounds."""
    reach = abs(z) + 1e-3
    grid = np.concatenate(
        [np.linspace(-reach, reach, 801), reach * np.geomspace(1e-6, 1, 100), [0.0, z]]
    )
    return np.unique(np.clip(grid, lower, upper))


@pytest.mark.parametrize("penalty", RULES + MIXTURES, ids=described)
@settings(max_examples=40, deadline=None)
@given(
    z=st.floats(-5, 5),
    curvature=st.floats(0.05, 3.0),
    strength=st.floats(0.01, 2.0),
    factor=st.sampled_from([0.0, 0.5, 1.0]),
    bounds=st.sampled_from([(-np.inf, np.inf), (0.0, np.inf), (-0.4, 0.3), (-np.inf, 1.0), (0.2, 2.0)]),
)  # fmt: skip
def test_every_rule_minimises_its_scalar_objective(penalty, z, curvature, strength, factor, bounds):
    rule = penalty.at(strength, Terms(*(np.array([v]) for v in (factor, *bounds))))
    found = shrink(rule, 0, z, curvature)
    assert bounds[0] <= found <= bounds[1]
    own = scalar_objective(rule, found, z, curvature)[0]
    others = scalar_objective(rule, candidates(z, *bounds), z, curvature)
    assert own <= others.min() + 1e-12 * (1 + abs(own))


@pytest.mark.parametrize("penalty", UNBOUNDED, ids=described)
@pytest.mark.parametrize("strength", [0.1, 0.5])
def test_where_0_has_infinite_density_the_mode_away_from_0_is_taken(penalty, strength):
    """Figure 13.19 by brute force: the lowest grid point to the right of the barrier, if any."""
    rule = penalty.at(strength, Terms.equal(1))
    for z in np.linspace(0.05, 4, 15):
        grid = np.linspace(1e-4, z, 20_001)
        own = 0.5 * (grid - z) ** 2 + strength * penalty.value(grid)
        dips = np.flatnonzero((own[1:-1] < own[:-2]) & (own[1:-1] < own[2:])) + 1
        expected = grid[dips[-1]] if len(dips) else 0.0
        assert shrink(rule, 0, z, 1.0) == pytest.approx(expected, abs=3e-4)
        assert shrink(rule, 0, -z, 1.0) == pytest.approx(-expected, abs=3e-4)


def test_the_normal_jeffreys_rule_is_a_root_of_a_quadratic():
    z = np.array([1.9, 2.1, 5.0])
    expected = [0.0, *(0.5 * (z[1:] + np.sqrt(z[1:] ** 2 - 4)))]
    np.testing.assert_allclose(thresholding(NormalJeffreys(), z, 1.0), expected, atol=1e-9)


@pytest.mark.parametrize("penalty", RULES + MIXTURES + UNBOUNDED, ids=described)
@pytest.mark.parametrize("w", [-1.7, 0.2, 0.6, 3.3])
def test_slopes_and_bends_are_derivatives_of_costs(penalty, w):
    rule = penalty.at(0.3, Terms.equal(1))
    step = 1e-6
    rise = (cost(rule, 0, w + step) - cost(rule, 0, w - step)) / (2 * step)
    turn = (slope(rule, 0, w + step) - slope(rule, 0, w - step)) / (2 * step)
    assert slope(rule, 0, w) == pytest.approx(rise, abs=1e-7)
    assert second_derivative(rule, 0, w) == pytest.approx(turn, abs=1e-4)


def normal_jeffreys(t):
    return -np.log(t)


def normal_gamma(delta, gamma):
    return lambda t: (delta - 1) * np.log(t) - gamma**2 * t / 2


def normal_exponential_gamma(a, b):
    return lambda t: -(a + 1) * np.log(b + t)


MIXING = [
    (NormalJeffreys(), normal_jeffreys),
    (NormalGamma(0.3, 0.5), normal_gamma(0.3, 0.5)),
    (NormalGamma(0.8, 2.0), normal_gamma(0.8, 2.0)),
    (NormalGamma(1.0, 1.3), normal_gamma(1.0, 1.3)),
    (NEG(0.5, 0.2), normal_exponential_gamma(0.5, 0.2)),
    (NEG(3.0, 1.0), normal_exponential_gamma(3.0, 1.0)),
]


def integral(log_density, w, power):
    """Integrate t^power N(w | 0, t) p(t) over the variance t, in log t."""

    def integrand(s):
        t = np.exp(s)
        return np.exp(log_density(t) - w * w / (2 * t) + (power + 0.5) * s)

    whole = [scipy.integrate.quad(integrand, a, a + 10, limit=200)[0] for a in range(-60, 60, 10)]
    return sum(whole)


@pytest.mark.parametrize(("penalty", "log_density"), MIXING, ids=lambda v: getattr(v, "name", ""))
@pytest.mark.parametrize("w", [0.05, 0.4, 2.0])
def test_e_steps_are_what_integration_gives(penalty, log_density, w):
    """Exercise 13.8: E[1 / tau^2 | w] = penalty'(|w|) / |w|."""
    expected = integral(log_density, w, -1) / integral(log_density, w, 0)
    assert float(penalty.steepness(np.array(w))) / w == pytest.approx(expected, rel=1e-6)
    ratio = np.log(integral(log_density, 1.0, 0) / integral(log_density, w, 0))
    values = penalty.value(np.array([w, 1.0]))
    assert values[0] - values[1] == pytest.approx(ratio, abs=1e-6)


@pytest.mark.parametrize("w", [0.0, 0.3, 4.0])
def test_the_e_step_of_hal_is_the_mean_of_an_inverse_gamma_rate(w):
    """Eq. 13.139: the Laplace distribution's rate 1 / gamma has a Ga(a, b) prior."""
    a, b = 1.5, 0.4

    def weight(rate, power):
        return rate**power * np.exp(a * np.log(rate) - b * rate - rate * w)

    moments = [scipy.integrate.quad(weight, 0, np.inf, args=(k,))[0] for k in (0, 1)]
    assert float(HAL(a, b).steepness(np.array(w))) == pytest.approx(moments[1] / moments[0])


def test_hal_and_log_sum_are_one_penalty():
    own = HAL(2.0, 0.3).at(0.7, Terms.equal(1))
    same = LogSum(0.3).at(0.7 * 3.0 / 0.3, Terms.equal(1))
    for w in (-2.0, 0.1, 1.0):
        assert cost(own, 0, w) == pytest.approx(cost(same, 0, w))


# Whole fits.


def problem_of(X, y, **given):
    return Problem.from_rows(X, y, scale_response=False, **given)


def standardised(X, y):
    return (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()


def coefficients(path):
    """Return the coefficients of standardised columns, strengths x features."""
    return np.array([np.bincount(f.columns, f.coef, path.n_features) for f in path.fits])


def responses(eta, likelihood, seed=0):
    rng = np.random.default_rng(seed)
    if likelihood.least_squares:
        return eta + rng.standard_normal(len(eta))
    if isinstance(likelihood, Poisson):
        return rng.poisson(np.exp(np.clip(eta, -5, 3))).astype(float)
    return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(float)


CONCAVE = [
    *(MCP(), MCP(1.5), SCAD(), LogSum(0.05), Bridge(0.5), Bridge(0.9)),
    *(HAL(1.0, 0.3), NormalJeffreys(), NormalGamma(0.7, 1.0), NEG(0.5, 0.1)),
]


@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial(), Poisson()])
@pytest.mark.parametrize("penalty", [*CONCAVE, Bridge(1.5)], ids=described)
def test_every_point_of_a_path_is_stationary(penalty, likelihood):
    """The slopes of loss and penalty cancel, as computed here from the data."""
    X, _, _ = sparse_regression(150, 25, 3, correlation=0.5)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    y = responses(Z[:, 0] - 0.8 * Z[:, 1] + 0.6 * Z[:, 2], likelihood)
    path = fit_path(problem_of(X, y, likelihood=likelihood), penalty, 12)
    assert max(fit.certificate["violation"] for fit in path.fits) < 1e-8
    assert path.size[0] <= 1 or penalty.convex
    assert path.size[-1] >= 3
    for fit in path.fits:
        eta = fit.intercept + Z[:, fit.columns] @ fit.coef
        mean = {Gaussian(): eta + y.mean(), Binomial(): 1 / (1 + np.exp(-eta))}.get(
            likelihood, np.exp(eta)
        )
        gradient = Z.T @ (y - mean) / len(y)
        rule = penalty.at(fit.strength, Terms.equal(25))
        slopes = [slope(rule, j, w) for j, w in zip(fit.columns, fit.coef, strict=True)]
        stiff = [
            max(second_derivative(rule, j, w), 0)
            for j, w in zip(fit.columns, fit.coef, strict=True)
        ]
        off = (gradient[fit.columns] - slopes) / (1 + np.array(stiff))
        np.testing.assert_allclose(off, 0, atol=1e-8)
        if not getattr(penalty, "singular", False) and not isinstance(penalty, Bridge):
            out = np.setdiff1d(np.arange(25), fit.columns)
            steepest = [slope(rule, j, 1e-12) for j in out]
            assert (np.abs(gradient[out]) <= np.array(steepest) * (1 + 1e-6) + 1e-8).all()


@pytest.mark.parametrize("penalty", CONCAVE[:6], ids=described)
def test_no_single_coefficient_can_do_better(penalty):
    """Gaussian fits by coordinate rules are optimal in each coefficient over all its values."""
    X, y, _ = sparse_regression(80, 30, 4, correlation=0.6)
    Z, y = standardised(X, y)
    path = fit_path(problem_of(X, y), penalty, 8)
    for fit, coef in zip(path.fits, coefficients(path), strict=True):
        rule = penalty.at(fit.strength, Terms.equal(30))
        for j in range(30):
            z = coef[j] + Z[:, j] @ (y - Z @ coef) / 80
            own = scalar_objective(rule, coef[j], z, 1.0)[0]
            others = scalar_objective(rule, candidates(z, -np.inf, np.inf), z, 1.0)
            assert own <= others.min() + 1e-9


@pytest.mark.parametrize(
    "penalty", [LogSum(0.05), HAL(1.0, 0.2), MCP(), NEG(0.5, 0.1)], ids=described
)
def test_the_objective_falls_with_every_lasso_of_tangents(penalty, monkeypatch):
    jumping = Extrapolation.next
    X, _, _ = sparse_regression(120, 20, 3, correlation=0.5)
    y = responses(X[:, 0] - X[:, 1], Binomial())
    problem = problem_of(X, y, likelihood=Binomial())
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    strengths = fit_path(problem, penalty, 10).strengths
    seen = []
    solve = GeneralisedLoss.solve

    def recorded(smooth, *rest):
        rounds = solve(smooth, *rest)
        coef = np.bincount(smooth.columns, smooth.coef, 20)
        seen.append((smooth.intercept, coef))
        return rounds

    monkeypatch.setattr(GeneralisedLoss, "solve", recorded)
    monkeypatch.setattr(Extrapolation, "next", lambda self, point, image: image)
    steps, gains = [], []
    for strength in strengths:
        seen.clear()
        fit_path(problem, penalty, [strength])
        rule = penalty.at(strength, Terms.equal(20))
        objective = [
            np.mean(np.logaddexp(0, intercept + Z @ coef) - y * (intercept + Z @ coef))
            + sum(cost(rule, j, w) for j, w in enumerate(coef))
            for intercept, coef in seen
        ]
        assert (np.diff(objective) <= 1e-12).all()
        steps.append(len(objective))
        gains.append(objective[0] - objective[-1])
        # Jumps along the way do not lead elsewhere, and are no detour.
        with monkeypatch.context() as again:
            again.setattr(Extrapolation, "next", jumping)
            lasso_by_lasso = seen[-1][1]
            seen.clear()
            fit_path(problem, penalty, [strength])
        np.testing.assert_allclose(seen[-1][1], lasso_by_lasso, atol=1e-6)
        assert len(seen) <= steps[-1] + 5
    assert max(steps) > 5
    assert max(gains) > 1e-4


def test_a_minimum_that_is_about_to_vanish_is_found_in_few_steps(monkeypatch):
    """There EM hardly moves: it would take millions of steps."""
    asked = []
    steepness = HAL.steepness
    monkeypatch.setattr(HAL, "steepness", lambda *given: asked.append(1) or steepness(*given))
    z = 3.5 + np.array([-0.25, -1e-9, 0.0, 1e-9, 1e-4, 1.0])
    inside = np.maximum((z + 0.5) ** 2 - 16, 0.0)
    # The stationary point of (z - w)^2 / 2 + 4 log(1 + 2 w), which is the minimum for large z.
    expected = np.where(z < 3.5, 0.0, (z - 0.5 + np.sqrt(inside)) / 2)
    sizes = [_largest_minimum(HAL(3.0, 0.5), value, 1.0) for value in z]
    np.testing.assert_allclose(sizes, expected, atol=1e-6)
    assert len(asked) < 100 * len(z)


def test_em_for_hal_is_that_of_the_text():
    X, y, _ = sparse_regression(60, 12, 3, correlation=0.3)
    Z, yc = standardised(X, y)
    path = fit_path(problem_of(X, y), HAL(1.0, 0.1), [1.3 / 60])
    expected = hierarchical_adaptive_lasso(Z, yc, 1.0, 0.1, noise=1.3)
    assert 0 < path.size[0] < 12
    np.testing.assert_allclose(coefficients(path)[0], expected, atol=1e-8)


@pytest.mark.parametrize(
    ("penalty", "times"),
    [(MCP(np.inf), 1.0), (Bridge(1.0), 1.0), (LogSum(1e7), 1.0), (NormalGamma(1.0, 2.0), 0.5)],
    ids=lambda v: getattr(v, "name", str(v)),
)
@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial()])
def test_the_lasso_is_a_limit(penalty, times, likelihood):
    X, _, _ = sparse_regression(80, 30, 4, correlation=0.5)
    y = responses(X[:, 0] - X[:, 1], likelihood)
    problem = problem_of(X, y, likelihood=likelihood)
    lasso = fit_path(problem, L1(), 8)
    same = fit_path(problem, penalty, times * lasso.strengths)
    np.testing.assert_allclose(coefficients(same), coefficients(lasso), atol=1e-6)


@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial()])
def test_a_bridge_of_2_is_ridge_at_twice_the_strength(likelihood):
    X, _, _ = sparse_regression(80, 30, 4, correlation=0.5)
    y = responses(X[:, 0] - X[:, 1], likelihood)
    problem = problem_of(X, y, likelihood=likelihood)
    one = fit_path(problem, Bridge(2.0), [0.01, 0.1, 1.0])
    two = fit_path(problem, Ridge(), [0.02, 0.2, 2.0])
    np.testing.assert_allclose(coefficients(one), coefficients(two), atol=1e-7)


def test_mcp_finds_the_optimum_where_the_objective_is_convex():
    """With 1 / gamma below the least eigenvalue of X'X / N there is one optimum; scipy finds it."""
    X, y, _ = sparse_regression(200, 6, 3, correlation=0.2)
    Z, yc = standardised(X, y)
    gamma = 2.0 / np.linalg.eigvalsh(Z.T @ Z / 200)[0]
    path = fit_path(problem_of(X, y), MCP(gamma), [0.2])
    rule = MCP(gamma).at(0.2, Terms.equal(6))

    def objective(v):
        w = v[:6] - v[6:]
        return np.sum((yc - Z @ w) ** 2) / 400 + sum(cost(rule, j, abs(u)) for j, u in enumerate(w))

    best = scipy.optimize.minimize(
        objective, np.full(12, 0.1), bounds=[(0, None)] * 12, method="L-BFGS-B", tol=1e-14
    )
    own = coefficients(path)[0]
    assert objective(np.concatenate([np.maximum(own, 0), np.maximum(-own, 0)])) <= best.fun + 1e-9


@pytest.mark.parametrize("penalty", [*CONCAVE, AdaptiveLasso()], ids=described)
@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial()])
def test_bounds_and_factors_are_kept(penalty, likelihood):
    X, _, _ = sparse_regression(120, 15, 3)
    y = responses(2 * X[:, 0] - X[:, 1], likelihood)
    terms = Terms(np.ones(15), np.zeros(15), np.full(15, 0.4))
    terms.factor[5] = 0.0
    path = fit_path(problem_of(X, y, likelihood=likelihood), penalty, 8, terms=terms)
    coef = coefficients(path)
    assert coef.min() >= 0
    assert coef.max() == pytest.approx(0.4)
    assert max(fit.certificate["violation"] for fit in path.fits) < 1e-8


@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.5), Ridge(), MCP(), HAL()], ids=described)
@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial()])
def test_a_variable_without_a_penalty_is_always_in(penalty, likelihood):
    X, _, _ = sparse_regression(120, 15, 3, correlation=0.5)
    y = responses(X[:, 0] - X[:, 1], likelihood)
    terms = Terms.equal(15)
    terms.factor[5] = 0.0
    path = fit_path(problem_of(X, y, likelihood=likelihood), penalty, 8, terms=terms)
    coef = coefficients(path)
    assert (coef[:, 5] != 0).all()
    assert path.certificate.max() < 1e-8
    if penalty.name != "ridge":
        assert (path.size[0], path.size[1] > 1) == (1, True)


def test_the_adaptive_lasso_is_a_lasso_of_rescaled_columns():
    X, y, _ = sparse_regression(100, 12, 3, correlation=0.5)
    Z, yc = standardised(X, y)
    problem = problem_of(X, y)
    for first in ("lasso", "ridge"):
        path = fit_path(problem, AdaptiveLasso(power=2.0, first=first), 6)
        assert path.certificate.max() < 1e-10
        assert path.size[0] == 0 < path.size[1]
        if first == "lasso":
            continue
        scores, estimates = [], []
        for alpha in fit_path(problem, Ridge()).strengths:
            hat = Z @ np.linalg.solve(Z.T @ Z + 100 * alpha * np.eye(12), Z.T)
            freedom = np.trace(hat) + 1
            scores.append(np.sum((yc - hat @ yc) ** 2) / (1 - freedom / 100) ** 2)
            estimates.append(np.linalg.solve(Z.T @ Z + 100 * alpha * np.eye(12), Z.T @ yc))
        scale = estimates[int(np.argmin(scores))] ** 2
        theirs = Lasso(alpha=path.strengths[4], fit_intercept=False, tol=1e-13).fit(Z * scale, yc)
        np.testing.assert_allclose(coefficients(path)[4], theirs.coef_ * scale, atol=1e-6)


def test_the_corrected_elastic_net_solves_its_own_problem():
    """Eq. 13.126: a lasso in which correlations are shrunk towards 0."""
    X, y, _ = sparse_regression(60, 10, 3, correlation=0.7)
    Z, yc = standardised(X, y)
    alpha, ratio = 0.3, 0.6
    path = fit_path(problem_of(X, y), ElasticNet(ratio, corrected=True), [alpha])
    coef, ridge = coefficients(path)[0], alpha * (1 - ratio)
    gram = (Z.T @ Z / 60 + ridge * np.eye(10)) / (1 + ridge)
    gradient = Z.T @ yc / 60 - gram @ coef
    used = coef != 0
    assert 0 < used.sum() < 10
    np.testing.assert_allclose(gradient[used], alpha * ratio * np.sign(coef[used]), atol=1e-9)
    assert (np.abs(gradient[~used]) <= alpha * ratio).all()
    assert path.fits[0].loss == pytest.approx(np.sum((yc - Z @ coef) ** 2) / 120)


# Closed forms and exact searches.


@pytest.mark.parametrize(("n", "d"), [(60, 10), (30, 80)])
def test_no_penalty_is_least_squares_of_least_norm(n, d):
    X, y, _ = sparse_regression(n, d, 3)
    Z, yc = standardised(X, y)
    path = fit_path(problem_of(X, y), NoPenalty())
    expected = np.linalg.lstsq(Z, yc, rcond=None)[0]
    np.testing.assert_allclose(coefficients(path)[0], expected, atol=1e-9)
    assert path.strengths == [0.0]
    assert path.fits[0].certificate["violation"] < 1e-12


def test_no_penalty_is_maximum_likelihood():
    X, _, _ = sparse_regression(200, 4, 2)
    y = responses(X[:, 0], Binomial())
    path = fit_path(problem_of(X, y, likelihood=Binomial()), NoPenalty())
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(path.coefficients().toarray()[0], theirs.coef_[0], atol=1e-5)
    assert path.certificate[0] < 1e-9


@pytest.mark.parametrize(("n", "d"), [(60, 20), (30, 90)])
def test_ridge_is_that_of_scikit_learn(n, d):
    X, y, _ = sparse_regression(n, d, 3, correlation=0.4)
    weights = np.random.default_rng(0).uniform(0.2, 2.0, n)
    problem = problem_of(X, y, sample_weight=weights, standardize=False)
    terms = Terms.equal(d)
    terms.factor[:] = np.linspace(0.5, 2.0, d)
    path = fit_path(problem, Ridge(), [2.0, 0.1], terms=terms)
    assert path.certificate.max() < 1e-12
    root = np.sqrt(terms.factor)
    for k, alpha in enumerate(path.strengths):
        theirs = SklearnRidge(alpha=alpha * weights.sum(), solver="svd").fit(X / root, y, weights)
        np.testing.assert_allclose(path.coefficients().toarray()[k], theirs.coef_ / root, atol=1e-8)
        assert path.intercepts[k] == pytest.approx(theirs.intercept_, abs=1e-8)


def test_ridge_leaves_columns_without_a_penalty_alone_when_there_are_more_columns_than_rows():
    X, y, _ = sparse_regression(30, 70, 3)
    Z, yc = standardised(X, y)
    terms = Terms.equal(70)
    terms.factor[:2] = 0.0
    coef = coefficients(fit_path(problem_of(X, y), Ridge(), [0.5], terms=terms))[0]
    expected = np.linalg.solve(Z.T @ Z / 30 + 0.5 * np.diag(terms.factor), Z.T @ yc / 30)
    np.testing.assert_allclose(coef, expected, atol=1e-8)


def test_ridge_never_makes_the_products_of_all_columns(monkeypatch):
    def refuse(*_):
        raise AssertionError("a D x D matrix was made")

    monkeypatch.setattr(StandardizedDesign, "whole_gram", refuse)
    monkeypatch.setattr(StandardizedDesign, "gram", refuse)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 20_000))
    for likelihood in (Gaussian(), Binomial()):
        y = responses(X[:, 0], likelihood)
        path = fit_path(problem_of(X, y, likelihood=likelihood), Ridge(), 3)
        assert path.certificate.max() < 1e-8
        assert path.size[-1] == 20_000


def test_ridge_of_labels_with_more_columns_than_rows_is_that_of_scikit_learn():
    X, _, _ = sparse_regression(50, 120, 3)
    y = responses(X[:, 0] - X[:, 1], Binomial())
    path = fit_path(problem_of(X, y, likelihood=Binomial(), standardize=False), Ridge(), [0.2])
    theirs = LogisticRegression(C=1 / (50 * 0.2), tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(path.coefficients().toarray()[0], theirs.coef_[0], atol=1e-6)
    assert path.intercepts[0] == pytest.approx(theirs.intercept_[0], abs=1e-6)


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_best_subsets_are_those_of_a_search_through_all(correlation):
    X, y, _ = sparse_regression(40, 8, 3, correlation=correlation, noise=3.0)
    Z, yc = standardised(X, y)
    for size in range(9):
        fit = fit_path(problem_of(X, y), BestSubset(size), [0.0]).fits[0]
        best = min(
            np.sum((yc - Z[:, list(c)] @ np.linalg.lstsq(Z[:, list(c)], yc, rcond=None)[0]) ** 2)
            for c in itertools.combinations(range(8), size)
        )
        assert len(fit.columns) == size
        assert 80 * fit.loss == pytest.approx(best)
        assert fit.certificate["violation"] < 1e-12


def test_a_price_for_each_variable_chooses_the_size_that_pays():
    X, y, _ = sparse_regression(40, 8, 3, noise=2.0)
    problem = problem_of(X, y)
    loss = [fit_path(problem, BestSubset(k), [0.0]).fits[0].loss for k in range(9)]
    for fit in fit_path(problem, BestSubset(), 20).fits:
        totals = np.array(loss) + fit.strength * np.arange(9)
        assert fit.loss + fit.strength * len(fit.columns) == pytest.approx(totals.min())


def test_best_subsets_of_the_prostate_data():
    """Residual sums of squares of the 67 training rows, sizes 0 to 8."""
    X, y, _, train = load_prostate()
    problem = problem_of(X[train], y[train])
    found = [2 * 67 * fit_path(problem, BestSubset(k), [0.0]).fits[0].loss for k in range(9)]
    published = [96.2814, 44.5286, 37.0918, 34.9077, 32.8150, 32.0694, 30.5398, 29.4373, 29.4264]
    np.testing.assert_allclose(found, published, atol=5e-5)


# The surface over strengths and concavities.


@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial()])
def test_the_surface_begins_with_the_lasso_and_improves_on_it(likelihood):
    X, _, _ = sparse_regression(150, 30, 3, correlation=0.5)
    y = responses(X[:, 0] - X[:, 1], likelihood)
    problem = problem_of(X, y, likelihood=likelihood)
    surface = fit_surface(problem, gammas=[3.0, 10.0, 1.5], alphas=8)
    assert surface.gammas.tolist() == [np.inf, 10.0, 3.0, 1.5]
    assert surface.certificate.max() < 1e-8
    lasso = fit_path(problem, L1(), surface.strengths)
    np.testing.assert_allclose(coefficients(surface.paths[0]), coefficients(lasso), atol=1e-7)
    gains = []
    for gamma, path in zip(surface.gammas[1:], surface.paths[1:], strict=True):
        for own, start in zip(path.fits, surface.paths[0].fits, strict=True):
            rule = MCP(gamma).at(own.strength, Terms.equal(30))
            objective = [f.loss + sum(cost(rule, 0, w) for w in f.coef) for f in (own, start)]
            assert objective[0] <= objective[1] + 1e-12
            gains.append(objective[1] - objective[0])
    assert max(gains) > 1e-3


# What is refused.


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MCP(0.0), "gamma must be > 0, got 0.0"),
        (lambda: SCAD(1.0), "a must be a finite number > 1"),
        (lambda: LogSum(-1.0), "eps must be a finite number > 0"),
        (lambda: Bridge(2.5), r"b must lie in \(0, 2\], got 2.5"),
        (lambda: HAL(1.0, 0.0), "b must be a finite number > 0, got 0"),
        (lambda: NormalGamma(1.5), "not sparse; got 1.5"),
        (lambda: NEG(-0.5), "a must be a finite number > 0"),
        (lambda: AdaptiveLasso(first="lars"), "first must be one of"),
        (lambda: AdaptiveLasso(power=0.0), "power must be"),
        (lambda: BestSubset(-1), "size must be >= 0, got -1"),
    ],
)
def test_settings_out_of_range_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("penalty", "terms", "message"),
    [
        (BestSubset(), None, "cannot fit penalty .* to family 'gaussian'.*; or"),
        (AdaptiveLasso(first="ridge"), None, "cannot fit penalty .* to family 'gaussian'.*; or"),
        (ElasticNet(0.5, corrected=True), None, "cannot fit penalty .* to family 'gaussian'.*; or"),
        (NoPenalty(), None, "does not exist"),
    ],
)
def test_what_labels_cannot_have_is_refused(penalty, terms, message):
    X, _, _ = sparse_regression(20, 30, 3)
    problem = problem_of(X, responses(X[:, 0], Binomial()), likelihood=Binomial())
    with pytest.raises(ValueError, match=message):
        fit_path(problem, penalty, 5)


def test_best_subsets_are_not_searched_among_too_many_or_dependent_columns():
    X, y, _ = sparse_regression(60, 41, 3)
    with pytest.raises(ValueError, match="among 40 columns at most, got 41"):
        fit_path(problem_of(X, y), BestSubset())
    sums = np.column_stack([X[:, :2], X[:, 0] + X[:, 1]])
    with pytest.raises(ValueError, match="do not depend on each other"):
        fit_path(problem_of(sums, y), BestSubset())


def test_of_copies_of_a_column_best_subsets_hold_one():
    X, y, _ = sparse_regression(60, 6, 3)
    copies = np.column_stack([X, -3.0 * X[:, :4], X[:, 2]])
    once, twice = (fit_path(problem_of(given, y), BestSubset(), 8) for given in (X, copies))
    np.testing.assert_allclose(twice.deviance_explained, once.deviance_explained, rtol=1e-10)
    np.testing.assert_array_equal(twice.size, once.size)


@pytest.mark.parametrize("name", PENALTIES)
def test_every_penalty_is_known_by_name_with_default_settings(name):
    X, y, coef = sparse_regression(60, 10, 3)
    y = X @ coef if PENALTIES[name]().matches else y
    path = fit_path(problem_of(X, y), PENALTIES[name](), 5)
    assert path.certificate.max() < 1e-8
    assert path.size[-1] >= 3


def test_shooting_agrees_with_the_solver():
    X, y, _ = sparse_regression(50, 12, 3, correlation=0.5)
    Z, yc = standardised(X, y)
    path = fit_path(problem_of(X, y), L1(), [0.1])
    np.testing.assert_allclose(
        coefficients(path)[0], lasso_by_shooting(Z, yc, np.full(12, 0.1)), atol=1e-9
    )


def test_extrapolation_jumps_to_where_small_steps_lead():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    shrink_by = turn @ np.diag([0.99, 0.9, 0.95, -0.5]) @ turn.T
    goal = rng.standard_normal(4)
    creep, point = Extrapolation(), np.zeros(4)
    for _ in range(20):
        point = creep.next(point, goal + shrink_by @ (point - goal))
    np.testing.assert_allclose(point, goal, atol=1e-8)


def test_extrapolation_gives_up_where_jumps_do_harm():
    creep, point = Extrapolation(), np.array([1.0])
    for _ in range(2000):  # a kink at 0 that no line foretells
        point = creep.next(point, np.where(point > 0, 0.99 * point - 1e-3, 0.5 * point))
    assert creep.patience > 8
    np.testing.assert_allclose(point, 0.0, atol=1e-6)


def test_a_variable_that_a_jump_put_out_comes_back():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 8))
    eta = 1.2 * X[:, 0] - 0.9 * X[:, 3]
    rng.standard_normal(150)
    y = (eta + rng.logistic(size=150) > 0).astype(float)
    path = fit_path(problem_of(X, y, likelihood=Binomial()), MCP())
    assert path.certificate.max() < 1e-8


def half_threshold(z, strength):
    """Xu, Chang, Xu & Zhang (2012): the closed form for (z - w)^2 / 2 + strength |w|^(1/2)."""
    if abs(z) <= 1.5 * strength ** (2 / 3):
        return 0.0
    angle = np.arccos(strength / 4 * (abs(z) / 3) ** -1.5)
    return 2 / 3 * z * (1 + np.cos(2 / 3 * (np.pi - angle)))


def two_thirds_threshold(z, strength):
    """Cao, Sun & Xu (2013): the closed form for (z - w)^2 / 2 + strength |w|^(2/3)."""
    double = 2 * strength
    if abs(z) <= 2 / 3 * (3 * double**3) ** 0.25:
        return 0.0
    angle = np.arccosh(27 / 16 * z**2 * double**-1.5)
    part = 2 / np.sqrt(3) * double**0.25 * np.cosh(angle / 3) ** 0.5
    return np.sign(z) * ((part + np.sqrt(2 * abs(z) / part - part**2)) / 2) ** 3


@pytest.mark.parametrize(("b", "closed"), [(1 / 2, half_threshold), (2 / 3, two_thirds_threshold)])
@pytest.mark.parametrize("strength", [0.1, 1.0, 3.0])
def test_bridges_of_a_half_and_two_thirds_have_their_closed_forms(b, closed, strength):
    rule = Bridge(b).at(strength, Terms.equal(1))
    for z in np.linspace(-6, 6, 121):
        assert shrink(rule, 0, z, 1.0) == pytest.approx(closed(z, strength), abs=1e-12)
