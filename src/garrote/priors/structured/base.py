"""What laws over single variables share: names become numbers, and the law becomes parts of a prior."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.priors.column_groups import ColumnGroups
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.priors.inclusion import Inclusion, InclusionLaw
from garrote.priors.structured.ties import Ties
from garrote.summaries import listing


@dataclass(frozen=True)
class TiedInclusion(InclusionLaw):
    """A law under which what is in makes other variables likelier, or less so.

    A subclass says in `parts` what the prior has beside the odds that users add.
    """

    ties_switches: ClassVar[bool] = True

    def parts(
        self, present: Array, count: int, offsets: Floats
    ) -> tuple[Inclusion, tuple[Array, ...], Ties]:
        """Return size and odds, parents and ties of the variables present, by their places."""
        raise NotImplementedError

    def over(self, columns: Array, count: int, offsets: Floats | None = None) -> Any:
        """Return the law over some of ``count`` columns, each a group of its own."""
        columns = np.asarray(columns, dtype=np.intp)
        given = np.zeros(len(columns)) if offsets is None else np.asarray(offsets, dtype=np.float64)
        over, parents, ties = self.parts(columns, count, given)
        of_column = np.full(count, -1)
        of_column[columns] = np.arange(len(columns))
        groups = ColumnGroups.of_numbers(np.arange(count))
        return InclusionOfGroups(over, of_column, parents, groups, columns, ties)


def nobody(count: int) -> tuple[Array, ...]:
    """Return parents of so many variables that have none."""
    return (np.zeros(0, dtype=np.intp),) * count


def number_of(entry: Any, place: Mapping[str, int], what: str) -> int:
    """Return the number of a column, given by name or by number."""
    whole = isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_)
    if whole and 0 <= int(entry) < len(place):
        return int(entry)
    if isinstance(entry, str) and entry in place:
        return place[entry]
    known = listing(list(place)) if len(place) else "none"
    raise ValueError(f"{what} has {entry!r}, but no variable is called so; known are {known}")


def places_of(names: Sequence[str]) -> dict[str, int]:
    """Return the number of each column by its name."""
    return {str(name): j for j, name in enumerate(names)}


def by_column(
    values: Any, names: Sequence[str], what: str, as_value: Callable[[Any], Any] = lambda v: v
) -> list[Any]:
    """Return a value for each column, given in their order, or by their names; none may be missing."""
    if hasattr(values, "index") and hasattr(values, "iloc"):
        values = dict(zip(map(str, values.index), np.asarray(values).tolist(), strict=True))
    if not isinstance(values, Mapping):
        listed = list(values)
        if len(listed) != len(names):
            raise ValueError(f"{what} has {len(listed)} entries for {len(names)} variables")
        return [as_value(entry) for entry in listed]
    missing = [name for name in names if name not in values]
    if missing:
        raise ValueError(
            f"{what} has nothing for {listing(missing, most=5)}: every variable needs it"
        )
    return [as_value(values[name]) for name in names]
