"""Every way to store X, through every way to look at it, equals plain dense NumPy."""

from typing import NamedTuple

import numba
import numpy as np
import pytest
import scipy.sparse

from contracts import (
    STORES,
    VIEWED_STORES,
    DenseDesign,
    DeviceDesign,
    GramDesign,
    OperatorDesign,
    Plain,
    SparseDesign,
    StandardizedDesign,
    View,
    assert_near,
    dense,
    full,
    mapped,
    sample_matrix,
    sparse,
    sweep_once,
)
from garrote import Problem, VariationalGarrote
from garrote.designs.devices.arrays import to_host
from garrote.rules import shrink
from reference import sparse_regression

stores = pytest.mark.parametrize("store", STORES.values(), ids=STORES)
viewed_stores = pytest.mark.parametrize(
    ("store", "view"),
    [pytest.param(STORES[name], view, id=f"{name}, {view}") for name, view in VIEWED_STORES],
)
SOME = np.array([4, 0, 11, 3])
OTHERS = np.array([11, 6, 7, 8, 9])


class FollowLeastSquares(NamedTuple):
    """No shrinkage at all: shows what the column functions compute."""

    nothing: float = 0.0


@shrink.register
def _(rule: FollowLeastSquares, j, z, curvature):
    return z


def random_rows(count, n, seed=3):
    return np.random.default_rng(seed).standard_normal((count, n))


def arrays_of(design):
    """Return the arrays in which a design keeps X."""
    if isinstance(design, SparseDesign):
        return [design.matrix.data, design.matrix.indices, design.matrix.indptr]
    if isinstance(design, OperatorDesign):
        return [design.operator.A]
    if isinstance(design, DeviceDesign):
        return [to_host(design._values)]
    return [design.values]


# --- the stored matrix


@stores
def test_stored_shape_and_dtype_are_those_of_the_matrix(store):
    X = sample_matrix()
    design = store(X)
    assert design.shape == X.shape
    assert design.dtype in (np.float32, np.float64)


@stores
@pytest.mark.parametrize("columns", [[], [5], SOME, np.arange(13), np.arange(13)[::-1]], ids=len)
@pytest.mark.parametrize("count", [1, 3])
def test_stored_products_with_coefficients_equal_dense(store, columns, count):
    X = sample_matrix()
    columns = np.asarray(columns, dtype=int)
    coef = np.random.default_rng(0).standard_normal((len(columns), count))
    assert_near(store(X).dot(columns, coef), X[:, columns] @ coef)


@stores
@pytest.mark.parametrize("count", [1, 2, 4, 7, 9, 20])
def test_stored_products_with_rows_equal_dense(store, count):
    X, rows = sample_matrix(), random_rows(count, 41)
    assert_near(store(X).tdot(rows), rows @ X)


@stores
def test_stored_products_accept_rows_in_any_layout(store):
    X, rows = sample_matrix(), random_rows(10, 82)
    design = store(X)
    for given in (np.asfortranarray(rows[:, :41]), rows[::3, ::2], rows[:, 41:]):
        assert_near(design.tdot(given), given @ X)


@stores
def test_taken_columns_equal_dense(store):
    X = sample_matrix()
    mean = X.mean(axis=0)
    block = store(X).take(SOME, mean)
    assert block.dtype == np.float64
    assert_near(block, X[:, SOME] - mean[SOME])


@stores
@pytest.mark.parametrize("first", [0, 5, 12])
def test_stored_products_of_the_last_columns_equal_dense(store, first):
    X, block = sample_matrix(), random_rows(3, 41).T
    assert_near(store(X).tdot_from(first, block), X[:, first:].T @ block)


@stores
def test_some_rows_equal_dense(store):
    X = sample_matrix()
    block = store(X).some_rows(np.array([40, 3, 3]))
    assert block.dtype == np.float64
    assert_near(block, X[[40, 3, 3]])


@stores
def test_a_design_of_some_columns_is_a_design(store):
    X, rows = sample_matrix(), random_rows(2, 41)
    picked = store(X).pick(SOME)
    assert picked.shape == (41, 4)
    assert_near(picked.tdot(rows), rows @ X[:, SOME])


