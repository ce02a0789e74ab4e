"""Groups of variables that come in together: the group lasso and its kin."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Terms
from garrote.penalties.grouping import resolve_groups


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


@dataclass(frozen=True, eq=False)
class GroupLasso:
    """The norm of each group of coefficients, so that groups are in or out as a whole.

    The penalty is (1 - l1_ratio) sum_g sqrt(size_g) ||w_g|| + l1_ratio sum_j |w_j| (Yuan & Lin
    2006; with l1_ratio > 0 members of a group may be out as well, Simon et al. 2013). With
    ``norm="inf"`` the norm is the largest |w_j| and the weight the size of the group: members tend to
    have equal sizes (Murphy 2012, section 13.5.1).

    Parameters
    ----------
    groups : array of shape (D,), list of lists, "factors" or None
        What each column belongs to: a label for each column, or lists of columns (positions, names or
        patterns of names such as "gene1_*"). "factors" puts the indicator columns of one categorical
        variable together. With None every column is a group of its own, which makes sense with several
        outputs: a column is then in or out for all of them (classes, or responses).
    norm : {2, "inf"}, default=2
    l1_ratio : float, default=0
        The share of the lasso.
    weights : {"size", "equal"} or array with a number for each group, default="size"
        Factors of the norms; "size" is what gives groups of all sizes the same chance under noise.

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
    reference = (
        "Yuan & Lin (2006), Model selection and estimation in regression with grouped variables. JRSS B "
        "68, 49-67"
    )

    def __post_init__(self) -> None:
        if self.norm not in (2, "inf", np.inf):
            raise ValueError(f"norm must be 2 or 'inf', got {self.norm!r}")
        if not 0.0 <= self.l1_ratio < 1.0:
            raise ValueError(
                f"l1_ratio must be at least 0 and below 1, got {self.l1_ratio}: 1 is the lasso, L1()"
            )
        if isinstance(self.weights, str) and self.weights not in ("size", "equal"):
            raise ValueError(
                f"weights must be 'size', 'equal' or a number for each group, got {self.weights!r}"
            )

    @property
    def name(self) -> str:
        """What messages call it."""
        return "group lasso" if self.l1_ratio == 0 else "sparse group lasso"

    @property
    def flat(self) -> bool:
        """Whether the norm is the largest |w_j|."""
        return self.norm != 2

    def resolved(self, count: int, names: Array | None = None, X: Any = None) -> "GroupLasso":
        """Return the same with a number for each column's group."""
        return replace(self, groups=resolve_groups(self.groups, count, names, X))

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
            norms = dual_norms(rule, gradient)
            return float((norms[penalised] / rule.weight[penalised]).max(initial=0.0))
        low = 0.0
        for _ in range(100):
            middle = 0.5 * (low + high)
            beyond = dual_norms(self.at(middle, terms), gradient) > middle * rule.weight
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
            settled = isinstance(self.groups, np.ndarray) and count % len(self.groups) == 0
            labels = self.groups if settled else resolve_groups(self.groups, count)
            group = np.resize(np.unique(labels, return_inverse=True)[1], count)
            starts = np.append(0, np.cumsum(np.bincount(group)))
            self._layouts[count] = group, np.argsort(group, kind="stable"), starts
        return self._layouts[count]

    def _weights(self, sizes: Array) -> Floats:
        if isinstance(self.weights, str):
            if self.weights == "equal":
                return np.ones(len(sizes))
            return np.asarray(sizes, dtype=np.float64) ** (1.0 if self.flat else 0.5)
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != sizes.shape or not (weights >= 0).all():
            raise ValueError(
                f"weights must have a number >= 0 for each of the {len(sizes)} groups, in the order of "
                f"their labels, got {self.weights!r}"
            )
        return weights


def dual_norms(rule: GroupRule, gradient: Floats) -> Floats:
    """Return the dual norm of each group's gradient, beyond what its own thresholds hold back."""
    beyond = np.maximum(np.abs(gradient) - rule.threshold, 0.0)[rule.order]
    if rule.flat:
        return np.add.reduceat(beyond, rule.starts[:-1])
    return np.sqrt(np.add.reduceat(beyond**2, rule.starts[:-1]))


def group_norms(rule: GroupRule, coef: Floats) -> Floats:
    """Return the norm of each group's coefficients."""
    ordered = np.abs(coef[rule.order])
    if rule.flat:
        return np.maximum.reduceat(ordered, rule.starts[:-1])
    return np.sqrt(np.add.reduceat(ordered**2, rule.starts[:-1]))


def _common_factor(terms: Terms, order: Array, starts: Array) -> Floats:
    factor = terms.factor[order]
    least, most = (part.reduceat(factor, starts[:-1]) for part in (np.minimum, np.maximum))
    if (least != most).any():
        number = int(np.argmax(most - least))
        column = int(order[starts[number]])
        raise ValueError(
            "columns of one group must have the same penalty_factor; those of the group of column "
            f"{column} have {least[number]:g} to {most[number]:g}"
        )
    if np.isfinite(terms.lower).any() or np.isfinite(terms.upper).any():
        raise ValueError(
            "a group penalty has no bounds: lower and upper go with penalties of single coefficients"
        )
    return least
