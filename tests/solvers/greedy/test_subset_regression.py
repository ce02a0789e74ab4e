"""The engine of greedy searches against fits made anew."""

import numpy as np
import pytest
import scipy.sparse

from garrote import Problem
from garrote.greedy import SubsetRegression
from garrote.paths.penalised import run_alone
from garrote.solvers.greedy import ColumnUnits
from reference_greedy import least_squares


def table(n=60, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    return X, X @ rng.standard_normal(d) + rng.standard_normal(n), rng.uniform(0.2, 2.0, n)


def standardised(X, y, weights):
    """Return rows whose plain least squares is the weighted one of standardised columns."""
    total = weights.sum()
    centred = X - weights @ X / total
    scaled = centred / np.sqrt(weights @ centred**2 / total)
    root = np.sqrt(weights)
    return root[:, None] * scaled, root * (y - weights @ y / total)


@pytest.mark.parametrize("kind", ["dense", "sparse", "gram"])
def test_a_hundred_changes_agree_with_fits_made_anew(kind):
    X, y, weights = table()
    plain, response = standardised(X, y, weights)
    given = scipy.sparse.csc_array(X) if kind == "sparse" else X
    problem = Problem.from_rows(given, y, weights, scale_response=False)
    problem = problem.compressed() if kind == "gram" else problem
    regression, rng = SubsetRegression(problem), np.random.default_rng(1)
    for _ in range(100):
        j = int(rng.integers(12))
        if regression.inside[j]:
            regression.remove(j)
        else:
            run_alone(problem, regression.add(j))
        members = regression.members
        coef, left = least_squares(plain, response, members)
        np.testing.assert_allclose(regression.left, left, rtol=1e-10)
        np.testing.assert_allclose(regression.coef(), coef[members], atol=1e-10)
    product = plain.T @ (response - plain @ coef)
    outside = np.flatnonzero(~regression.inside)
    np.testing.assert_allclose(
        regression.scores()[outside], (product**2 / np.sum(plain**2, axis=0))[outside], atol=1e-9
    )
    gains = [left - least_squares(plain, response, [*members, j])[1] for j in outside]
    np.testing.assert_allclose(regression.gains()[outside], gains, atol=1e-9)
    units, rises = regression.losses()
    expected = [least_squares(plain, response, members[members != j])[1] - left for j in units]
    np.testing.assert_allclose(rises, expected, atol=1e-9)


def test_gains_and_losses_of_groups_are_those_of_fits_made_anew():
    X, y, weights = table()
    plain, response = standardised(X, y, weights)
    groups = np.array([0, 0, 0, 1, 1, 2, 3, 3, 4, 4, 4, 5])
    problem, units = Problem.from_rows(X, y, weights, scale_response=False), ColumnUnits(12, groups)
    regression = SubsetRegression(problem, units)
    run_alone(problem, regression.become([1, 4]))
    inside = np.flatnonzero(np.isin(groups, [1, 4]))
    left = least_squares(plain, response, inside)[1]
    gains = [
        left - least_squares(plain, response, [*inside, *units.columns(g)])[1] for g in (0, 2, 3, 5)
    ]
    np.testing.assert_allclose(regression.gains()[[0, 2, 3, 5]], gains, rtol=1e-9)
    rises = [least_squares(plain, response, units.columns(g))[1] - left for g in (4, 1)]
    np.testing.assert_allclose(regression.losses()[1], rises, rtol=1e-9)
    assert regression.left_by([1, 4]) == pytest.approx(left, rel=1e-12)


def test_the_best_exchange_is_the_best_of_all():
    X, y, weights = table()
    plain, response = standardised(X, y, weights)
    problem = Problem.from_rows(X, y, weights, scale_response=False)
    regression = SubsetRegression(problem)
    run_alone(problem, regression.become([0, 3, 5]))
    left, found = regression.left, {}
    for gone in (0, 3, 5):
        for new in set(range(12)) - {0, 3, 5}:
            kept = [j for j in (0, 3, 5) if j != gone]
            found[gone, new] = left - least_squares(plain, response, [*kept, new])[1]
    best = max(found, key=found.get)
    gain, leaves, comes = regression.best_swap()
    assert (leaves, comes) == best
    assert gain == pytest.approx(found[best], rel=1e-9)


def test_copies_and_constant_columns_add_nothing():
    X, y, _ = table(d=4)
    X = np.column_stack([X, X[:, 0], np.ones(len(X))])
    problem = Problem.from_rows(X, y)
    regression = SubsetRegression(problem)
    run_alone(problem, regression.add(0))
    assert regression.gains()[4] == 0.0
    assert regression.gains()[5] == 0.0
    run_alone(problem, regression.add(4))
    np.testing.assert_array_equal(regression.members, [0])
    assert np.isinf(regression.left_by([0, 4]))


def test_more_columns_than_room_at_first_are_taken_in():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 90))
    y = X @ rng.standard_normal(90) + rng.standard_normal(120)
    problem = Problem.from_rows(X, y)
    regression = SubsetRegression(problem)
    run_alone(problem, regression.become(range(90)))
    expected = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    found = problem.scale.coefficients(regression.members, regression.coef())
    np.testing.assert_allclose(found, expected, atol=1e-10)
