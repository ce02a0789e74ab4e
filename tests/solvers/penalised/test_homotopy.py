"""The homotopy solver: exact knots, ties, variables that leave, and the same optimum as coordinates."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from sklearn.datasets import load_diabetes
from sklearn.linear_model import lars_path
from sklearn.preprocessing import PolynomialFeatures

from garrote import Problem, fit_path
from garrote.likelihoods import Poisson
from garrote.penalties import L1, MCP, AdaptiveLasso, ElasticNet, L1WithRidge, Ridge, Terms
from garrote.solvers.control import Control
from reference import sparse_regression


def problem_of(X, y, **settings):
    return Problem.from_rows(X, y, scale_response=False, **{"standardize": False, **settings})


def centred(X, y):
    return X - X.mean(axis=0), y - y.mean()


def correlated(n, d, seed=0):
    """Neighbouring columns pull at each other: many variables leave on the way."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1:] += X[:, :-1].copy()
    return centred(X, X[:, :3] @ [1.0, -1.0, 2.0] + rng.standard_normal(n))


def diabetes_with_interactions():
    X, y = load_diabetes(return_X_y=True)
    terms = PolynomialFeatures(2, include_bias=False)
    X = terms.fit_transform(X / X.std(axis=0))
    X = X[:, terms.get_feature_names_out() != "x1^2"]  # of two sexes, which the column itself has
    return centred(X / X.std(axis=0), y / y.std())


def least_angle_regression(X, y):
    """Follow Efron et al. (2004), section 2, step by step; all knots and coefficients there."""
    n, d = X.shape
    coef, active = np.zeros(d), []
    knots = [(np.abs(X.T @ y).max() / n, coef.copy())]
    for _ in range(min(d, n - 1)):
        c = X.T @ (y - X @ coef)
        largest = np.abs(c).max()
        if not active:
            active = [int(np.abs(c).argmax())]
        signs = np.sign(c[active])
        oriented = X[:, active] * signs
        inverse = np.linalg.inv(oriented.T @ oriented)
        angle = inverse.sum() ** -0.5  # 2.5
        weights = angle * inverse.sum(axis=1)  # 2.6
        a = X.T @ (oriented @ weights)  # 2.11
        ends = [(largest / angle, None)]
        for j in set(range(d)) - set(active):  # 2.13
            both = [(largest - c[j]) / (angle - a[j]), (largest + c[j]) / (angle + a[j])]
            ends.append((min(t for t in both if t > 0), j))
        length, newcomer = min(ends, key=lambda end: end[0])
        coef[active] += length * signs * weights
        knots.append(((largest - length * angle) / n, coef.copy()))
        active = [*active, newcomer]
    return np.array([k[0] for k in knots]), np.array([k[1] for k in knots])


# --- knots


@pytest.mark.parametrize("data", [lambda: correlated(60, 20), lambda: correlated(40, 150),
                                  diabetes_with_interactions])  # fmt: skip
def test_knots_are_those_of_scikit_learn(data):
    X, y = data()
    path = fit_path(problem_of(X, y), L1(), solver="homotopy")
    alphas, _, coefs = lars_path(X, y, method="lasso", max_iter=100_000)
    assert len(path) == len(alphas)
    np.testing.assert_allclose(path.strengths, alphas, atol=1e-10)
    np.testing.assert_allclose(path.coefficients().toarray(), coefs.T, atol=1e-8)
    assert path.certificate.max() < 1e-10
    assert path.cut is None
    assert path.strengths[-1] == 0.0


@pytest.mark.parametrize(("n", "d"), [(60, 20), (30, 20), (15, 40)])
def test_least_angle_regression_is_the_published_algorithm(n, d):
    X, y = correlated(n, d)
    path = fit_path(problem_of(X, y), L1(), solver="least-angle")
    alphas, coefs = least_angle_regression(X, y)
    np.testing.assert_allclose(path.strengths, alphas, atol=1e-10)
    np.testing.assert_allclose(path.coefficients().toarray(), coefs, atol=1e-8)
    assert all(move.enters for move in path.moves)


