"""Memory: no method needs many times the memory of X beside it."""

import tracemalloc

import numpy as np
import pytest

from garrote import Problem
from garrote.designs import DenseDesign
from garrote.estimators import BayesianSelector, SparseRegressor
from garrote.penalties import GroupLasso
from garrote.solvers.gram_rows import ROOM, GramRows

FEW = {"n_steps": 100, "burn_in": 20, "n_chains": 2, "random_state": 0}


def table(rows, columns):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((rows, columns)))
    return X, X[:, :3].sum(axis=1) + rng.standard_normal(rows)


def peak(work):
    """Return the largest number of bytes that some work held at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# Each is some way above what is needed now, and below what all folds or copies at once need.
@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda: SparseRegressor("mcp", alphas=15, cv=3), 3.0),
        (lambda: SparseRegressor(GroupLasso(groups=np.arange(600) // 5), alphas=10, cv=3), 3.0),
        (lambda: SparseRegressor("fused-lasso", alphas=5, cv=3), 4.0),
        (lambda: BayesianSelector(method="em"), 2.5),
    ],
    ids=["mcp", "group lasso", "fused lasso", "em"],
)
def test_a_fit_needs_a_few_times_the_memory_of_x(make, most):
    X, y = table(400, 600)
    assert peak(lambda: make().fit(X, y)) < most * X.nbytes


def test_columns_are_copied_once():
    X, _ = table(1000, 3000)
    everything, zero = np.arange(3000), np.zeros(3000)
    design = DenseDesign(X)
    assert peak(lambda: design.take(everything, zero)) < 1.3 * X.nbytes
    ones = np.ones(3000), np.ones(1000)
    products = 8 * 3000 * 500
    needed = peak(lambda: design.gram(everything, everything[:500], zero, *ones))
    assert needed < products + 0.8 * X.nbytes


def test_all_cross_products_need_no_second_copy():
    X, y = table(300, 1500)
    table_of = Problem.from_rows(X, y).table
    assert peak(table_of.whole_gram) < 1.5 * 8 * 1500**2


def test_rows_of_the_gram_matrix_that_are_kept_have_a_limit_in_bytes():
    X, y = table(20, 5000)
    assert GramRows(Problem.from_rows(X, y)).rows.nbytes <= ROOM
