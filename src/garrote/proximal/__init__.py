"""Proximal operators and projections: the steps of which proximal methods are made.

The proximal operator of a penalty R is prox(x) = argmin_z R(z) + ||z - x||^2 / 2 (Murphy 2012, Eq.
13.68). Arrays go in and arrays come out, of the same type; float32 stays float32. Operators that say so
also take PyTorch tensors and other arrays of the array API. Inside a proximal gradient method the
strength is the penalty's times the step size.
"""

from garrote.proximal.chain import total_variation
from garrote.proximal.fused import fused_lasso
from garrote.proximal.gaps import total_variation_gap
from garrote.proximal.graph import Graph
from garrote.proximal.graph_variation import (
    GraphDenoising,
    denoise_on_graph,
    graph_total_variation,
)
from garrote.proximal.grouping import Groups
from garrote.proximal.groups import group_l2, group_linf, sparse_group
from garrote.proximal.l1_ball import project_l1_ball, project_simplex
from garrote.proximal.projections import project_box, project_l2_ball, project_linf_ball
from garrote.proximal.thresholds import elastic_net, hard_threshold, soft_threshold
from garrote.proximal.tied.overlapping import overlapping_groups
from garrote.proximal.tied.sorted_sizes import sorted_l1

__all__ = [
    "Graph",
    "GraphDenoising",
    "Groups",
    "denoise_on_graph",
    "elastic_net",
    "fused_lasso",
    "graph_total_variation",
    "group_l2",
    "group_linf",
    "hard_threshold",
    "overlapping_groups",
    "project_box",
    "project_l1_ball",
    "project_l2_ball",
    "project_linf_ball",
    "project_simplex",
    "soft_threshold",
    "sorted_l1",
    "sparse_group",
    "total_variation",
    "total_variation_gap",
]
