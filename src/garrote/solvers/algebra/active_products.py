"""Products of the columns that have been active with all columns: from the Gram matrix, or from X.

A walk along a path asks once a knot for X'WX d, with d not 0 on a few columns only. Where the Gram
matrix is known, its rows of those columns are kept together, and one product of them with d does.
Else one pass over X does, which is cheaper than making those rows.
"""

from collections.abc import Generator
from typing import Protocol

import numpy as np

from garrote.arrays import Floats
from garrote.problem import Problem
from garrote.solvers.descent.working_block import WorkingBlock


class ActiveProducts(Protocol):
    """Columns in order of their coming, each with a place; all products are divided by N."""

    def place(self, column: int) -> int:
        """Return a column's place, the next one if it has none."""

    def products(self, place: int) -> Floats:
        """Return the products of one placed column with all placed ones."""

    def with_all(self, coef: Floats) -> Generator[Floats, Floats, Floats]:
        """Return the products of all columns with the placed ones times ``coef``."""


def active_products(problem: Problem) -> ActiveProducts:
    """Return the way to multiply that suits the problem."""
    return FromRows(problem) if problem.has_rows else FromGram(problem)


class FromGram:
    """Rows of X'WX / N, copied together in order of their coming."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._gram = problem.whole_gram()
        self._places: dict[int, int] = {}
        self._columns = np.zeros(0, np.intp)
        self._rows = np.empty((0, problem.n_features))

    def place(self, column: int) -> int:
        """Return a column's place, the next one if it has none."""
        if column not in self._places:
            k = len(self._columns)
            if k == len(self._rows):
                larger = np.empty((max(64, 2 * k), self._rows.shape[1]))
                larger[:k] = self._rows
                self._rows = larger
            np.divide(self._gram[column], self._problem.n, out=self._rows[k])
            self._columns = np.append(self._columns, column)
            self._places[column] = k
        return self._places[column]

    def products(self, place: int) -> Floats:
        """Return the products of one placed column with all placed ones."""
        return self._rows[place, self._columns]

    def with_all(self, coef: Floats) -> Generator[Floats, Floats, Floats]:
        """Return the products of all columns with the placed ones times ``coef``."""
        yield from ()  # a generator like its sibling, though it waits for nothing
        return coef @ self._rows[: len(coef)]


class FromRows:
    """The columns themselves."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._block = WorkingBlock(problem)
        self._places: dict[int, int] = {}

    def place(self, column: int) -> int:
        """Return a column's place, the next one if it has none."""
        if column not in self._places:
            self._places[column] = len(self._places)
            self._block.grow(np.array([column]))
        return self._places[column]

    def products(self, place: int) -> Floats:
        """Return the products of one placed column with all placed ones."""
        values = self._block.values
        return (values[:, place] * self._problem.weights) @ values / self._problem.n

    def with_all(self, coef: Floats) -> Generator[Floats, Floats, Floats]:
        """Return the products of all columns with the placed ones times ``coef``."""
        fitted = self._block.values[:, : len(coef)] @ coef
        product = yield from self._problem.table.tdot_steps(fitted[None, :])
        return product[0] / self._problem.n