def test_least_angle_regression_is_that_of_scikit_learn_on_diabetes():
    X, y = load_diabetes(return_X_y=True)
    X, y = centred(X, y)
    path = fit_path(problem_of(X, y), L1(), solver="least-angle")
    alphas, order, coefs = lars_path(X, y, method="lar")
    np.testing.assert_allclose(path.strengths, alphas, atol=1e-10)
    np.testing.assert_allclose(path.coefficients().toarray(), coefs.T, rtol=1e-8)
    assert [move.column for move in path.moves] == list(order)


def test_least_angle_regression_is_the_lasso_until_a_coefficient_changes_its_sign():
    X, y = correlated(60, 20)
    angle = fit_path(problem_of(X, y), L1(), solver="least-angle")
    coef = angle.coefficients().toarray()
    kept = [np.all(coef[: k + 1] * coef[k] >= 0) for k in range(len(angle))]
    first = kept.index(False)
    assert angle.certificate[:first].max() < 1e-10
    assert angle.certificate[first] > 1e-6


@pytest.mark.parametrize("data", [lambda: correlated(60, 20), lambda: correlated(30, 80),
                                  diabetes_with_interactions])  # fmt: skip
def test_both_solvers_agree_at_knots_and_between(data):
    X, y = data()
    problem = problem_of(X, y)
    knots = fit_path(problem, L1(), eps=1e-3, solver="homotopy")
    middle = (knots.strengths[1:] + knots.strengths[:-1]) / 2
    alphas = np.sort(np.append(knots.strengths, middle))[::-1]
    exact = fit_path(problem, L1(), alphas, solver="homotopy")
    swept = fit_path(problem, L1(), alphas, control=Control(1e-12))
    assert exact.certificate.max() < 1e-10
    np.testing.assert_allclose(
        exact.coefficients().toarray(), swept.coefficients().toarray(), atol=1e-7
    )
    np.testing.assert_allclose(
        exact.coefficients().toarray()[::2], knots.coefficients().toarray(), atol=1e-12
    )


def test_strengths_above_the_first_knot_have_empty_models_and_order_does_not_matter():
    X, y = correlated(60, 20)
    problem = problem_of(X, y)
    first = fit_path(problem, L1(), solver="homotopy").strengths[0]
    alphas = first * np.array([0.3, 2.0, 0.0, 1.0])
    path = fit_path(problem, L1(), alphas, solver="homotopy")
    np.testing.assert_allclose(path.strengths, np.sort(alphas)[::-1])
    assert list(path.size[:2]) == [0, 0]
    assert path.certificate.max() < 1e-10
    least_squares = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(path.coefficients().toarray()[-1], least_squares, atol=1e-10)


def test_moments_rows_and_sparse_matrices_give_the_same_knots():
    X, y = correlated(40, 60)
    X[np.abs(X) < 0.7] = 0.0
    rows = fit_path(problem_of(X, y, fit_intercept=False), L1(), eps=1e-3, solver="homotopy")
    moments = Problem.from_moments(X.T @ X, X.T @ y, float(y @ y), 40, standardize=False)
    sparse = problem_of(scipy.sparse.csc_array(X), y, fit_intercept=False)
    for problem in (moments, sparse):
        other = fit_path(problem, L1(), eps=1e-3, solver="homotopy")
        np.testing.assert_allclose(rows.strengths, other.strengths, atol=1e-10)
        np.testing.assert_allclose(
            rows.coefficients().toarray(), other.coefficients().toarray(), atol=1e-8
        )