@stores
def test_stored_cross_products_equal_dense(store):
    X = sample_matrix()
    weights = View(True, True, "some zero").weights_for(41)
    mean, scale = weights @ X / weights.sum(), np.linspace(0.5, 2.0, 13)
    Z = (X - mean) / scale
    expected = Z[:, SOME].T @ (weights[:, None] * Z[:, OTHERS])
    assert_near(store(X).gram(SOME, OTHERS, mean, scale, weights), expected)


@stores
@pytest.mark.parametrize("weights", ["equal", "some zero"])
def test_stored_moments_equal_dense(store, weights):
    X = sample_matrix()
    w = View(True, True, weights).weights_for(41)
    mean = w @ X / w.sum()
    measured = store(X).moments(w)
    assert_near(measured.mean, mean)
    assert_near(measured.deviation, np.sqrt(w @ (X - mean) ** 2 / w.sum()))
    assert measured.deviation[3] < 1e-14
    assert measured.deviation[7] == 0.0


# --- the matrix seen through centre, scale, weights and covariates


@viewed_stores
def test_viewed_products_with_coefficients_equal_dense(store, view):
    X = sample_matrix()
    coef = np.random.default_rng(0).standard_normal((4, 2))
    usable = np.array([4, 0, 11, 8])
    assert_near(view.of(store(X)).dot(usable, coef), Plain(X, view).Z[:, usable] @ coef)


@viewed_stores
def test_viewed_products_with_rows_equal_dense(store, view):
    X, plain = sample_matrix(), Plain(sample_matrix(), view)
    rows = plain.residualised_rows(random_rows(3, 41), view.covariates)
    design, used = view.of(store(X)), ~plain.constant
    expected = (rows * plain.weights) @ plain.Z
    assert_near(design.tdot(rows)[:, used], expected[:, used])


@viewed_stores
def test_shared_products_are_asked_for_one_by_one_and_equal_dense(store, view):
    X, plain = sample_matrix(), Plain(sample_matrix(), view)
    rows = plain.residualised_rows(random_rows(2, 41), view.covariates)
    design, used = view.of(store(X)), ~plain.constant
    steps = design.tdot_steps(rows)
    request = next(steps)
    with pytest.raises(StopIteration) as finished:
        steps.send(request @ X)
    expected = (rows * plain.weights) @ plain.Z
    assert_near(finished.value.value[:, used], expected[:, used])


@viewed_stores
def test_viewed_blocks_equal_dense(store, view):
    X = sample_matrix()
    columns = np.array([4, 0, 11, 8])
    assert_near(view.of(store(X)).block(columns), Plain(X, view).Z[:, columns])


@viewed_stores
def test_viewed_cross_products_equal_dense(store, view):
    X, plain = sample_matrix(), Plain(sample_matrix(), view)
    left, right = np.array([4, 0, 11]), np.array([11, 6, 8, 9])
    design = view.of(store(X))
    expected = plain.Z[:, left].T @ (plain.weights[:, None] * plain.Z[:, right])
    assert_near(design.gram(left, right), expected, 1e-10)
    unprojected = plain.raw[:, left].T @ (plain.weights[:, None] * plain.raw[:, right])
    assert_near(design.gram(left, right, projected=False), unprojected, 1e-10)


@viewed_stores
def test_the_whole_gram_matrix_equals_dense(store, view):
    X, plain = sample_matrix(), Plain(sample_matrix(), view)
    expected = plain.Z.T @ (plain.weights[:, None] * plain.Z)
    empty = plain.curvature == 0
    expected[empty], expected[:, empty] = 0.0, 0.0
    actual = view.of(store(X)).whole_gram()
    assert_near(actual, expected, 1e-10)
    assert_near(actual, actual.T, 1e-13)


@stores
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("size", [1.0, 1e4, 1e8])
def test_the_gram_matrix_without_some_rows_is_that_of_the_others(store, center, size):
    # Rows far larger than the rest take the digits of the rest with them when they are subtracted.
    X = sample_matrix()
    X[:3] *= size
    stored = store(X)
    taken = np.where(np.arange(41) < 10, 1.0, 0.0)
    whole = StandardizedDesign(stored, np.ones(41), center=center)
    part = StandardizedDesign(stored, 1.0 - taken, center=center)
    assert_near(whole.gram_without(whole.whole_gram(), part, taken), part.whole_gram(), 1e-6)


