"""Where an answer comes from: the settings, the versions, and a fingerprint of the data."""

import math
import platform
import re
from collections.abc import Sequence
from hashlib import blake2b
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy
import scipy.sparse
import sklearn

import garrote
from garrote.arrays import Array, Floats
from garrote.designs.base import is_design
from garrote.estimators.registry import reference_of

# Entries of X that the fingerprint reads, at most: hashing all of a large X would cost a pass.
_ENTRIES = 1 << 18


# Settings that are no plain values are told in so many letters, and arrays of so few entries in full.
_LETTERS = 200
_FEW = 8


def provenance(
    estimator: Any,
    X: Any,
    y: Floats,
    weights: Floats,
    covariates: Sequence[str],
    reference: str | None = None,
) -> dict[str, Any]:
    """Describe a fit for a reader who wants to repeat it; ``covariates`` are names.

    ``reference`` is the source of what was fitted, where that is not the estimator's.
    """
    settings: dict[str, Any] = {
        name: _json_value(value)
        for name, value in estimator.get_params(deep=False).items()
        # Who watches has no part in the answer.
        if name != "callback"
    }
    if settings.get("covariates") is not None:
        settings["covariates"] = [str(name) for name in covariates]
    seed = getattr(estimator, "random_state", None)
    return {
        "reference": reference or reference_of(type(estimator)),
        "settings": settings,
        "seed": int(seed) if isinstance(seed, Integral) else None,
        "n_rows": X.shape[0],
        "n_columns": X.shape[1],
        "total_weight": float(weights.sum()),
        "fingerprint": fingerprint(X, y),
        "versions": {
            "garrote": garrote.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }


def _json_value(value: Any) -> str | int | float | bool | None:
    """Return a setting as JSON can hold it: itself, or a short text."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    if isinstance(value, np.ndarray) and value.size <= _FEW:
        value = value.tolist()
    elif isinstance(getattr(value, "shape", None), tuple):
        return f"{type(value).__name__} of shape {value.shape}"
    # Where an object lies in memory says nothing to anybody else; arrays in it are told on one line.
    text = re.sub(r"\s+", " ", re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value)))
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"


def fingerprint(X: Any, y: Floats) -> str:
    """Return a hash of the shape, of y and of an even sample of the entries of X."""
    digest = _digest_of(X, y)
    if is_design(X):
        step = max(1, X.shape[0] * X.shape[1] // _ENTRIES)
        digest.update(X.take(np.arange(0, X.shape[1], step), np.zeros(X.shape[1])).tobytes())
    elif scipy.sparse.issparse(X):
        step = max(1, X.nnz // _ENTRIES)
        for part in (X.indptr, X.indices[::step], X.data[::step]):
            digest.update(np.asarray(part, dtype=np.float64).tobytes())
    else:
        # A view: of the rows themselves there would be a copy, of all of X where they are few.
        return fingerprint_of_rows(X, y, X[:: _row_step(X.shape)])
    return digest.hexdigest()


def rows_of_fingerprint(shape: tuple[int, int]) -> Array:
    """Return the rows of an array that a fingerprint is made of."""
    return np.arange(0, shape[0], _row_step(shape))


def _row_step(shape: tuple[int, int]) -> int:
    return max(1, shape[0] // 512)


def fingerprint_of_rows(X: Any, y: Floats, rows: Array) -> str:
    """Return the hash of a matrix of which some rows are at hand, see `rows_of_fingerprint`."""
    digest = _digest_of(X, y)
    by_column = max(1, X.shape[0] * X.shape[1] // _row_step(X.shape) // _ENTRIES)
    digest.update(rows[:, ::by_column].tobytes())
    return digest.hexdigest()


def _digest_of(X: Any, y: Floats) -> Any:
    digest = blake2b(repr((X.shape, str(X.dtype))).encode(), digest_size=8)
    digest.update(np.asarray(y, dtype=np.float64).tobytes())
    return digest
