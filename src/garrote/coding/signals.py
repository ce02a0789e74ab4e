"""Signals as users hand them over, a row each, checked before any work; and their weights."""

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array, validate_data

from garrote.arrays import Floats
from garrote.estimators.given.frames import refuse_text_columns
from garrote.estimators.given.inputs import check_weights, refuse_repeated_names, with_place
from garrote.limits.magnitudes import refuse_large
from garrote.solvers.coding.dealing import TOGETHER, dense_rows

_FILL = "Drop those signals, or fill the gaps before: codes are of whole signals."


def check_signals(
    estimator: Any, X: Any, *, reset: bool, positive: bool = False, least: int = 1
) -> Any:
    """Return signals as a float array or CSR matrix, uncopied where possible; refuse others.

    ``least`` is how many there have to be.
    """
    refuse_repeated_names(X)
    refuse_text_columns(X, None)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            checked = validate_data(
                estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset,
                ensure_min_samples=least,
            )  # fmt: skip
    except ValueError as error:
        raise with_place(error, X, None, _FILL) from None
    names = getattr(estimator, "feature_names_in_", None)
    refuse_large(checked, "X", names)
    if positive:
        _refuse_negative(estimator, checked, names)
    return checked


def _refuse_negative(estimator: Any, X: Any, names: Any) -> None:
    """Raise for the first negative entry."""
    entries = X.data if scipy.sparse.issparse(X) else X
    if not entries.size or entries.min() >= 0:
        return
    found = scipy.sparse.coo_array(X < 0).coords
    row, column = found[0][0], found[1][0]
    called = column if names is None else repr(str(names[column]))
    raise ValueError(
        f"Negative values in data passed to {type(estimator).__name__}: X is {X[row, column]:.3g} at "
        f"row {row}, column {called}; give X >= 0, or take DictionaryLearning, which has no such bound"
    )


def check_codes(codes: Any, count: int) -> Any:
    """Return codes as a float array or CSR matrix; refuse those of another number of atoms."""
    checked = check_array(codes, accept_sparse="csr", dtype=[np.float64, np.float32])
    if checked.shape[1] != count:
        raise ValueError(
            f"X has {checked.shape[1]} columns, but there are {count} atoms: give codes, as transform "
            "returns them"
        )
    return checked


def signal_weights(sample_weight: Any, X: Any) -> Floats:
    """Return a weight for each signal: those given, or 1."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    return check_weights(sample_weight, X)


def count_distinct(X: Any, weights: Floats) -> int:
    """Return how many different signals have weight: repeats are what weights stand for."""
    along = np.random.default_rng(0).standard_normal(X.shape[1])
    # Equal signals have equal products, as each is summed up in the same order.
    products = X @ along if scipy.sparse.issparse(X) else np.einsum("ij,j->i", X, along)
    return len(np.unique(products[weights > 0]))


def squared_norms(X: Any) -> Floats:
    """Return the squared length of each signal."""
    if scipy.sparse.issparse(X):
        stored = X.astype(np.float64)
        return np.asarray(stored.multiply(stored).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))


def squared_errors(X: Any, codes: Any, atoms: Floats) -> Floats:
    """Return the squared length of what codes leave of each signal, from the signals themselves."""
    parts = []
    for start in range(0, X.shape[0], TOGETHER):
        rows = slice(start, start + TOGETHER)
        left = dense_rows(X, rows) - codes[rows] @ atoms
        parts.append(np.einsum("ij,ij->i", left, left))
    return np.concatenate(parts)