@viewed_stores
def test_curvature_is_the_diagonal_and_zero_without_content(store, view):
    X, plain = sample_matrix(), Plain(sample_matrix(), view)
    curvature = view.of(store(X)).curvature
    assert_near(curvature, plain.curvature, 1e-10)
    np.testing.assert_array_equal(curvature == 0, plain.curvature == 0)


@viewed_stores
def test_products_of_some_columns_equal_dense(store, view):
    X, plain = sample_matrix(), Plain(sample_matrix(), view)
    row = plain.residualised_rows(random_rows(1, 41), view.covariates)[0]
    columns = np.array([4, 0, 11, 8])
    expected = (row * plain.weights) @ plain.Z[:, columns]
    assert_near(view.of(store(X)).products(columns, row), expected)


@viewed_stores
def test_projection_leaves_nothing_of_the_covariates(store, view):
    X, plain = sample_matrix(), Plain(sample_matrix(), view)
    rows = random_rows(3, 41)
    projected = view.of(store(X)).project(rows.T)
    assert_near(projected, plain.residualised_rows(rows, view.covariates).T)


@viewed_stores
def test_one_sweep_without_shrinkage_is_a_pass_of_gauss_seidel(store, view):
    X, plain = sample_matrix(), Plain(sample_matrix(), view)
    design, row = view.of(store(X)), random_rows(1, 41)[0]
    if view.center:  # sparse columns rely on residuals that sum to zero, as those of a fit do
        row = row - np.average(row, weights=plain.weights)
    if design.columns() is None:
        assert view.covariates or not getattr(design.stored, "values", X).flags.f_contiguous
        return  # solvers copy such columns block by block, which the test of blocks covers
    start = np.where(plain.curvature > 0, random_rows(1, 13, seed=5)[0], 0.0)
    coef, target, left = start.copy(), np.zeros(13), row.copy()
    for j in np.flatnonzero(plain.curvature > 0):
        z = plain.Z[:, j]
        target[j] = coef[j] + z @ (plain.weights * left) / plain.curvature[j]
        left -= (target[j] - coef[j]) * z
        coef[j] = target[j]
    actual = sweep_once(
        design.columns(), FollowLeastSquares(), start, row, plain.weights, design.curvature
    )
    assert_near(actual[0], coef)
    assert_near(actual[1], target)


def test_covariates_that_repeat_each_other_are_one():
    X = sample_matrix()
    twice = View(True, True, "equal", (8, 9)).of(STORES["dense F float64"](X))
    once = View(True, True, "equal", (8,)).of(STORES["dense F float64"](X))
    assert twice.basis.shape[1] == 1
    assert_near(twice.block(SOME), once.block(SOME))
    assert twice.curvature[9] == once.curvature[9] == 0.0


def test_rows_are_counted_once_however_often_they_are_repeated():
    X = sample_matrix()
    for store in STORES.values():
        design = View(True, True, "equal").of(store(np.vstack([X, X[:10], X[:3]])))
        assert design.distinct_rows() == 41
    weights = np.ones(41)
    weights[5:8] = 0.0
    assert StandardizedDesign(DenseDesign(X), weights).distinct_rows() == 38


# --- columns far from zero


def far_from_zero(offset, seed=0):
    """Columns of mean ``offset`` and deviation 1, exact in float32, and a response."""
    rng = np.random.default_rng(seed)
    resolution = max(2.0**-10, np.spacing(np.float32(offset)))
    X = offset + np.round(rng.standard_normal((60, 6)) / resolution) * resolution
    return X.astype(np.float32).astype(float), rng.standard_normal(60)


FAR = {
    "dense C float64": dense("C", np.float64),
    "dense F float64": dense("F", np.float64),
    "dense C float32": dense("C", np.float32),
    "dense F float32": dense("F", np.float32),
    "CSC full": full,
    "CSC float32": sparse(dtype=np.float32),
}


