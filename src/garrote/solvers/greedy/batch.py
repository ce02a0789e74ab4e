"""Orthogonal matching pursuit of many signals over one dictionary, by the dictionary's Gram matrix.

With the products of all atoms and those of the signals with them at hand, no step touches the signals
again: a step costs as many products as there are atoms and chosen ones (Rubinstein, Zibulevsky & Elad
2008). Signals are dealt out to threads.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.elementary import copy_into
from garrote.settings import check_count, is_number
from garrote.solvers.coding.dealing import deal, packed, stacked
from garrote.solvers.greedy.subset_regression import DEPENDENT

# What is left of a signal below this share is rounding.
_NOTHING = 1e-14


def omp_many(
    dictionary: Any,
    signals: Any,
    n_features: int | None = None,
    *,
    tol: float | None = None,
    n_jobs: int | None = None,
) -> scipy.sparse.csr_array:
    """Code every signal by a few atoms, by orthogonal matching pursuit.

    Parameters
    ----------
    dictionary : array of shape (n_atoms, length)
        An atom a row, of any length; atoms of zeros are never taken, of copies the first.
    signals : array or sparse matrix of shape (n_signals, length)
    n_features : int, optional
        Atoms of a signal at most; by default as many as could make it up, or a tenth of all atoms where
        there is no ``tol`` either.
    tol : float, optional
        A signal is done once no more than this share of its squared length is left.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    codes : sparse array of shape (n_signals, n_atoms)
        ``codes @ dictionary`` is near ``signals``.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.greedy import omp_many
    >>> rng = np.random.default_rng(0)
    >>> atoms = rng.standard_normal((50, 20))
    >>> signals = 2.0 * atoms[[3, 7]] - atoms[[10, 11]]
    >>> codes = omp_many(atoms, signals, 2)
    >>> codes.indices.tolist(), codes.data.round(6).tolist()
    ([3, 10, 7, 11], [2.0, -1.0, 2.0, -1.0])
    """
    atoms, values = _checked(dictionary, "dictionary"), _checked(signals, "signals")
    if atoms.shape[1] != values.shape[1]:
        raise ValueError(
            f"signals have {values.shape[1]} entries each and atoms {atoms.shape[1]}: give arrays of "
            "shape (n_signals, length) and (n_atoms, length)"
        )
    count, length = atoms.shape
    most = min(count, length)
    if n_features is not None:
        check_count("n_features", n_features, 0)
        if n_features > most:
            raise ValueError(
                f"n_features must be at most {most}, the fewer of atoms and entries, got {n_features}"
            )
        most = int(n_features)
    elif tol is None:
        most = min(most, max(1, count // 10))
    if tol is not None and not (is_number(tol) and 0 <= tol < 1):
        raise ValueError(f"tol is the share that may be left, from 0 to below 1, got {tol!r}")
    gram = atoms @ atoms.T
    return _coded(gram, atoms, values, most, tol or 0.0, n_jobs)


def _checked(given: Any, name: str) -> Any:
    if scipy.sparse.issparse(given):
        values = scipy.sparse.csr_array(given, dtype=np.float64)
    else:
        values = np.ascontiguousarray(given, dtype=np.float64)
    if values.ndim != 2 or not all(values.shape):
        raise ValueError(f"{name} must be a table that is not empty, got shape {values.shape}")
    stored = values.data if scipy.sparse.issparse(values) else values.ravel()
    bad = np.flatnonzero(~np.isfinite(stored))
    if len(bad):
        ends = getattr(values, "indptr", np.arange(values.shape[0] + 1) * values.shape[1])
        row = int(np.searchsorted(ends, bad[0], side="right")) - 1
        raise ValueError(f"{name} must be finite, got {stored[bad[0]]} in row {row}")
    return values


def _coded(
    gram: Floats, atoms: Floats, signals: Any, most: int, least: float, n_jobs: int | None
) -> scipy.sparse.csr_array:
    """Deal signals out to threads, and put their codes together."""
    code = partial(pursue, gram, atoms, most, least)
    cost = len(gram) * (most + 1) * (most + 2) / 2 + gram.shape[0] * atoms.shape[1]
    return stacked(deal(signals, code, n_jobs, cost), len(gram))


def pursue(
    gram: Floats,
    atoms: Floats,
    most: int,
    least: float,
    signals: Floats,
    error: float = 0.0,
    by_error: bool = False,
) -> scipy.sparse.csr_array:
    """Code some signals over atoms with given products, without any check.

    ``most`` are the atoms that one may have, ``least`` is the share of its square that may be left, or
    ``error`` the square itself. ``by_error`` takes the atom with which least is left.
    """
    products, squares = signals @ atoms.T, np.einsum("ij,ij->i", signals, signals)
    columns, coefs = np.zeros((len(signals), most), np.int64), np.zeros((len(signals), most))
    counts, rows = np.zeros(len(signals), np.int64), np.empty((most, len(gram)))
    lengths = np.diag(gram).copy()
    floors = np.maximum(max(least, _NOTHING) * squares, error)
    _pursue(gram, lengths, products, squares, floors, by_error, rows, columns, coefs, counts)
    return packed(columns, coefs, counts, len(gram))


@kernel
def _pursue(gram, lengths, products, squares, floors, by_error, rows, columns, coefs, counts):
    """Code signals one after the other; ``products`` are left as those with the residuals.

    ``rows`` are those of U = R^-T G, R being the Cholesky factor of the chosen atoms. The square of the
    product of an atom with what is left of the signal, divided by the atom's own, says how alike the two
    are; divided by what chosen atoms leave of that, which is less by the squares of U, by how much the
    error would fall.
    """
    most, atoms = rows.shape[0], gram.shape[0]
    inverse, weights, free = np.zeros(atoms), np.empty(atoms), np.empty(atoms)
    for j in range(atoms):
        if lengths[j] > 0.0:
            inverse[j] = 1.0 / lengths[j]
    for s in range(products.shape[0]):
        product, members, scores = products[s], columns[s], coefs[s]
        left, k = squares[s], 0
        copy_into(weights, inverse)
        copy_into(free, lengths)
        while k < most and left > floors[s]:
            best, largest = -1, 0.0
            for j in range(atoms):
                size = product[j] * product[j] * weights[j]
                if size > largest:
                    best, largest = j, size
            if largest <= 1e-15 * squares[s]:
                break
            new, source = rows[k], gram[best]
            pivot = source[best]
            for a in range(k):
                pivot -= rows[a, best] * rows[a, best]
            if pivot <= DEPENDENT * source[best]:
                product[best] = 0.0
                continue
            scale = 1.0 / np.sqrt(pivot)
            score = product[best] * scale
            new[:] = source
            _subtract_chosen(rows, k, best, new)
            for j in range(atoms):
                new[j] *= scale
                product[j] -= score * new[j]
            if by_error:
                for j in range(atoms):
                    free[j] -= new[j] * new[j]
                    weights[j] = 1.0 / free[j] if free[j] > DEPENDENT * lengths[j] else 0.0
            members[k], scores[k] = best, score
            for a in range(k + 1):
                product[members[a]] = 0.0  # but for rounding they are
            left -= score * score
            k += 1
        counts[s] = k
        for a in range(k - 1, -1, -1):
            total = scores[a]
            for b in range(a + 1, k):
                total -= rows[a, members[b]] * scores[b]
            scores[a] = total / rows[a, members[a]]


@kernel
def _subtract_chosen(rows, k, best, new):
    """Take out of an atom's products what it has in common with ``k`` chosen ones, four at a time."""
    atoms, whole = new.shape[0], k - k % 4
    for a in range(0, whole, 4):
        s0, s1, s2, s3 = rows[a, best], rows[a + 1, best], rows[a + 2, best], rows[a + 3, best]
        r0, r1, r2, r3 = rows[a], rows[a + 1], rows[a + 2], rows[a + 3]
        for j in range(atoms):
            new[j] -= s0 * r0[j] + s1 * r1[j] + s2 * r2[j] + s3 * r3[j]
    for a in range(whole, k):
        share, row = rows[a, best], rows[a]
        for j in range(atoms):
            new[j] -= share * row[j]
