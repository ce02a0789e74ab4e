"""An operator in place of X: what it is asked for, what is formed of it, and what is refused."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.linear_model import Lasso

from contracts import Plain, View, assert_near, sample_matrix
from garrote import Problem, SparseRegressor, StabilitySelection
from garrote.designs import DenseDesign, OperatorDesign
from garrote.estimators.validation import Rows
from garrote.paths.annealed import fit_path
from garrote.penalties import L1


class Counted:
    """A matrix by its products, which counts the vectors that it was multiplied with."""

    def __init__(self, matrix, dtype=None):
        self.matrix, self.shape, self.dtype = matrix, matrix.shape, dtype or matrix.dtype
        self.forward = self.back = self.most = 0

    def matmat(self, vectors):
        self.forward, self.most = (
            self.forward + vectors.shape[1],
            max(self.most, vectors.shape[1]),
        )
        return self.matrix @ vectors

    def rmatmat(self, vectors):
        self.back, self.most = self.back + vectors.shape[1], max(self.most, vectors.shape[1])
        return self.matrix.T @ vectors

    def matvec(self, vector):
        return self.matmat(vector[:, None])[:, 0]

    def rmatvec(self, vector):
        return self.rmatmat(vector[:, None])[:, 0]


class OneByOne:
    """The least that an operator is: a shape and two products with single vectors."""

    def __init__(self, matrix):
        self.matrix, self.shape = matrix, matrix.shape

    def matvec(self, vector):
        return self.matrix @ vector

    def rmatvec(self, vector):
        return self.matrix.T @ vector


def sensed(n=60, d=300, seed=0):
    """A few coefficients of many, seen through fewer random products than there are of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) / np.sqrt(n)
    coef = np.zeros(d)
    coef[rng.choice(d, 4, replace=False)] = [3.0, -2.0, 2.0, -1.0]
    return X, X @ coef + 0.01 * rng.standard_normal(n), coef


