"""Least squares on a subset of the columns that grows and shrinks: the engine of all greedy searches.

The Cholesky factor of the subset stands beside all other columns (`solvers.algebra.model_factor`), so
that what every column would explain in addition, alone or beside the subset, is known at any time. A
column more costs one pass over X, which solvers in step share, and one less a few rotations.
"""

from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.limits.budgets import GRAM_BYTES
from garrote.problem import Problem
from garrote.solvers.algebra.growing_gram import GrowingGram
from garrote.solvers.algebra.model_factor import (
    add_variable,
    begin,
    empty_factor,
    remove_variable,
)
from garrote.solvers.greedy.column_units import ColumnUnits

# A column of which a subset leaves less than this share of its length depends on it.
DEPENDENT = 1e-9
# Room for so many columns at first.
_ROOM = 32
# Columns whose products with all others are computed in one pass over X.
_TOGETHER = 8

Step = Generator[Floats, Floats, None]


class Point(NamedTuple):
    """One model on the way: its strength, its columns (ascending) with their coefficients, a level.

    ``parts`` are what a search has to say of how good the model is, by the names of a certificate.
    """

    strength: float
    columns: Array
    coef: Floats
    intercept: float = 0.0
    n_iter: int = 1
    parts: dict[str, float] | None = None


class SubsetRegression:
    """The least-squares fit to a subset of the columns of a problem, and what changes would do to it.

    Squared errors are sums over rows, by their weights, of the problem's standardised response.
    """

    separated = False  # a least-squares fit always exists

    def __init__(self, problem: Problem, units: ColumnUnits | None = None):
        self.problem = problem
        self.units = units or ColumnUnits(problem.n_features)
        self._factor = empty_factor(problem.n_features, min(_ROOM, problem.n_features))
        self._rows: dict[int, Floats] = {}
        self._blocks: dict[int, Floats] = {}
        self._near = _NearProducts(problem)
        self.clear()

    def clear(self) -> None:
        """Begin again with the empty subset."""
        problem = self.problem
        begin(problem.curvature, problem.xty, problem.yty, 0.0, self._factor)
        self.inside = np.zeros(len(self.units), dtype=bool)

    @property
    def members(self) -> Array:
        """The columns of the subset, in order of their coming."""
        return self._factor.members[: self._size].copy()

    @property
    def _size(self) -> int:
        return int(self._factor.size[0])

    @property
    def left(self) -> float:
        """The squared error that the subset leaves."""
        return float(self._factor.left[0])

    @property
    def whole(self) -> float:
        """The squared error of the empty subset."""
        return self.problem.yty

    @property
    def exact_swaps(self) -> bool:
        """Whether `best_swap` looks at all exchanges of one for one."""
        return self.units.single

    @property
    def _free(self) -> Array:
        """Which columns have something that the subset has not."""
        factor = self._factor
        return (factor.place < 0) & (factor.pivot > DEPENDENT * self.problem.curvature)

    def row(self, j: int) -> Generator[Floats, Floats, Floats]:
        """Return the products of column j with all columns."""
        yield from self._fetch([j])
        return self._rows[j]

    def _fetch(self, columns: Sequence[int]) -> Step:
        missing = np.array([j for j in columns if j not in self._rows], dtype=np.intp)
        if not len(missing):
            return
        problem = self.problem
        if problem.has_rows and problem.known_gram is None:
            missing = self._with_likely(missing)
            block = np.ascontiguousarray(problem.table.block(missing).T)
            products = yield from problem.table.tdot_steps(block)
        else:
            products = problem.whole_gram()[missing]
        for j, row in zip(missing.tolist(), products, strict=True):
            self._rows[j] = row

    def _with_likely(self, missing: Array) -> Array:
        """Add columns that may be wanted soon: eight together cost little more than one."""
        D, room = self.problem.n_features, _TOGETHER - len(missing)
        if room <= 0 or len(self._rows) * D * 8 > GRAM_BYTES or D <= _TOGETHER:
            return missing
        factor = self._factor
        worth = np.where(self._free, factor.product**2 / np.maximum(factor.pivot, 1e-300), 0.0)
        worth[[*self._rows, *missing.tolist()]] = 0.0
        likely = np.argpartition(-worth, room)[:room]
        return np.append(missing, likely[worth[likely] > 0])

    def add(self, unit: int) -> Step:
        """Take a unit in: those of its columns that do not depend on the subset."""
        columns = self.units.columns(unit).tolist()
        yield from self._fetch(columns)
        for j in columns:
            if self._free[j]:
                self._reserve(self._size + 1)
                add_variable(self._rows[j], j, self._factor)
        self.inside[unit] = True

    def remove(self, unit: int) -> None:
        """Leave a unit out."""
        for j in self.units.columns(unit).tolist():
            if self._factor.place[j] >= 0:
                remove_variable(j, self._factor)
        self.inside[unit] = False

    def become(self, units: Sequence[int]) -> Step:
        """Make the subset that of some units."""
        wanted = set(units)
        for unit in np.flatnonzero(self.inside).tolist():
            if unit not in wanted:
                self.remove(unit)
        new = [
            j for unit in units if not self.inside[unit] for j in self.units.columns(unit).tolist()
        ]
        yield from self._fetch(new)  # in one pass
        for unit in units:
            if not self.inside[unit]:
                yield from self.add(unit)

    def _reserve(self, size: int) -> None:
        """Make room for so many columns."""
        factor, k = self._factor, self._size
        if size <= len(factor.members):
            return
        larger = empty_factor(self.problem.n_features, min(2 * size, self.problem.n_features))
        for name in ("members", "rows", "scores"):
            getattr(larger, name)[:k] = getattr(factor, name)[:k]
        larger.root[:k, :k] = factor.root[:k, :k]
        for name in ("place", "size", "pivot", "product", "left"):
            getattr(larger, name)[:] = getattr(factor, name)
        self._factor = larger

    def coef(self) -> Floats:
        """Return the coefficients of ``members``."""
        k = self._size
        root = self._factor.root[:k, :k]
        return np.asarray(solve_triangular(root, self._factor.scores[:k], check_finite=False))

    def scores(self) -> Floats:
        """Return what each unit alone would explain of what is left, 0 for those that are in."""
        return self._explained(beside=False)

    def gains(self, candidates: int = 0) -> Floats:
        """Return by how much the squared error falls if a unit comes in, 0 for those that are in.

        It is known of all; ``candidates`` are for likelihoods of which each has to be fitted.
        """
        return self._explained(beside=True)

    def _explained(self, beside: bool) -> Floats:
        factor = self._factor
        if self.units.single:
            length = factor.pivot if beside else self.problem.curvature
            free = self._free
            return np.divide(factor.product**2, length, out=np.zeros(len(free)), where=free)
        found = np.zeros(len(self.units))
        for unit in np.flatnonzero(~self.inside).tolist():
            columns = self.units.columns(unit)
            columns = columns[self._free[columns]]
            if len(columns):
                found[unit] = self._explained_by(unit, columns, beside)
        return found

    def _explained_by(self, unit: int, columns: Array, beside: bool) -> float:
        """Return what several columns explain together of what is left."""
        factor, k, all_columns = self._factor, self._size, self.units.columns(unit)
        if unit not in self._blocks:
            self._blocks[unit] = np.asarray(self.problem.known_block(all_columns))
        places = np.searchsorted(all_columns, columns)
        block = self._blocks[unit][np.ix_(places, places)]
        if beside:
            across = factor.rows[:k, columns]
            block = block - across.T @ across
        product = factor.product[columns]
        return float(product @ np.linalg.pinv(block, DEPENDENT, hermitian=True) @ product)

    def losses(self) -> tuple[Array, Floats]:
        """Return the units that are in, and by how much the squared error rises without each."""
        inverse, coef = self._inverse(), self.coef()
        spread = inverse @ inverse.T
        owner, units = self.units.owner[self.members], np.flatnonzero(self.inside)
        if self.units.single:
            rises = np.zeros(len(self.inside))
            rises[owner] = coef**2 / np.diag(spread)
            return units, rises[units]
        rise = np.zeros(len(units))
        for place, unit in enumerate(units):
            places = np.flatnonzero(owner == unit)
            if len(places):
                rise[place] = coef[places] @ np.linalg.solve(
                    spread[np.ix_(places, places)], coef[places]
                )
        return units, rise

    def _inverse(self) -> Floats:
        k = self._size
        root = self._factor.root[:k, :k]
        return np.asarray(solve_triangular(root, np.eye(k), check_finite=False))

    def best_swap(self) -> tuple[float, int, int]:
        """Return by how much the best exchange of one column for one lowers the squared error.

        Also who leaves and who comes; 0, and nobody, where units are groups.
        """
        factor, k = self._factor, self._size
        if k == 0 or not self.units.single:
            return 0.0, -1, -1
        inverse, coef = self._inverse(), self.coef()
        spread = np.sum(inverse**2, axis=1)
        pull = coef / spread
        free = (factor.place < 0) & (self.problem.curvature > 0)
        along = inverse @ factor.rows[:k]
        least = DEPENDENT * self.problem.curvature
        better, place, comes = _best_exchange(
            along, spread, pull, coef * pull, factor.product, factor.pivot, least, free
        )
        leaves = int(factor.members[place]) if comes >= 0 else -1
        return float(better), leaves, int(comes)

    def left_by(self, units: Sequence[int]) -> float:
        """Return the squared error that a set of units would leave; infinite where it is dependent."""
        columns = np.concatenate([self.units.columns(unit) for unit in units] or [np.zeros(0, int)])
        columns = columns[self.problem.curvature[columns] > 0]
        if not len(columns):
            return self.whole
        gram, xty = self._near.gram(columns), self.problem.xty[columns]
        try:
            root = cholesky(gram, check_finite=False)
        except LinAlgError:
            return np.inf
        if not (np.diag(root) ** 2 > DEPENDENT * np.diag(gram)).all():
            return np.inf
        return self.whole - float(xty @ cho_solve((root, False), xty, check_finite=False))

    def point(self, strength: float | None = None, **parts: float) -> Point:
        """Return the present model; its strength is its number of units where none is given."""
        order = np.argsort(self.members, kind="stable")
        size = float(np.count_nonzero(self.inside))
        columns, coef = self.members[order], self.coef()[order]
        return Point(size if strength is None else strength, columns, coef, parts=parts or None)


