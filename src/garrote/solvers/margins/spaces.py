"""Where a machine lives: what f is made of, what its norm is, and how a Newton step is solved there.

In a space of features f = Z w + b with the norm w'w; in that of a kernel matrix f = K a + b with norm
a'Ka (Staines & Barber's Eq. 28, a being beta times the label). A Newton step on norm + smooth loss asks
for a' such that 2 a' = pull + curvature (f - f'), f' = K a' + b': rows without curvature have
a' = pull / 2 at once, so that the equations to solve are those of the rows with one, or of the features,
whichever the space has.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.solvers.margins.losses import Lines

# Changes of multipliers below this share of the largest are rounding.
_ROUNDING = 1e-14
# What is added to the diagonal of equations, relative to it, so that copies of rows can be told apart.
_JITTER = 1e-13


class Point(NamedTuple):
    """A machine: coefficients, what they say of every row without the intercept, and the intercept."""

    coef: Floats
    fitted: Floats
    intercept: float

    @property
    def f(self) -> Floats:
        """What the machine says of every row."""
        return self.fitted + self.intercept


class Aim(NamedTuple):
    """Where a Newton step ends, and how rows pull there."""

    point: Point
    pull: Floats


class Space(Protocol):
    """What a solver asks of a space; one ``by_rows`` has an equation for each row."""

    by_rows: bool
    lengths: Floats  # squared lengths of the rows' phi

    def start(self, intercept: float) -> Point:
        """Return the machine that says the same of every row."""
        ...

    def at(self, coef: Floats, intercept: float) -> Point:
        """Return the machine of given coefficients, computed afresh."""
        ...

    def norm(self, point: Point) -> float:
        """Return w'w."""
        ...

    def inner(self, point: Point, other: Point) -> float:
        """Return the inner product of two machines' w."""
        ...

    def norm_of_pull(self, pull: Floats) -> float:
        """Return the squared length of w = sum of pull_n phi(x_n)."""
        ...

    def pull_of(self, point: Point) -> Floats:
        """Return the pulls of a machine that was started or widened."""
        ...

    def stated(self, point: Point, pull: Floats) -> Point:
        """Return the machine that is stated beside pulls within their bounds."""
        ...

    def newton(self, point: Point, lines: Lines, curved: Array) -> Aim:
        """Return where Newton's step ends, ``curved`` being the rows whose curvature counts."""
        ...

    def among(self, rows: Array) -> "Space":
        """Return the space of some of the rows."""
        ...

    def widen(self, point: Point, rows: Array) -> Point:
        """Return the machine of some of the rows as one of all of them."""
        ...

    def squared_rows(self, weights: Floats) -> Floats:
        """Return by what the variance of coefficients moves f_n: zeta_n^2 / sigma^2 (Eq. 30)."""
        ...

    def trace(self, weights: Floats) -> float:
        """Return by what it moves the norm: the trace of K, or the number of features."""
        ...


class KernelSpace:
    """f = K a + b by a matrix of kernel values, symmetric and positive semidefinite."""

    by_rows = True

    def __init__(self, matrix: Floats):
        self.matrix, self.lengths = matrix, np.diag(matrix)

    def start(self, intercept: float) -> Point:
        zero = np.zeros(len(self.matrix))
        return Point(zero, zero, intercept)

    def at(self, coef: Floats, intercept: float) -> Point:
        return Point(coef, self._times(coef), intercept)

    def norm(self, point: Point) -> float:
        return max(float(point.coef @ point.fitted), 0.0)

    def inner(self, point: Point, other: Point) -> float:
        return float(point.coef @ other.fitted)

    def norm_of_pull(self, pull: Floats) -> float:
        return max(float(pull @ self._times(pull)), 0.0)

    def pull_of(self, point: Point) -> Floats:
        return 2.0 * point.coef

    def stated(self, point: Point, pull: Floats) -> Point:
        coef = 0.5 * pull
        return Point(coef, self._moved(point, coef), point.intercept)

    def newton(self, point: Point, lines: Lines, curved: Array) -> Aim:
        coef = 0.5 * lines.pull
        coef[curved] = 0.0
        flat = self._moved(point, coef)
        found, intercept = _solve_curved(
            self.matrix[np.ix_(curved, curved)], lines, curved, flat[curved], float(coef.sum())
        )
        coef[curved] = found
        there = Point(coef, flat + self._rows_times(curved, found), intercept)
        return Aim(there, 2.0 * coef)

    def _moved(self, point: Point, coef: Floats) -> Floats:
        """Return K coef for coefficients of which many are those of a known machine."""
        change = coef - point.coef
        largest = float(np.abs(change).max(initial=0.0))
        moved = np.flatnonzero(np.abs(change) > _ROUNDING * largest)
        coef[change == 0] = point.coef[change == 0]
        return point.fitted + self._rows_times(moved, change[moved])

    def _rows_times(self, rows: Array, values: Floats) -> Floats:
        if 3 * len(rows) < len(self.matrix):
            return np.asarray(values @ self.matrix[rows])
        full = np.zeros(len(self.matrix))
        full[rows] = values
        return np.asarray(self.matrix @ full)

    def _times(self, coef: Floats) -> Floats:
        used = np.flatnonzero(coef)
        return self._rows_times(used, coef[used])

    def among(self, rows: Array) -> "KernelSpace":
        return KernelSpace(self.matrix[np.ix_(rows, rows)])

    def widen(self, point: Point, rows: Array) -> Point:
        coef = np.zeros(len(self.matrix))
        coef[rows] = point.coef
        return self.at(coef, point.intercept)

    def squared_rows(self, weights: Floats) -> Floats:
        # Coefficients of repeated rows add up: theirs have a variance each.
        return 1.0 + np.einsum("nm,nm,m->n", self.matrix, self.matrix, weights, optimize=False)

    def trace(self, weights: Floats) -> float:
        return float(weights @ self.lengths)