def test_weights_count_as_repeats():
    X, y = correlated(30, 10)
    weights = np.random.default_rng(0).integers(0, 4, 30)
    weighted = fit_path(problem_of(X, y, sample_weight=weights), L1(), solver="homotopy")
    repeated = problem_of(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    same = fit_path(repeated, L1(), solver="homotopy")
    np.testing.assert_allclose(weighted.strengths, same.strengths, atol=1e-12)
    np.testing.assert_allclose(
        weighted.coefficients().toarray(), same.coefficients().toarray(), atol=1e-10
    )


# --- who comes and goes


def test_moves_tell_the_model_at_every_knot():
    X, y = diabetes_with_interactions()
    path = fit_path(problem_of(X, y), L1(), solver="homotopy")
    assert sum(not move.enters for move in path.moves) > 10
    inside = set()
    for move in path.moves:
        (inside.add if move.enters else inside.remove)(move.column)
    assert inside == set(np.flatnonzero(path.coefficients().toarray()[-1]))
    assert [move.strength for move in path.moves] == list(path.strengths[:-1])


def test_with_more_columns_than_rows_the_path_ends_in_an_interpolation():
    X, y = correlated(30, 100)
    path = fit_path(problem_of(X, y), L1(), solver="homotopy")
    assert path.size.max() == 29
    assert path.fits[-1].loss < 1e-20
    assert path.certificate.max() < 1e-10


def test_too_many_knots_are_said_and_strengths_below_are_solved_by_coordinates():
    X, y = correlated(60, 20)
    problem = problem_of(X, y)
    short = fit_path(problem, L1(), solver="homotopy", control=Control(1e-6, max_iter=5))
    assert "after 5 knots" in short.cut
    alphas = short.strengths[0] * np.array([0.5, 0.01])
    both = fit_path(problem, L1(), alphas, solver="homotopy", control=Control(1e-12, max_iter=5))
    assert list(both.strengths) == list(alphas)
    assert both.certificate.max() < 1e-10


# --- ties (scikit-learn #9603 and #17183, mlpack #2767)


def test_duplicated_columns_tie_and_stay_optimal():
    X, y = correlated(60, 15)
    twice = np.hstack([X, X, -X[:, :5]])
    path = fit_path(problem_of(twice, y), L1(), solver="homotopy")
    alone = fit_path(problem_of(X, y), L1(), solver="homotopy")
    assert path.certificate.max() < 1e-10
    np.testing.assert_allclose(np.unique(path.strengths), np.unique(alone.strengths), atol=1e-10)
    coef = path.coefficients().toarray()
    folded = coef[:, :15] + coef[:, 15:30]
    folded[:, :5] -= coef[:, 30:]
    np.testing.assert_allclose(folded, alone.coefficients().toarray(), atol=1e-8)


def test_a_symmetric_design_lets_tied_variables_in_together():
    X = scipy.linalg.hadamard(16)[:, 1:].astype(float)
    y = X @ np.repeat([3.0, -2.0, 0.0], 5)
    path = fit_path(problem_of(X, y), L1(), solver="homotopy")
    np.testing.assert_allclose(path.strengths, [3.0, 2.0, 0.0], atol=1e-12)
    assert list(path.size) == [0, 5, 10]
    assert path.certificate.max() < 1e-10


def test_not_all_that_tie_move():
    """The third column ties with the first two, whose sum it is; it is never needed."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((30, 3)))[0]
    basis -= basis.mean(axis=0)
    basis = np.linalg.qr(basis)[0] * np.sqrt(30)
    X = np.column_stack([basis[:, 0], basis[:, 1], basis[:, :2] @ [0.5, 0.5]])
    path = fit_path(problem_of(X, basis @ [1.0, 1.0, 0.3]), L1(), solver="homotopy")
    assert path.certificate.max() < 1e-10
    assert {move.column for move in path.moves} == {0, 1}


@pytest.mark.parametrize("seed", range(20))
def test_integer_designs_with_many_ties_are_certified_along_the_whole_path(seed):
    """Small integers make joins, leaves and dependent columns coincide."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(6, 14), rng.integers(4, 24)
    X = rng.integers(-1, 2, (n, d)).astype(float)
    y = rng.integers(-2, 3, n).astype(float)
    problem = problem_of(X, y, fit_intercept=bool(seed % 2))
    knots = fit_path(problem, L1(), solver="homotopy")
    assert knots.cut is None
    assert knots.certificate.max() < 1e-10
    middle = np.unique((knots.strengths[1:] + knots.strengths[:-1]) / 2)
    if len(middle):
        assert fit_path(problem, L1(), middle, solver="homotopy").certificate.max() < 1e-10


def test_several_variables_may_leave_at_one_knot():
    """Two copies of one problem in separate rows: everything happens twice, at the same alpha."""
    X, y = correlated(60, 12, seed=3)
    empty = np.zeros_like(X)
    both = np.block([[X, empty], [empty, X]])
    one = fit_path(problem_of(X, y), L1(), solver="homotopy")
    two = fit_path(problem_of(both, np.tile(y, 2)), L1(), solver="homotopy")
    assert sum(not move.enters for move in one.moves) > 0
    assert len(two) == len(one)
    np.testing.assert_allclose(2 * two.strengths, one.strengths, atol=1e-10)
    assert two.certificate.max() < 1e-10


def test_nearly_dependent_columns_do_no_harm():
    X, y = correlated(60, 15)
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-6, 1e-9, 1e-12):
        near = X + size * rng.standard_normal(X.shape)
        path = fit_path(problem_of(np.hstack([X, near]), y), L1(), eps=1e-3, solver="homotopy")
        assert path.certificate.max() < 1e-10


