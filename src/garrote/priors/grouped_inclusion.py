"""Variables of several columns: the levels of a word column are in the model together, or out of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from garrote.arrays import Array, Floats
from garrote.priors.column_groups import ColumnGroups
from garrote.priors.inclusion import Inclusion, InclusionLaw, as_inclusion
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
    """

    over_groups: Inclusion
    of_column: Array
    parents: tuple[Array, ...]
    groups: ColumnGroups
    present: Array

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
        for group, above in enumerate(self.parents):
            if len(above):
                orphaned = inside[:, group] & ~inside[:, above].all(axis=1)
                logs = np.where(orphaned, -np.inf, logs)
        return np.asarray(logs)


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
        object.__setattr__(self, "parents", _storable_parents(self.parents))

    def with_groups(self, resolve: Callable[[Any], ColumnGroups]) -> "GroupedInclusion":
        """Return the law with its groups found among the columns of a table."""
        if isinstance(self.groups, ColumnGroups):
            return self
        found = replace(self, groups=resolve(self.groups))
        _parents_by_number(found.parents, found.groups.labels)  # refuses those that there are not
        return found

    def over(self, columns: Array, count: int, offsets: Floats | None = None) -> Any:
        """Return the law over some of ``count`` columns: an `InclusionOfGroups`.

        Where every group is one column and none has parents, it is the `Inclusion` of these columns.
        Groups are those of the ``columns`` that may be in or out; parents without such columns are in.
        """
        made = self.over_sets(columns, count, offsets)
        if made.has_parents or len(made) < len(columns):
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
        over_groups = law.over(present, len(found), odds)
        place = {int(number): k for k, number in enumerate(present)}
        above = _parents_by_number(self.parents, found.labels)
        parents = tuple(
            np.array([place[k] for k in above[number] if k in place], dtype=np.intp)
            for number in place
        )
        return InclusionOfGroups(over_groups, of_column, parents, found, present)

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


def _storable_parents(parents: Any) -> dict[str, list[str]] | None:
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


def _parents_by_number(
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
