"""What the cartesian tests share: every way to store X, and a plain account of what it must do."""

from typing import Any, NamedTuple

import array_api_strict
import numpy as np
import scipy.sparse
from scipy.sparse.linalg import aslinearoperator

from garrote.designs import (
    DenseDesign,
    DeviceDesign,
    GramDesign,
    OperatorDesign,
    SparseDesign,
    StandardizedDesign,
)
from garrote.rules import Residual
from garrote.solvers.descent.sweep import sweep
from pairwise import pairwise


def frozen(array):
    """Make an array read-only: a design that writes into X fails."""
    array.flags.writeable = False
    return array


def dense(order, dtype):
    def store(X):
        return DenseDesign(frozen(np.array(X, dtype=dtype, order=order)))

    return store


def sparse(dtype=np.float64, index=np.int32, make=scipy.sparse.csc_array):
    def store(X):
        matrix = make(X.astype(dtype))
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        return SparseDesign(_frozen_parts(matrix))

    return store


def unsorted(X):
    """CSC with the entries of each column in reverse order."""
    matrix = scipy.sparse.csc_array(X)
    for j in range(X.shape[1]):
        part = slice(matrix.indptr[j], matrix.indptr[j + 1])
        matrix.indices[part] = matrix.indices[part][::-1].copy()
        matrix.data[part] = matrix.data[part][::-1].copy()
    matrix.has_sorted_indices = False
    return SparseDesign(_frozen_parts(matrix))


def duplicated(X):
    """CSC in which every entry is the sum of two."""
    rows, columns = np.nonzero(X)
    data = np.concatenate([0.25 * X[rows, columns], 0.75 * X[rows, columns]])
    rows, columns = np.tile(rows, 2), np.tile(columns, 2)
    order = np.lexsort((rows, columns))
    starts = np.searchsorted(columns[order], np.arange(X.shape[1] + 1))
    matrix = scipy.sparse.csc_array((data[order], rows[order], starts), shape=X.shape)
    return SparseDesign(_frozen_parts(matrix))


def full(X):
    """CSC that stores every entry, the zeros too."""
    n, d = X.shape
    parts = (X.ravel(order="F").copy(), np.tile(np.arange(n), d), np.arange(0, n * d + 1, n))
    return SparseDesign(_frozen_parts(scipy.sparse.csc_array(parts, shape=X.shape)))


def operator(X):
    """Products alone: nothing else is known of the matrix."""
    return OperatorDesign(aslinearoperator(frozen(np.array(X))))


def on_device(precision="mixed", dtype=None):
    """An array that is not in the machine's memory, as far as its library tells."""

    def store(X):
        device = array_api_strict.Device("device1")
        values = array_api_strict.asarray(np.array(X, dtype=dtype or X.dtype), device=device)
        return DeviceDesign(values, precision=precision)

    return store


def mapped(folder):
    """A read-only memory map of a file, in Fortran order."""

    def store(X):
        np.asfortranarray(X).ravel(order="K").tofile(folder / "x.bin")
        return DenseDesign(np.memmap(folder / "x.bin", X.dtype, "r", shape=X.shape, order="F"))

    return store


def _frozen_parts(matrix):
    for part in (matrix.data, matrix.indices, matrix.indptr):
        frozen(part)
    return matrix


STORES = {
    "dense C float64": dense("C", np.float64),
    "dense F float64": dense("F", np.float64),
    "dense C float32": dense("C", np.float32),
    "dense F float32": dense("F", np.float32),
    "CSC int32": sparse(),
    "CSC int64": sparse(index=np.int64),
    "CSC float32": sparse(dtype=np.float32),
    "CSR": sparse(make=scipy.sparse.csr_array),
    "CSC matrix": sparse(make=scipy.sparse.csc_matrix),
    "CSC unsorted": unsorted,
    "CSC duplicated": duplicated,
    "CSC full": full,
    "operator": operator,
    "device float64": on_device(),
    "device float32": on_device("double", np.float32),
}


# Those whose columns kernels read in place, one of each kind of array.
FAST_STORES = {
    name: STORES[name] for name in ("dense F float64", "dense F float32", "CSC int32", "CSC int64")
}


