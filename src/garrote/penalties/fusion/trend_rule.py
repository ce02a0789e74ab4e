"""What trend filtering charges at one strength, and the gradients that it holds."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.proximal.tied.trend_newton import Trend, solve_trend
from garrote.rules import (
    Evaluated,
    Structure,
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

# Changes of a derivative below this share of what a coefficient can contribute to it are none.
_BENDS = 1e-9


class TrendRule(NamedTuple):
    """The sum of limit |(D w)_i|, D being block-diagonal where there are several outputs."""

    trend: Trend
    limit: float

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return int(self.trend.matrix.shape[1])

    @property
    def free(self) -> Array:
        """Which coefficients nothing pulls to 0: all of them."""
        return np.ones(self.size, dtype=bool)

    @property
    def levels(self) -> int:
        """How many directions nothing holds back: polynomials."""
        return self.trend.outputs * (self.trend.order + 1)

    def bends(self, coef: Floats) -> Floats:
        """Return the changes of the derivative at each place, 0 where they are but rounding."""
        changes = self.trend.matrix @ coef
        scale = abs(self.trend.matrix) @ np.abs(coef)
        return np.where(np.abs(changes) > _BENDS * scale, changes, 0.0)

    def charge(self, coef: Floats) -> float:
        """Return the penalty of all coefficients."""
        return self.limit * float(np.abs(self.trend.matrix @ coef).sum())

    def held_back(self, gradient: Floats, coef: Floats) -> Floats:
        """Return the gradient less what the penalty can hold of it: 0 at the optimum."""
        force, signs = self.trend.forces(gradient), np.sign(self.bends(coef))
        held = np.where(signs, self.limit * signs, np.clip(force, -self.limit, self.limit))
        return np.asarray(gradient - self.trend.matrix.T @ held)

    def solved(self, H: Floats, pull: Floats) -> Floats:
        """Return the minimiser of w'Hw / 2 - pull'w plus the charge."""
        limits = np.full(self.trend.matrix.shape[0], self.limit)
        return solve_trend(self.trend, H, pull, limits)[0]


@structure.register
def _(rule: TrendRule) -> Structure:
    return Structure.TRENDS


@is_convex.register
def _(rule: TrendRule) -> bool:
    return True


@restricted.register
def _(rule: TrendRule, columns: Array) -> TrendRule:
    if len(columns) != rule.size or not (columns == np.arange(rule.size)).all():
        raise ValueError("a trend is of all its columns, in their order")
    return rule


@companions.register
def _(rule: TrendRule, columns: Array) -> Array:
    return np.flatnonzero(rule.free) if len(columns) else columns


@violation.register
def _(rule: TrendRule, gradient: Floats, coef: Floats, curvature: Floats) -> Floats:
    return np.abs(rule.held_back(gradient, coef))


@total_cost.register
def _(rule: TrendRule, columns: Array, coef: Floats) -> float:
    everywhere = np.zeros(rule.size)
    everywhere[columns] = coef
    return rule.charge(everywhere)


@proximal_point.register
def _(rule: TrendRule, z: Floats, step: float) -> Floats:
    return rule._replace(limit=step * rule.limit).solved(np.ones(rule.size), z)


def feasible_share(rule: TrendRule, gradient: Floats, most: float = 1.0) -> float:
    """Return the largest share of a gradient, up to ``most``, that is held; polynomials left out."""
    force = float(np.abs(rule.trend.forces(gradient)).max(initial=0.0))
    return min(most, rule.limit / force) if force > 0 else most


@dual_bound.register
def _(rule: TrendRule, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated) -> float:
    share = feasible_share(rule, seen.gradient)
    # What is left beside the forces would have to be 0; coefficients are taken to be in reach.
    held = rule.trend.matrix.T @ rule.trend.forces(seen.gradient)
    beyond = share * float(np.abs(seen.gradient - held).sum())
    return seen.dual(share) - reach(coef, curvature > 0, curvature, null) * beyond
