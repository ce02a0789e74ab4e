"""Designs whose groups of columns are seen in coordinates of their own."""

import numpy as np
import pytest
import scipy.sparse

from garrote.designs.rotation import Rotation
from garrote.problem import Problem
from garrote.solvers.algebra.group_coordinates import GroupCoordinates

GROUPS = np.array([0, 1, 0, 2, 1, 3, 0, 4])


def rows(seed=0, n=30):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8)) @ rng.standard_normal((8, 8)) + 3.0
    X[:, 6] = X[:, 0] - 2 * X[:, 2]  # linearly dependent within its group
    X[:, 3] = 1.5  # without content
    return X, rng.standard_normal(n), rng.integers(0, 4, n).astype(float)


@pytest.mark.parametrize("covariates", [None, [5]])
@pytest.mark.parametrize("store", [np.asarray, scipy.sparse.csc_array])
def test_a_rotated_design_is_the_matrix_times_the_turn(store, covariates):
    X, y, weights = rows()
    problem = Problem.from_rows(store(X), y, weights, covariates=covariates)
    coordinates = GroupCoordinates.of(problem, GROUPS)
    turned, everyone = coordinates.problem, np.arange(8)
    _, turn = coordinates.turn(everyone)
    Z = problem.table.block(everyone) @ turn
    table, some = turned.table, np.array([6, 1, 5, 0])
    np.testing.assert_allclose(table.block(some), Z[:, some], atol=1e-9)
    coef = np.random.default_rng(1).standard_normal((4, 2))
    np.testing.assert_allclose(table.dot(some, coef), Z[:, some] @ coef, atol=1e-9)
    r = table.project((weights > 0) * np.ones(30)[:, None]).T
    np.testing.assert_allclose(table.tdot(r), (r * weights) @ Z, atol=1e-8)
    np.testing.assert_allclose(table.products(some, r[0]), ((r * weights) @ Z)[0, some], atol=1e-8)
    gram = Z.T @ (weights[:, None] * Z)
    np.testing.assert_allclose(table.gram(some, everyone), gram[some], atol=1e-7)
    np.testing.assert_allclose(turned.whole_gram(), gram, atol=1e-7)
    np.testing.assert_allclose(turned.xty, Z.T @ (weights * problem.response), atol=1e-8)
    np.testing.assert_allclose(turned.curvature, np.diag(gram), atol=1e-7)


def test_coordinates_of_a_group_are_orthogonal_and_of_one_length_and_empty_ones_are_left_out():
    X, y, _ = rows()
    problem = Problem.from_rows(X, y)
    coordinates = GroupCoordinates.of(problem, GROUPS)
    gram, first = coordinates.problem.whole_gram(), np.array([0, 2, 6])
    np.testing.assert_allclose(gram[np.ix_(first, first)], np.diag([30.0, 30.0, 0.0]), atol=1e-8)
    assert [block.rank for block in coordinates.rotation.blocks] == [2, 2]
    np.testing.assert_allclose(gram[5, [5, 7]], problem.whole_gram()[5, [5, 7]])


def test_moments_turn_as_rows_do():
    X, y, _ = rows()
    X, y = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-3), y - y.mean()
    by_rows = GroupCoordinates.of(Problem.from_rows(X, y), GROUPS).problem
    moments = Problem.from_moments(X.T @ X, X.T @ y, y @ y, len(y))
    by_moments = GroupCoordinates.of(moments, GROUPS).problem
    np.testing.assert_allclose(
        np.abs(by_moments.xty), np.abs(by_rows.xty), atol=1e-6
    )  # directions have no sign
    np.testing.assert_allclose(by_moments.curvature, by_rows.curvature, atol=1e-8)


def test_groups_of_one_column_leave_the_problem_alone():
    X, y, _ = rows()
    problem = Problem.from_rows(X, y)
    assert GroupCoordinates.of(problem, np.arange(8)).problem is problem
    assert GroupCoordinates.of(problem, None).problem is problem
    assert not Rotation(np.arange(8), problem.curvature, problem.known_block, problem.n)


def test_coordinates_that_are_orthogonal_with_the_covariates_are_shorter_beside_them():
    X, y, weights = rows()
    X[:, 4] = X[:, 1] + X[:, 5]  # beside covariate 5 the second group has one direction
    problem = Problem.from_rows(X, y, weights, covariates=[5])
    coordinates = GroupCoordinates.of(problem, GROUPS, projected=False)
    table, group = coordinates.problem.table, np.array([1, 4])
    raw = table.block(group, projected=False)
    np.testing.assert_allclose(raw.T @ (weights[:, None] * raw), problem.n * np.eye(2), atol=1e-8)
    gram = coordinates.problem.whole_gram()
    np.testing.assert_allclose(coordinates.problem.curvature, np.diag(gram), atol=1e-8)
    assert np.linalg.matrix_rank(gram[np.ix_(group, group)], tol=1e-6) == 1
