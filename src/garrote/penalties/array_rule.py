"""Penalties of arrays of any library, on any device: their charges, operators and dual bounds."""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from garrote.penalties.base import Terms
from garrote.penalties.elastic_net import ElasticNet
from garrote.penalties.groups.group_lasso import GroupLasso
from garrote.penalties.groups.grouping import resolve_groups
from garrote.penalties.l0 import L0
from garrote.proximal import Groups, elastic_net, group_l2, hard_threshold
from garrote.proximal.inputs import like, namespace
from garrote.rules import Evaluated, proximal_point


class ArrayRule(NamedTuple):
    """threshold |w|_1 + ridge |w|^2 / 2, or prices, or lengths of groups, on arrays of any library.

    ``prices`` tells that the threshold is what each coefficient costs that is not 0.
    """

    threshold: float
    ridge: float = 0.0
    prices: bool = False
    groups: Groups | None = None
    weights: Any = None

    def charge(self, coef: Any) -> float:
        """Return the penalty of coefficients."""
        xp = namespace(coef)
        if self.prices:
            return self.threshold * float(xp.sum(like(coef, coef != 0)))
        if self.groups is not None:
            lengths = self.groups.lengths(coef)
            return self.threshold * float(xp.sum(like(coef, self.weights) * lengths))
        squares = 0.5 * self.ridge * float(coef @ coef) if self.ridge else 0.0
        return self.threshold * float(xp.sum(xp.abs(coef))) + squares

    def dual_bound(self, seen: Evaluated, reach: float) -> float:
        """Return a value that no coefficients can go below; NaN where duality gives none.

        Coefficients that nothing penalises are taken to lie within ``reach`` of 0.
        """
        if self.prices:
            return np.nan
        xp, gradient = namespace(seen.gradient), seen.gradient
        if self.ridge:
            beyond = xp.clip(xp.abs(gradient) - self.threshold, 0.0, None)
            return seen.dual(1.0) - float(beyond @ beyond) / (2.0 * self.ridge)
        if self.groups is None:
            size, limits = xp.abs(gradient), self.threshold * xp.ones_like(gradient)
        else:
            size = self.groups.lengths(gradient)
            limits = self.threshold * like(gradient, self.weights)
        held = limits > 0
        shares = xp.where(held & (size > limits), limits / xp.where(size > 0, size, 1.0), 1.0)
        share = float(xp.min(shares))
        free = xp.where(held, xp.zeros_like(size), size)
        return seen.dual(share) - share * reach * float(xp.sum(free))


@proximal_point.register
def _(rule: ArrayRule, z: Any, step: float) -> Any:
    if rule.prices:
        return hard_threshold(z, step * rule.threshold)
    if rule.groups is not None:
        return group_l2(z, step * rule.threshold, rule.groups, rule.weights)
    whole = rule.threshold + rule.ridge
    return elastic_net(z, step * whole, rule.threshold / whole if whole else 1.0)


@singledispatch
def array_rule(penalty: Any, strength: float, coef: Any) -> ArrayRule:
    """Return what a penalty charges for arrays like some coefficients."""
    raise ValueError(
        f"penalty {getattr(penalty, 'name', penalty)!r} has no operator for arrays of any library: take "
        "L1, Ridge, ElasticNet, L0 or GroupLasso with norm=2 and l1_ratio=0"
    )


@array_rule.register
def _(penalty: ElasticNet, strength: float, coef: Any) -> ArrayRule:
    if penalty.corrected:
        raise ValueError(
            "corrected=True is for SparseRegressor: multiply the coefficients found with "
            "corrected=False by 1 + ridge / mean(x_j^2) instead"
        )
    share = penalty.single_share
    return ArrayRule(share * strength, (1.0 - share) * strength)


@array_rule.register
def _(penalty: L0, strength: float, coef: Any) -> ArrayRule:
    return ArrayRule(strength, prices=True)


@array_rule.register
def _(penalty: GroupLasso, strength: float, coef: Any) -> ArrayRule:
    if penalty.flat or penalty.l1_ratio:
        return array_rule(penalty.name, strength, coef)
    count = coef.shape[0]
    groups = resolve_groups(penalty.groups, count)
    rule = penalty.resolved(count).at(1.0, Terms.equal(count))
    return ArrayRule(strength, groups=Groups(groups), weights=rule.weight)
