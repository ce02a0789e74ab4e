"""The classical solvers: the optimum of the coordinate solver, each by the steps of its text."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

from garrote import Problem, SparseClassifier, SparseRegressor, fit_path
from garrote.likelihoods import (
    FAMILIES,
    Binomial,
    Huber,
    NegativeBinomial,
    Poisson,
    Probit,
    curvature,
    largest_curvature,
)
from garrote.likelihoods.multinomial import Multinomial
from garrote.paths import FollowPath
from garrote.paths.combinations import ALL_FAMILIES, is_possible
from garrote.paths.penalised import run_alone
from garrote.penalties import L0, L1, MCP, SCAD, BestSubset, ElasticNet, GroupLasso, Ridge, Terms
from garrote.solvers.algebra.steepness import largest_eigenvalue
from garrote.solvers.classical.path import CLASSICAL_SOLVERS, solve_classically
from garrote.solvers.control import Control
from garrote.solvers.lockstep import run_together
from reference import (
    lasso_by_em,
    lasso_by_fista,
    lasso_by_ista,
    lasso_by_projected_gradient,
    lasso_by_sparsa,
    lasso_by_subgradient,
    sparse_regression,
)

PROXIMAL = ("ista", "fista", "sparsa")
EXACT = [name for name in CLASSICAL_SOLVERS if name != "subgradient"]
SHAPES = [(80, 30), (40, 90)]


def problem_of(X, y, **settings):
    return Problem.from_rows(X, y, scale_response=False, **settings)


def standardised(n=60, d=20):
    """Return a problem and the same X and y as arrays, centred and of mean square 1."""
    X, y, _ = sparse_regression(n, d, 4, correlation=0.5)
    problem = problem_of(X, y)
    return problem, (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()


def objective(Z, y, strength, coef):
    return np.sum((y - Z @ coef) ** 2) / (2 * len(y)) + strength * np.abs(coef).sum()


def on_standard_scale(problem, path, k=-1):
    return path.coefficients().toarray()[k] * problem.scale.column_scale


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("solver", "penalty"),
    [
        (solver, penalty)
        for solver in EXACT
        for penalty in (L1(), ElasticNet(0.6), GroupLasso(None))
        if is_possible(penalty, "gaussian", solver)
    ],
)
def test_every_solver_reaches_the_certified_optimum(solver, penalty, shape):
    X, y, _ = sparse_regression(*shape, 4, correlation=0.5)
    if isinstance(penalty, GroupLasso):
        penalty = GroupLasso(np.arange(shape[1]) // 3)
    problem = problem_of(X, y)
    best = fit_path(problem, penalty, 6, eps=0.05, control=Control(1e-10))
    # What the manual states: parabolas creep where a coefficient is near its threshold.
    tol = 1e-8 if solver in ("em", "iterated_ridge") else 1e-9
    path = fit_path(problem, penalty, best.strengths, solver=solver, control=Control(tol))
    assert path.certificate.max() <= tol
    losses = [[fit.loss for fit in one.fits] for one in (path, best)]
    np.testing.assert_allclose(*losses, rtol=2e-4)
    np.testing.assert_allclose(
        path.coefficients().toarray(), best.coefficients().toarray(), atol=1e-3
    )


def test_the_subgradient_method_reaches_two_digits():
    problem, Z, y = standardised()
    strength = 0.1
    path = fit_path(
        problem, L1(), [strength], solver="subgradient", control=Control(1e-12, max_iter=2000)
    )
    best = lasso_by_subgradient(Z, y, strength, 2000)
    # The step is a percent shorter: the largest eigenvalue is estimated from above.
    assert objective(Z, y, strength, on_standard_scale(problem, path)) == pytest.approx(
        best, rel=1e-3
    )
    assert 1e-8 < path.certificate.max() < 1e-2


def test_ista_makes_the_steps_of_the_lecture():
    problem, Z, y = standardised()
    strength = 0.1
    iterates = lasso_by_ista(Z, y, strength, 50)
    values = [objective(Z, y, strength, w) for w in iterates]
    for rounds in (10, 50):
        path = fit_path(
            problem, L1(), [strength], solver="ista", control=Control(1e-15, max_iter=rounds)
        )
        mine = objective(Z, y, strength, on_standard_scale(problem, path))
        # A step that is up to a percent shorter is at most a round behind.
        assert values[rounds + 1 if rounds < 50 else 50] * (1 - 1e-12) <= mine <= values[rounds - 1]
    assert all(np.diff(values) <= 0)


@pytest.mark.parametrize(
    ("solver", "oracle"),
    [
        ("fista", lambda Z, y, a: lasso_by_fista(Z, y, a, 3000)),
        ("sparsa", lasso_by_sparsa),
        ("projected_gradient", lambda Z, y, a: lasso_by_projected_gradient(Z, y, a, 20_000)),
        ("em", lambda Z, y, a: lasso_by_em(Z, y, a, 3000)),
        ("iterated_ridge", lambda Z, y, a: lasso_by_em(Z, y, a, 3000)),
    ],
)
@pytest.mark.parametrize("shape", [(60, 20), (25, 40)])
def test_each_agrees_with_the_algorithm_of_its_text(solver, oracle, shape):
    problem, Z, y = standardised(*shape)
    path = fit_path(problem, L1(), [0.2], solver=solver, control=Control(1e-12, max_iter=100_000))
    np.testing.assert_allclose(on_standard_scale(problem, path), oracle(Z, y, 0.2), atol=1e-4)


def test_em_agrees_with_its_text_for_groups_and_the_elastic_net():
    problem, Z, y = standardised()
    groups = np.arange(20) // 4
    control = Control(1e-12, max_iter=100_000)
    path = fit_path(
        problem, GroupLasso(groups, weights="equal"), [0.3], solver="em", control=control
    )
    theirs = lasso_by_em(Z, y, 0.3, 3000, groups=groups)
    np.testing.assert_allclose(on_standard_scale(problem, path), theirs, atol=1e-4)
    path = fit_path(problem, ElasticNet(0.5), [0.3], solver="em", control=control)
    theirs = lasso_by_em(Z, y, 0.15, 3000, ridge=0.15)
    np.testing.assert_allclose(on_standard_scale(problem, path), theirs, atol=1e-4)


def labelled(likelihood, n=90, d=12):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d))
    X[:, 5] = 2.0  # a column without content
    eta = 0.8 * X[:, 0] - 0.5 * X[:, 1]
    y = {
        "binomial": rng.random(n) < 1 / (1 + np.exp(-eta)),
        "poisson": rng.poisson(np.exp(eta)),
        "probit": eta + rng.standard_normal(n) > 0,
        "huber": eta + rng.standard_t(1.5, n),
        "multinomial": np.argmax(np.stack([eta, -eta, 0 * eta]) + rng.gumbel(size=(3, n)), axis=0),
    }[likelihood.name]
    weights = rng.uniform(0.5, 2.0, n)
    return X, y.astype(float), weights


LIKELIHOODS = [Binomial(), Poisson(), Probit(), Huber(), Multinomial(3)]


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda one: one.name)
@pytest.mark.parametrize("solver", [*PROXIMAL, "projected_gradient"])
def test_every_likelihood_has_the_same_optimum(solver, likelihood):
    X, y, weights = labelled(likelihood)
    problem = problem_of(scipy.sparse.csc_array(X), y, likelihood=likelihood, sample_weight=weights)
    for penalty in (L1(), GroupLasso(np.arange(12) // 3)):
        if not is_possible(penalty, likelihood.name, solver):
            continue
        best = fit_path(problem, penalty, 4, eps=0.1, control=Control(1e-9))
        path = fit_path(problem, penalty, best.strengths, solver=solver, control=Control(1e-9))
        assert path.certificate.max() <= 1e-9
        np.testing.assert_allclose(
            path.coefficients().toarray(), best.coefficients().toarray(), atol=1e-3
        )
        np.testing.assert_allclose(path.intercepts, best.intercepts, atol=1e-3)


@pytest.mark.parametrize("name", [name for name, one in FAMILIES.items() if not one.coupled])
def test_no_curvature_is_above_the_largest(name):
    given = {"huber": Huber(scale=1.0), "negative-binomial": NegativeBinomial(1.0)}
    likelihood = given.get(name, FAMILIES[name])
    labels = np.array([[0.0], [1.0]])
    bent = np.asarray(curvature(likelihood, labels, np.linspace(-8, 8, 2001)))
    largest = largest_curvature(likelihood)
    assert bent.max() <= largest
    if np.isfinite(largest) and name != "probit":  # a probit comes near to 1 far out only
        assert bent.max() == pytest.approx(largest)


@pytest.mark.parametrize("shape", [(300, 40), (30, 200)])
def test_the_steepness_is_the_largest_eigenvalue(shape):
    X, y, _ = sparse_regression(*shape, 3, correlation=0.9)
    X[:, 3] = 1.0
    for problem in (problem_of(X, y), problem_of(X, y).compressed()):
        found = run_alone(problem, largest_eigenvalue(problem))
        Z = np.delete((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9), 3, axis=1)
        true = np.linalg.norm(Z, 2) ** 2 / len(y)
        assert true * (1 - 1e-12) <= found <= 1.02 * true


@pytest.mark.parametrize("solver", [*PROXIMAL, "projected_gradient", "subgradient"])
def test_bounds_and_factors_are_kept(solver):
    X, y, _ = sparse_regression(60, 20, 4)
    problem = problem_of(X, y)
    terms = Terms(np.linspace(0.5, 2, 20), np.full(20, -0.2), np.full(20, 0.3))
    tol = 1e-2 if solver == "subgradient" else 1e-9
    best = fit_path(problem, L1(), [0.1], terms=terms)
    path = fit_path(problem, L1(), [0.1], terms=terms, solver=solver, control=Control(tol))
    coef = on_standard_scale(problem, path)
    assert coef.min() >= -0.2
    assert coef.max() <= 0.3
    np.testing.assert_allclose(coef, on_standard_scale(problem, best), atol=1e3 * tol)


@pytest.mark.parametrize("solver", ["em", "iterated_ridge"])
def test_parabolas_refuse_bounds(solver):
    X, y, _ = sparse_regression(60, 20, 4)
    with pytest.raises(ValueError, match=f"{solver}.*no bounds.*'fista'"):
        SparseRegressor("lasso", 0.1, method=solver, bounds=(0.0, None)).fit(X, y)


@pytest.mark.parametrize("solver", [*PROXIMAL, "iterated_ridge"])
@pytest.mark.parametrize("penalty", [MCP(), SCAD()])
def test_concave_penalties_end_in_stationary_points(solver, penalty):
    X, y, _ = sparse_regression(100, 20, 4)
    problem = problem_of(X, y)
    best = fit_path(problem, penalty, 6, eps=0.1)
    path = fit_path(problem, penalty, best.strengths, solver=solver, control=Control(1e-8))
    assert not any("duality gap" in fit.certificate.parts for fit in path.fits)
    assert path.certificate.max() <= 1e-8
    # Columns are nearly orthogonal here, so that there is one optimum.
    np.testing.assert_allclose(
        path.coefficients().toarray(), best.coefficients().toarray(), atol=1e-5
    )


def test_hard_thresholding_finds_the_best_subset_of_orthogonal_columns():
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.standard_normal((60, 9)) - 0.0)[0]
    X -= X.mean(axis=0)
    X = np.linalg.qr(X)[0] * np.sqrt(60)
    y = X @ np.array([2.0, -1.0, 0.5, 0, 0, 0, 0, 0, 0.2]) + 0.1 * rng.standard_normal(60)
    problem = problem_of(X, y)
    prices = [0.6, 0.3, 0.05, 0.01]
    best = fit_path(problem, BestSubset(), prices)
    for solver in ("coordinate", *PROXIMAL):
        path = fit_path(problem, L0(), prices, solver=solver, control=Control(1e-9))
        np.testing.assert_allclose(
            path.coefficients().toarray(), best.coefficients().toarray(), atol=1e-6
        )


@pytest.mark.parametrize("likelihood", LIKELIHOODS[:3], ids=lambda one: one.name)
def test_hard_thresholding_leaves_coefficients_that_are_large_or_zero(likelihood):
    X, y, weights = labelled(likelihood, 400)
    problem = problem_of(X, y, likelihood=likelihood, sample_weight=weights)
    price = 0.01
    for solver in PROXIMAL:
        path = fit_path(problem, L0(), [price], solver=solver, control=Control(1e-8))
        coef = on_standard_scale(problem, path)
        assert path.certificate.max() <= 1e-8
        assert {0, 1} <= set(np.flatnonzero(coef))
        assert (coef == 0).any()
        # No coefficient pays less than its price: sqrt(2 price / L) is the threshold.
        steep = run_alone(problem, largest_eigenvalue(problem)) * 50
        assert np.abs(coef[coef != 0]).min() > np.sqrt(2 * price / steep)


def test_folds_share_their_passes_over_the_columns():
    X, y, _ = sparse_regression(40, 90, 3)
    problems = [problem_of(X, y, sample_weight=w) for w in np.eye(3)[np.arange(40) % 3].T + 1.0]
    stored = problems[0].table.stored
    for name in CLASSICAL_SOLVERS:
        solvers = [
            solve_classically(
                name, one, L1(), np.array([0.3, 0.2]), Terms.equal(90), Control(1e-3, 200)
            )
            for one in problems
        ]
        together = run_together(solvers, stored)
        for one, points in zip(problems, together, strict=True):
            alone = run_together(
                [
                    solve_classically(
                        name, one, L1(), np.array([0.3, 0.2]), Terms.equal(90), Control(1e-3, 200)
                    )
                ],
                stored,
            )[0]
            assert [p.n_iter for p in points] == [p.n_iter for p in alone]
            assert points[-1].loss == pytest.approx(alone[-1].loss, rel=1e-12)


def test_estimators_choose_alpha_by_any_solver():
    X, y, _ = sparse_regression(60, 80, 3)
    usual = SparseRegressor(method=FollowPath(alphas=12)).fit(X, y)
    for solver in ("fista", "sparsa"):
        model = SparseRegressor(method=FollowPath(solver=solver, alphas=12)).fit(X, y)
        assert model.alpha_ == pytest.approx(usual.alpha_)
        np.testing.assert_allclose(model.coef_, usual.coef_, atol=2e-3)
    labels = np.where(y > np.median(y), "high", "low")
    usual = SparseClassifier(alpha=0.05).fit(X, labels)
    model = SparseClassifier(alpha=0.05, method="fista").fit(X, labels)
    np.testing.assert_allclose(model.coef_, usual.coef_, atol=2e-3)


@pytest.mark.parametrize("solver", PROXIMAL)
def test_several_responses_have_the_same_optimum(solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 20))
    Y = X[:, :3] @ rng.standard_normal((3, 2)) + rng.standard_normal((80, 2)) + 5.0
    usual = SparseRegressor("group-lasso", 0.1, method=FollowPath(tol=1e-9)).fit(X, Y)
    model = SparseRegressor("group-lasso", 0.1, method=FollowPath(solver=solver, tol=1e-9)).fit(
        X, Y
    )
    np.testing.assert_allclose(model.coef_, usual.coef_, atol=1e-3)
    np.testing.assert_allclose(model.intercept_, usual.intercept_, atol=1e-3)


def test_a_limit_that_is_too_low_is_said_with_the_gap():
    X, y, _ = sparse_regression(60, 80, 3)
    with pytest.warns(ConvergenceWarning, match="the certificate reached"):
        SparseRegressor(
            alpha=0.01, method=FollowPath(solver="subgradient", alphas=3, max_iter=20)
        ).fit(X, y)


def test_a_response_that_nothing_explains_gives_the_empty_model():
    X, _, _ = sparse_regression(40, 10, 3)
    for solver in EXACT:
        path = fit_path(problem_of(X, np.zeros(40)), L1(), [0.1], solver=solver)
        assert path.size.max() == 0
        assert path.certificate.max() == 0


def test_impossible_triples_name_the_possible_ones():
    X, y, _ = sparse_regression(40, 10, 3)
    with pytest.raises(ValueError, match=r"'projected_gradient' cannot fit penalty 'MCP'.*'fista'"):
        fit_path(problem_of(X, y), MCP(), solver="projected_gradient")
    with pytest.raises(
        ValueError, match=r"'em' cannot fit .*poisson.*family 'gaussian' or 'probit'"
    ):
        fit_path(problem_of(X, np.ones(40), likelihood=Poisson()), L1(), solver="em")
    with pytest.raises(ValueError, match=r"'coordinate' cannot fit penalty 'l0'.*solver 'ista'"):
        fit_path(problem_of(X, np.ones(40), likelihood=Poisson()), L0())
    for name, family in ALL_FAMILIES.items():
        assert all(is_possible(L1(), name, solver) is not family.kinked for solver in PROXIMAL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_possible(GroupLasso(np.arange(9), "inf"), "gaussian", "em")


def test_subgradients_of_a_strong_ridge_do_not_run_away():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 10))
    y = (X[:, 0] > 0).astype(float)
    model = SparseRegressor(
        Ridge(),
        alpha=10.0,
        method=FollowPath(solver="subgradient", alphas=[10.0], tol=1e-3),
        family="binomial",
    ).fit(X, y)
    assert model.certificate_["duality gap"] <= 1e-3
