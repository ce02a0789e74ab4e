"""Which columns a path over gamma lets in together, checked before any work."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.groups.naming import resolve_named_groups
from garrote.priors import ColumnGroups, GroupedInclusion
from garrote.priors.garrote import SpikeTerms
from garrote.priors.shared_switches import SharedSwitchTerms


@dataclass(frozen=True)
class Switches:
    """The groups that were found, and the number of each column's switch; None where none is shared.

    Covariates, which are always in, have left their groups.
    """

    found: ColumnGroups | None = None
    numbers: Array | None = None

    @classmethod
    def of(
        cls, inclusion: Any, count: int, names: Array | None, X: Any, covariates: Array
    ) -> "Switches":
        """Find the groups of a setting ``inclusion`` among so many columns."""
        check_shared_switches(inclusion)
        if inclusion is None:
            return cls()
        resolve = partial(resolve_named_groups, count=count, names=names, X=X)
        found = inclusion.with_groups(lambda groups: _labelled(*resolve(groups))).groups
        numbers = found.numbers.copy()
        numbers[covariates] = len(found) + np.arange(len(covariates))
        return cls(found, numbers if np.bincount(numbers).max(initial=0) > 1 else None)

    @property
    def shared(self) -> ColumnGroups | None:
        """The groups, where at least two columns share a switch."""
        return None if self.numbers is None else self.found

    def check(self, log_odds: Floats, signs: Floats | None, names: tuple[str, ...]) -> None:
        """Refuse odds that differ within a group, and signs of columns in one of several."""
        if self.numbers is None or self.found is None:
            return
        for number in np.flatnonzero(np.bincount(self.numbers) > 1):
            members = np.flatnonzero(self.numbers == number)
            label = self.found.labels[self.found.numbers[members[0]]]
            if np.ptp(log_odds[members]):
                raise ValueError(
                    f"prior_log_odds differ within group {label!r}, whose columns are in or out "
                    "together: give all of them the same"
                )
            if signs is not None and signs[members].any():
                held = names[members[np.flatnonzero(signs[members])[0]]]
                raise ValueError(
                    f"signs keeps column {held!r} to one sign, but it shares a switch with others of "
                    f"group {label!r}, whose effects depend on their coding: leave it free, or out of "
                    "the group"
                )

    def terms(self, log_odds: Floats, signs: Floats, noise: float | None) -> SpikeTerms:
        """Return the prior of the garrote."""
        if self.numbers is None:
            return SpikeTerms(log_odds, signs, noise)
        return SharedSwitchTerms(log_odds, signs, noise, groups=self.numbers)


def check_shared_switches(inclusion: Any) -> None:
    """Refuse an ``inclusion`` that is more than groups: gamma is the law of switches, one by one."""
    if inclusion is None:
        return
    if not isinstance(inclusion, GroupedInclusion):
        raise ValueError(
            "inclusion must be a garrote.priors.GroupedInclusion, or None: how probable variables are, "
            "gamma says, which is no log odds a priori. SpikeSlabRegressor and SpikeSlabClassifier take "
            f"all laws of inclusion; got {inclusion!r}"
        )
    if inclusion.law is not None:
        raise ValueError(
            "the law of a GroupedInclusion must be None here, where gamma is the log odds of every "
            f"group; got {inclusion.law!r}"
        )
    if inclusion.parents:
        raise ValueError(
            "parents need a posterior over models, and the garrote's switches are independent: take "
            "SpikeSlabRegressor, or SpikeSlabClassifier, with this inclusion"
        )


def _labelled(numbers: Array, labels: tuple[str, ...]) -> ColumnGroups:
    return ColumnGroups(labels, numbers)
