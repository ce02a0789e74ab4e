"""What every operator asks of its arguments, and arrays of other libraries than NumPy.

The operators that are a few element-wise steps run on any array of the array API standard
(https://data-apis.org/array-api) and on PyTorch tensors, through the functions of the array's own
library. Those with a compiled loop take NumPy arrays only.
"""

import math
import sys
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.limits.magnitudes import refuse_large, within


def namespace(x: Any) -> Any:
    """Return the library whose functions work on ``x``: NumPy unless it is some other array."""
    if isinstance(x, np.ndarray):
        return np
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__()
    if type(x).__module__.partition(".")[0] == "torch":
        return sys.modules["torch"]
    return np


def as_floats(x: Any) -> Any:
    """Return ``x`` as an array of floating-point numbers: float32 and other libraries' arrays stay."""
    if namespace(x) is not np:
        return x
    values = np.asarray(x)
    if values.dtype.kind in "biu":
        return values.astype(np.float64)
    if values.dtype.kind != "f":
        raise TypeError(f"x must be an array of real numbers, got {values.dtype}")
    return values


def as_vector(x: Any) -> Array:
    """Return ``x`` as a finite one-dimensional NumPy array of floating-point numbers."""
    if namespace(x) is not np:
        raise TypeError(
            f"this operator takes NumPy arrays, got {type(x).__name__}: convert it first"
        )
    values: Array = as_floats(x)
    if values.ndim != 1:
        raise ValueError(f"x must have one dimension, got an array of shape {values.shape}")
    if not within(values) and not np.isfinite(values).all():
        first = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"x must be finite, got {values[first]} at position {first}")
    refuse_large(values, "x", of="position")
    return values


def unit_of(x: Array) -> float:
    """Return a power of 2 near the largest of some numbers: divided by it, their squares are numbers."""
    return float(np.ldexp(1.0, np.frexp(np.abs(x).max(initial=0.0))[1] - 1))


def as_strength(strength: Any, name: str = "strength") -> float:
    """Return a finite number >= 0."""
    value = float(strength)
    if not (math.isfinite(value) and value >= 0.0):
        raise ValueError(f"{name} must be a finite number >= 0, got {strength}")
    return value


def as_ratio(ratio: Any) -> float:
    """Return ``l1_ratio`` as a number between 0 and 1."""
    value = float(ratio)
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"l1_ratio must lie between 0 and 1, got {ratio}")
    return value


def as_weights(weights: Any, shape: tuple[int, ...], of: str) -> Floats:
    """Return one weight >= 0 for each of something (``of``), as a float64 NumPy array; None: all 1."""
    if weights is None:
        return np.ones(shape)
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != shape:
        raise ValueError(f"weights must have shape {shape}, one for each {of}, got {values.shape}")
    if not (np.isfinite(values).all() and values.min(initial=0.0) >= 0.0):
        raise ValueError(f"weights must be finite and >= 0, got {values.min()} to {values.max()}")
    return values


def like(x: Any, values: Any) -> Any:
    """Return numbers as an array of the library, the type and the device of ``x``."""
    xp = namespace(x)
    if xp is np:
        return np.asarray(values, dtype=x.dtype)
    return xp.asarray(values, dtype=x.dtype, device=x.device)


def thresholds(x: Any, strength: float, weights: Any) -> Any:
    """Return strength * weights, or the strength alone where there are no weights."""
    if weights is None:
        return strength
    if namespace(weights) is not np:
        return strength * like(x, weights)
    return like(x, strength * as_weights(weights, tuple(x.shape), "coefficient"))
