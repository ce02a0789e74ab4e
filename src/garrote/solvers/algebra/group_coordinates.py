"""A problem in which every group of columns has coordinates of its own, and the way back from them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.designs.gram import GramDesign
from garrote.designs.rotated import RotatedDesign, rotated_gram
from garrote.designs.rotation import Rotation
from garrote.designs.scale import Scale
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.optima import Optima
from garrote.results.path import Path


@dataclass(frozen=True)
class GroupCoordinates:
    """A problem in coordinates of its groups, beside the problem as it was given.

    ``rotation`` is None, and both problems are one, where every group is a single column.
    """

    problem: Problem
    given: Problem
    rotation: Rotation | None = None

    @classmethod
    def of(
        cls, problem: Problem, groups: Array | None, projected: bool = True
    ) -> "GroupCoordinates":
        """Find the coordinates of groups that are given by the number of each column's.

        They are orthogonal beside the covariates or, where these are not ``projected`` out but have
        coefficients like all others, as for labels, with them.
        """
        if groups is None:
            return cls(problem, problem)
        if projected or not len(problem.scale.covariates):
            rotation = Rotation(groups, problem.curvature, problem.known_block, problem.n)
        else:
            rotation = Rotation(
                groups, problem.curvature, problem.raw_gram, problem.n, beside=problem.known_block
            )
        if not rotation:
            return cls(problem, problem)
        known = problem.known_gram
        rotated = replace(
            problem,
            design=_rotated_design(problem, rotation),
            xty=rotation.forward(problem.xty.copy()),
            curvature=rotation.curvature,
            scale=_rotated_scale(problem.scale, rotation),
            known_gram=None if known is None else rotated_gram(known, rotation),
        )
        return cls(rotated, problem, rotation)

    def fit(self, fit: Fit) -> Fit:
        """Return a solution by the coefficients of columns; its size counts groups."""
        if self.rotation is None:
            return fit
        probability, weight = np.zeros((2, self.given.n_features))
        probability[fit.columns], weight[fit.columns] = fit.probability, fit.weight
        size = fit.expected_size
        for block in self.rotation.blocks:
            m = float(probability[block.members[0]])
            size -= (block.rank - 1) * m
            probability[block.members] = m
        weight = self.rotation.back(weight)
        columns = np.flatnonzero(probability > 0)
        return replace(
            fit,
            columns=columns,
            probability=probability[columns],
            weight=weight[columns],
            expected_size=size,
        )

    def fits(self, fits: Iterable[Fit]) -> tuple[Fit, ...]:
        """Return several; one object that is among them twice stays one."""
        found: dict[int, Fit] = {}
        return tuple(found.setdefault(id(one), self.fit(one)) for one in fits)

    def path(self, path: Path[Fit]) -> Path[Fit]:
        """Return a path by the coefficients of columns."""
        if self.rotation is None:
            return path
        count = len(path.forward)
        both = self.fits((*path.forward, *path.backward, *path.fits))
        return replace(
            path,
            forward=both[:count],
            backward=both[count : 2 * count],
            fits=both[2 * count :],
            scale=self.given.scale,
        )

    def optima(self, optima: Optima) -> Optima:
        """Return the distinct solutions at one strength by the coefficients of columns."""
        return replace(optima, fits=self.fits(optima.fits))

    def coefficients(self, coef: Floats) -> Floats:
        """Return coefficients of columns in the user's units, given those of coordinates in theirs."""
        if self.rotation is None:
            return coef
        whole = self.rotation.back(coef)
        rotated = self.rotation.rotated
        whole[..., rotated] /= self.given.scale.column_scale[rotated]
        return whole

    @cached_property
    def matrix(self) -> scipy.sparse.csr_array:
        """From coefficients of coordinates to those of columns (D x D), each in the user's units."""
        whole = scipy.sparse.eye_array(self.given.n_features, format="lil")
        for block in self.rotation.blocks if self.rotation else ():
            unit = self.given.scale.column_scale[block.members]
            whole[np.ix_(block.members, block.members)] = block.turn / unit[:, None]
        return scipy.sparse.csr_array(whole)

    def turn(self, places: Array) -> tuple[Array, Floats]:
        """Return the columns that some coordinates are made of, and the map to their coefficients.

        From coordinates in units of the problem to columns in those of its standardised ones.
        """
        if self.rotation is None:
            return places, np.eye(len(places))
        sources = self.rotation.sources(places)
        whole = np.zeros((len(places), self.given.n_features))
        whole[np.arange(len(places)), places] = 1.0
        return sources, np.asarray(self.rotation.back(whole)[:, sources].T)

    def equal_within(self, probability: Floats) -> Floats:
        """Return probabilities of all columns that are equal within groups, covariates apart."""
        if self.rotation is None:
            return probability
        return equal_within(self.rotation.groups, probability)

    def products(self, products: Floats) -> Floats:
        """Return products of coordinates (... x D) with a vector, given those of the columns."""
        return products if self.rotation is None else self.rotation.forward(products.copy())


def equal_within(groups: Array, probability: Floats) -> Floats:
    """Return probabilities of which all columns of a group, also empty ones, have the largest."""
    highest = np.zeros(int(groups.max(initial=-1)) + 1)
    np.maximum.at(highest, groups, probability)
    return highest[groups]


def _rotated_design(problem: Problem, rotation: Rotation) -> RotatedDesign | GramDesign:
    if problem.has_rows:
        return RotatedDesign(problem.table, rotation)
    return GramDesign(rotated_gram(problem.design.whole_gram(), rotation))


def _rotated_scale(scale: Scale, rotation: Rotation) -> Scale:
    """Return the scale of coordinates: in units of the standardised columns, with means of their own."""
    means = rotation.forward(scale.column_mean / scale.column_scale)
    return replace(
        scale,
        column_mean=np.where(rotation.rotated, means, scale.column_mean),
        column_scale=np.where(rotation.rotated, 1.0, scale.column_scale),
        covariate_columns=rotation.forward(scale.covariate_columns.copy()),
    )
