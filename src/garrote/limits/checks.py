"""Rows and moments that no estimator has looked at before, refused with their place and the remedy."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.limits.magnitudes import (
    LINKS,
    MOMENTS,
    VALUES,
    WEIGHTS,
    refuse_large,
    refuse_small_spread,
)


def check_rows(
    shape: tuple[int, int], y: Floats, weights: Floats, offset: Floats | None, likelihood: Any
) -> None:
    """Refuse what does not fit to an X of some shape, or is no response of the likelihood."""
    count = shape[0]
    most = 2 if likelihood.several else 1  # with one linear predictor y has one column
    if not 1 <= y.ndim <= most or len(y) != count:
        raise ValueError(f"y must have {count} entries like X has rows, got shape {y.shape}")
    if not shape[1]:
        raise ValueError("X has no columns")
    if weights.shape != (count,) or not (weights >= 0).all() or not weights.any():
        raise ValueError("sample_weight must be non-negative, one a row, and not zero for all rows")
    bad = np.flatnonzero(~np.isfinite(y.reshape(count, -1).sum(axis=1)) | ~np.isfinite(weights))
    if len(bad):
        raise ValueError(f"y or sample_weight is not finite at row {bad[0]} ({len(bad)} in all)")
    refuse_large(y, "y")
    refuse_large(weights, "sample_weight", limit=WEIGHTS)
    # Rows of weight 0 may hold anything; another row stands for each, so that errors count all rows.
    likelihood.check_response(y[np.where(weights > 0, np.arange(count), np.argmax(weights > 0))])
    if offset is not None:
        expected = (count, likelihood.outputs) if likelihood.several else (count,)
        if offset.shape != expected or not np.isfinite(offset).all():
            raise ValueError(
                f"offset must hold finite numbers in an array of shape {expected}, got {offset.shape}"
            )
        refuse_large(offset, "offset", limit=VALUES if likelihood.additive else LINKS)


def check_columns(mean: Floats, deviation: Floats, constant: Array) -> None:
    """Refuse columns that are not finite, or whose sizes leave double precision."""
    bad = np.flatnonzero(~np.isfinite(mean + deviation))
    if len(bad):
        raise ValueError(f"X is not finite in column {bad[0]} ({len(bad)} columns in all)")
    refuse_large(np.maximum(np.abs(mean), deviation), "X", of="column")
    refuse_small_spread(np.where(constant, 0.0, deviation))


def check_moments(
    gram: Array, xty: Array, yty: float, n: float
) -> tuple[Floats, Floats, float, float]:
    """Return X'X, X'y, y'y and n as numbers that may be those of centred rows; refuse others."""
    gram, xty = np.asarray(gram, dtype=np.float64), np.asarray(xty, dtype=np.float64)
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or not len(gram):
        raise ValueError(f"gram must be square, got shape {gram.shape}")
    if xty.shape != (gram.shape[0],):
        raise ValueError(f"xty must have {gram.shape[0]} entries like gram, got shape {xty.shape}")
    if not (np.isfinite(gram).all() and np.isfinite(xty).all() and np.isfinite(yty)):
        raise ValueError("gram, xty and yty must be finite; replace missing entries first")
    if not n > 1:
        raise ValueError(f"n must be the number of rows, at least 2, got {n}")
    refuse_large(gram, "gram", limit=MOMENTS)
    refuse_large(xty, "xty", limit=MOMENTS, of="entry")
    refuse_large(yty, "yty", limit=MOMENTS)
    refuse_large(n, "n", limit=WEIGHTS)
    if not np.allclose(gram, gram.T, rtol=1e-6, atol=1e-8 * np.abs(gram).max(initial=0.0)):
        raise ValueError("gram must be symmetric: pass X'X of centred columns")
    diagonal = np.diag(gram)
    if (diagonal < 0).any():
        raise ValueError(f"gram has a negative diagonal entry at {int(np.argmin(diagonal))}")
    if not yty >= 0:
        raise ValueError(f"yty must be >= 0, got {yty}")
    refuse_small_spread(np.sqrt(diagonal / n))
    excess = np.abs(xty) - np.sqrt(diagonal * yty) * (1 + 1e-6)
    if (excess > 0).any():
        j = int(np.argmax(excess))
        raise ValueError(
            f"xty[{j}] is larger than the Cauchy-Schwarz bound sqrt(gram[{j}, {j}] * yty): "
            "the moments are not from the same centred data"
        )
    largest = diagonal.max(initial=0.0)
    try:
        np.linalg.cholesky(gram + 1e-6 * largest * np.eye(len(gram)) if largest else np.eye(1))
    except np.linalg.LinAlgError:
        raise ValueError(
            "gram is not positive semidefinite: pass X'X of one set of rows, without missing entries"
        ) from None
    return np.ascontiguousarray((gram + gram.T) / 2), xty, float(yty), float(n)
