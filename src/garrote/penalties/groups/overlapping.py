"""Groups that overlap, and trees of groups: a variable is in only if no group of its is out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty, Terms
from garrote.penalties.groups.grouping import as_weights, finder
from garrote.penalties.groups.overlap_rule import OverlapRule, feasible_share
from garrote.proximal.tied.overlapping import is_tree, laid_out

# A path begins this much beyond its least strength without any group, where groups are no tree.
_BEYOND = 1.001


@dataclass(frozen=True, eq=False)
class OverlappingGroups(Penalty):
    """sum_g weight_g ||w_g|| over groups that may share columns, or be nested in one another.

    A group that is out takes all its columns with it, so that what is out is a union of groups
    (Jenatton, Audibert & Bach 2011). With ``parents`` groups are a hierarchy: a child is in only if its
    parent is, as main effects and what they are refined by (Zhao, Rocha & Yu 2009); columns of children
    count as their parents' too. Groups that are apart are the group lasso.

    Parameters
    ----------
    groups : list of lists, mapping from names to lists, or None
        Columns of each group: positions, names or patterns of names. A column in no group is not
        charged. With None every column is a group.
    parents : mapping or list, optional
        The parent of each group, by its name or number; None for one that has none.
    weights : {"size", "equal"} or array, default="size"
        Factors of the norms, in the order of the groups: roots of sizes, 1, or the numbers given.
    columns : int, optional
        How many columns there are; estimators find out by themselves.

    Notes
    -----
    Columns have one factor of the penalty, or 0: they then leave all groups. Bounds may be signs.

    References
    ----------
    Jenatton, R., Audibert, J.-Y. & Bach, F. (2011). Structured variable selection with sparsity-inducing
    norms. Journal of Machine Learning Research 12, 2777-2824.
    Jenatton, R., Mairal, J., Obozinski, G. & Bach, F. (2011). Proximal methods for hierarchical sparse
    coding. Journal of Machine Learning Research 12, 2297-2334.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.penalties import OverlappingGroups, Terms
    >>> from garrote.rules import proximal_point
    >>> tree = OverlappingGroups(
    ...     {"dose": [0], "dose squared": [1]}, parents={"dose squared": "dose"}
    ... )
    >>> rule = tree.at(1.0, Terms.equal(2))
    >>> proximal_point(rule, np.array([3.0, 0.5]), 1.0).round(3).tolist()
    [1.586, 0.0]
    """

    groups: Any = None
    parents: Any = None
    weights: Any = "size"
    columns: int | None = None
    name = "overlapping groups"
    convex = True
    structured = True
    parabolas = ()
    reference = (
        "Jenatton, Mairal, Obozinski & Bach (2011), Proximal methods for hierarchical sparse coding. "
        "Journal of Machine Learning Research 12, 2297-2334"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", _storable(self.groups))
        if self.parents is not None:
            object.__setattr__(self, "parents", _storable_parents(self.parents, self.groups))
        if isinstance(self.weights, str):
            if self.weights not in ("size", "equal"):
                raise ValueError(
                    f"weights must be 'size', 'equal' or numbers, got {self.weights!r}"
                )
            return
        weights = as_weights(self.weights)
        if weights is None:
            raise ValueError(
                "weights must be 'size', 'equal' or a finite number >= 0 for each group"
            )
        object.__setattr__(self, "weights", weights)

    def resolved(
        self, count: int, names: Array | None = None, X: Any = None
    ) -> "OverlappingGroups":
        """Return the same with lists of positions, each with the columns of its children."""
        if self.groups is None:
            lists = [[j] for j in range(count)]
        else:
            find = finder(count, names)
            given = self.groups.values() if isinstance(self.groups, dict) else self.groups
            lists = [sorted({j for entry in group for j in find(entry)}) for group in given]
        for number, parent in self._descents(len(lists)):
            lists[parent] = sorted({*lists[parent], *lists[number]})
        return replace(self, groups=lists, parents=None, columns=count)

    def with_factors(self, factor: Floats, names: Array | None = None) -> "OverlappingGroups":
        """Return the same without columns whose factor is 0, which nothing charges."""
        charged = factor[factor > 0]
        if len(charged) and charged.min() != charged.max():
            raise ValueError(
                "groups that overlap have one factor of the penalty, or 0 (always in), got "
                f"{charged.min():g} to {charged.max():g} in penalty_factor: give weights of the groups"
            )
        weights = self.weights
        if isinstance(weights, str):  # sizes are those that users see
            weights = self._weights(self.groups)
        left = [[j for j in group if factor[j] > 0] for group in self.groups]
        return replace(self, groups=left, weights=weights)

    def at(self, strength: float, terms: Terms) -> OverlapRule:
        """Return the rule at one strength."""
        for bound in (terms.lower, terms.upper):
            if (np.isfinite(bound) & (bound != 0)).any():
                raise ValueError(
                    "groups that overlap have bounds of 0 only, which give signs: other bounds would "
                    "have to be settled with the norms; take the lasso"
                )
        members, starts, limits, tree = self._layout(len(terms.factor))
        factor = float(terms.factor.max(initial=0.0))
        return OverlapRule(
            members, starts, strength * factor * limits, terms.lower, terms.upper, tree
        )

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no group is in, given the null gradient."""
        rule = self.at(1.0, terms)
        share = feasible_share(rule, gradient, np.inf)
        # Where groups are no tree, passes end only beyond the strength at which the last group leaves.
        return (1.0 if rule.tree else _BEYOND) / share if share < np.inf else 0.0

    @cached_property
    def _layouts(self) -> dict[int, tuple[Array, Array, Floats, bool]]:
        return {}

    def _layout(self, count: int) -> tuple[Array, Array, Floats, bool]:
        """Return members and starts of groups, small ones first; every output has its own."""
        if count not in self._layouts:
            known = self
            if self.groups is None or self.parents is not None:
                known = self.resolved(count)
            lists = [np.asarray(group, dtype=np.intp) for group in known.groups]
            limits = known._weights(lists)
            each = self.columns or count
            times = count // each
            repeated = [group + each * k for k in range(times) for group in lists]
            members, starts, order = laid_out(repeated)
            self._layouts[count] = members, starts, np.tile(limits, times)[order], is_tree(repeated)
        return self._layouts[count]

    def _weights(self, lists: Any) -> Floats:
        if not isinstance(self.weights, str):
            weights: Floats = self.weights
            if len(weights) != len(lists):
                raise ValueError(
                    f"weights must have a number for each of the {len(lists)} groups, got {len(weights)}"
                )
            return weights
        sizes = np.array([len(group) for group in lists], dtype=np.float64)
        return np.ones(len(lists)) if self.weights == "equal" else np.sqrt(sizes)

    def _descents(self, count: int) -> list[tuple[int, int]]:
        """Return pairs of a child and its parent, children of children first; refuse cycles."""
        if self.parents is None:
            return []
        keys = list(self.groups) if isinstance(self.groups, dict) else list(range(count))
        number = {key: k for k, key in enumerate(keys)}
        parent = {number[child]: number[one] for child, one in self.parents.items()}
        depth: dict[int, int] = {}
        for child in parent:
            seen, at = [child], child
            while at in parent:
                at = parent[at]
                if at in seen:
                    circle = " -> ".join(repr(keys[k]) for k in [*seen[seen.index(at) :], at])
                    raise ValueError(f"parents go round in a circle: {circle}; leave one out")
                seen.append(at)
            depth[child] = len(seen)
        return sorted(parent.items(), key=lambda pair: -depth[pair[0]])


