"""Penalised models where data or settings are at an edge: constant columns, offsets, weights of 0."""

from itertools import product

import numpy as np
import pytest

from garrote import Problem, SparseRegressor, fit_path
from garrote.likelihoods.multinomial import Multinomial
from garrote.paths import FollowPath
from garrote.paths.combinations import is_possible
from garrote.paths.penalised import equal_terms
from garrote.paths.surfaces import fit_surface
from garrote.penalties import L1, MCP, PENALTIES, Bridge, ElasticNet, Slope
from garrote.solvers.control import Control

FAMILIES = ("gaussian", "binomial", "probit", "poisson", "huber")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 8))
    y = 2 * X[:, 0] - X[:, 1] + rng.normal(size=50)
    return X, y, rng.poisson(np.exp(0.5 * X[:, 0]))


def response(rows, family):
    _, y, counts = rows
    if family == "poisson":
        return counts
    return (y > 0).astype(int) if family in ("binomial", "probit") else y


@pytest.mark.parametrize(
    ("penalty", "family"),
    [
        pair
        for pair in product(PENALTIES, FAMILIES)
        # A fused lasso and a trend give a column without content the coefficient that its neighbours
        # suggest, the ranks of SLOPE count columns, and basis pursuit refuses noise.
        if is_possible(PENALTIES[pair[0]](), pair[1], "coordinate")
        and pair[0] not in ("fused-lasso", "trend-filter", "slope", "basis-pursuit")
    ],
)
def test_a_constant_column_changes_nothing(rows, penalty, family):
    X, y = rows[0], response(rows, family)
    model = SparseRegressor(penalty, "bic", family=family, method=FollowPath(alphas=8))
    without = model.fit(X, y).coef_
    largest = model.path_.strengths[0]
    model.fit(np.c_[np.ones(len(y)), X], y)
    np.testing.assert_allclose(model.path_.strengths[0], largest, rtol=1e-9)
    np.testing.assert_allclose(model.coef_, np.append(0.0, without), atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_constant_column_has_a_rank_and_no_effect_under_slope(rows, family):
    X, y = rows[0], response(rows, family)
    ranks = np.linspace(2.0, 1.0, X.shape[1] + 1)
    without = SparseRegressor(Slope(ranks[:-1]), 0.05, family=family).fit(X, y)
    beside = SparseRegressor(Slope(ranks), 0.05, family=family).fit(np.c_[np.ones(len(y)), X], y)
    np.testing.assert_allclose(beside.coef_, np.append(0.0, without.coef_), atol=1e-6)


@pytest.mark.parametrize("penalty", ["log-sum", "bridge", "normal-gamma", "normal-jeffreys"])
def test_a_column_that_is_always_in_sets_no_strength(rows, penalty):
    X, y, _ = rows
    path = (
        SparseRegressor(penalty, "bic", method=FollowPath(alphas=8), penalty_factor={0: 0})
        .fit(X, y)
        .path_
    )
    assert 0 < path.strengths[0] < 100
    assert path.size[0] == 0


@pytest.mark.parametrize("shape", [(40, 80), (100, 30)])
@pytest.mark.parametrize("twin", [False, True])
def test_ridge_with_columns_that_are_always_in_is_its_closed_form(shape, twin):
    N, D = shape
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape)
    if twin:  # what the columns that are always in explain has a coefficient of 0
        X[:, 3] = X[:, 0]
    y = X[:, 0] + rng.normal(size=N)
    model = SparseRegressor(
        "ridge", 5.0, method=FollowPath(alphas=[6.0]), penalty_factor={0: 0, 7: 0}
    ).fit(X, y)
    Z, factor = (X - X.mean(axis=0)) / X.std(axis=0), np.ones(D)
    factor[[0, 7]] = 0.0
    expected = np.linalg.solve(Z.T @ Z / N + 5.0 * np.diag(factor), Z.T @ (y - y.mean()) / N)
    np.testing.assert_allclose(model.coef_, expected / X.std(axis=0), atol=1e-12)
    assert model.certificate_["duality gap"] < 1e-12
    assert (model.coef_[3] == 0) == twin


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "penalty", [Bridge(1.0), Bridge(1.1), Bridge(1.5), Bridge(2.0), MCP(np.inf)]
)
def test_convex_penalties_have_a_duality_gap(rows, penalty, family):
    X, y = rows[0], response(rows, family)
    settings = {"family": family, "method": FollowPath(alphas=8), "penalty_factor": {1: 0, 2: 2.0}}
    settings["bounds"] = (None, {0: 0.3, 1: 1.0})
    path = SparseRegressor(penalty, "bic", **settings).fit(X, y).path_
    gaps = np.array([fit.certificate["duality gap"] for fit in path.fits])
    assert (gaps < 1e-6).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["coordinate", "fista"])
