"""The data of the benchmarks: problems with a known truth, made from (N, D, seed) alone.

Dense law: the columns of a row form an AR(1) chain with correlation rho, `k` true features sit at
random places with |b| uniform in (0.5, 1.5) and a random sign, the noise e is scaled so that
||Xb|| / ||e|| = snr, and columns and response are centred, the columns to unit variance, so that
no method needs an intercept. Sparse law: independent normal entries at random places, columns
scaled to ||x_j||^2 = N and not centred; the truth as above.

A problem is written to a folder as raw binary files, which Python and R both read without a copy.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

SIZES = {
    "wide": (1000, 10000),
    "huge": (500, 100000),
    "tall": (10000, 1000),
    "sparse": (20000, 200000),
}
QUICK_SIZES = {"wide": (200, 500), "huge": (100, 2000), "tall": (500, 200), "sparse": (500, 2000)}
HARD = {"N": 200, "D": 2000, "k": 15, "rho": 0.8, "snr": 2.0}
DENSITY, QUICK_DENSITY = 1e-3, 1e-2


@dataclass(frozen=True)
class RegressionProblem:
    """A design, a response, the coefficients that made it, and the lambdas every lasso solves."""

    X: np.ndarray | sparse.csc_matrix
    y: np.ndarray
    truth: np.ndarray
    lambdas: np.ndarray


def dense(N, D, seed, *, k=20, rho=0.5, snr=3.0, order="F", dtype=np.float64):
    """Draw a dense problem; memory is that of X, twice where `order` or `dtype` need a copy."""
    rng = np.random.default_rng(seed)
    X = np.empty((N, D), order="F")
    innovation = np.sqrt(1 - rho**2)
    chain = rng.standard_normal(N)
    for j in range(D):
        if j:
            chain = rho * chain + innovation * rng.standard_normal(N)
        X[:, j] = chain
        standardise(X[:, j])
    y, truth = respond(X, rng, k, snr)
    lambdas = lambda_grid(X, y)
    return RegressionProblem(
        np.asarray(X, dtype=dtype, order=order), y.astype(dtype), truth, lambdas
    )


def sparse_columns(N, D, seed, *, density=DENSITY, k=20, snr=3.0):
    """Draw a CSC problem with the same number of non-zeros in every column."""
    rng = np.random.default_rng(seed)
    per_column = max(1, round(density * N))
    indices = np.empty((D, per_column), dtype=np.int32)
    for j in range(D):
        indices[j] = np.sort(rng.choice(N, per_column, replace=False, shuffle=False))
    values = rng.standard_normal((D, per_column))
    values *= np.sqrt(N / np.einsum("ij,ij->i", values, values))[:, None]
    indptr = np.arange(0, D * per_column + 1, per_column, dtype=np.int32)
    X = sparse.csc_matrix((values.ravel(), indices.ravel(), indptr), shape=(N, D))
    y, truth = respond(X, rng, k, snr)
    return RegressionProblem(X, y, truth, lambda_grid(X, y))


def grouped(N, groups, size, seed, *, k=8, snr=3.0):
    """Draw independent columns in groups of one size, ``k`` groups with normal coefficients.

    Lambdas are those of the group lasso without weights.
    """
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((N, groups * size)))
    for j in range(X.shape[1]):
        standardise(X[:, j])
    truth = np.zeros((groups, size))
    truth[rng.choice(groups, k, replace=False)] = rng.standard_normal((k, size))
    signal, noise = X @ truth.ravel(), rng.standard_normal(N)
    y = signal + noise * np.linalg.norm(signal) / (snr * np.linalg.norm(noise))
    y -= y.mean()
    largest = np.linalg.norm((X.T @ y).reshape(groups, size), axis=1).max() / N
    return RegressionProblem(X, y, truth.ravel(), largest * np.geomspace(1, 1e-2, 100))


def labelled(problem):
    """The same rows with labels, 1 where the response is above its mean, and lambdas that suit them."""
    labels = (problem.y > problem.y.mean()).astype(np.float64)
    lambdas = lambda_grid(problem.X, labels - 0.5)
    return RegressionProblem(problem.X, labels, problem.truth, lambdas)


def classified(N, D, classes, seed, *, k=5):
    """Draw classes of equal sizes whose means differ in ``k`` columns, labels 0, 1, ... and lambdas.

    The truth is the deviation of a column's means. Lambdas go down to 1e-3 of the smallest with an
    empty model.
    """
    rng = np.random.default_rng(seed)
    labels, centres = rng.permutation(N) % classes, np.zeros((classes, D))
    centres[:, :k] = rng.standard_normal((classes, k))
    X = np.asfortranarray(centres[labels] + rng.standard_normal((N, D)))
    for j in range(D):
        standardise(X[:, j])
    members = labels[:, None] == np.arange(classes)
    largest = np.abs(X.T @ (members - members.mean(axis=0))).max() / N
    lambdas = largest * np.geomspace(1, 1e-3, 100)
    return RegressionProblem(X, labels.astype(float), centres.std(axis=0), lambdas)


def standardise(column):
    """Centre a column and give it unit variance, in place."""
    column -= column.mean()
    column /= np.sqrt(column @ column / column.size)


def respond(X, rng, k, snr):
    """Draw the truth and the response ``y = X b + e``."""
    N, D = X.shape
    k = min(k, D)
    places = np.sort(rng.choice(D, k, replace=False))
    truth = np.zeros(D)
    truth[places] = rng.uniform(0.5, 1.5, k) * rng.choice([-1.0, 1.0], k)
    signal = X[:, places] @ truth[places]
    noise = rng.standard_normal(N)
    noise -= noise.mean()
    noise *= np.linalg.norm(signal) / (snr * np.linalg.norm(noise))
    y = signal + noise
    return y - y.mean(), truth


def lambda_grid(X, y, number=100, ratio=1e-2):
    """Return `number` lambdas from the smallest with an empty lasso down to `ratio` of it."""
    return np.abs(X.T @ y).max() / y.size * np.geomspace(1, ratio, number)


def save(problem, folder):
    """Write the problem as raw little-endian arrays plus `problem.json`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    X = problem.X
    description = {"shape": X.shape, "dtype": str(X.dtype), "sparse": bool(sparse.issparse(X))}
    if sparse.issparse(X):
        for name in ("data", "indices", "indptr"):
            getattr(X, name).tofile(folder / f"{name}.bin")
    else:
        description["order"] = "F" if X.flags.f_contiguous else "C"
        (X.T if description["order"] == "F" else X).tofile(folder / "X.bin")
    for name in ("y", "truth", "lambdas"):
        getattr(problem, name).tofile(folder / f"{name}.bin")
    (folder / "problem.json").write_text(json.dumps(description))
    return folder


