"""What norms of groups charge at one strength, their proximal points, and gradients that they hold."""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.proximal.l1_ball import level
from garrote.rules import (
    Evaluated,
    Structure,
    companions,
    dual_bound,
    proximal_group,
    proximal_point,
    reach,
    restricted,
    ridge_weights,
    structure,
    total_cost,
    violation,
    violation_of_group,
)


class GroupRule(NamedTuple):
    """The sum over groups of weight_g ||w_g||, plus threshold_j |w_j|.

    ``group`` has the number of each column's group; ``order`` lists columns group by group, those of
    group g from ``starts[g]`` to ``starts[g + 1]``. ``flat`` says that the norm is the largest |w_j|.
    """

    group: Array
    order: Array
    starts: Array
    weight: Floats
    threshold: Floats
    flat: bool

    def norms(self, coef: Floats) -> Floats:
        """Return the norm of each group's coefficients."""
        ordered = np.abs(coef[self.order])
        if self.flat:
            return np.maximum.reduceat(ordered, self.starts[:-1])
        return np.sqrt(np.add.reduceat(ordered**2, self.starts[:-1]))

    def dual_norms(self, gradient: Floats) -> Floats:
        """Return the dual norm of each group's gradient, beyond what its own thresholds hold back."""
        beyond = np.maximum(np.abs(gradient) - self.threshold, 0.0)[self.order]
        if self.flat:
            return np.add.reduceat(beyond, self.starts[:-1])
        return np.sqrt(np.add.reduceat(beyond**2, self.starts[:-1]))


@structure.register
def _(rule: GroupRule) -> Structure:
    return Structure.GROUPS


@restricted.register
def _(rule: GroupRule, columns: Array) -> GroupRule:
    owner = rule.group[columns]
    sizes = np.bincount(owner, minlength=len(rule.weight))
    present = np.flatnonzero(sizes)
    group = (np.cumsum(sizes > 0) - 1)[owner]
    starts = np.append(0, np.cumsum(sizes[present]))
    return GroupRule(
        group, np.argsort(group, kind="stable"), starts, rule.weight[present],
        rule.threshold[columns], rule.flat,
    )  # fmt: skip


@companions.register
def _(rule: GroupRule, columns: Array) -> Array:
    inside = np.zeros(len(rule.weight), dtype=bool)
    inside[rule.group[columns]] = True
    return np.flatnonzero(inside[rule.group])


@total_cost.register
def _(rule: GroupRule, columns: Array, coef: Floats) -> float:
    if not len(columns):
        return 0.0
    everywhere = np.zeros(len(rule.group))
    everywhere[columns] = coef
    norms = float(rule.weight @ rule.norms(everywhere))
    return norms + float(rule.threshold[columns] @ np.abs(coef))


@violation.register
def _(rule: GroupRule, gradient: Floats, coef: Floats, curvature: Floats) -> Floats:
    if not len(coef):
        return np.zeros(0)
    off: Floats = _violation(rule, gradient, coef, curvature)[rule.group]
    return off


@kernel
def _violation(rule, gradient, coef, curvature):
    """Return how far each group is from its own proximal step, in units of gradients."""
    groups = rule.starts.shape[0] - 1
    off = np.zeros(groups)
    for g in range(groups):
        members = rule.order[rule.starts[g] : rule.starts[g + 1]]
        off[g] = violation_of_group(rule, g, gradient[members], coef[members], curvature[members])
    return off


@ridge_weights.register
def _(rule: GroupRule, size: Floats) -> Floats:
    # Eq. 13.112: all members have the weight of their group's length.
    return (rule.weight / rule.norms(size))[rule.group] + rule.threshold / size


@proximal_point.register
def _(rule: GroupRule, z: Floats, step: float) -> Floats:
    point = np.array(z, dtype=np.float64)
    _each_group(rule, point, step)
    return point


@kernel
def _each_group(rule, z, step):
    """Replace z by its proximal point, group by group."""
    for g in range(rule.starts.shape[0] - 1):
        members = rule.order[rule.starts[g] : rule.starts[g + 1]]
        point = z[members]
        proximal_group(rule, g, point, step)
        for a in range(members.shape[0]):
            z[members[a]] = point[a]


@proximal_group.register
def _(rule: GroupRule, g, z, step):
    size, first, weight = z.shape[0], rule.starts[g], step * rule.weight[g]
    total = 0.0
    for a in range(size):
        left = abs(z[a]) - step * rule.threshold[rule.order[first + a]]
        z[a] = np.sign(z[a]) * max(left, 0.0)
        total += abs(z[a]) if rule.flat else z[a] * z[a]
    if not rule.flat:
        norm = np.sqrt(total)
        share = 1.0 - weight / norm if norm > weight else 0.0
        for a in range(size):
            z[a] *= share
    elif total <= weight:
        for a in range(size):
            z[a] = 0.0
    else:
        # By Moreau: what is left of z beside its projection onto the l1 ball.
        top = level(np.abs(z), np.ones(size), weight)
        for a in range(size):
            z[a] = min(max(z[a], -top), top)


@dual_bound.register
def _(rule: GroupRule, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated) -> float:
    gradient = np.where(curvature > 0, seen.gradient, 0.0)
    penalised = rule.weight > 0
    share = _feasible_share(rule, gradient, penalised)
    # A group without a penalty would need a gradient of 0; its coefficients are taken to be in reach.
    free = ~penalised[rule.group] & (curvature > 0)
    beyond = float(np.maximum(share * np.abs(gradient[free]) - rule.threshold[free], 0.0).sum())
    bound = seen.dual(share)
    return bound - reach(coef, free, curvature, null) * beyond if beyond else bound


def _feasible_share(rule: GroupRule, gradient: Floats, penalised: Array) -> float:
    """Return the largest share of the gradient at which the penalty's conjugate is finite."""

    def feasible(share: float) -> bool:
        norms = rule.dual_norms(share * gradient)
        return bool((norms <= rule.weight * (1 + 1e-14))[penalised].all())

    if feasible(1.0):
        return 1.0
    if not rule.threshold.any():
        norms = rule.dual_norms(gradient)[penalised]
        return float((rule.weight[penalised] / np.maximum(norms, 1e-300)).min())
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if feasible(middle) else (low, middle)
    return low
