"""The proximal point of what a rule charges: the step that all first-order solvers share.

It minimises ||w - z||^2 / (2 step) + charge(w). For penalties of single coefficients that is their own
shrinkage at a curvature of 1 / step; others register theirs.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.penalties.group import GroupRule
from garrote.rules import shrink
from garrote.solvers.penalised.group_steps import proximal_group


@singledispatch
def proximal_point(rule: Any, z: Floats, step: float) -> Floats:
    """Return the coefficients that minimise ||w - z||^2 / (2 step) plus what the rule charges."""
    point: Floats = _each(rule, z, 1.0 / step)
    return point


@proximal_point.register
def _(rule: GroupRule, z: Floats, step: float) -> Floats:
    point = np.array(z, dtype=np.float64)
    _groups(rule, point, step)
    return point


@kernel
def _each(rule, z, curvature):
    point = np.zeros(z.shape[0])
    for j in range(z.shape[0]):
        point[j] = shrink(rule, j, z[j], curvature)
    return point


@kernel
def _groups(rule, z, step):
    """Replace z by its proximal point, group by group."""
    for g in range(rule.starts.shape[0] - 1):
        members = rule.order[rule.starts[g] : rule.starts[g + 1]]
        own = z[members]
        proximal_group(rule, g, own, step)
        for a in range(members.shape[0]):
            z[members[a]] = own[a]