@kernel
def _best_exchange(along, spread, pull, lost, product, pivot, least, free):
    """Return what the best exchange gains, the place of who leaves, and who comes; -1 if none can.

    ``along`` are the coefficients of every column on the members. Without member a the column has
    along^2 / spread of its length more, and along times ``pull`` more in common with the residual.
    """
    best, leaves, comes = -np.inf, -1, -1
    for a in range(along.shape[0]):
        row, share, force = along[a], 1.0 / spread[a], pull[a]
        for j in range(row.shape[0]):
            length = max(pivot[j], 0.0) + row[j] * row[j] * share
            if free[j] and length > least[j]:
                common = product[j] + row[j] * force
                # Divided only where that may be the best: most are far from it.
                if common * common > (best + lost[a]) * length:
                    best, leaves, comes = common * common / length - lost[a], a, j
    return (best, leaves, comes) if comes >= 0 else (0.0, -1, -1)


class _NearProducts:
    """Products among the columns that were ever asked for, without a pass over X."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._direct = not problem.has_rows or problem.known_gram is not None
        self._place: dict[int, int] = {}
        self._gram = GrowingGram()
        rows = len(problem.weights)
        self._values = np.zeros((rows, 0))

    def gram(self, columns: Array) -> Floats:
        """Return the products of some columns."""
        if self._direct:
            return self._problem.known_block(columns)
        new = [j for j in columns.tolist() if j not in self._place]
        if new:
            self._take_in(np.array(new, dtype=np.intp))
        places = [self._place[j] for j in columns.tolist()]
        return self._gram.values[np.ix_(places, places)]

    def _take_in(self, new: Array) -> None:
        table, known = self._problem.table, len(self._place)
        block = table.block(new)
        if known + len(new) > self._values.shape[1]:
            larger = np.empty((len(block), max(64, 2 * (known + len(new)))), order="F")
            larger[:, :known] = self._values[:, :known]
            self._values = larger
        self._values[:, known : known + len(new)] = block
        for j in new.tolist():
            self._place[j] = len(self._place)
        weighted = block * table.weights[:, None]
        self._gram.append(self._values[:, : known + len(new)].T @ weighted)
