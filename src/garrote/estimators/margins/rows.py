"""The rows of a support vector machine as a space to train in: columns, landmarks or a kernel matrix."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.limits.budgets import BLOCK_BYTES, ENTRIES_PER_BLOCK
from garrote.limits.memory import free_memory
from garrote.solvers.margins.spaces import FeatureSpace, KernelSpace, Space

# Of free memory so much may go to a kernel matrix: equations of the rows near the margin come beside it.
_SHARE_OF_MEMORY = 0.6
# Directions of landmarks below this share of the largest eigenvalue are those of others, in rounding.
_LEAST_EIGENVALUE = 1e-12
# An eigenvalue may be below 0 by this share of the largest entry, which is rounding.
_ROUNDING = 1e-8
# Kernels that are positive semidefinite whatever their parameters; others are looked at.
_ALWAYS_POSITIVE = ("linear", "rbf", "laplacian", "cosine")


class TrainingRows(NamedTuple):
    """A space, and how its coefficients become those that predict.

    ``basis`` are the rows, by position, that new ones are compared with, and ``expand`` the matrix that
    makes their coefficients; None where the space's own coefficients are those of all rows. ``linear``
    says that coefficients are those of columns, ``center`` having been taken off each.
    """

    space: Space
    center: Floats
    linear: bool = False
    basis: Array | None = None
    expand: Floats | None = None


def training_rows(machine: Any, X: Any, weights: Floats) -> TrainingRows:
    """Return the space of rows with a machine's kernel; errors come before all work."""
    count, columns = X.shape
    landmarks = machine.landmarks
    if machine.kernel == "linear" and columns <= count:
        sparse = scipy.sparse.issparse(X)
        center = np.zeros(columns) if sparse else weights @ X / weights.sum()
        space = FeatureSpace(X.tocsr() if sparse else X - center)
        return TrainingRows(space, center, linear=True)
    if landmarks is not None and landmarks < count:
        return _by_landmarks(machine, X, int(landmarks))
    _refuse_beyond_memory(count)
    return TrainingRows(KernelSpace(kernel_matrix(machine, X)), np.zeros(0))


def _refuse_beyond_memory(count: int) -> None:
    free, needed = free_memory(), 8 * count**2
    most = BLOCK_BYTES if free is None else min(BLOCK_BYTES, _SHARE_OF_MEMORY * free)
    if needed > most:
        raise ValueError(
            f"the kernel matrix of {count:,} rows needs {needed / 2**30:.1f} GiB, and "
            f"{most / 2**30:.1f} GiB may be used: give landmarks=1000 (so many rows stand for all in "
            "the kernel), or kernel='linear', which needs no such matrix where X has fewer columns than "
            "rows"
        )


def kernel_matrix(machine: Any, X: Any) -> Floats:
    """Return the symmetric matrix of kernel values of all rows, some rows at a time."""
    if machine.kernel == "precomputed":
        found = np.array(X, dtype=np.float64)
        largest = float(np.abs(found).max(initial=0.0))
        if not np.allclose(found, found.T, rtol=0.0, atol=_ROUNDING * largest):
            i, j = np.unravel_index(np.argmax(np.abs(found - found.T)), found.shape)
            raise ValueError(
                f"a precomputed kernel must be symmetric, got {found[i, j]:g} at row {i}, column {j} "
                f"and {found[j, i]:g} at row {j}, column {i}"
            )
        found = 0.5 * (found + found.T)
    else:
        found = _in_blocks(machine, X)
    if machine.kernel not in _ALWAYS_POSITIVE:
        _refuse_indefinite(found, machine.kernel)
    return found


def _in_blocks(machine: Any, X: Any) -> Floats:
    count = X.shape[0]
    found = np.empty((count, count))
    size = max(1, ENTRIES_PER_BLOCK // count)
    for first in range(0, count, size):
        last = min(first + size, count)
        found[first:last, :last] = machine._kernel(X[first:last], X[:last])
        found[:first, first:last] = found[first:last, :first].T
        block = found[first:last, first:last]
        block[:] = 0.5 * (block + block.T)
    return found


def _refuse_indefinite(matrix: Floats, kernel: str) -> None:
    """Raise unless a matrix, with what rounding may take off its diagonal, has a Cholesky factor."""
    largest = float(np.abs(matrix).max(initial=0.0))
    if largest == 0.0:
        return
    shifted = matrix.copy()
    shifted.flat[:: len(matrix) + 1] += _ROUNDING * len(matrix) * largest
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"the {kernel} kernel of these rows is not positive semidefinite (its smallest eigenvalue "
            f"is {np.linalg.eigvalsh(matrix)[0]:.3g}, its largest entry {largest:.3g}): a support "
            "vector machine has no best answer then; take kernel='rbf', or a matrix with all "
            "eigenvalues >= 0"
        ) from None


def _by_landmarks(machine: Any, X: Any, count: int) -> TrainingRows:
    """Return columns whose products are the kernel's, where landmarks span it (Nystroem's form)."""
    drawn = np.random.default_rng(_seed(machine.random_state)).choice(X.shape[0], count, False)
    basis = np.sort(drawn)
    if machine.kernel == "precomputed":
        among = np.asarray(X[np.ix_(basis, basis)], dtype=np.float64)
        among = 0.5 * (among + among.T)
    else:
        among = _in_blocks(machine, X[basis])
    if machine.kernel not in _ALWAYS_POSITIVE:
        _refuse_indefinite(among, machine.kernel)
    values, vectors = np.linalg.eigh(among)
    kept = values > _LEAST_EIGENVALUE * max(float(values[-1]), 0.0)
    if not kept.any():
        raise ValueError(f"the {machine.kernel} kernel is 0 for all landmarks: rescale X")
    expand = vectors[:, kept] / np.sqrt(values[kept])
    rows = np.empty((X.shape[0], expand.shape[1]))
    for block in row_blocks(X.shape[0], count):
        rows[block] = machine._kernel(X[block], machine._rows_of(X, basis)) @ expand
    return TrainingRows(FeatureSpace(rows), np.zeros(0), False, basis, expand)


def _seed(random_state: Any) -> Any:
    """Return what a generator is made of: numbers as they are, one drawn of an old RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return random_state


def row_blocks(rows: int, columns: int) -> list[slice]:
    """Return slices of rows whose kernel values with so many others stay in cache."""
    size = max(1, ENTRIES_PER_BLOCK // max(columns, 1))
    return [slice(first, min(first + size, rows)) for first in range(0, rows, size)]