@pytest.mark.parametrize("store", FAR.values(), ids=FAR)
@pytest.mark.parametrize("weights", ["equal", "some zero"])
def test_a_mean_of_a_million_costs_no_more_than_its_share_of_digits(store, weights):
    view = View(True, True, weights)
    X, y = far_from_zero(1e6)
    plain, design = Plain(X, view), view.of(store(X))
    everything = np.arange(6)
    coef = np.random.default_rng(2).standard_normal((6, 1))
    assert_near(
        design.scale, np.sqrt(plain.weights @ (plain.raw * design.scale) ** 2 / plain.total)
    )
    assert_near(design.block(everything), plain.Z, 1e-9)
    assert_near(design.gram(everything, everything), plain.Z.T * plain.weights @ plain.Z, 1e-9)
    assert_near(design.whole_gram(), plain.Z.T * plain.weights @ plain.Z, 1e-9)
    assert_near(design.dot(everything, coef), plain.Z @ coef, 1e-8)
    row = (y - np.average(y, weights=plain.weights))[None, :]
    assert_near(design.tdot(row), (row * plain.weights) @ plain.Z, 1e-8)
    # Also for rows that do not sum to zero.
    row = row + 3.0
    assert_near(design.tdot(row), (row * plain.weights) @ plain.Z, 1e-7)


@pytest.mark.parametrize("store", FAR.values(), ids=FAR)
def test_a_fit_far_from_zero_is_the_fit_near_zero(store):
    X, _ = far_from_zero(1e6)
    near = X - 1e6
    y = 2 * near[:, 1] - near[:, 4] + np.random.default_rng(1).standard_normal(60)
    expected = VariationalGarrote(gamma=-4.0).fit(near, y)
    stored = store(X)
    given = stored.matrix if isinstance(stored, SparseDesign) else stored.values
    model = VariationalGarrote(gamma=-4.0).fit(given, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)
    np.testing.assert_allclose(
        model.inclusion_probability_, expected.inclusion_probability_, atol=1e-5
    )
    assert model.intercept_ == pytest.approx(
        expected.intercept_ - 1e6 * expected.coef_.sum(), abs=2
    )


def test_a_sparse_column_beside_one_far_from_zero_stays_accurate():
    X = sample_matrix()
    X[:, 6] += 1e6
    X = X.astype(np.float32).astype(float)
    view = View(True, True, "some zero")
    for store in (sparse(), sparse(dtype=np.float32), sparse(index=np.int64)):
        plain, design = Plain(X, view), view.of(store(X))
        expected = plain.Z.T * plain.weights @ plain.Z
        expected[plain.constant], expected[:, plain.constant] = 0, 0
        assert_near(design.whole_gram(), expected, 1e-9)


# --- what must not happen


@stores
def test_no_operation_writes_into_the_matrix(store):
    X, y = sample_matrix(), random_rows(1, 41)[0]
    design = store(X)
    before = [np.array(part, copy=True) for part in arrays_of(design)]
    Problem.from_rows(design, y, covariates=np.array([2]))
    view = View(True, True, "some zero").of(design)
    view.whole_gram(), view.tdot(random_rows(2, 41)), view.block(SOME), view.curvature
    for part, kept in zip(arrays_of(design), before, strict=True):
        np.testing.assert_array_equal(part, kept)


@pytest.mark.parametrize(
    ("writable", "read_only"),
    [
        (lambda X: DenseDesign(np.asfortranarray(X)), STORES["dense F float64"]),
        (lambda X: SparseDesign(scipy.sparse.csc_array(X)), STORES["CSC int32"]),
    ],
    ids=["dense", "sparse"],
)
def test_kernels_are_not_compiled_again_for_a_matrix_that_is_read_only(writable, read_only):
    X, view = sample_matrix(), View(True, True, "equal")
    one, other = (numba.typeof(view.of(store(X)).columns()) for store in (writable, read_only))
    assert one == other


def test_a_memory_mapped_matrix_is_read_in_place(tmp_path):
    X = sample_matrix()
    design = mapped(tmp_path)(X)
    before = (tmp_path / "x.bin").read_bytes()
    view = View(True, True, "some zero")
    plain = Plain(X, view)
    assert_near(view.of(design).block(SOME[:3]), plain.Z[:, SOME[:3]])
    assert (tmp_path / "x.bin").read_bytes() == before


