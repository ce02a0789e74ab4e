"""Coordinates in which all columns of a group stand alike, so that no coding of its levels matters.

The slab w_g ~ N(0, noise * variance * (X_g'WX_g / n)^+) of a group is a slab of independent coordinates
v_g ~ N(0, noise * variance I) with w_g = A_g v_g, where A_g A_g' = (X_g'WX_g / n)^+: the columns X_g A_g
are orthonormal, but for a factor n. Directions in which the columns of a group do not vary (a level that
no row has, a copy of another, levels that add up to a constant) are left out. A group of one column
stays as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.designs import GramDesign, RotatedDesign, StandardizedDesign
from garrote.designs.rotated import Block
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.problem import Problem

# Directions of a group that have less than this share of its largest variance are rounding.
_NOTHING = 1e-10


@dataclass(frozen=True)
class Rotation:
    """How rotated coefficients, in the units of the rotated problem's user, read in those of the user.

    ``matrix`` (D x D) has a block A_g for each group, and 1 for columns that are alone; ``before`` and
    ``after`` are the law over groups of the columns that have content in the one and the other.
    """

    problem: Problem
    rotated: Problem
    matrix: scipy.sparse.csr_array
    before: InclusionOfGroups
    after: InclusionOfGroups

    def coefficients(self, rotated: Floats) -> Floats:
        """Return coefficients in the user's units."""
        return np.asarray(self.matrix @ rotated)

    def expanded(self, columns: Array) -> Array:
        """Return the user's columns that some rotated columns, whole groups of them, stand for."""
        groups = np.unique(self.after.of_column[columns])
        grouped = np.flatnonzero(np.isin(self.before.of_column, groups[groups >= 0]))
        return np.union1d(columns[self.after.of_column[columns] < 0], grouped)

    def block(self, to: Array, columns: Array) -> Floats:
        """Return the part of the matrix that takes some rotated columns to some of the user's."""
        return self.matrix[to][:, columns].toarray()


def rotate(problem: Problem, law: InclusionOfGroups, projected: bool = False) -> Rotation:
    """Return a problem in rotated coordinates, and the way back.

    With ``projected`` coordinates are orthonormal beyond the covariates, for priors that know no other
    lengths than those.
    """
    blocks = []
    sizes = np.bincount(law.of_column[law.of_column >= 0], minlength=len(law))
    for group in np.flatnonzero(sizes > 1):
        columns = law.columns(int(group))
        gram = problem.known_block(columns) if projected else problem.raw_gram(columns)
        blocks.append(Block(columns, whitening(gram / problem.n)))
    rotated = _rotated(problem, blocks)
    matrix = scipy.sparse.eye_array(problem.n_features, format="lil")
    for columns, combination in blocks:
        matrix[np.ix_(columns, columns)] = _in_user_units(problem, columns, combination)
    return Rotation(
        problem, rotated, scipy.sparse.csr_array(matrix), law, law.among(rotated.usable)
    )


def whitening(gram: Floats) -> Floats:
    """Return a square A with A A' the pseudoinverse of cross products; columns of no content are 0."""
    values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1], vectors[:, ::-1]
    size = np.where(values > _NOTHING * values[0], values, np.inf)
    return np.asarray(vectors / np.sqrt(size))


def _in_user_units(problem: Problem, columns: Array, combination: Floats) -> Floats:
    """Return what takes rotated columns, in their own units, to coefficients in the user's."""
    return combination / problem.scale.column_scale[columns][:, None]


def _rotated(problem: Problem, blocks: Sequence[Block]) -> Problem:
    """Return the problem whose columns are combined; products are linear in them."""
    design, scale = _design(problem, blocks), problem.scale
    xty, explained = problem.xty.copy(), scale.covariate_columns.copy()
    center, size = scale.column_mean.copy(), scale.column_scale.copy()
    for columns, combination in blocks:
        center[columns] = (center[columns] / size[columns]) @ combination
        size[columns] = design.scale[columns] if design.has_rows else 1.0
        xty[columns] = combination.T @ xty[columns] / size[columns]
        explained[:, columns] = explained[:, columns] @ combination / size[columns]
    scale = replace(scale, column_mean=center, column_scale=size, covariate_columns=explained)
    curvature = design.curvature if design.has_rows else np.diag(design.values).copy()
    return replace(
        problem, design=design, xty=xty, curvature=curvature, scale=scale, known_gram=None
    )


def _design(problem: Problem, blocks: Sequence[Block]) -> Any:
    """Return the design whose columns are combined: rotated as it is read, or by its moments."""
    if not problem.has_rows:
        gram = problem.whole_gram().copy()
        for columns, combination in blocks:
            gram[:, columns] = gram[:, columns] @ combination
            gram[columns] = combination.T @ gram[columns]
        return GramDesign(gram)
    table = problem.table
    in_units = [
        Block(columns, combination / table.scale[columns][:, None])
        for columns, combination in blocks
    ]
    return StandardizedDesign(
        RotatedDesign(table.stored, in_units, table.mean), table.weights, center=table.centered,
        scale=bool((table.scale != 1.0).any()), covariates=table.covariates,
    )  # fmt: skip
