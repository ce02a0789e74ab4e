"""Groups that are in or out as a whole, and hardly shrunk if they are far in: MCP and SCAD of norms."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty, Terms
from garrote.penalties.concave import MCP, SCAD
from garrote.penalties.groups.concave_rule import ConcaveGroupRule
from garrote.penalties.groups.group_lasso import GroupLasso

_BREHENY_HUANG = (
    "Breheny & Huang (2015), Group descent algorithms for nonconvex penalized linear and logistic "
    "regression models with grouped predictors. Statistics and Computing 25, 173-187"
)


class ConcaveGroups(Penalty):
    """What both have in common; ``_single`` is the penalty of a norm."""

    groups: Any
    weights: Any
    structured = True
    by_tangents = True
    parabolas = ()
    reference = _BREHENY_HUANG

    @property
    def _single(self) -> Penalty:
        raise NotImplementedError

    @property
    def _lasso(self) -> GroupLasso:
        """The group lasso of the same groups, which it is near 0."""
        return GroupLasso(self.groups, weights=self.weights)

    def _check(self) -> None:
        lasso = self._lasso
        object.__setattr__(self, "groups", lasso.groups)
        object.__setattr__(self, "weights", lasso.weights)
        self._single.at(1.0, Terms.equal(1))

    def resolved(self, count: int, names: Array | None = None, X: Any = None) -> Self:
        """Return the same with a number for each column's group."""
        return self._with(self._lasso.resolved(count, names, X))

    def with_factors(self, factor: Floats, names: Array | None = None) -> Self:
        """Return the same, with columns whose factor is 0 in groups of their own."""
        return self._with(self._lasso.with_factors(factor, names))

    def _with(self, lasso: GroupLasso) -> Self:
        changed: Any = replace(self, groups=lasso.groups, weights=lasso.weights)
        return changed

    def at(self, strength: float, terms: Terms) -> ConcaveGroupRule:
        """Return the rule at one strength."""
        lasso = self._lasso.at(strength, terms)
        norms = Terms.equal(len(lasso.weight))
        return ConcaveGroupRule(lasso, self._single.at(1.0, norms._replace(factor=lasso.weight)))

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised group is in, given the null gradient."""
        return self._lasso.largest_strength(gradient, terms, curvature)


@dataclass(frozen=True, eq=False)
class GroupMCP(ConcaveGroups):
    """The minimax concave penalty of each group's norm (Breheny & Huang 2015).

    With t = strength * sqrt(size_g) a group of norm r costs t r - r^2 / (2 gamma) up to gamma t, and
    gamma t^2 / 2 beyond: the group lasso near 0, and no shrinkage of groups that are far in. Groups of
    one are `MCP`.

    Parameters
    ----------
    groups, weights
        As in `GroupLasso`.
    gamma : float, default=3
        From where a group is not shrunk; inf would be the group lasso.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.penalties import GroupMCP, Terms
    >>> from garrote.rules import proximal_point
    >>> rule = GroupMCP([0, 0, 1, 1], weights="equal").at(1.0, Terms.equal(4))
    >>> proximal_point(rule, np.array([3.0, 4.0, 0.6, 0.8]), 1.0).tolist()
    [3.0, 4.0, 0.0, 0.0]
    """

    groups: Any = None
    gamma: float = 3.0
    weights: Any = "size"
    name = "group MCP"

    def __post_init__(self) -> None:
        if not 0 < self.gamma < np.inf:
            raise ValueError(
                f"gamma must be a finite number > 0, got {self.gamma}: inf is GroupLasso"
            )
        self._check()

    @property
    def _single(self) -> Penalty:
        return MCP(self.gamma)


@dataclass(frozen=True, eq=False)
class GroupSCAD(ConcaveGroups):
    """The smoothly clipped absolute deviation of each group's norm (Breheny & Huang 2015).

    Its slope is t = strength * sqrt(size_g) up to a norm of t, falls to 0 at a t, and is 0 beyond.
    Groups of one are `SCAD`.

    Parameters
    ----------
    groups, weights
        As in `GroupLasso`.
    a : float, default=3.7
    """

    groups: Any = None
    a: float = 3.7
    weights: Any = "size"
    name = "group SCAD"

    def __post_init__(self) -> None:
        self._check()

    @property
    def _single(self) -> Penalty:
        return SCAD(self.a)
