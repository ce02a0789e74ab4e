"""Penalised paths: certified optima, the same for every way to give the data."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from sklearn.linear_model import ElasticNet as SklearnElasticNet
from sklearn.linear_model import lasso_path

from garrote import Problem, fit_path
from garrote.likelihoods import (
    Binomial,
    Gaussian,
    Huber,
    Poisson,
    Probit,
    log_likelihood,
    saturated,
)
from garrote.likelihoods.multinomial import Multinomial
from garrote.penalties import L1, MCP, ElasticNet, Terms
from garrote.rules import total_cost
from garrote.solvers.control import Control
from garrote.solvers.descent import column_sweeps
from garrote.solvers.descent.optimality import certify
from garrote.solvers.lockstep import run_together
from garrote.solvers.losses import generalised
from garrote.solvers.losses.generalised import GeneralisedLoss
from garrote.solvers.losses.least_squares import LeastSquares
from garrote.solvers.penalised.working_set_path import solve_path
from pairwise import by_pairs
from reference import sparse_regression


def problem_of(X, y, **settings):
    return Problem.from_rows(X, y, scale_response=False, **settings)


@pytest.mark.parametrize(("n", "d"), [(60, 20), (40, 150)])
def test_the_lasso_path_is_that_of_scikit_learn(n, d):
    X, y, _ = sparse_regression(n, d, 4, correlation=0.5)
    problem = problem_of(X, y, standardize=False)
    path = fit_path(problem, L1(), 30)
    assert path.certificate.max() < 1e-12
    _, theirs, _ = lasso_path(
        X - X.mean(axis=0), y - y.mean(), alphas=path.strengths, tol=1e-12, max_iter=100_000
    )
    np.testing.assert_allclose(path.coefficients().toarray(), theirs.T, atol=1e-6)


@pytest.mark.parametrize("l1_ratio", [0.2, 0.9])
def test_the_elastic_net_is_that_of_scikit_learn(l1_ratio):
    X, y, _ = sparse_regression(60, 100, 4, correlation=0.5)
    path = fit_path(problem_of(X, y, standardize=False), ElasticNet(l1_ratio), 10)
    assert path.certificate.max() < 1e-12
    for k in (3, 9):
        theirs = SklearnElasticNet(
            alpha=path.strengths[k], l1_ratio=l1_ratio, tol=1e-12, max_iter=100_000
        ).fit(X, y)
        np.testing.assert_allclose(path.coefficients()[[k]].toarray()[0], theirs.coef_, atol=1e-6)
        assert path.intercepts[k] == pytest.approx(theirs.intercept_, abs=1e-6)


FAMILIES = [Gaussian(), Binomial(), Poisson(), Probit(), Huber(scale=1.0)]


def weighted_rows(likelihood):
    """Return rows of a model of this likelihood, with their weights and offsets."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    eta = 0.8 * X[:, 0] - 0.5 * X[:, 1]
    offset = 0.3 * rng.standard_normal(80)
    weights = rng.uniform(0.5, 2.0, 80)
    y = {
        "gaussian": eta + rng.standard_normal(80),
        "binomial": (rng.random(80) < 1 / (1 + np.exp(-eta))).astype(float),
        "poisson": rng.poisson(np.exp(eta)).astype(float),
        "probit": (eta + rng.standard_normal(80) > 0).astype(float),
        "huber": eta + rng.standard_t(1.5, 80),
    }[likelihood.name]
    problem = problem_of(X, y, likelihood=likelihood, offset=offset, sample_weight=weights)
    Z = (X - np.average(X, axis=0, weights=weights)) / problem.scale.column_scale
    return problem, Z, y, offset, weights


def best_objective(likelihood, alpha, Z, y, offset, weights):
    """Return the least objective of an elastic net of l1_ratio 0.6 that scipy finds."""

    def objective(v):
        predicted = v[0] + Z @ v[1:7] - Z @ v[7:] + offset
        if likelihood.least_squares:
            loss = 0.5 * (y - predicted) ** 2
        else:
            loss = saturated(likelihood, y) - log_likelihood(likelihood, y, predicted)
        w = v[1:7] - v[7:]
        penalty = 0.6 * v[1:].sum() + 0.2 * w @ w
        return weights @ loss / weights.sum() + alpha * penalty

    bounds = [(None, None)] + [(0, None)] * 12
    return scipy.optimize.minimize(
        objective, np.zeros(13), bounds=bounds, method="L-BFGS-B", tol=1e-15
    ).fun