def test_a_column_without_penalty_keeps_its_bounds(rows, method, weighted):
    X, y, _ = rows
    X = X * np.geomspace(0.1, 10, 8)
    weights = 1.0 + np.arange(len(y)) % 3 if weighted else np.ones(len(y))
    factor, alpha = np.array([0, 0, 0, 1, 1, 1, 2, 1.0]), 0.05
    lower, upper = np.full(8, -np.inf), np.full(8, np.inf)
    upper[0], lower[1], lower[4] = 0.7, 0.0, -0.01
    model = SparseRegressor(
        "lasso", alpha, penalty_factor=factor, bounds=(lower, upper),
        method=FollowPath(method, tol=1e-12),
    ).fit(X, y, sample_weight=weights)  # fmt: skip
    # Proximal gradient steps for standardised columns.
    share = weights / weights.sum()
    Z = X - share @ X
    scale = np.sqrt(share @ Z**2)
    Z, left, coef = Z / scale, y - share @ y, np.zeros(8)
    rate = 1 / np.linalg.eigvalsh(Z.T @ (share[:, None] * Z))[-1]
    for _ in range(3000):
        ahead = coef + rate * Z.T @ (share * (left - Z @ coef))
        ahead = np.sign(ahead) * np.maximum(np.abs(ahead) - rate * alpha * factor, 0.0)
        coef = np.clip(ahead, lower * scale, upper * scale)
    np.testing.assert_allclose(model.coef_, coef / scale, rtol=1e-6, atol=1e-8)
    assert model.coef_[0] == pytest.approx(0.7)
    assert model.coef_[1] == 0.0
    assert model.certificate_["duality gap"] < 1e-9


def test_the_gap_of_a_bridge_bounds_what_can_be_gained(rows):
    X, y, _ = rows
    problem = Problem.from_rows(X, y, scale_response=False)
    loose, tight = (
        fit_path(problem, Bridge(1.5), [0.5, 0.1], control=Control(tol, rounds))
        for tol, rounds in ((1e-1, 2), (1e-12, 10_000))
    )
    for rough, fine in zip(loose.fits, tight.fits, strict=True):
        cost = [fit.loss + fit.strength * (np.abs(fit.coef) ** 1.5).sum() for fit in (rough, fine)]
        gained = (cost[0] - cost[1]) / tight.null_loss
        assert 1e-14 < gained <= rough.certificate["duality gap"] * (1 + 1e-9)


@pytest.mark.parametrize("penalty", [Bridge(1.0), MCP(np.inf)])
def test_limits_that_are_the_lasso_can_do_what_it_can(rows, penalty):
    X, y, _ = rows
    walked = SparseRegressor(penalty, 0.1, method="homotopy").fit(X, y)
    lasso = SparseRegressor("lasso", 0.1).fit(X, y)
    np.testing.assert_allclose(walked.coef_, lasso.coef_, atol=1e-6)


def test_undoing_shrinkage_refuses_the_bounds_that_it_would_break(rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match=r"corrected=True .* would break bounds"):
        SparseRegressor(ElasticNet(corrected=True), 0.1, bounds=(None, 0.5)).fit(X, y)
    signs = SparseRegressor(ElasticNet(corrected=True), 0.1, bounds=(0.0, None)).fit(X, y)
    assert (signs.coef_ >= 0).all()
    assert signs.coef_[0] > 1


def test_a_surface_has_several_classes_too(rows):
    X, y, _ = rows
    thirds = np.searchsorted(np.quantile(y, [1 / 3, 2 / 3]), y)
    problem = Problem.from_rows(X, thirds, likelihood=Multinomial(3))
    surface = fit_surface(problem, gammas=[3.0], alphas=5)
    assert surface.certificate.max() < 1e-6
    lasso = fit_path(problem, L1(), surface.strengths, terms=equal_terms(problem))
    one, two = (path.coefficients().toarray() for path in (surface.paths[0], lasso))
    np.testing.assert_allclose(one, two, atol=1e-5)


@pytest.mark.parametrize("gamma", [np.nan, 0.0, -1.0])
def test_a_surface_refuses_concavities_that_are_none(rows, gamma):
    X, y, _ = rows
    with pytest.raises(ValueError, match=r"gammas must be > 0, got"):
        fit_surface(Problem.from_rows(X, y), gammas=[2.0, gamma])


def test_a_walk_refuses_bounds_in_the_user_s_units_and_names(rows):
    X, y, _ = rows
    model = SparseRegressor(alpha=0.1, method="homotopy", bounds=(None, {"b": 0.5}))
    with pytest.raises(ValueError, match=r"column 'b' has -inf to 0.5 with a penalty factor of 1"):
        model.fit(X * 10, y, feature_names=list("abcdefgh"))
