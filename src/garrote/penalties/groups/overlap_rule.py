"""What groups that overlap charge at one strength, their proximal point, and gradients held at 0."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.held_share import held_share
from garrote.proximal.tied.overlapping import charge_of, shorten
from garrote.rules import (
    Evaluated,
    Structure,
    bounds,
    companions,
    dual_bound,
    is_convex,
    proximal_point,
    reach,
    restricted,
    structure,
    total_cost,
    violation,
)


class OverlapRule(NamedTuple):
    """The sum over groups of limit_g ||w_g||, small groups first, and signs that coefficients may have.

    Those of group g are ``members[starts[g]:starts[g + 1]]``; a coefficient in none is not charged.
    ``tree`` says that any two groups are nested or apart.
    """

    members: Array
    starts: Array
    limits: Floats
    lower: Floats
    upper: Floats
    tree: bool

    @property
    def free(self) -> Array:
        """Which coefficients no group with a weight has."""
        charged = np.repeat(self.limits > 0, np.diff(self.starts))
        return np.bincount(self.members[charged], minlength=len(self.lower)) == 0

    def shortened(self, z: Floats, step: float) -> Floats:
        """Return the proximal point. Signs first: norms of sizes fall with every size."""
        point = np.clip(z, self.lower, self.upper)
        shorten(point, self.members, self.starts, step * self.limits, self.tree)
        return point


def feasible_share(rule: OverlapRule, gradient: Floats, most: float = 1.0) -> float:
    """Return the largest share of a gradient, up to ``most``, that is held at 0."""
    gradient = np.where(rule.free, 0.0, np.clip(gradient, rule.lower, rule.upper))
    return held_share(
        gradient,
        lambda w: charge_of(w, rule.members, rule.starts, rule.limits),
        lambda z: rule.shortened(z, 1.0),
        most,
    )


@structure.register
def _(rule: OverlapRule) -> Structure:
    return Structure.OVERLAPS


@is_convex.register
def _(rule: OverlapRule) -> bool:
    return True


@restricted.register
def _(rule: OverlapRule, columns: Array) -> OverlapRule:
    place = np.full(len(rule.lower), -1)
    place[columns] = np.arange(len(columns))
    inside = place[rule.members] >= 0
    owner = np.repeat(np.arange(len(rule.limits)), np.diff(rule.starts))[inside]
    starts = np.append(0, np.cumsum(np.bincount(owner, minlength=len(rule.limits))))
    return OverlapRule(
        place[rule.members[inside]], starts, rule.limits,
        rule.lower[columns], rule.upper[columns], rule.tree,
    )  # fmt: skip


@companions.register
def _(rule: OverlapRule, columns: Array) -> Array:
    """Return the columns with those of their smallest groups, without which these would be others."""
    wanted = np.zeros(len(rule.lower), dtype=bool)
    wanted[columns] = True
    for first, last in zip(rule.starts[:-1], rule.starts[1:], strict=True):
        group = rule.members[first:last]
        if wanted[group].any() and last - first <= 64:
            wanted[group] = True
    return np.flatnonzero(wanted)


@total_cost.register
def _(rule: OverlapRule, columns: Array, coef: Floats) -> float:
    everywhere = np.zeros(len(rule.lower))
    everywhere[columns] = coef
    return float(charge_of(everywhere, rule.members, rule.starts, rule.limits))


@violation.register
def _(rule: OverlapRule, gradient: Floats, coef: Floats, curvature: Floats) -> Floats:
    steep = float(curvature.max(initial=0.0))
    if steep == 0.0:
        return np.zeros(len(coef))
    ahead = rule.shortened(coef + np.where(curvature > 0, gradient, 0.0) / steep, 1.0 / steep)
    return np.where(curvature > 0, np.abs(ahead - coef) * steep, 0.0)


@proximal_point.register
def _(rule: OverlapRule, z: Floats, step: float) -> Floats:
    return rule.shortened(z, step)


@bounds.register
def _(rule: OverlapRule, columns: Array) -> tuple[Floats, Floats]:
    return rule.lower[columns], rule.upper[columns]


@dual_bound.register
def _(
    rule: OverlapRule, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated
) -> float:
    gradient = np.where(curvature > 0, seen.gradient, 0.0)
    if not rule.tree:
        return _bound_of_forces(rule, coef, gradient, seen, curvature, null)
    share = feasible_share(rule, gradient)
    # What nothing charges would need a gradient of 0; it is taken to be in reach.
    free = rule.free & (curvature > 0)
    beyond = share * float(np.abs(np.clip(gradient, rule.lower, rule.upper)[free]).sum())
    bound = seen.dual(share)
    return bound - reach(coef, free, curvature, null) * beyond if beyond else bound


def _bound_of_forces(
    rule: OverlapRule,
    coef: Floats,
    gradient: Floats,
    seen: Evaluated,
    curvature: Floats,
    null: Evaluated,
) -> float:
    """Return the bound where groups are no tree: what forces of a proximal step leave of the gradient.

    At the optimum that is nothing. How large a share the penalty holds at 0 takes very many passes to
    find there; coefficients are taken to be in reach instead.
    """
    steep = float(curvature.max(initial=0.0)) or 1.0
    z = coef + gradient / steep
    ahead = rule.shortened(z, 1.0 / steep)
    beyond = float(np.abs(gradient - steep * (z - ahead)).sum())
    return seen.dual(1.0) - reach(coef, curvature > 0, curvature, null) * beyond