@pytest.mark.parametrize("likelihood", FAMILIES)
def test_gaps_bound_what_any_other_coefficients_could_gain(likelihood):
    """The optimum of scipy on the same objective lies between the objective and the bound."""
    problem, *rows = weighted_rows(likelihood)
    path = fit_path(problem, ElasticNet(0.6), 5)
    for fit in path.fits[1:]:
        best = best_objective(likelihood, fit.strength, *rows)
        coef = np.zeros(6)
        coef[fit.columns] = fit.coef
        own = fit.loss + fit.strength * (0.6 * np.abs(coef).sum() + 0.2 * coef @ coef)
        assert own <= best + 1e-9
        assert own - best <= fit.certificate["duality gap"] * path.null_loss + 1e-7
        assert fit.certificate["duality gap"] < 1e-9


@pytest.mark.parametrize("l1_ratio", [0.6, 1.0])
@pytest.mark.parametrize("likelihood", FAMILIES[1:])
def test_gaps_bound_far_from_the_optimum_too(likelihood, l1_ratio):
    problem, *_ = weighted_rows(likelihood)
    rng, alpha = np.random.default_rng(5), 0.05
    optimum = fit_path(problem, ElasticNet(l1_ratio), [alpha]).fits[0]
    rule = ElasticNet(l1_ratio).at(alpha, Terms.equal(6))
    least = optimum.loss + total_cost(rule, optimum.columns, optimum.coef)
    smooth = GeneralisedLoss(problem)
    smooth.grow(np.arange(6))
    for _ in range(30):
        smooth.coef[:] = rng.normal(0, 1, 6) * (rng.random(6) < 0.7)
        (seen,) = run_together([smooth.evaluate()], problem.table.stored)
        found = certify(rule, smooth.columns, smooth.coef, seen, smooth.curvature, smooth.null)
        own = seen.loss + total_cost(rule, smooth.columns, smooth.coef)
        assert own - least <= found["duality gap"] * smooth.null.loss * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("kind", ["fortran", "float32", "csc", "csr"])
@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial()])
def test_every_kind_of_matrix_gives_the_same_path(kind, likelihood):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 80)).astype(np.float32).astype(np.float64)
    X[rng.random((50, 80)) < 0.6] = 0.0
    y = X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(50)
    y = y if likelihood.least_squares else (y > 0).astype(float)
    given = {
        "fortran": np.asfortranarray,
        "float32": np.float32,
        "csc": scipy.sparse.csc_array,
        "csr": scipy.sparse.csr_array,
    }[kind](X)
    one = fit_path(problem_of(X, y, likelihood=likelihood), L1(), 15)
    two = fit_path(problem_of(given, y, likelihood=likelihood), L1(), one.strengths)
    assert two.certificate.max() < 1e-9
    np.testing.assert_allclose(
        one.coefficients().toarray(), two.coefficients().toarray(), atol=1e-6
    )


@by_pairs(
    likelihood=FAMILIES,
    penalty=[L1(), ElasticNet(0.5), MCP(3.0)],
    intercept=[True, False],
    columns=["few", "many"],
)
def test_sparse_columns_give_the_path_of_dense_ones(
    likelihood, penalty, intercept, columns, monkeypatch
):
    if columns == "many":
        monkeypatch.setattr(column_sweeps, "_MANY", 0)
    _, X, y, offset, weights = weighted_rows(likelihood)
    rng = np.random.default_rng(5)
    X = np.column_stack([X, X[:, :2] + 0.1 * rng.standard_normal((80, 2)), rng.random((80, 20))])
    X[rng.random(X.shape) < 0.5] = 0.0
    settings = {"likelihood": likelihood, "fit_intercept": intercept}
    one, two = (
        Problem.from_rows(x, y, weights, offset=offset, scale_response=False, **settings)
        for x in (X, scipy.sparse.csc_array(X))
    )
    terms = Terms.equal(X.shape[1])._replace(lower=np.r_[-0.1, np.full(27, -np.inf)])
    # Farther down labels can be told apart, and a concave penalty holds nothing back.
    dense = fit_path(one, penalty, 8, eps=0.3, terms=terms)
    sparse = fit_path(two, penalty, dense.strengths, terms=terms)
    if penalty.convex:
        assert sparse.certificate.max() < 1e-8
    np.testing.assert_allclose(
        sparse.coefficients().toarray(), dense.coefficients().toarray(), atol=1e-5
    )
    np.testing.assert_allclose(sparse.intercepts, dense.intercepts, atol=1e-5)


def test_moments_give_the_same_path_as_rows():
    X, y, _ = sparse_regression(60, 30, 4, correlation=0.5)
    X, y = X - X.mean(axis=0), y - y.mean()
    rows = fit_path(Problem.from_rows(X, y), L1(), 20)
    moments = Problem.from_moments(X.T @ X, X.T @ y, float(y @ y), 60)
    same = fit_path(moments, L1(), rows.strengths)
    np.testing.assert_allclose(
        rows.coefficients().toarray(), same.coefficients().toarray(), atol=1e-9
    )


