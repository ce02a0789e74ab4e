"""The columns of a working set, which only grows: as a dense copy, or sparse as they are stored."""

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design, block_width
from garrote.problem import Problem


class WorkingBlock:
    """Standardised columns in order of their coming, and each one's place."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.columns = np.zeros(0, np.intp)
        self.inside = np.zeros(problem.n_features, dtype=bool)
        self._values = np.empty((len(problem.response), 0), order="F")
        self._own: dict[int, Floats] = {}

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
        self._own.clear()

    def dot(self, places: Array, coef: Floats) -> Floats:
        """Return some columns times their coefficients."""
        if 2 * len(places) < len(self.columns):
            return np.asarray(self.values[:, places] @ coef)
        everywhere = np.zeros(len(self.columns))  # a product with zeros costs less than a copy
        everywhere[places] = coef
        return np.asarray(self.values @ everywhere)

    def tdot(self, slope: Floats) -> Floats:
        """Return the products of all columns with a number for every row."""
        return np.asarray(self.values.T @ slope)

    def cross_products(self, places: Array) -> Floats:
        """Return X'WX / n of a group of columns, which is always the same; it is kept."""
        first = int(places[0])
        if first not in self._own:
            part = self.values[:, places]
            self._own[first] = part.T @ (part * self.problem.weights[:, None]) / self.problem.n
        return self._own[first]


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
