"""How a rule ties coefficients together: its parts, and which columns come in with which.

Loops are chosen by the structure. Those over single coefficients ask for nothing else; those over groups
read the arrays that `garrote.penalties.group_rule.GroupRule` has, and those over pieces call the methods
of `garrote.penalties.fusion.fused_rule.FusedRule`.
"""

from enum import Enum
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import generic, kernel
from garrote.arrays import Array, Floats


class Structure(Enum):
    """Whether a rule charges coefficients one by one, groups of them, or differences between them."""

    SEPARATE = "each coefficient by itself"
    GROUPS = "norms of groups"
    PIECES = "differences between neighbours"


@singledispatch
def structure(rule: Any) -> Structure:
    """Return how a rule ties coefficients together."""
    return Structure.SEPARATE


@singledispatch
def is_elastic_net(rule: Any) -> bool:
    """Tell whether a rule is threshold_j |w| + ridge_j w^2 / 2 between bounds, all of them arrays."""
    return False


@singledispatch
def restricted(rule: Any, columns: Array) -> Any:
    """Return the rule of some columns."""
    return type(rule)(*(part[columns] if isinstance(part, np.ndarray) else part for part in rule))


@singledispatch
def companions(rule: Any, columns: Array) -> Array:
    """Return some columns with those that cannot come in without them."""
    return columns


@generic
def proximal_group(rule: Any, g: int, z: Floats, step: float) -> None:
    """Replace z by the proximal point of ``step`` times the penalty of group ``g``."""
    raise TypeError(f"no penalty of groups is registered for {type(rule).__name__}")


@kernel
def violation_of_group(rule, g, slope, coef, curvature):
    """Return how far a group is from its own proximal step, in units of gradients."""
    size = curvature.shape[0]
    steep = curvature.max()
    if steep == 0.0:
        return 0.0
    z = np.zeros(size)
    for a in range(size):
        z[a] = coef[a] + slope[a] / steep if curvature[a] > 0.0 else 0.0
    proximal_group(rule, g, z, 1.0 / steep)
    off = 0.0
    for a in range(size):
        off = max(off, abs(z[a] - coef[a]) * steep)
    return off


class WayDown(NamedTuple):
    """The gradient of least length, downhill, and which edges join equal coefficients."""

    direction: Floats
    fused: Array
