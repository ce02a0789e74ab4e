"""The proximal point of what a rule charges: the step that all first-order solvers share.

It minimises ||w - z||^2 / (2 step) + charge(w). For penalties of single coefficients that is their own
shrinkage at a curvature of 1 / step; others register theirs.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.rules.coefficients import shrink


@singledispatch
def proximal_point(rule: Any, z: Floats, step: float) -> Floats:
    """Return the coefficients that minimise ||w - z||^2 / (2 step) plus what the rule charges."""
    point: Floats = _each(rule, z, 1.0 / step)
    return point


@kernel
def _each(rule, z, curvature):
    point = np.zeros(z.shape[0])
    for j in range(z.shape[0]):
        point[j] = shrink(rule, j, z[j], curvature)
    return point
