"""The columns of a working set, which only grows: as a dense copy, or sparse as they are stored."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design, block_width
from garrote.designs.dense import DenseDesign
from garrote.problem import Problem


class WorkingBlock:
    """Standardised columns in order of their coming, and each one's place."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.columns = np.zeros(0, np.intp)
        self.inside = np.zeros(problem.n_features, dtype=bool)
        self._values = np.empty((len(problem.response), 0), order="F")
        self._products, self._where = np.zeros(0), dict[int, int]()

    @property
    def values(self) -> Floats:
        """The columns themselves (N x k)."""
        return self._values[:, : len(self.columns)]

    def grow(self, columns: Array) -> None:
        """Take in more columns."""
        k, m = len(self.columns), len(self.columns) + len(columns)
        if m > self._values.shape[1]:
            room = min(max(64, m + m // 4), self.problem.n_features)
            larger = np.empty((self._values.shape[0], room), order="F")
            larger[:, :k] = self.values
            self._values = larger
        width = block_width(len(self._values))
        for start in range(0, len(columns), width):  # in pieces: no second copy of them all
            some = columns[start : start + width]
            self._values[:, k + start : k + start + len(some)] = self.problem.table.block(some)
        self.columns = np.append(self.columns, columns)
        self.inside[columns] = True

    def keep(self, places: Array) -> None:
        """Let go of all columns but those at some places, in ascending order."""
        width = block_width(len(self._values))
        for start in range(0, len(places), width):  # a column moves to the left, or stays
            some = places[start : start + width]
            self._values[:, start : start + len(some)] = self._values[:, some]
        self.inside[:] = False
        self.columns = self.columns[places]
        self.inside[self.columns] = True
        self._products, self._where = np.zeros(0), {}

    def dot(self, places: Array, coef: Floats) -> Floats:
        """Return some columns times their coefficients."""
        return DenseDesign(self.values).dot(places, coef[:, None])[:, 0]

    def tdot(self, slope: Floats) -> Floats:
        """Return the products of all columns with a number for every row."""
        return np.asarray(self.values.T @ slope)

    def cross_products(self, groups: Sequence[Array]) -> tuple[Floats, Array]:
        """Return X'WX / n within groups of columns, row by row, and where each group's begin.

        They are always the same, and kept.
        """
        made, end = [], len(self._products)
        for places in groups:
            if int(places[0]) not in self._where:
                part = self.values[:, places]
                weighted = part * self.problem.weights[:, None]
                made.append((part.T @ weighted / self.problem.n).ravel())
                self._where[int(places[0])] = end
                end += len(places) ** 2
        self._products = np.concatenate([self._products, *made]) if made else self._products
        return self._products, np.array([self._where[int(places[0])] for places in groups])


class SparseBlock:
    """Sparse columns in order of their coming, standardised in all products."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.columns = np.zeros(0, np.intp)
        self.inside = np.zeros(problem.n_features, dtype=bool)
        self._stored = problem.table.stored.pick(self.columns)

    def grow(self, columns: Array) -> None:
        """Take in more columns."""
        self.columns = np.append(self.columns, columns)
        self.inside[columns] = True
        self._stored = self.problem.table.stored.pick(self.columns)

    def pick(self, places: Array) -> Design:
        """Return some columns as they are stored."""
        return self._stored.pick(places)

    def dot(self, places: Array, coef: Floats) -> Floats:
        """Return some columns times their coefficients."""
        columns = self.columns[places]
        return self.problem.table.dot(columns, coef[:, None], self.pick(places))[:, 0]

    def tdot(self, slope: Floats) -> Floats:
        """Return the products of all columns with a number for every row."""
        table = self.problem.table
        product = self._stored.tdot(slope[None, :])[0]
        return (product - slope.sum() * table.mean[self.columns]) / table.scale[self.columns]


class OnWorkingBlock:
    """What losses share whose working set is a block of columns, with a coefficient for each."""

    block: Any
    coef: Floats

    @property
    def columns(self) -> Array:
        """The columns of the working set."""
        return self.block.columns

    @property
    def inside(self) -> Array:
        """Which columns are in it."""
        return self.block.inside

    def grow(self, columns: Array) -> None:
        """Take more columns into the working set, with coefficients of 0."""
        if len(columns):
            self.block.grow(columns)
            self.coef = np.append(self.coef, np.zeros(len(columns)))