def _storable(groups: Any) -> Any:
    """Return groups as Python's own lists, by names if they have such."""
    if groups is None:
        return None
    if isinstance(groups, Mapping):
        return {_plain(name): _as_list(group) for name, group in groups.items()}
    if isinstance(groups, str) or not hasattr(groups, "__iter__"):
        raise ValueError(
            f"groups must be lists of columns, a mapping from names to such, or None, got {groups!r}"
        )
    return [_as_list(group) for group in groups]


def _as_list(group: Any) -> list[Any]:
    if isinstance(group, str) or not hasattr(group, "__iter__"):
        raise ValueError(
            f"every group must be a list of columns, got {group!r}: a label for each column is for "
            "GroupLasso, whose groups do not overlap"
        )
    return [_plain(entry) for entry in group]


def _plain(entry: Any) -> Any:
    return entry.item() if isinstance(entry, np.generic) else entry


def _storable_parents(parents: Any, groups: Any) -> dict[Any, Any]:
    """Return the parents of groups that have one, by the groups' names or numbers."""
    if groups is None:
        raise ValueError("parents go with groups: give groups=, lists of columns or a mapping")
    known = list(groups) if isinstance(groups, dict) else list(range(len(groups)))
    if not isinstance(parents, Mapping):
        listed = list(parents)
        if len(listed) != len(known):
            raise ValueError(
                f"parents must have an entry for each of {len(known)} groups, got {len(listed)}"
            )
        parents = dict(zip(known, listed, strict=True))
    found = {_plain(child): _plain(one) for child, one in parents.items() if one is not None}
    for name in (*found, *found.values()):
        if name not in known:
            raise ValueError(f"parents has {name!r}, which is no group; groups are {known[:8]}")
    return found