# --- other penalties


@pytest.mark.parametrize(("n", "d"), [(60, 20), (30, 80)])
def test_a_fixed_ridge_is_the_lasso_on_more_rows(n, d):
    """Exercise 13.5: sqrt(N ridge) times the identity below X, zeros below y."""
    X, y = correlated(n, d)
    ridge = 0.3
    more = np.vstack([X, np.sqrt(n * ridge) * np.eye(d)])
    alphas, _, coefs = lars_path(more, np.append(y, np.zeros(d)), method="lasso", max_iter=10**5)
    path = fit_path(problem_of(X, y), L1WithRidge(ridge), solver="homotopy")
    np.testing.assert_allclose(path.strengths, alphas * (n + d) / n, atol=1e-10)
    np.testing.assert_allclose(path.coefficients().toarray(), coefs.T, atol=1e-8)
    assert path.certificate.max() < 1e-10
    assert path.size[-1] == d


def test_both_solvers_agree_on_a_fixed_ridge_and_on_the_elastic_net():
    X, y = correlated(30, 80)
    problem = problem_of(X, y)
    for penalty in (L1WithRidge(0.2), ElasticNet(0.7)):
        swept = fit_path(problem, penalty, 8, control=Control(1e-12))
        exact = fit_path(problem, penalty, swept.strengths, solver="homotopy")
        assert exact.certificate.max() < 1e-10
        np.testing.assert_allclose(
            exact.coefficients().toarray(), swept.coefficients().toarray(), atol=1e-8
        )


def test_adaptive_lassos_and_corrected_elastic_nets_can_be_walked():
    X, y = correlated(60, 20)
    problem = problem_of(X, y)
    for penalty in (AdaptiveLasso(), AdaptiveLasso(first="ridge"), ElasticNet(0.7, corrected=True)):
        swept = fit_path(problem, penalty, 8, control=Control(1e-12))
        exact = fit_path(problem, penalty, swept.strengths, solver="homotopy")
        assert exact.certificate.max() < 1e-10
        np.testing.assert_allclose(
            exact.coefficients().toarray(), swept.coefficients().toarray(), atol=1e-6
        )
    assert len(fit_path(problem, AdaptiveLasso(), solver="homotopy").moves) >= 3


def test_factors_and_variables_that_are_always_in():
    X, y = correlated(60, 20)
    terms = Terms.equal(20)
    terms.factor[:] = np.linspace(0.5, 2.0, 20)
    terms.factor[[4, 7]] = 0.0
    path = fit_path(problem_of(X, y), L1(), solver="homotopy", terms=terms)
    assert path.certificate.max() < 1e-10
    assert set(np.flatnonzero(path.coefficients().toarray()[0])) == {4, 7}
    swept = fit_path(problem_of(X, y), L1(), path.strengths[:-1], terms=terms)
    np.testing.assert_allclose(
        path.coefficients().toarray()[:-1], swept.coefficients().toarray(), atol=1e-6
    )


