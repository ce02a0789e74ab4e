"""Groups whose sets are summed to correct what annealing found of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.grouped.numbers import enumerate_sets
from garrote.inference.grouped.returning import return_posterior
from garrote.inference.grouped.rotation import RotatedGroups
from garrote.inference.grouped.sampled import sample_sets
from garrote.inference.methods import Chains
from garrote.inference.models.over_models import Findings
from garrote.inference.models.representative_models import Components
from garrote.inference.resemblance import correlations, largest_of
from garrote.inference.sampling import independent_part
from garrote.priors.column_groups import ColumnGroups
from garrote.priors.grouped_inclusion import GroupedInclusion, InclusionOfGroups
from garrote.priors.inclusion import Inclusion
from garrote.problem import Problem
from garrote.results.certificates import Certificate
from garrote.results.posterior import Posterior
from garrote.solvers.models.grouped.group_sets import allowed_sets


@dataclass(frozen=True)
class AllGroups:
    """All groups of a problem, in coordinates of their own.

    `garrote.inference.correcting` has the same of columns, each of which is in or out alone.
    """

    rotation: RotatedGroups

    @classmethod
    def of(cls, problem: Problem, groups: ColumnGroups) -> "AllGroups":
        """Rotate all groups of two or more columns that have content."""
        law = GroupedInclusion(groups).over_sets(problem.usable, problem.n_features)
        # Models count by their largest likelihood, which knows no lengths.
        return cls(RotatedGroups.of(problem, law, projected=True))

    @property
    def problem(self) -> Problem:
        """The regression in coordinates of groups."""
        return self.rotation.problem

    @property
    def of_column(self) -> Array:
        """The group of each coordinate that has content; -1 for other places."""
        return self.rotation.after.of_column

    def columns(self, chosen: Array) -> Array:
        """Return the user's columns of some groups."""
        return np.flatnonzero(np.isin(self.rotation.before.of_column, chosen))

    def likeness(self, selected: Array) -> Floats:
        """Return the largest canonical correlation of every group with one of the selected."""
        places = np.flatnonzero(self.of_column >= 0)
        number = self.of_column[places]
        sizes, alike = np.bincount(number), np.zeros(len(self.rotation.after))
        for group in selected:
            members = np.flatnonzero(self.of_column == group)
            rows = correlations(self.problem, members)[:, places]
            # All squared canonical correlations together: of one direction it is the only one.
            size = np.sqrt(np.bincount(number, np.square(rows).sum(axis=0)))
            for other in np.flatnonzero((sizes > 1) & (size > alike)) if len(members) > 1 else ():
                size[other] = largest_of(rows[:, number == other])
            alike = np.maximum(alike, size)
        return alike

    def start(self, among: Problem, law: InclusionOfGroups, order: Array) -> list[int]:
        """Return the coordinates of groups, in an order, that do not depend on those before them."""
        columns = np.concatenate([np.zeros(0, np.intp), *(law.columns(int(g)) for g in order)])
        kept = np.array(independent_part(among, columns), dtype=np.intp)
        inside = np.bincount(law.of_column[kept], minlength=len(law))
        whole = inside == np.bincount(law.of_column, minlength=len(law))
        return [int(j) for j in kept if whole[law.of_column[j]]]

    def law(self, chosen: Array, columns: Array, log_odds: Floats) -> InclusionOfGroups:
        """Return the prior on sets of the chosen groups, each in with odds of its own."""
        over = Inclusion(np.zeros(len(chosen) + 1), log_odds)
        number, groups = self.of_column[columns], self.rotation.before.groups
        nobody = np.zeros(0, dtype=np.intp)
        return InclusionOfGroups(
            over_groups=over,
            of_column=np.searchsorted(chosen, number),
            parents=(nobody,) * len(chosen),
            groups=ColumnGroups(groups.labels, groups.numbers[columns]),
            present=self.rotation.before.present[chosen],
        )

    def enumerate(self, among: Problem, beliefs: Beliefs, report: Any) -> Findings:
        """Sum over all sets."""
        return enumerate_sets(among, beliefs, allowed_sets(beliefs.inclusion), report)[0]

    def sample(
        self, among: Problem, beliefs: Beliefs, chains: Chains, report: Any, start: list[int]
    ) -> tuple[Findings, Certificate]:
        """Walk over sets."""
        return sample_sets(among, beliefs, "sample", chains, None, report, start)

    def coefficients(self, mean: Floats) -> Floats:
        """Return coefficients of columns, given those of coordinates, both in units of the problem."""
        here, there = self.rotation.given.scale, self.problem.scale
        found = self.rotation.coefficients(mean / there.column_scale)
        return np.asarray(found * here.column_scale)

    def back(self, posterior: Posterior, components: Components) -> Posterior:
        """Return what is believed of columns, with what credible sets are made of."""
        return return_posterior(self.rotation, posterior, components)
