"""Variables of several columns: the levels of a word column are in the model together, or out of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.priors.column_groups import ColumnGroups
from garrote.priors.inclusion import Inclusion, InclusionLaw, as_inclusion
from garrote.priors.structured.switch_table import SwitchTable, switch_table
from garrote.priors.structured.ties import Ties, strong
from garrote.proximal.given_groups import storable_groups
from garrote.proximal.labels import group_numbers, is_list
from garrote.summaries import listing


@dataclass(frozen=True)
class InclusionOfGroups:
    """A prior on sets of groups of columns.

    Attributes
    ----------
    over_groups : Inclusion
        By how many groups are in, and by the odds of each group. With ``parents`` it is known up to a
        constant: the sets that are not allowed have no part of it.
    of_column : array of int of shape (D,)
        The group of each column that may be in or out, and -1 for others.
    parents : tuple of arrays of int
        For each group those that have to be in wherever it is.
    groups : ColumnGroups
        All groups of the table, those without columns that may be in or out too.
    present : array of int
        The numbers of the groups that the prior runs over, among all.
    ties : Ties, optional
        What groups have to do with each other beyond that. Without ties of its own a group may be in
        only where all its parents are.
    """

    over_groups: Inclusion
    of_column: Array
    parents: tuple[Array, ...]
    groups: ColumnGroups
    present: Array
    ties: Ties | None = None

    def __len__(self) -> int:
        return len(self.present)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the groups are called."""
        return tuple(self.groups.labels[k] for k in self.present)

    @property
    def everyone(self) -> Array:
        """The group of every column, with content or without; -1 where it has none that is present."""
        place = np.full(len(self.groups), -1)
        place[self.present] = np.arange(len(self.present))
        return np.asarray(place[self.groups.numbers])

    @property
    def words(self) -> str:
        """What the law over groups is, where it is more than their number and odds."""
        return "" if self.ties is None else self.ties.words

    @property
    def are_single(self) -> bool:
        """Whether every group has one column at most that may be in or out."""
        own = self.of_column[self.of_column >= 0]
        return bool((np.bincount(own, minlength=1) <= 1).all())

    @property
    def ties_columns(self) -> bool:
        """Whether it is a law over columns, which depend on each other; groups have no part in it."""
        return self.ties is not None and self.groups.are_single

    def table(self) -> SwitchTable:
        """Return the prior for kernels."""
        over = self.over_groups
        return switch_table(over.by_size, over.log_odds, self.parents, self.ties)

    @property
    def has_parents(self) -> bool:
        """Whether some sets of groups are not allowed."""
        return any(len(above) for above in self.parents)

    def over(self, columns: Array, count: int, offsets: Floats | None = None) -> Any:
        """Return itself: the columns were known when it was made."""
        return self

    def columns(self, group: int) -> Array:
        """Return the columns of a group that may be in or out."""
        return np.flatnonzero(self.of_column == group)

    def among(self, usable: Array) -> "InclusionOfGroups":
        """Return the prior where other columns have content: as many groups, each of one or more."""
        of_column = np.full_like(self.of_column, -1)
        of_column[usable] = self.of_column[usable]
        return replace(self, of_column=of_column)

    def restricted_to(self, inside: Array) -> "InclusionOfGroups":
        """Return the prior of which given sets, all that are allowed, have all the probability."""
        total = float(logsumexp(self.log_prior(inside)))
        known = replace(self.over_groups, by_size=self.over_groups.by_size - total)
        return replace(self, over_groups=known)

    def of_models(self, members: Array, usable: Array) -> Floats:
        """Return the log prior of models of one size, by rows of their columns: whole groups."""
        inside = np.zeros((len(members), len(self)), dtype=bool)
        np.put_along_axis(inside, self.of_column[members], True, axis=1)
        return self.log_prior(inside)

    def log_prior(self, inside: Array) -> Floats:
        """Return the log prior of sets of groups, a row of truth values for each."""
        inside = np.atleast_2d(inside)
        logs = self.over_groups.by_size[inside.sum(axis=1)] + inside @ self.over_groups.log_odds
        logs = np.where(self.allowed(inside), logs, -np.inf)
        return logs if self.ties is None else logs + self.ties.log_prior(inside, self.parents)

    def allowed(self, inside: Array, groups: Any = None) -> Array:
        """Tell of sets whether some groups, by default all, have the parents in that they need."""
        fine = np.ones(len(inside), dtype=bool)
        for group in range(len(self)) if groups is None else groups:
            above, there = self.parents[group], inside[:, self.parents[group]].sum(axis=1)
            if len(above):
                log_in = self._heredity(group)
                fine &= ~inside[:, group] | (log_in[there] > -np.inf)
        return fine

    def _heredity(self, group: int) -> Floats:
        """Return what a group that is in has by how many of its parents are."""
        if self.ties is None or self.ties.heredity is None:
            return strong(self.parents[group])[0]
        return self.ties.heredity[group][0]


