"""Paths of penalised fits: working sets, screening, and a check of all columns at every strength.

At each strength the columns that may matter by the sequential strong rule (Tibshirani et al. 2012) join
the working set, which is solved; one product with X then gives the gradient of all columns. Those that
violate their optimality join, until none does.
"""

from collections.abc import Generator
from typing import Any, NamedTuple, Protocol

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty, Terms
from garrote.results import OptimalityCertificate
from garrote.solvers.annealing import Control
from garrote.solvers.optimality import Evaluated, certify
from garrote.solvers.quadratic import restricted, violation

# Working sets are solved to this share of the largest gradient that the strength allows ...
_TIGHT = 1e-3
# ... and not beyond what numbers can tell, as a share of the null model's.
_LEAST = 1e-13


class Smooth(Protocol):
    """A loss on a growing working set."""

    coef: Floats
    curvature: Floats

    @property
    def columns(self) -> Array:
        """The columns of the working set, in order of their coming."""

    @property
    def inside(self) -> Array:
        """Which columns are in it."""

    @property
    def intercept(self) -> Any:
        """The intercept beside the standardised columns, or one for each class."""

    @property
    def null(self) -> Evaluated:
        """The fit without any column."""

    def grow(self, columns: Array) -> None:
        """Take more columns into the working set, with coefficients of 0."""

    def solve(self, rule: Any, tolerance: float, max_rounds: int) -> int:
        """Minimise the loss plus a penalty over the working set; return the rounds it took."""

    def evaluate(self) -> Generator[Floats, Floats, Evaluated]:
        """Look at the present coefficients, from the data alone."""


class Solved(NamedTuple):
    """The solution at one strength: columns that are not 0, and what was found on the way."""

    strength: float
    columns: Array
    coef: Floats
    intercept: Any
    loss: float
    certificate: OptimalityCertificate
    rounds: int


def solve_path(
    smooth: Smooth,
    penalty: Penalty,
    strengths: Floats,
    terms: Terms,
    control: Control,
) -> Generator[Floats, Floats, list[Solved]]:
    """Solve for descending strengths, each from the solution before.

    Yields rows to be multiplied with X; see `garrote.solvers.lockstep`.
    """
    seen, before = smooth.null, np.inf
    largest = float(np.abs(seen.gradient).max(initial=0.0))
    points = []
    for step, strength in enumerate(strengths):
        smooth.grow(_screened(smooth, penalty, terms, seen.gradient, strength, before))
        rule = penalty.at(strength, terms)
        tolerance = max(control.tol * _TIGHT * strength, _LEAST * largest)
        rounds = 0
        while rounds < control.max_iter:
            rounds += 1 + smooth.solve(
                restricted(rule, smooth.columns), tolerance, control.max_iter - rounds
            )
            seen = yield from smooth.evaluate()
            coef = _everywhere(smooth, len(seen.gradient))
            off = violation(rule, seen.gradient, coef, smooth.curvature)
            violating = np.flatnonzero((off > tolerance) & ~smooth.inside)
            if not len(violating):
                break
            smooth.grow(violating)
        used = np.flatnonzero(smooth.coef)
        columns, kept = smooth.columns[used], smooth.coef[used]
        certificate = certify(rule, columns, kept, seen, smooth.curvature, smooth.null)
        points.append(
            Solved(
                float(strength),
                columns,
                kept,
                np.copy(smooth.intercept)[()],
                seen.loss,
                certificate,
                rounds,
            )
        )
        before = strength
        control.report("path", step + 1, len(strengths))
    return points


def _screened(
    smooth: Smooth, penalty: Penalty, terms: Terms, gradient: Floats, strength: float, before: float
) -> Array:
    """Return columns outside of the working set that may be in the model at the next strength."""
    ahead = strength if np.isinf(before) else max(2 * strength - before, 0.0)
    nothing = np.zeros(len(gradient))
    off = violation(penalty.at(ahead, terms), gradient, nothing, smooth.curvature)
    return np.flatnonzero((off > 0) & ~smooth.inside)


def _everywhere(smooth: Smooth, count: int) -> Floats:
    coef = np.zeros(count)
    coef[smooth.columns] = smooth.coef
    return coef