def test_bounds_and_factors_are_kept_and_certified():
    X, y, _ = sparse_regression(60, 40, 4, correlation=0.5)
    terms = Terms(np.full(40, 1.0), np.zeros(40), np.full(40, 0.3))
    path = fit_path(problem_of(X, y), L1(), 30, terms=terms)
    coef = np.array([np.bincount(f.columns, f.coef, 40) for f in path.fits])
    assert coef.min() >= 0
    assert coef.max() == pytest.approx(0.3)
    assert path.certificate.max() < 1e-9


def test_a_small_factor_lets_a_variable_in_early():
    X, y, _ = sparse_regression(60, 40, 4, correlation=0.5)
    terms = Terms.equal(40)
    terms.factor[7] = 0.1
    early = fit_path(problem_of(X, y), L1(), 30, terms=terms)
    late = fit_path(problem_of(X, y), L1(), early.strengths)
    first = [int((path.coefficients().toarray()[:, 7] != 0).argmax()) for path in (early, late)]
    assert first[0] < first[1]
    assert early.certificate.max() < 1e-12


def test_duplicated_columns_do_no_harm():
    X, y, _ = sparse_regression(60, 40, 4)
    path = fit_path(problem_of(np.hstack([X, X]), y), L1(), 30)
    assert path.certificate.max() < 1e-9


def test_separable_labels_end_in_certified_fits():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 100))
    y = (X[:, 0] > 0).astype(float)
    path = fit_path(problem_of(X, y, likelihood=Binomial()), L1(), 30)
    assert path.certificate.max() < 1e-6
    assert path.deviance_explained[-1] > 0.9


@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial()])
def test_relaxed_fits_are_maximum_likelihood_on_the_columns_found(likelihood):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 30))
    eta = X[:, 0] - X[:, 1]
    y = eta + rng.standard_normal(150)
    y = y if likelihood.least_squares else (y > 0).astype(float)
    problem = problem_of(X, y, likelihood=likelihood)
    plain = fit_path(problem, L1(), 8)
    relaxed = fit_path(problem, L1(), plain.strengths, relax=1.0)
    half = fit_path(problem, L1(), plain.strengths, relax=0.5)
    for k in range(2, 6):
        own = plain.fits[k].columns
        np.testing.assert_array_equal(relaxed.fits[k].columns, own)
        moved = 0.5 * (plain.fits[k].coef + relaxed.fits[k].coef)
        np.testing.assert_allclose(half.fits[k].coef, moved, atol=1e-6)
        free = fit_path(problem_of(X[:, own], y, likelihood=likelihood), L1(), np.array([0.0]))
        got = relaxed.coefficients()[[k]].toarray()[0][own]
        np.testing.assert_allclose(got, free.coefficients().toarray()[0], atol=1e-6)
        assert relaxed.fits[k].loss < plain.fits[k].loss


def test_several_classes_are_fitted_to_a_certified_optimum():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 15))
    scores = np.column_stack([X[:, 0], X[:, 1] - X[:, 2], -X[:, 0]]) * 1.5
    y = (scores + rng.gumbel(size=(120, 3))).argmax(axis=1).astype(float)
    problem = problem_of(X, y, likelihood=Multinomial(3))
    path = fit_path(problem, ElasticNet(0.9), 10)
    assert path.certificate.max() < 1e-8
    assert path.coefficients().shape == (10, 45)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)

    def objective(v, alpha):
        up, down = v[3:48].reshape(3, 15), v[48:].reshape(3, 15)
        eta = v[:3, None] + (up - down) @ Z.T
        eta = eta - eta.max(axis=0)
        log_p = eta - np.log(np.exp(eta).sum(axis=0))
        w = up - down
        penalty = 0.9 * v[3:].sum() + 0.05 * (w**2).sum()
        return -log_p[y.astype(int), np.arange(120)].mean() + alpha * penalty

    fit = path.fits[6]
    bounds = [(None, None)] * 3 + [(0, None)] * 90
    best = scipy.optimize.minimize(
        objective, np.zeros(93), (fit.strength,), bounds=bounds, method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-14},
    )  # fmt: skip
    w = np.zeros(45)
    w[fit.columns] = fit.coef
    own = fit.loss + fit.strength * (0.9 * np.abs(w).sum() + 0.05 * w @ w)
    assert own <= best.fun + 1e-8
    assert own == pytest.approx(best.fun, abs=1e-5)


