"""Coordinates in which all columns of a group stand alike, so that no coding of its levels matters.

The slab w_g ~ N(0, noise * variance * (X_g'WX_g / n)^+) of a group is a slab of independent coordinates
v_g ~ N(0, noise * variance I) with w_g = A_g v_g, where A_g A_g' = (X_g'WX_g / n)^+: the columns X_g A_g
are orthonormal, but for a factor n (`garrote.designs.rotation`). Directions in which the columns of a
group do not vary (a level that no row has, a copy of another, levels that add up to a constant) are left
out. A group of one column stays as it is.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.problem import Problem
from garrote.solvers.algebra.group_coordinates import GroupCoordinates


@dataclass(frozen=True)
class RotatedGroups:
    """A problem in coordinates of its groups, with the law over groups of the columns that have content.

    ``before`` is that of the columns as they were given, ``after`` that of the coordinates.
    """

    coordinates: GroupCoordinates
    before: InclusionOfGroups
    after: InclusionOfGroups

    @classmethod
    def of(
        cls, problem: Problem, law: InclusionOfGroups, projected: bool = False
    ) -> "RotatedGroups":
        """Find the coordinates of the groups of a law.

        With ``projected`` they are orthonormal beyond the covariates, for priors that know no other
        lengths than those.
        """
        alone = len(law) + np.arange(problem.n_features)
        numbers = np.where(law.of_column >= 0, law.of_column, alone)
        coordinates = GroupCoordinates.of(problem, numbers, projected)
        return cls(coordinates, law, law.among(coordinates.problem.usable))

    @property
    def given(self) -> Problem:
        """The problem in columns."""
        return self.coordinates.given

    @property
    def problem(self) -> Problem:
        """The problem in coordinates."""
        return self.coordinates.problem

    @property
    def matrix(self) -> scipy.sparse.csr_array:
        """From coefficients of coordinates to those of columns (D x D), each in the user's units."""
        return self.coordinates.matrix

    def coefficients(self, rotated: Floats) -> Floats:
        """Return coefficients in the user's units."""
        return np.asarray(self.matrix @ rotated)

    def expanded(self, columns: Array) -> Array:
        """Return the user's columns that some coordinates, whole groups of them, stand for."""
        groups = np.unique(self.after.of_column[columns])
        grouped = np.flatnonzero(np.isin(self.before.of_column, groups[groups >= 0]))
        return np.union1d(columns[self.after.of_column[columns] < 0], grouped)

    def block(self, to: Array, columns: Array) -> Floats:
        """Return what takes coefficients of some coordinates to those of some of the user's columns."""
        return self.matrix[to][:, columns].toarray()
