"""Copies have the moments that an exchange with their originals leaves as they are."""

import numpy as np
import pytest

from garrote.selecting.knockoffs.column_law import ColumnLaw
from garrote.selecting.knockoffs.copies import CopyLaw, FixedTable, law_of_copies
from garrote.selecting.knockoffs.exchangeability import largest_difference
from garrote.selecting.knockoffs.separation import AIMS
from knockoff_tables import covariance

EACH = np.arange(8)
TOGETHER = np.array([0, 0, 0, 1, 2, 2, 3, 4])


def columns(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_rows, 8)) @ (np.eye(8) + 0.4) * np.arange(1, 9) + 5


def separated(X, weights, groups, aim):
    """Return the copies, all rows with their weights, and X'X~ - X'X of these, from the definition."""
    table = FixedTable.of(X, weights, intercept=True)
    law = CopyLaw.of(table.mean, table.covariance, groups, aim)
    copies = table.copies(law, np.random.default_rng(1))
    rows, roots = table.longer()
    mean = np.average(X, axis=0, weights=weights)
    return roots[:, None] * (rows - mean), roots[:, None] * (copies - mean), roots, law


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("groups", [EACH, TOGETHER], ids=["columns", "groups"])
@pytest.mark.parametrize(("n_rows", "weighted"), [(40, False), (40, True), (11, False), (13, True)])
def test_fixed_copies_have_the_gram_matrix_of_their_originals(aim, groups, n_rows, weighted):
    weights = np.random.default_rng(3).uniform(0.5, 2, n_rows) if weighted else np.ones(n_rows)
    one, other, roots, law = separated(columns(n_rows), weights, groups, aim)
    gram = one.T @ one
    size = np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
    assert np.abs((other.T @ other - gram) / size).max() < 1e-10
    S = (gram - one.T @ other) / size
    apart = groups[:, None] != groups
    assert np.abs(S[apart]).max() < 1e-10
    assert np.abs(roots @ other).max() < 1e-8 * np.abs(other).max()  # no part of the intercept
    if groups is EACH:
        np.testing.assert_allclose(np.diag(S), law.separation.share, atol=1e-10)
    for group in range(groups.max() + 1):  # S_g = s_g Sigma_gg
        inside = np.ix_(groups == group, groups == group)
        np.testing.assert_allclose(
            S[inside], law.separation.share[group] * (gram / size)[inside], atol=1e-9
        )


def test_columns_that_are_equal_or_constant_are_their_own_copies():
    X = columns(40)
    X[:, 2] = X[:, 6]
    X[:, 4] = 7.25
    weights = np.random.default_rng(0).uniform(0.5, 2, 40)
    one, other, _, law = separated(X, weights, EACH, "mvr")
    assert law.separation.inseparable.tolist() == [2, 4, 6]
    np.testing.assert_array_equal(one[:, [2, 4, 6]], other[:, [2, 4, 6]])
    assert np.abs(one[:, 0] - other[:, 0]).max() > 0.1


def test_too_few_rows_for_fixed_copies_are_refused_with_their_number():
    with pytest.raises(ValueError, match="at least 10 of positive weight for 8 columns, got 9"):
        FixedTable.of(columns(9), np.ones(9), intercept=True)


def test_rows_that_are_added_have_the_noise_that_least_squares_leave():
    X, rng = columns(12), np.random.default_rng(0)
    y = X @ np.arange(8) + 3 * rng.standard_normal(12)
    table = FixedTable.of(X, np.ones(12), intercept=True)
    assert table.extra == 6
    left = (
        y
        - np.column_stack([np.ones(12), X])
        @ np.linalg.lstsq(np.column_stack([np.ones(12), X]), y)[0]
    )
    noise = np.sqrt(left @ left / (12 - 9))
    longer = table.longer_response(y, np.random.default_rng(5))
    np.testing.assert_array_equal(longer[:12], y)
    np.testing.assert_allclose(
        longer[12:], y.mean() + noise * np.random.default_rng(5).standard_normal(6)
    )


@pytest.mark.parametrize("n_rows", [17, 18, 40, 13])
@pytest.mark.parametrize("intercept", [True, False])
def test_turned_rows_have_the_weighted_cross_products_of_the_given_ones(n_rows, intercept):
    rng = np.random.default_rng(0)
    X, y, weights = columns(n_rows), rng.standard_normal(n_rows) + 4, rng.uniform(0.5, 2, n_rows)
    table = FixedTable.of(X, weights, intercept)
    law = CopyLaw.of(table.mean, table.covariance, EACH, "mvr")
    copies, y = table.copies(law, rng), table.longer_response(y, rng)
    rows, roots = table.longer()
    level = np.average(y, weights=roots**2) if intercept else 0.0
    before = np.column_stack([rows - table.mean, copies - table.mean, y - level]) * roots[:, None]
    turned = np.column_stack(table.turned(copies, y, rng))
    after = turned - np.r_[table.mean, table.mean, level]
    np.testing.assert_allclose(after.T @ after, before.T @ before, atol=1e-8 * (before**2).sum())
    assert np.abs(after - before).max() > 0.1
    if intercept:
        np.testing.assert_allclose(after.sum(axis=0), 0, atol=1e-7)


@pytest.mark.parametrize("groups", [np.arange(6), np.array([0, 0, 1, 1, 2, 3])])
def test_drawn_copies_have_the_joint_covariance_of_the_law(groups):
    sigma, mean, rng = (
        covariance(0.6, 6) * np.outer(np.arange(1, 7), np.arange(1, 7)),
        np.arange(6.0),
        np.random.default_rng(0),
    )
    n_rows = 40_000
    X = rng.multivariate_normal(mean, sigma, n_rows)
    law = law_of_copies(ColumnLaw(mean, sigma, 0.0, True), groups, "mvr")
    copies = law.draw(X, rng)
    back, each = law.coordinates.back, law.separation.each
    S = back.T @ np.diag(each) @ back
    expected = np.block([[sigma, sigma - S], [sigma - S, sigma]])
    found = np.cov(np.hstack([X, copies]), rowvar=False)
    size = np.sqrt(np.diag(expected))
    error = np.abs(found - expected) / np.outer(size, size) * np.sqrt(n_rows)
    assert error.max() < 5  # standard errors are at most sqrt(2)
    np.testing.assert_allclose(copies.mean(axis=0), mean, atol=0.2)
    assert largest_difference(X - mean, copies - mean, np.ones(n_rows), groups) < 0.05


def test_copies_that_are_no_copies_are_told():
    X = columns(300) - columns(300).mean(axis=0)
    shuffled = X[np.random.default_rng(0).permutation(300)]
    assert largest_difference(X, shuffled, np.ones(300), EACH) > 0.3
    assert largest_difference(X, X, np.ones(300), EACH) < 1e-12
