"""Laws of inclusion whose groups are found among the columns of a table."""

from typing import Any

from garrote.arrays import Array
from garrote.penalties.groups.naming import resolve_named_groups
from garrote.priors.column_groups import ColumnGroups
from garrote.priors.grouped_inclusion import GroupedInclusion, InclusionOfGroups
from garrote.priors.inclusion import Inclusion, InclusionLaw, as_inclusion


def resolve_law(
    given: Any, count: int, names: Array | None = None, X: Any = None
) -> InclusionLaw | Inclusion:
    """Return the law that a shorthand stands for, its groups, where it has any, found.

    Parameters
    ----------
    given
        As ``inclusion`` of `garrote.SpikeSlabRegressor`.
    count : int
        How many columns there are.
    names : array of str, optional
    X : array or sparse matrix, optional
        The columns themselves, which "factors" looks at.
    """
    law = as_inclusion(given, count)
    if not isinstance(law, InclusionLaw):
        return law

    def resolve(groups: Any) -> ColumnGroups:
        numbers, labels = resolve_named_groups(groups, count, names, X)
        return ColumnGroups(labels, numbers)

    known = [f"x{j}" for j in range(count)] if names is None else [str(name) for name in names]
    return law.found_among(known, resolve)


def groups_of(law: Any) -> ColumnGroups | None:
    """Return the groups of a law whose groups were found; None where it has none."""
    return law.groups if isinstance(law, GroupedInclusion) else None


def law_over_groups(made: Any) -> InclusionOfGroups | None:
    """Return a prior that is one over sets of groups; None of any other."""
    return made if isinstance(made, InclusionOfGroups) else None