def test_a_few_distant_strengths_do_not_take_all_columns_in():
    """The strong rule says nothing where strengths are far apart."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3000))
    y = X[:, :3] @ [1.0, -1.0, 0.5] + 0.5 * rng.standard_normal(40)
    smooth = LeastSquares(problem_of(X, y))
    largest = L1().largest_strength(smooth.null.gradient, Terms.equal(3000))
    strengths = largest * np.array([1.0, 0.2, 0.02])
    task = solve_path(smooth, L1(), strengths, Terms.equal(3000), Control(1e-6))
    (points,) = run_together([task], smooth.problem.table.stored)
    assert max(point.certificate["duality gap"] for point in points) < 1e-9
    assert len(smooth.columns) < 2000


@pytest.mark.parametrize("alpha", [1e-5, 1e-7])
def test_nearly_dependent_columns_do_not_keep_coordinates_from_the_optimum(alpha):
    """What a Newton step puts out, a sweep lets in again: powers of one variable went round for ever."""
    t = np.linspace(0, 1, 40)
    problem = problem_of(np.vander(t, 12)[:, :-1], np.sin(6 * t))
    grid = np.geomspace(0.6, alpha, 60)
    path = fit_path(problem, L1(), grid)
    knots = fit_path(problem, L1(), grid, solver="homotopy")
    assert path.certificate.max() < 1e-11
    assert path.fits[-1].loss == pytest.approx(knots.fits[-1].loss, rel=1e-6)


@pytest.mark.parametrize("likelihood", [Gaussian(), Binomial(), Poisson(), Multinomial(3)])
def test_columns_that_explain_nothing_give_the_empty_model_at_once(likelihood):
    rng = np.random.default_rng(1)
    y = {
        Gaussian(): rng.standard_normal(60),
        Binomial(): (np.arange(60) % 2).astype(float),
        Poisson(): rng.poisson(2.0, 60).astype(float),
        Multinomial(3): np.arange(60.0) % 3,
    }[likelihood]
    # Every label meets each column's values equally often.
    orthogonal = np.repeat(np.tile(np.eye(5), (2, 1)), 6, axis=0)[:, :4]
    tables = [np.ones((60, 3))] + (
        [orthogonal] if likelihood in (Binomial(), Multinomial(3)) else []
    )
    for X in tables:
        path = fit_path(problem_of(X, y, likelihood=likelihood), L1(), 20)
        assert path.size.max() == 0
        assert path.n_iter <= 20 * 6
        assert path.certificate.max() < 1e-14


@pytest.mark.parametrize("likelihood", [Binomial(), Poisson()])
@pytest.mark.parametrize("correlation", [0.3, 0.99])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sweeps_over_rows_arrive_where_factors_of_cross_products_do(
    likelihood, correlation, fit_intercept, monkeypatch
):
    X, y, _ = sparse_regression(80, 120, 4, correlation=correlation)
    y = (y > y.mean()).astype(float) if isinstance(likelihood, Binomial) else np.round(np.abs(y))
    weights = np.where(np.arange(80) % 5 == 0, 0.0, 1.0)
    problem = problem_of(
        X, y, sample_weight=weights, likelihood=likelihood, fit_intercept=fit_intercept
    )
    by_rows = fit_path(problem, ElasticNet(0.9), 20, eps=0.05)
    monkeypatch.setattr(generalised, "_FEW_ROWS", 0)
    by_factors = fit_path(problem, ElasticNet(0.9), 20, eps=0.05)
    assert by_rows.certificate.max() < 1e-6
    np.testing.assert_allclose(
        by_rows.coefficients().toarray(), by_factors.coefficients().toarray(), atol=1e-6
    )
    np.testing.assert_allclose(by_rows.intercepts, by_factors.intercepts, atol=1e-6)


@pytest.mark.parametrize("alphas", [[0.2, 0.199, 1e-3, 9e-4], [0.2, 0.1, 0.05, 0.025, 0.0125]])
def test_starting_beyond_the_last_points_changes_no_point_of_a_path_and_breaks_no_bound(alphas):
    rng = np.random.default_rng(11)
    X = rng.standard_normal((60, 12))
    y = (X[:, 0] - X[:, 1] + rng.standard_normal(60) > 0).astype(float)
    problem = problem_of(X, y, likelihood=Binomial())
    bound = np.r_[0.3, np.full(11, np.inf)]
    terms = Terms.equal(12)._replace(lower=-bound, upper=bound)
    together = fit_path(problem, L1(), np.array(alphas), terms=terms)
    alone = [fit_path(problem, L1(), np.array([alpha]), terms=terms) for alpha in alphas]
    assert together.certificate.max() < 1e-6
    assert all(np.abs(fit.coef[fit.columns == 0]).max(initial=0) <= 0.3 for fit in together.fits)
    np.testing.assert_allclose(
        together.coefficients().toarray(),
        np.vstack([path.coefficients().toarray() for path in alone]),
        atol=1e-5,
    )
