"""What sorted coefficients are charged at one strength, the way down, and gradients held at 0."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.proximal.tied.sorted_sizes import pool, sorted_point
from garrote.rules import (
    Evaluated,
    Structure,
    bounds,
    dual_bound,
    is_convex,
    proximal_point,
    reach,
    restricted,
    structure,
    total_cost,
    violation,
)

# Sizes that differ by less than this share of the largest are equal.
_TIE = 1e-12


class SortedRule(NamedTuple):
    """The sum over ranks k of sequence_k |w|_(k), and signs that coefficients may have.

    ``sequence`` does not rise, and has a number for each coefficient; those that are ``free`` are not
    charged, and have no rank. ``rises`` and ``falls`` say which may be above and below 0.
    """

    sequence: Floats
    free: Array
    rises: Array
    falls: Array

    def ranks(self, coef: Floats, then: Floats, least: float) -> tuple[Array, Array]:
        """Return charged coefficients by size, equal ones by another number, and where ties begin.

        The last stretch are those that are 0. Of these only some are listed: those of which the other
        number is above ``least``.
        """
        used = np.flatnonzero((coef != 0.0) & ~self.free)
        idle = np.flatnonzero((coef == 0.0) & ~self.free & (then > least))
        size = np.abs(coef[used])
        by_size = np.argsort(-size, kind="stable")
        used, size = used[by_size], size[by_size]
        new = np.append(True, size[:-1] - size[1:] > _TIE * size.max(initial=0.0))[: len(used)]
        used = used[np.lexsort((-then[used], np.cumsum(new)))]
        order = np.concatenate([used, idle[np.argsort(-then[idle], kind="stable")]])
        starts = np.append(np.flatnonzero(new), len(used))
        return order, np.append(starts, len(order)) if len(idle) else starts

    def outward(self, gradient: Floats, coef: Floats) -> Floats:
        """Return the gradient of sizes: along the sign of a coefficient, or that it may take."""
        allowed = np.where(gradient > 0, self.rises, self.falls)
        return np.where(coef != 0.0, np.sign(coef) * gradient, np.abs(gradient) * allowed)

    def way_down(self, gradient: Floats, coef: Floats) -> Floats:
        """Return the gradient of least length of all that ties and zeros allow, downhill.

        Within a tie it is the nearest non-increasing sequence to the gradient of sizes less what the
        ranks are charged; among zeros that, cut at 0. It is 0 at the optimum, and says elsewhere which
        ties fall apart, and how their parts move.
        """
        outward = self.outward(gradient, coef)
        # What is not beyond the last rank's charge stays at 0, whoever else leaves it.
        last = self.sequence[len(coef) - 1 - np.count_nonzero(self.free)] if len(coef) else 0.0
        order, starts = self.ranks(coef, outward, float(last))
        pooled = pool(outward[order] - self.sequence[: len(order)], starts)
        idle = coef[order] == 0.0
        pooled = np.where(idle, np.maximum(pooled, 0.0), pooled)
        direction = np.where(self.free, gradient, 0.0)
        signs = np.where(idle, np.sign(gradient[order]), np.sign(coef[order]))
        direction[order] = signs * pooled
        return direction


def feasible_share(rule: SortedRule, gradient: Floats, most: float = 1.0) -> float:
    """Return the largest share of a gradient, up to ``most``, that is held at 0.

    For every k the k largest may sum to what the first k ranks are charged.
    """
    outward = rule.outward(gradient, np.zeros(len(gradient)))[~rule.free]
    sums = np.cumsum(-np.sort(-outward))
    limits = np.cumsum(rule.sequence[: len(outward)])
    held = sums > 0
    with np.errstate(over="ignore"):
        return min(most, float((limits[held] / sums[held]).min(initial=np.inf)))


@structure.register
def _(rule: SortedRule) -> Structure:
    return Structure.SORTED


@is_convex.register
def _(rule: SortedRule) -> bool:
    return True


@bounds.register
def _(rule: SortedRule, columns: Array) -> tuple[Floats, Floats]:
    falls, rises = rule.falls[columns], rule.rises[columns]
    return np.where(falls, -np.inf, 0.0), np.where(rises, np.inf, 0.0)


@restricted.register
def _(rule: SortedRule, columns: Array) -> SortedRule:
    """Return the rule of some columns: the others are 0, and rank last."""
    return SortedRule(
        rule.sequence[: len(columns)], rule.free[columns], rule.rises[columns], rule.falls[columns]
    )


@total_cost.register
def _(rule: SortedRule, columns: Array, coef: Floats) -> float:
    sizes = -np.sort(-np.abs(coef[~rule.free[columns]]))
    return float(rule.sequence[: len(sizes)] @ sizes)


@violation.register
def _(rule: SortedRule, gradient: Floats, coef: Floats, curvature: Floats) -> Floats:
    return np.where(curvature > 0, np.abs(rule.way_down(gradient, coef)), 0.0)


@proximal_point.register
def _(rule: SortedRule, z: Floats, step: float) -> Floats:
    z = np.clip(z, *bounds(rule, np.arange(len(z))))
    charged = np.flatnonzero(~rule.free)
    point = np.array(z, dtype=np.float64)
    point[charged] = sorted_point(z[charged], step * rule.sequence[: len(charged)])
    return point


@dual_bound.register
def _(rule: SortedRule, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated) -> float:
    gradient = np.where(curvature > 0, seen.gradient, 0.0)
    share = feasible_share(rule, gradient)
    # What nothing charges would need a gradient of 0; it is taken to be in reach.
    free = rule.free & (curvature > 0)
    beyond = share * float(rule.outward(gradient, np.zeros(len(gradient)))[free].sum())
    bound = seen.dual(share)
    return bound - reach(coef, free, curvature, null) * beyond if beyond else bound