def test_signs_are_kept_and_the_first_knot_knows_of_them():
    """Scikit-learn PR #32768: the largest alpha has to heed the constraint."""
    X, y = correlated(40, 60)
    y = -np.abs(y) + y.mean() - X[:, 0]
    y -= y.mean()
    terms = Terms(np.ones(60), np.zeros(60), np.full(60, np.inf))
    path = fit_path(problem_of(X, y), L1(), solver="homotopy", terms=terms)
    coef = path.coefficients().toarray()
    assert coef.min() >= 0
    assert path.strengths[0] == pytest.approx((X.T @ y).max() / 40)
    assert path.size[1] == 1
    assert path.certificate.max() < 1e-10
    alphas, _, theirs = lars_path(X, y, method="lasso", positive=True, max_iter=10**5)
    np.testing.assert_allclose(path.strengths[:10], alphas[:10], atol=1e-10)
    np.testing.assert_allclose(coef[:10], theirs.T[:10], atol=1e-8)


# --- bad input and hard cases


def test_a_constant_response_and_constant_columns_give_the_null_path():
    X, y = correlated(30, 5)
    null = fit_path(problem_of(X, np.full(30, 2.0)), L1(), solver="homotopy")
    assert list(null.strengths) == [0.0]
    assert null.size[0] == 0
    X = np.column_stack([X, np.full(30, 7.0), np.zeros(30)])
    path = fit_path(problem_of(X, y), L1(), solver="homotopy")
    assert path.certificate.max() < 1e-10
    assert not path.coefficients().toarray()[:, 5:].any()


def test_one_column_has_two_knots():
    X, y = correlated(30, 1 + 3)
    path = fit_path(problem_of(X[:, :1], y), L1(), solver="homotopy")
    assert path.coefficients().shape == (2, 1)
    assert path.certificate.max() < 1e-10


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_knots_do_not_depend_on_the_units(scale):
    X, y = correlated(30, 40)
    one = fit_path(problem_of(X, y), L1(), eps=1e-8, solver="homotopy")
    other = fit_path(problem_of(X * scale, y / scale), L1(), eps=1e-8, solver="homotopy")
    np.testing.assert_allclose(one.strengths, other.strengths, rtol=1e-8)
    np.testing.assert_allclose(
        one.coefficients().toarray(), other.coefficients().toarray() * scale**2, atol=1e-8
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": Ridge(), "strengths": 5}, "cannot fit penalty 'ridge'"),
        ({"prior": MCP()}, "cannot fit penalty '.*' with a gaussian response: .*'coordinate'"),
        ({"prior": ElasticNet(0.5)}, "no knots: give `strengths`, or use garrote.penalties.L1With"),
        ({"prior": L1(), "solver": "lars"}, "must be one of .*'homotopy', 'least-angle'.*'lars'"),
        (
            {"prior": L1(), "terms": Terms(np.ones(6), np.full(6, -1.0), np.full(6, np.inf))},
            "column 0 has -1 to inf",
        ),
    ],
)
def test_what_cannot_be_walked_is_refused_with_the_remedy(settings, message):
    X, y = correlated(30, 6)
    with pytest.raises(ValueError, match=message):
        fit_path(problem_of(X, y), **{"solver": "homotopy", **settings})


def test_other_likelihoods_are_refused():
    X, y = correlated(30, 6)
    counts = np.round(np.exp(0.1 * y))
    with pytest.raises(ValueError, match=r"with a poisson response.*solver 'coordinate'"):
        fit_path(problem_of(X, counts, likelihood=Poisson()), L1(), solver="homotopy")


def test_a_larger_problem_is_certified_at_every_knot():
    X, y, _ = sparse_regression(150, 400, 10, correlation=0.7)
    path = fit_path(problem_of(X, y, standardize=True), L1(), solver="homotopy")
    assert path.certificate.max() < 1e-10
    assert path.cut is None
