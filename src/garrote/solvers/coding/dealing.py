"""Signals dealt out in blocks, which are dense where signals are not, and codes put together."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse
from joblib import effective_n_jobs

from garrote.arrays import Array, Floats

# Signals that one call of a kernel codes at most: some milliseconds of work.
TOGETHER = 2048
# Products that such a call makes at most: less than 50 ms of work.
_MOST_PRODUCTS = 4e7


def deal(
    signals: Any,
    code: Callable[..., Any],
    n_jobs: int | None = None,
    cost: float = 0.0,
    beside: Sequence[Array] = (),
    together: int | None = None,
) -> list[Any]:
    """Return what ``code`` makes of each block of signals, in their order.

    Parameters
    ----------
    signals : array or sparse matrix of shape (n_signals, length)
        Blocks of a sparse one are made dense, never all of it.
    code : callable
        Given a block of rows in double precision, and those of the arrays beside it.
    n_jobs : int, optional
        Threads.
    cost : float
        Products that a signal may take, by which blocks are cut.
    beside : sequence of arrays of length n_signals
    together : int, optional
        Signals of a block at most.
    """
    size = max(1, min(together or TOGETHER, int(_MOST_PRODUCTS / max(cost, 1.0))))
    blocks = [slice(at, at + size) for at in range(0, signals.shape[0], size)]

    def visit(rows: slice) -> Any:
        return code(dense_rows(signals, rows), *(each[rows] for each in beside))

    jobs = min(effective_n_jobs(n_jobs), max(1, len(blocks)))
    if jobs == 1:
        return [visit(rows) for rows in blocks]
    pool = ThreadPoolExecutor(jobs)
    try:
        return list(pool.map(visit, blocks))
    finally:
        pool.shutdown(cancel_futures=True)


def dense_rows(signals: Any, rows: Any) -> Floats:
    """Return some rows as they are, or dense where they are sparse, in double precision."""
    some = signals[rows]
    some = some.toarray() if scipy.sparse.issparse(some) else some
    return np.ascontiguousarray(some, dtype=np.float64)


def packed(columns: Array, coefs: Floats, counts: Array, n_atoms: int) -> scipy.sparse.csr_array:
    """Return codes as a sparse array: of each row the first ``counts`` entries, atoms ascending."""
    inside = np.arange(columns.shape[1]) < counts[:, None]
    ends = np.concatenate([[0], np.cumsum(counts)])
    shape = (len(columns), n_atoms)
    codes = scipy.sparse.csr_array((coefs[inside], columns[inside], ends), shape=shape)
    codes.sort_indices()
    return codes


def stacked(parts: list[Any], n_atoms: int) -> scipy.sparse.csr_array:
    """Return the codes of all blocks as one array."""
    if not parts:
        return scipy.sparse.csr_array((0, n_atoms))
    return scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr"))