@pytest.mark.parametrize("weights", ["equal", "some zero"])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_moments_are_those_of_the_dense_matrix_where_rows_are_fewer(weights, far):
    X = sample_matrix().T[:, 8:30]
    X[:, 5] += far
    w = View(True, True, weights).weights_for(len(X))
    measured = OperatorDesign(aslinearoperator(X)).moments(w)
    expected = DenseDesign(X).moments(w)
    np.testing.assert_allclose(measured.mean, expected.mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(measured.deviation, expected.deviation, rtol=1e-9, atol=1e-13)


def test_moments_of_huge_and_tiny_entries_neither_overflow_nor_vanish():
    X = np.random.default_rng(0).standard_normal((5, 9)) * np.geomspace(1e-200, 1e200, 9)
    measured = OperatorDesign(aslinearoperator(X)).moments(np.ones(5))
    np.testing.assert_allclose(measured.deviation, DenseDesign(X).moments(np.ones(5)).deviation)


def test_moments_form_whatever_there_is_less_of():
    for shape in ((7, 40), (40, 7)):
        counted = Counted(np.random.default_rng(0).standard_normal(shape))
        design = OperatorDesign(counted)
        counted.forward = counted.back = 0
        design.moments(np.ones(shape[0]))
        assert counted.forward + counted.back <= 8


def test_single_products_suffice():
    X = sample_matrix()
    design = OperatorDesign(OneByOne(X))
    some = np.array([4, 0, 11])
    assert_near(design.take(some, X.mean(axis=0)), X[:, some] - X.mean(axis=0)[some])
    assert_near(design.tdot(np.eye(41)[[3, 7]]), X[[3, 7]])


def test_some_of_some_columns_are_still_an_operator():
    X, rows = sample_matrix(), np.random.default_rng(0).standard_normal((3, 41))
    counted = Counted(X)
    few = OperatorDesign(counted).pick(np.array([8, 2, 11, 4])).pick(np.array([2, 0]))
    assert counted.forward == counted.back == 1  # the trial of its products, and no column
    assert few.shape == (41, 2)
    assert_near(few.tdot(rows), rows @ X[:, [11, 8]])
    assert_near(few.dot(np.array([1]), np.array([[2.0]])), 2.0 * X[:, [8]])
    assert_near(few.moments(np.ones(41)).deviation, X[:, [11, 8]].std(axis=0))
    assert_near(few.take(np.arange(2), np.zeros(2)), X[:, [11, 8]])
    assert_near(few.some_rows(np.array([40, 1])), X[[40, 1]][:, [11, 8]])


def test_vectors_are_multiplied_so_many_at_a_time_that_they_need_little_memory(monkeypatch):
    monkeypatch.setattr("garrote.designs.operator.ENTRIES_PER_BLOCK", 200)
    X = sample_matrix()
    counted = Counted(X)
    view = View(True, True, "some zero")
    assert_near(view.of(OperatorDesign(counted)).whole_gram()[4, 0], gram_of(X, view)[4, 0])
    assert counted.most == 200 // (41 + 13)


def gram_of(X, view):
    plain = Plain(X, view)
    return plain.Z.T @ (plain.weights[:, None] * plain.Z)


@pytest.mark.parametrize(("solver", "most"), [("coordinate", 400), ("fista", 1500)])
def test_a_penalised_fit_forms_few_columns(solver, most):
    X, y, coef = sensed(100, 1000)
    counted = Counted(X)
    path = fit_path(Problem.from_rows(counted, y), L1(), 20, solver=solver)
    dense = fit_path(Problem.from_rows(X, y), L1(), 20, solver=solver)
    np.testing.assert_allclose(
        path.coefficients().toarray(), dense.coefficients().toarray(), atol=1e-10
    )
    assert set(np.flatnonzero(coef)) <= set(np.flatnonzero(path.coefficients().toarray()[-1]))
    assert counted.back < 100 + most  # each row once, for the columns' lengths, and products
    assert counted.forward < most


def test_columns_are_formed_for_sweeps_over_all_of_them_where_that_is_cheap(monkeypatch):
    X = sample_matrix()
    design = OperatorDesign(aslinearoperator(X))
    assert_near(design.in_columns().values, X)
    monkeypatch.setattr("garrote.designs.operator.ENTRIES_AT_HAND", 100)
    assert design.in_columns() is design
    monkeypatch.undo()
    monkeypatch.setattr("garrote.designs.operator.free_memory", lambda: 15 * X.size)
    assert design.in_columns() is design


def test_an_operator_in_single_precision_passes_its_trial():
    X, y, _ = sensed()
    own = SparseRegressor(alpha=0.01).fit(aslinearoperator(X.astype(np.float32)), y)
    np.testing.assert_allclose(own.coef_, SparseRegressor(alpha=0.01).fit(X, y).coef_, atol=1e-4)


# --- what is refused


def test_products_that_are_not_of_one_matrix_are_refused():
    X = sample_matrix()
    wrong = LinearOperator((41, 13), matvec=lambda v: X @ v, rmatvec=lambda v: X[::-1].T @ v)
    with pytest.raises(ValueError, match=r"rmatvec .* is not the transpose of its matvec: v'"):
        SparseRegressor().fit(wrong, np.ones(41))


def test_an_operator_without_a_transpose_is_refused():
    alone = LinearOperator((41, 13), matvec=lambda v: np.ones(41))
    with pytest.raises(ValueError, match="has no rmatvec: give the products"):
        SparseRegressor().fit(alone, np.ones(41))


def test_complex_products_are_refused():
    with pytest.raises(ValueError, match="real and imaginary parts as rows of their own"):
        Problem.from_rows(aslinearoperator(np.fft.fft(np.eye(6))), np.arange(6.0))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_products_that_are_not_finite_are_refused(bad):
    X = sample_matrix()
    X[3, 4] = bad
    with pytest.raises(
        ValueError, match="matvec of the operator in place of X returns numbers not"
    ):
        Problem.from_rows(OneByOne(X), np.zeros(41))


def test_products_of_another_length_are_refused():
    operator = OneByOne(sample_matrix())
    operator.shape = (13, 13)
    with pytest.raises(ValueError, match=r"returns 41 numbers, where its shape \(13, 13\) asks"):
        OperatorDesign(operator)


def test_an_operator_without_entries_is_refused():
    with pytest.raises(ValueError, match=r"has shape \(0, 4\)"):
        OperatorDesign(aslinearoperator(np.zeros((0, 4))))


def test_rows_of_an_operator_cannot_be_picked_for_strangers():
    X, y, _ = sensed()
    with pytest.raises(TypeError, match="a design has no rows by themselves"):
        StabilitySelection(Lasso()).fit(aslinearoperator(X), y)
    with pytest.raises(TypeError, match="rows cannot be picked"):
        Rows.of(aslinearoperator(X), y)
