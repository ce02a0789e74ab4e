"""Penalties that are sums of absolute values: of which combinations of coefficients, with what weights.

Whoever replaces |t| by a smooth curve (`garrote.solvers.smoothing`) needs no more of a penalty.
"""

from functools import singledispatch
from typing import Any, NamedTuple

from garrote.arrays import Floats


class AbsoluteParts(NamedTuple):
    """sum_k weight_k |combination_k'w| + sum_j ridge_j w_j^2 / 2.

    ``combinations`` is a sparse matrix with a row for every combination, and a column for every
    coefficient.
    """

    combinations: Any
    weight: Floats
    ridge: Floats


@singledispatch
def absolute_parts(rule: Any) -> AbsoluteParts:
    """Return the absolute values that a rule is the sum of; bounds are left out."""
    raise TypeError(f"{type(rule).__name__} is no sum of absolute values")
