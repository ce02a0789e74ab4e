"""Penalties by the names that users know them by."""

from collections.abc import Callable
from typing import Any

from garrote.penalties.adaptive import AdaptiveLasso
from garrote.penalties.base import Penalty
from garrote.penalties.basis_pursuit import BasisPursuit
from garrote.penalties.breiman import BreimanGarrote
from garrote.penalties.bridge import Bridge
from garrote.penalties.concave import MCP, SCAD, LogSum
from garrote.penalties.elastic_net import L1, ElasticNet, Ridge
from garrote.penalties.fusion.fused import FusedLasso
from garrote.penalties.fusion.trend import TrendFilter
from garrote.penalties.groups.concave_groups import GroupMCP, GroupSCAD
from garrote.penalties.groups.group_lasso import GroupLasso
from garrote.penalties.groups.overlapping import OverlappingGroups
from garrote.penalties.l0 import L0
from garrote.penalties.mixtures import HAL, NEG, NormalGamma, NormalJeffreys
from garrote.penalties.sorting.slope import Slope
from garrote.penalties.subset import BestSubset, NoPenalty
from garrote.settings import as_settings

# Penalties by the name that users know them by, with default settings.
PENALTIES: dict[str, Callable[[], Penalty]] = {
    "lasso": L1,
    "l1": L1,
    "elastic-net": ElasticNet,
    "ridge": Ridge,
    "adaptive-lasso": AdaptiveLasso,
    "breiman-garrote": BreimanGarrote,
    "mcp": MCP,
    "scad": SCAD,
    "log-sum": LogSum,
    "bridge": Bridge,
    "hal": HAL,
    "normal-jeffreys": NormalJeffreys,
    "normal-gamma": NormalGamma,
    "neg": NEG,
    "group-lasso": GroupLasso,
    "group-mcp": GroupMCP,
    "group-scad": GroupSCAD,
    "overlapping-groups": OverlappingGroups,
    "fused-lasso": FusedLasso,
    "trend-filter": TrendFilter,
    "slope": Slope,
    "l0": L0,
    "best-subset": BestSubset,
    "none": NoPenalty,
    "basis-pursuit": BasisPursuit,
}
# What scikit-learn calls some of them.
_ALSO = {"l2": "ridge", "elasticnet": "elastic-net"}


def penalties_by_name() -> dict[str, Callable[[], Penalty]]:
    """Return what makes each penalty, by every name that is understood."""
    return PENALTIES | {also: PENALTIES[name] for also, name in _ALSO.items()}


def as_penalty(given: Any) -> Penalty:
    """Return a penalty by itself or, with its default settings, by its name.

    Examples
    --------
    >>> from garrote.penalties import as_penalty
    >>> as_penalty("l2").name == as_penalty("ridge").name
    True
    """
    if given is None:
        raise ValueError("penalty must not be None; penalty='none' is the fit without one")
    otherwise, names = "an object of garrote.penalties", tuple(PENALTIES)
    return as_settings("penalty", given, Penalty, penalties_by_name(), otherwise, names)