def load(folder):
    """Read a problem that `save` wrote; the only memory taken is that of the arrays."""
    folder = Path(folder)
    description = json.loads((folder / "problem.json").read_text())
    shape, dtype = tuple(description["shape"]), np.dtype(description["dtype"])
    if description["sparse"]:
        parts = ("data", dtype), ("indices", np.int32), ("indptr", np.int32)
        X = sparse.csc_matrix(tuple(np.fromfile(folder / f"{n}.bin", t) for n, t in parts), shape)
    else:
        X = np.fromfile(folder / "X.bin", dtype).reshape(shape, order=description["order"])
    truth, lambdas = (np.fromfile(folder / f"{name}.bin") for name in ("truth", "lambdas"))
    return RegressionProblem(X, np.fromfile(folder / "y.bin", dtype), truth, lambdas)


def small_twin(problem, groups=False):
    """A small problem of the same kind (storage, type, N < D or not), to warm a process up."""
    N, D = problem.X.shape
    if sparse.issparse(problem.X):
        return sparse_columns(300, 600, seed=1, density=0.02)
    order = "F" if problem.X.flags.f_contiguous else "C"
    shape = (200, 600) if N < D else (600, 200)
    if groups:
        return grouped(200, 20, 10, seed=1, k=3)
    if np.array_equal(np.unique(problem.y), np.arange(problem.y.max() + 1)) and problem.y.max() > 1:
        return classified(150, 10, 3, seed=1)
    twin = dense(*shape, seed=1, order=order, dtype=problem.X.dtype)
    return labelled(twin) if np.isin(problem.y, (0.0, 1.0)).all() else twin
