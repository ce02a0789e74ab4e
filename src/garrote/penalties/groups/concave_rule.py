"""What concave functions of groups' norms charge at one strength, and the group lasso touching it."""

from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.groups.group_rule import GroupRule
from garrote.rules import (
    Structure,
    proximal_point,
    restricted,
    shrink,
    slopes,
    structure,
    total_cost,
    violation,
)

# Norms of 0 have the slope that they have here.
_LEAST = 1e-300


class ConcaveGroupRule(NamedTuple):
    """The sum over groups of p_g(||w_g||), p_g being a rule of single coefficients.

    ``lasso`` has the groups, and their slopes at 0 as weights.
    """

    lasso: GroupRule
    of_norms: Any

    def slopes_of_norms(self, coef: Floats) -> Floats:
        """Return the slope of each group's charge at the norm of its coefficients."""
        if not len(coef):
            return self.lasso.weight
        return slopes(self.of_norms, np.maximum(self.lasso.norms(coef), _LEAST))

    def touching(self, coef: Floats) -> GroupRule:
        """Return the group lasso whose norms are tangents at some coefficients."""
        return self.lasso._replace(weight=self.slopes_of_norms(coef))


@structure.register
def _(rule: ConcaveGroupRule) -> Structure:
    return Structure.GROUPS


@restricted.register
def _(rule: ConcaveGroupRule, columns: Array) -> ConcaveGroupRule:
    present = np.unique(rule.lasso.group[columns])
    return ConcaveGroupRule(restricted(rule.lasso, columns), restricted(rule.of_norms, present))


@total_cost.register
def _(rule: ConcaveGroupRule, columns: Array, coef: Floats) -> float:
    if not len(columns):
        return 0.0
    everywhere = np.zeros(len(rule.lasso.group))
    everywhere[columns] = coef
    norms = rule.lasso.norms(everywhere)
    return total_cost(rule.of_norms, np.arange(len(norms)), norms)


@slopes.register
def _(rule: ConcaveGroupRule, size: Floats) -> Floats:
    return rule.slopes_of_norms(size)[rule.lasso.group]


@violation.register
def _(rule: ConcaveGroupRule, gradient: Floats, coef: Floats, curvature: Floats) -> Floats:
    return violation(rule.touching(coef), gradient, coef, curvature)


@proximal_point.register
def _(rule: ConcaveGroupRule, z: Floats, step: float) -> Floats:
    norms = rule.lasso.norms(z)
    short = [shrink(rule.of_norms, g, norm, 1.0 / step) for g, norm in enumerate(norms)]
    share = np.array(short) / np.where(norms > 0, norms, 1.0)
    return np.asarray(z * share[rule.lasso.group])
