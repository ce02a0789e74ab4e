"""What sparse means to an optimiser: penalties of single coefficients, and of groups of them."""

from garrote.penalties.adaptive import AdaptiveLasso
from garrote.penalties.base import Penalty, Terms
from garrote.penalties.basis_pursuit import BasisPursuit
from garrote.penalties.breiman import BreimanGarrote
from garrote.penalties.bridge import Bridge
from garrote.penalties.concave import MCP, SCAD, LogSum
from garrote.penalties.elastic_net import L1, ElasticNet, Ridge
from garrote.penalties.fixed_ridge import L1WithRidge
from garrote.penalties.fusion.fused import FusedLasso
from garrote.penalties.fusion.trend import TrendFilter
from garrote.penalties.groups.concave_groups import GroupMCP, GroupSCAD
from garrote.penalties.groups.group_lasso import GroupLasso
from garrote.penalties.groups.overlapping import OverlappingGroups
from garrote.penalties.l0 import L0
from garrote.penalties.mixtures import HAL, NEG, NormalGamma, NormalJeffreys
from garrote.penalties.names import PENALTIES, as_penalty, penalties_by_name
from garrote.penalties.sorting.slope import Slope
from garrote.penalties.subset import BestSubset, NoPenalty
from garrote.penalties.thresholds import thresholding

__all__ = [
    "HAL",
    "L0",
    "L1",
    "MCP",
    "NEG",
    "PENALTIES",
    "SCAD",
    "AdaptiveLasso",
    "BasisPursuit",
    "BestSubset",
    "BreimanGarrote",
    "Bridge",
    "ElasticNet",
    "FusedLasso",
    "GroupLasso",
    "GroupMCP",
    "GroupSCAD",
    "L1WithRidge",
    "LogSum",
    "NoPenalty",
    "NormalGamma",
    "NormalJeffreys",
    "OverlappingGroups",
    "Penalty",
    "Ridge",
    "Slope",
    "Terms",
    "TrendFilter",
    "as_penalty",
    "penalties_by_name",
    "thresholding",
]