class View(NamedTuple):
    """How a stored matrix is looked at."""

    center: bool
    scale: bool
    weights: str
    covariates: tuple[int, ...] = ()

    def __str__(self) -> str:
        parts = [
            "centred" if self.center else "not centred",
            "scaled" if self.scale else "not scaled",
            f"weights {self.weights}",
            *(["covariates"] if self.covariates else []),
        ]
        return ", ".join(parts)

    def weights_for(self, n):
        if self.weights == "equal":
            return np.ones(n)
        weights = np.random.default_rng(1).uniform(0.5, 3.0, n)
        weights[::4] = 0.0
        return weights

    def of(self, stored) -> StandardizedDesign:
        return StandardizedDesign(
            stored,
            frozen(self.weights_for(stored.shape[0])),
            center=self.center,
            scale=self.scale,
            covariates=np.array(self.covariates, dtype=int) if self.covariates else None,
        )


# Names of stores and views of them: each store with each setting, each two settings together.
VIEWED_STORES = [
    (row.pop("store"), View(**row))
    for row in pairwise(
        {
            "store": list(STORES),
            "center": [True, False],
            "scale": [True, False],
            "weights": ["equal", "some zero"],
            "covariates": [(), (2, 5)],
        }
    )
]


class Plain:
    """The same view of a dense float64 matrix, computed by the definitions alone."""

    def __init__(self, X, view: View):
        X = np.asarray(X, dtype=np.longdouble)
        w = view.weights_for(len(X)).astype(np.longdouble)
        self.weights, self.total = w.astype(float), float(w.sum())
        mean = w @ X / w.sum() if view.center else np.zeros(X.shape[1], np.longdouble)
        spread = np.sqrt(w @ (X - mean) ** 2 / w.sum())
        # float32 matrices hold a constant exactly, so that a deviation of zero is zero.
        self.constant = np.asarray(spread <= 1e-13 * np.abs(mean))
        divisor = np.where(self.constant, 1.0, spread) if view.scale else np.ones_like(spread)
        self.raw = ((X - mean) / divisor).astype(float)
        self.raw[:, self.constant] = 0.0
        self.Z = self._residualised(view.covariates)
        self.curvature = self.weights @ self.Z**2
        whole = self.weights @ self.raw**2
        self.curvature[self.curvature < 1e-7 * whole] = 0.0
        self.curvature[list(view.covariates)] = 0.0

    def _residualised(self, covariates):
        if not covariates:
            return self.raw
        block, root = self.raw[:, list(covariates)], np.sqrt(self.weights)[:, None]
        slopes = np.linalg.lstsq(root * block, root * self.raw, rcond=None)[0]
        return self.raw - block @ slopes

    def residualised_rows(self, rows, covariates):
        """Take the covariates out of K x N rows."""
        if not covariates:
            return rows
        block, root = self.raw[:, list(covariates)], np.sqrt(self.weights)
        slopes = np.linalg.lstsq(root[:, None] * block, (root * rows).T, rcond=None)[0]
        return rows - (block @ slopes).T


def sample_matrix(n=41, d=13, seed=0):
    """Half zeros; column 3 is constant, column 7 zero, column 9 another one's double.

    All entries are float32 numbers, so that both precisions store the same matrix.
    """
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.5, rng.standard_normal((n, d)), 0.0)
    X[:, 1] += 2.0
    X[:, 3], X[:, 7] = 1.5, 0.0
    X[:, 9] = 2 * X[:, 8]
    return X.astype(np.float32).astype(np.float64)


def assert_near(actual, expected, tolerance=1e-11):
    """Compare arrays, relative to the largest entry."""
    expected = np.asarray(expected, dtype=float)
    size = np.abs(expected).max(initial=0.0) or 1.0
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * size)


def sweep_once(
    columns: Any, rule: Any, coef, rows, weights, curvature, order=None, gradient=None
) -> tuple[np.ndarray, np.ndarray]:
    """One pass over a design's columns; returns new coefficients and least-squares values.

    ``rows`` are residuals; a Gram design is given X'Wr as ``gradient`` instead.
    """
    if gradient is None:
        residual = Residual(rows * weights, np.zeros(1), np.asarray(weights))
    else:
        residual = Residual(gradient.copy(), np.zeros(1), np.zeros(1))
    coef, target = coef.copy(), np.zeros(len(coef))
    order = np.arange(len(coef)) if order is None else np.asarray(order)
    sweep(columns, rule, order, coef, target, residual, np.ascontiguousarray(curvature), 0.0)
    return coef, target


__all__ = [
    "FAST_STORES",
    "STORES",
    "VIEWED_STORES",
    "DenseDesign",
    "GramDesign",
    "Plain",
    "SparseDesign",
    "StandardizedDesign",
    "View",
    "assert_near",
    "dense",
    "frozen",
    "full",
    "mapped",
    "on_device",
    "sample_matrix",
    "sparse",
    "sweep_once",
]
