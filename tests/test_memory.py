"""Memory: no method needs many times the memory of X beside it."""

import tracemalloc

import numpy as np
import pytest

from garrote import Problem
from garrote.designs import DenseDesign
from garrote.limits.budgets import GRAM_BYTES
from garrote.penalties import L1, MCP, GroupLasso
from garrote.selecting.cross_validation import run_in_threads
from garrote.selecting.penalty_validation import _needs_much
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.algebra.weighted_ridge import WeightedRidge
from garrote.solvers.descent.working_block import WorkingBlock

# Bytes of a block of columns that is copied at a time.
PIECE = 8 << 19


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


def test_columns_are_copied_once():
    X, y = table(1000, 3000)
    everything, zero = np.arange(3000), np.zeros(3000)
    design = DenseDesign(X)
    assert peak(lambda: design.take(everything, zero)) < X.nbytes + 4 * PIECE
    ones = np.ones(3000), np.ones(1000)
    products = 8 * 3000 * 500
    needed = peak(lambda: design.gram(everything, everything[:500], zero, *ones))
    assert needed < products + 0.8 * X.nbytes
    problem = Problem.from_rows(X, y)
    assert peak(lambda: WorkingBlock(problem).grow(everything)) < X.nbytes + 4 * PIECE


def test_all_cross_products_need_no_second_copy():
    X, y = table(300, 1500)
    table_of = Problem.from_rows(X, y).table
    assert peak(table_of.whole_gram) < 1.5 * 8 * 1500**2


def test_rows_of_the_gram_matrix_that_are_kept_have_a_limit_in_bytes():
    X, y = table(20, 5000)
    assert GramRows(Problem.from_rows(X, y)).rows.nbytes <= GRAM_BYTES


def test_steps_of_em_copy_only_pieces_of_x():
    X, y = table(500, 6000)
    problem = Problem.from_rows(X, y)
    made = []
    assert peak(lambda: made.append(WeightedRidge(problem))) < X.nbytes + 4 * PIECE
    assert peak(lambda: made[0].solve(np.full(6000, 1e-3))) < X.nbytes


@pytest.mark.parametrize(("in_turn", "most"), [(True, 1), (False, 4)])
def test_folds_with_large_working_sets_are_solved_one_after_the_other(in_turn, most):
    alive = []

    def task(number):
        alive.append(number)
        seen = len(alive)
        yield np.zeros((1, 5))
        seen = max(seen, len(alive))
        alive.remove(number)
        return seen

    design = DenseDesign(np.zeros((5, 2)))
    assert max(run_in_threads([task(k) for k in range(4)], design, 1, in_turn)) == most


def test_which_folds_have_large_working_sets():
    X, y = table(40, 60)
    problem = Problem.from_rows(X, y)
    groups = GroupLasso(groups=tuple(np.arange(60) // 3))
    assert _needs_much(problem, MCP(), 6)
    assert _needs_much(problem, groups, 6)
    assert not _needs_much(problem, L1(), 6)
    wide = Problem.from_rows(*table(4, 2000))
    assert not _needs_much(wide, MCP(), 6)