@dataclass(frozen=True)
class GroupedInclusion(InclusionLaw):
    """The columns of a group are in together, or out together; which groups are in has a law of its own.

    A word column is one variable with a column for each of its levels, and so are a curve with its
    splines and an interaction with its products. Within a group that is in, coefficients have the slab
    w_g ~ N(0, noise * variance * (X_g'WX_g / n)^+) of the centred columns: what is stated does not
    depend on which level is left out as the reference, and a group of one column has the usual slab.
    Since the effects of levels have no common sign, the prior "spike-slab" is the Gaussian slab as soon
    as a group has two columns.

    Parameters
    ----------
    groups : array of shape (D,), list of lists, mapping, Series, "factors" or None, default="factors"
        What each column belongs to, as in `garrote.penalties.GroupLasso`: "factors" puts the indicator
        columns of each categorical variable together, by names and values. A mapping from labels to
        lists of columns names the groups.
    law : as ``inclusion`` of `garrote.SpikeSlabRegressor`, optional
        The law over groups, where an array has a number for each group, in their order. By default
        `BetaInclusion`: Beta(1, sqrt(number of groups)).
    parents : mapping from labels of groups to labels, optional
        A group may be in only where all its parents are: strong heredity, as of interactions. A group
        of one column is called as the column is, unless ``groups`` labels it otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.priors import GroupedInclusion
    >>> law = GroupedInclusion([0, 0, 0, 1], parents={1: 0}).over(np.arange(4), 4)
    >>> law.of_column.tolist(), [above.tolist() for above in law.parents]
    ([0, 0, 0, 1], [[], [0]])
    """

    groups: Any = "factors"
    law: Any = None
    parents: Any = None

    def __post_init__(self) -> None:
        """Refuse what could not be groups of any table, and parents that are no mapping."""
        if not isinstance(self.groups, ColumnGroups):
            kept = storable_groups(self.groups)
            # Lists, unlike arrays, equal each other or do not.
            kept = kept.tolist() if isinstance(kept, np.ndarray) else kept
            object.__setattr__(self, "groups", kept)
        if isinstance(self.law, GroupedInclusion):
            raise ValueError(
                "law of a GroupedInclusion is over groups, and cannot have groups itself"
            )
        if self.parents and getattr(self.law, "ties_switches", False):
            raise ValueError(
                f"parents of a GroupedInclusion do not go with law={self.law!r}: give them to a "
                "HeredityInclusion as its law"
            )
        object.__setattr__(self, "parents", storable_parents(self.parents))

    def with_groups(self, resolve: Callable[[Any], ColumnGroups]) -> "GroupedInclusion":
        """Return the law with its groups found among the columns of a table."""
        if isinstance(self.groups, ColumnGroups):
            return self
        found = replace(self, groups=resolve(self.groups))
        parents_by_number(found.parents, found.groups.labels)  # refuses those that there are not
        return found

    def found_among(
        self, names: Sequence[str], resolve: Callable[[Any], ColumnGroups]
    ) -> "GroupedInclusion":
        """Return the law with its groups, and what its own law names among them, found."""
        found = self.with_groups(resolve)
        if not isinstance(found.law, InclusionLaw):
            return found
        return replace(found, law=found.law.found_among(found.groups.labels, resolve))

    def over(self, columns: Array, count: int, offsets: Floats | None = None) -> Any:
        """Return the law over some of ``count`` columns: an `InclusionOfGroups`.

        Where every group is one column and none has parents, it is the `Inclusion` of these columns.
        Groups are those of the ``columns`` that may be in or out; parents without such columns are in.
        """
        made = self.over_sets(columns, count, offsets)
        if made.has_parents or made.ties is not None or len(made) < len(columns):
            return made
        over_groups = made.over_groups
        return replace(over_groups, log_odds=over_groups.log_odds[made.of_column[columns]])

    def over_sets(
        self, columns: Array, count: int, offsets: Floats | None = None
    ) -> InclusionOfGroups:
        """Return the law over some of ``count`` columns, also where every group is one of them."""
        found = self._found(count)
        columns = np.asarray(columns, dtype=np.intp)
        present = np.unique(found.numbers[columns])
        of_column = np.full(count, -1)
        of_column[columns] = np.searchsorted(present, found.numbers[columns])
        law = as_inclusion(self.law, len(found))
        odds = _odds_of_groups(offsets, of_column[columns], [found.labels[k] for k in present])
        made: Any = law.over(present, len(found), odds)
        if isinstance(made, Inclusion) and made.learned:
            raise ValueError(
                "annotations are of columns one by one: take an AnnotatedInclusion alone, without a "
                "GroupedInclusion around it"
            )
        if isinstance(made, InclusionOfGroups):  # whose groups are these
            return replace(made, of_column=of_column, groups=found, present=present)
        above = parents_by_number(self.parents, found.labels)
        return InclusionOfGroups(made, of_column, among(above, present), found, present)

    def _found(self, count: int) -> ColumnGroups:
        """Return the groups of so many columns; those that names are needed for are refused."""
        groups = self.groups
        if groups is None:
            groups = ColumnGroups.of_numbers(np.arange(count))
        elif isinstance(groups, str | Mapping):
            raise ValueError(
                f"GroupedInclusion({groups!r}) needs the names of the columns: an estimator finds its "
                "groups among them; give labels, one a column"
            )
        elif not isinstance(groups, ColumnGroups):
            groups = ColumnGroups.of_numbers(group_numbers(groups, count, "column"))
        if len(groups.numbers) != count:
            raise ValueError(f"groups has {len(groups.numbers)} labels for {count} columns")
        return groups


