"""Where an answer comes from: the settings, the versions, and a fingerprint of the data."""

import platform
from hashlib import blake2b
from numbers import Integral
from typing import Any

import numpy as np
import scipy
import scipy.sparse
import sklearn

import garrote
from garrote.arrays import Floats

# Entries of X that the fingerprint reads, at most: hashing all of a large X would cost a pass.
_ENTRIES = 1 << 18


def provenance(estimator: Any, X: Any, y: Floats, weights: Floats) -> dict[str, Any]:
    """Describe a fit for a reader who wants to repeat it."""
    settings = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if isinstance(value, str | int | float | bool | type(None))
    }
    seed = getattr(estimator, "random_state", None)
    return {
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


def fingerprint(X: Any, y: Floats) -> str:
    """Return a hash of the shape, of y and of an even sample of the entries of X."""
    digest = blake2b(repr((X.shape, str(X.dtype))).encode(), digest_size=8)
    digest.update(np.asarray(y, dtype=np.float64).tobytes())
    if scipy.sparse.issparse(X):
        step = max(1, X.nnz // _ENTRIES)
        for part in (X.indptr, X.indices[::step], X.data[::step]):
            digest.update(np.asarray(part, dtype=np.float64).tobytes())
    else:
        by_row = max(1, X.shape[0] // 512)
        by_column = max(1, X.shape[0] * X.shape[1] // by_row // _ENTRIES)
        digest.update(X[::by_row, ::by_column].tobytes())
    return digest.hexdigest()
