"""Groups of variables that come in together: the group lasso and its kin."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty, Terms, check_share
from garrote.penalties.groups.group_rule import GroupRule
from garrote.penalties.groups.grouping import as_weights, called, resolve_groups
from garrote.proximal.given_groups import storable_groups
from garrote.proximal.grouping import Groups


@dataclass(frozen=True, eq=False)
class GroupLasso(Penalty):
    """The norm of each group of coefficients, so that groups are in or out as a whole.

    The penalty is (1 - l1_ratio) sum_g sqrt(size_g) ||w_g|| + l1_ratio sum_j |w_j| (Yuan & Lin
    2006; with l1_ratio > 0 members of a group may be out as well, Simon et al. 2013). With
    ``norm="inf"`` the norm is the largest |w_j| and the weight the size of the group: members tend to
    have equal sizes (Murphy 2012, section 13.5.1).

    Parameters
    ----------
    groups : array of shape (D,), list of lists, mapping, Series, "factors" or None
        What each column belongs to: a label for each column, or lists of columns (positions, names or
        patterns of names such as "gene1_*"), or a mapping from columns to labels; a Series is one by its
        index. "factors" puts the indicator columns of one categorical variable together: columns of 0
        and 1 (or another value) whose names begin alike up to one of ``_ = [ . : | -`` and of which no
        row has two; where several beginnings would do, the shortest counts. With None every column is a
        group of its own, which makes sense with several outputs: a column is then in or out for all of
        them (classes, or responses).
    norm : {2, "inf"}, default=2
    l1_ratio : float, default=0
        The share of the lasso.
    weights : {"size", "equal"} or array with a number for each group, default="size"
        Factors of the norms, in the order of the labels or the lists; "size" is what gives groups of all
        sizes the same chance under noise.

    Notes
    -----
    A column whose ``penalty_factor`` is 0 leaves its group: it is always in, and the penalty is that of
    the others. Otherwise the members of a group have one factor.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.penalties import GroupLasso, Terms
    >>> rule = GroupLasso([0, 0, 0, 0, 1]).at(0.5, Terms.equal(5))
    >>> rule.weight.tolist()
    [1.0, 0.5]
    """

    groups: Any = None
    norm: Any = 2
    l1_ratio: float = 0.0
    weights: Any = "size"
    convex = True
    structured = True
    reference = (
        "Yuan & Lin (2006), Model selection and estimation in regression with grouped variables. JRSS B "
        "68, 49-67"
    )

    def __post_init__(self) -> None:
        if self.norm not in (2, "inf", np.inf):
            raise ValueError(f"norm must be 2 or 'inf', got {self.norm!r}")
        check_share(self.l1_ratio)
        object.__setattr__(self, "groups", storable_groups(self.groups))
        object.__setattr__(self, "weights", _storable_weights(self.weights))

    @property
    def name(self) -> str:
        """What messages call it."""
        return "group lasso" if self.l1_ratio == 0 else "sparse group lasso"

    @property
    def flat(self) -> bool:
        """Whether the norm is the largest |w_j|."""
        return self.norm != 2

    @property
    def parabolas(self) -> tuple[str, ...]:
        """Those of lengths; the largest coefficient of a group has none."""
        return () if self.flat else ("em", "iterated_ridge")

    def resolved(self, count: int, names: Array | None = None, X: Any = None) -> "GroupLasso":
        """Return the same with a number for each column's group."""
        return replace(self, groups=resolve_groups(self.groups, count, names, X))

    def with_factors(self, factor: Floats, names: Array | None = None) -> "GroupLasso":
        """Return the same, with columns whose factor is 0 in groups of their own.

        Refuses other factors that differ within a group. The groups are resolved ones.
        """
        labels, free = np.array(self.groups), factor == 0
        penalised = np.flatnonzero(~free)
        _, first, which = np.unique(labels[penalised], return_index=True, return_inverse=True)
        leader = penalised[first[which]]
        unlike = np.flatnonzero(factor[penalised] != factor[leader])
        if len(unlike):
            one, two = int(leader[unlike[0]]), int(penalised[unlike[0]])
            raise ValueError(
                f"penalty_factor is {factor[one]:g} for column {called(one, names)} and {factor[two]:g} "
                f"for {called(two, names)}, which are in one group: give them the same, or take one out "
                "of the group (0 does, and keeps it in the model)"
            )
        leaving = np.flatnonzero(free & np.isin(labels, labels[penalised]))
        if not len(leaving):
            return self
        labels[leaving] = labels.max(initial=-1) + 1 + np.arange(len(leaving))
        weights = self.weights
        if not isinstance(weights, str):
            weights = np.append(self._weights(np.bincount(self.groups)), np.ones(len(leaving)))
        return replace(self, groups=labels, weights=weights)

    def at(self, strength: float, terms: Terms) -> GroupRule:
        """Return the rule at one strength."""
        group, order, starts = self._layout(len(terms.factor))
        factor = _common_factor(terms, order, starts)
        weight = self._weights(np.diff(starts)) * factor
        return GroupRule(
            group, order, starts, strength * (1.0 - self.l1_ratio) * weight,
            strength * self.l1_ratio * terms.factor, self.flat,
        )  # fmt: skip

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised group is in, given the null gradient."""
        rule = self.at(1.0, terms)
        penalised = rule.weight > 0
        sums = np.add.reduceat(np.abs(gradient[rule.order]), rule.starts[:-1])
        high = float((sums[penalised] / rule.weight[penalised]).max(initial=0.0))
        if not self.l1_ratio:
            norms = rule.dual_norms(gradient)
            return float((norms[penalised] / rule.weight[penalised]).max(initial=0.0))
        low = 0.0
        for _ in range(100):
            middle = 0.5 * (low + high)
            beyond = self.at(middle, terms).dual_norms(gradient) > middle * rule.weight
            low, high = (middle, high) if (beyond & penalised).any() else (low, middle)
        return high

    @cached_property
    def _layouts(self) -> dict[int, tuple[Array, Array, Array]]:
        return {}

    def _layout(self, count: int) -> tuple[Array, Array, Array]:
        """Return each coefficient's group, coefficients group by group, and where groups start.

        Where there are more coefficients than labels, labels repeat: every output has its own.
        """
        if count not in self._layouts:
            numbered = isinstance(self.groups, np.ndarray) and count % len(self.groups) == 0
            labels = self.groups if numbered else resolve_groups(self.groups, count)
            known = Groups(np.resize(labels, count))
            self._layouts[count] = known.labels, known.order, np.append(0, np.cumsum(known.sizes))
        return self._layouts[count]

    def _weights(self, sizes: Array) -> Floats:
        if isinstance(self.weights, str):
            if self.weights == "equal":
                return np.ones(len(sizes))
            return np.asarray(sizes, dtype=np.float64) ** (1.0 if self.flat else 0.5)
        weights: Floats = self.weights
        if weights.shape != sizes.shape:
            raise ValueError(
                f"weights must have a number for each of the {len(sizes)} groups, in the order of their "
                f"labels, got {_some(self.weights)}"
            )
        return weights


def _storable_weights(weights: Any) -> Any:
    """Return a word, or numbers as an array; refuse what cannot be weights of any groups."""
    allowed = "weights must be 'size', 'equal' or a finite number >= 0 for each group"
    if isinstance(weights, str):
        if weights not in ("size", "equal"):
            raise ValueError(f"{allowed}, got {weights!r}")
        return weights
    values = as_weights(weights)
    if values is None:
        raise ValueError(f"{allowed}, in the order of their labels, got {_some(weights)}")
    return values


def _some(weights: Any) -> str:
    """Return weights for a message, not too many of them."""
    text = " ".join(repr(weights).split())
    return text if len(text) <= 100 else f"{text[:90]}..."


def _common_factor(terms: Terms, order: Array, starts: Array) -> Floats:
    factor = terms.factor[order]
    least, most = (part.reduceat(factor, starts[:-1]) for part in (np.minimum, np.maximum))
    if (least != most).any():
        number = int(np.argmax(most - least))
        column = int(order[starts[number]])
        raise ValueError(
            "columns of one group must have the same factor of the penalty; those of the group of "
            f"column {column} have {least[number]:g} to {most[number]:g}"
        )
    if np.isfinite(terms.lower).any() or np.isfinite(terms.upper).any():
        raise ValueError(
            "a group penalty has no bounds: leave them out, or take a penalty of single coefficients; "
            "OverlappingGroups of the same lists takes bounds of 0, which give signs"
        )
    return least
