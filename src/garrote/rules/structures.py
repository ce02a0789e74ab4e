"""How a rule ties coefficients together: its parts, and which columns come in with which.

Loops are chosen by the structure. Those over single coefficients ask for nothing else; those over groups
need a `RuleOfGroups`, and those over pieces a `RuleOfPieces`.
"""

from enum import Enum
from functools import singledispatch
from typing import Any, NamedTuple, Protocol

import numpy as np

from garrote._jit import generic, kernel
from garrote.arrays import Array, Floats


class Structure(Enum):
    """Whether a rule charges coefficients one by one, groups, differences, or ranks of them."""

    SEPARATE = "each coefficient by itself"
    GROUPS = "norms of groups"
    PIECES = "differences between neighbours"
    SORTED = "sizes by their ranks"
    TRENDS = "differences of some order"
    OVERLAPS = "norms of groups that share members"


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


class RuleOfGroups(Protocol):
    """What loops over groups read: `garrote.penalties.groups.group_rule.GroupRule` says what each is."""

    @property
    def group(self) -> Array: ...
    @property
    def order(self) -> Array: ...
    @property
    def starts(self) -> Array: ...
    @property
    def weight(self) -> Floats: ...
    @property
    def threshold(self) -> Floats: ...
    @property
    def flat(self) -> bool: ...
    def norms(self, coef: Floats) -> Floats:
        """Return the norm of each group's coefficients."""
        ...


class Neighbours(Protocol):
    """Who is whose neighbour, as `garrote.proximal.graph.Graph` knows it."""

    @property
    def edges(self) -> Array: ...
    def joined(self, which: Array) -> Array:
        """Return the number of every coefficient's piece, some edges joining their ends."""
        ...


class RuleOfPieces(Protocol):
    """What loops over pieces ask: `garrote.penalties.fusion.fused_rule.FusedRule` is one."""

    @property
    def graph(self) -> Neighbours: ...
    @property
    def weight(self) -> Floats: ...
    @property
    def threshold(self) -> Floats: ...
    def charge(self, coef: Floats) -> float:
        """Return the penalty of all coefficients."""
        ...

    def equal_ends(self, coef: Floats) -> tuple[Array, Floats]:
        """Return which edges join equal coefficients, and the signs of the others' differences."""
        ...

    def way_down(self, gradient: Floats, coef: Floats, stiffer: float = 1.0) -> WayDown:
        """Return the gradient of least length, downhill; kinks may be made ``stiffer``."""
        ...

    def proximal_pieces(self, z: Floats, limits: Floats, thresholds: Floats) -> Floats:
        """Return the proximal point of these limits of differences and thresholds of sizes."""
        ...