def test_a_users_sparse_matrix_is_not_sorted_for_them():
    matrix = scipy.sparse.csc_array(([1.0, 2.0, 3.0], [2, 0, 2], [0, 2, 3]), shape=(3, 2))
    data, indices = matrix.data.copy(), matrix.indices.copy()
    design = SparseDesign(matrix)
    assert_near(design.take(np.array([0, 1]), np.zeros(2)), [[2, 0], [0, 0], [1, 3]])
    np.testing.assert_array_equal(matrix.data, data)
    np.testing.assert_array_equal(matrix.indices, indices)


def test_a_matrix_is_not_copied_where_it_can_be_read_as_it_is():
    X = np.asfortranarray(sample_matrix())
    assert np.shares_memory(arrays_of(DenseDesign(X))[0], X)
    matrix = scipy.sparse.csc_array(X)
    for mine, theirs in zip(
        arrays_of(SparseDesign(matrix)), (matrix.data, matrix.indices, matrix.indptr), strict=True
    ):
        assert np.shares_memory(mine, theirs)


def test_offsets_beyond_two_to_the_31_reach_the_right_entry(tmp_path):
    # A file with a hole takes no space; only the last columns are ever read.
    n, d = 2**16, 2**15 + 3
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(n * d * 4)
    writable = np.memmap(path, np.float32, "r+", shape=(n, d), order="F")
    values = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    writable[:, d - 1] = values
    writable.flush()
    del writable
    design = DenseDesign(np.memmap(path, np.float32, "r", shape=(n, d), order="F"))
    last = np.array([d - 1])
    assert design.shape[0] * design.shape[1] > 2**31
    assert_near(design.take(last, np.zeros(d))[:, 0], values.astype(float))
    assert_near(design.dot(last, np.ones((1, 1)))[:, 0], values.astype(float))
    coef, target = sweep_once(
        design.columns(np.zeros(d), np.ones(d), np.ones(n)), FollowLeastSquares(), np.zeros(d), values,
        np.ones(n), np.ones(d), last,
    )  # fmt: skip
    assert target[d - 1] == pytest.approx(values.astype(float) @ values.astype(float))
    assert coef[d - 1] == target[d - 1]


def test_sparse_offsets_may_be_64_bit_and_mixed():
    X, y, _ = sparse_regression(n=50, d=8)
    matrix = scipy.sparse.csc_array(np.where(np.abs(X) > 0.7, X, 0.0))
    expected = VariationalGarrote(gamma=-4.0).fit(matrix, y).coef_
    wide = matrix.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_allclose(
        VariationalGarrote(gamma=-4.0).fit(wide, y).coef_, expected, rtol=1e-10, atol=1e-12
    )


# --- moments alone


def test_a_gram_design_is_its_matrix():
    X = sample_matrix()
    gram = X.T @ X
    design = GramDesign(gram)
    coef = random_rows(2, 4).T
    assert design.shape == (13, 13)
    assert_near(design.dot(SOME, coef), gram[:, SOME] @ coef)
    assert_near(design.gram(SOME, OTHERS), gram[np.ix_(SOME, OTHERS)])
    assert_near(design.gram_rows(SOME), gram[SOME])


def test_a_column_hidden_behind_rows_of_weight_zero_has_no_content():
    X = sample_matrix()
    X[:, 6] = 0.0
    X[::4, 6] = 5.0  # only where the weights are zero
    view = View(True, True, "some zero")
    for store in STORES.values():
        design = view.of(store(X))
        assert design.curvature[6] == 0.0
        assert np.isfinite(design.whole_gram()).all()


def test_rows_in_c_order_are_copied_for_sweeps_over_columns_where_memory_allows(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 50)), rng.standard_normal(30)
    by_rows = Problem.from_rows(X, y)
    problem = by_rows.in_columns()
    assert problem.table.stored.values.flags.f_contiguous
    assert problem.in_columns() is problem
    np.testing.assert_array_equal(problem.table.mean, by_rows.table.mean)
    np.testing.assert_array_equal(problem.table.stored.values, X)
    monkeypatch.setattr("garrote.designs.dense.free_memory", lambda: int(1.5 * X.nbytes))
    assert by_rows.in_columns() is by_rows
    moments = Problem.from_moments(X.T @ X, X.T @ y, y @ y, 30)
    assert moments.in_columns() is moments