class FeatureSpace:
    """f = Z w + b by columns: those of X for a linear machine, or those that landmarks make."""

    by_rows = False

    def __init__(self, rows: Any):
        self.rows = rows
        squares = rows.multiply(rows).sum(axis=1) if scipy.sparse.issparse(rows) else None
        if squares is None:
            squares = np.einsum("nd,nd->n", rows, rows)
        self.lengths = np.asarray(squares, dtype=np.float64).ravel()

    def start(self, intercept: float) -> Point:
        return Point(np.zeros(self.rows.shape[1]), np.zeros(self.rows.shape[0]), intercept)

    def at(self, coef: Floats, intercept: float) -> Point:
        return Point(coef, np.asarray(self.rows @ coef), intercept)

    def norm(self, point: Point) -> float:
        return float(point.coef @ point.coef)

    def inner(self, point: Point, other: Point) -> float:
        return float(point.coef @ other.coef)

    def norm_of_pull(self, pull: Floats) -> float:
        reached = self.rows.T @ pull
        return float(reached @ reached)

    def pull_of(self, point: Point) -> Floats:
        return np.zeros(self.rows.shape[0])

    def stated(self, point: Point, pull: Floats) -> Point:
        return point

    def newton(self, point: Point, lines: Lines, curved: Array) -> Aim:
        if len(curved) > self.rows.shape[1] + 1:
            return self._by_columns(lines, curved)
        # Few rows: their pulls are what is solved for, and keep their digits where they curve much.
        pull = lines.pull.copy()
        pull[curved] = 0.0
        some = self.rows[curved]
        flat = some @ (0.5 * (self.rows.T @ pull))
        block = some @ some.T
        if scipy.sparse.issparse(block):
            block = block.toarray()
        found, intercept = _solve_curved(block, lines, curved, flat, 0.5 * float(pull.sum()))
        pull[curved] = 2.0 * found
        return Aim(self.at(0.5 * (self.rows.T @ pull), intercept), pull)

    def _by_columns(self, lines: Lines, curved: Array) -> Aim:
        """Solve for the coefficients: 2 w' = Z' pull + Z' curvature (f - f')."""
        some, curvature = self.rows[curved], lines.curvature[curved]
        count = self.rows.shape[1]
        equations = np.zeros((count + 1, count + 1))
        if scipy.sparse.issparse(some):
            equations[:count, :count] = (some.T @ some.multiply(curvature[:, None])).toarray()
        else:
            scaled = np.sqrt(curvature)[:, None] * some
            equations[:count, :count] = scaled.T @ scaled
        equations[:count, count] = equations[count, :count] = some.T @ curvature
        equations[count, count] = curvature.sum()
        equations.flat[:: count + 2] *= 1.0 + _JITTER
        equations.flat[: count * (count + 1) : count + 2] += 2.0
        aims = lines.pull.copy()
        aims[curved] += curvature * lines.places[curved]
        factor = scipy.linalg.cho_factor(equations, overwrite_a=True, check_finite=False)
        sides = np.append(self.rows.T @ aims, aims.sum())
        found = scipy.linalg.cho_solve(factor, sides, check_finite=False)
        there = self.at(found[:count], float(found[count]))
        pull = lines.pull.copy()
        pull[curved] += curvature * (lines.places - there.f)[curved]
        return Aim(there, pull)

    def among(self, rows: Array) -> "FeatureSpace":
        return FeatureSpace(self.rows[rows])

    def widen(self, point: Point, rows: Array) -> Point:
        return self.at(point.coef, point.intercept)

    def squared_rows(self, weights: Floats) -> Floats:
        return 1.0 + self.lengths

    def trace(self, weights: Floats) -> float:
        return float(self.rows.shape[1])


def _solve_curved(
    block: Floats, lines: Lines, curved: Array, flat: Floats, total: float
) -> tuple[Floats, float]:
    """Return half the pulls of the rows that curve, and the intercept.

    ``block`` are their kernel values, which are overwritten, ``flat`` what the other rows make of them,
    and ``total`` what the others' halved pulls add up to: all of them add up to 0.
    """
    curvature = lines.curvature[curved]
    # As the sum is known, its square may be weighed in: rows on a line through the intercept, which
    # products with each other alone do not tell apart, are told apart by it.
    weighed = float(np.mean(np.diag(block))) or 1.0
    block.flat[:: len(curved) + 1] += 2.0 / curvature + _JITTER * np.diag(block)
    block += weighed
    aims = lines.pull[curved] / curvature + lines.places[curved] - flat - weighed * total
    factor = scipy.linalg.cho_factor(block, overwrite_a=True, check_finite=False)
    sides = np.column_stack([aims, np.ones(len(curved))])
    found = scipy.linalg.cho_solve(factor, sides, overwrite_b=True, check_finite=False)
    intercept = float((found[:, 0].sum() + total) / found[:, 1].sum())
    return found[:, 0] - intercept * found[:, 1], intercept