def storable_parents(parents: Any) -> dict[str, list[str]] | None:
    """Return parents as lists of labels by label."""
    if parents is None:
        return None
    if not isinstance(parents, Mapping):
        raise ValueError(
            "parents must be a mapping from labels of groups to labels of the groups that have to be in "
            f"with them, got {parents!r}"
        )
    return {
        str(child): [str(label) for label in (above if is_list(above) else [above])]
        for child, above in parents.items()
    }


def parents_by_number(
    parents: dict[str, list[str]] | None, labels: tuple[str, ...]
) -> list[list[int]]:
    """Return the parents of every group; refuse those that there are not, and circles."""
    number = {label: k for k, label in enumerate(labels)}
    above: list[list[int]] = [[] for _ in labels]
    for child, names in (parents or {}).items():
        unknown = [label for label in (child, *names) if label not in number]
        if unknown:
            raise ValueError(
                f"parents has {unknown[0]!r}, but no group is called so; known are {listing(labels)}"
            )
        above[number[child]] = [number[label] for label in names]
    placed: set[int] = set()
    while len(placed) < len(labels):
        free = [k for k in range(len(labels)) if k not in placed and placed.issuperset(above[k])]
        if not free:
            caught = [label for k, label in enumerate(labels) if k not in placed]
            raise ValueError(
                f"parents go round in a circle among {listing(caught)}: no group can be its own ancestor"
            )
        placed.update(free)
    return above


def among(above: list[list[int]], present: Array) -> tuple[Array, ...]:
    """Return the parents of those present, by their places among these; others are in."""
    place = {int(number): k for k, number in enumerate(present)}
    return tuple(
        np.array([place[k] for k in above[number] if k in place], dtype=np.intp) for number in place
    )


def _odds_of_groups(offsets: Floats | None, group: Array, labels: list[str]) -> Floats | None:
    """Return what is added to the log odds of each group: what its columns have in common."""
    if offsets is None:
        return None
    odds = np.zeros(len(labels))
    odds[group] = offsets
    differ = np.flatnonzero(odds[group] != offsets)
    if len(differ):
        raise ValueError(
            f"prior_log_odds differ within group {labels[group[differ[0]]]!r}, whose columns are in or "
            "out together: give all of them the same"
        )
    return odds
