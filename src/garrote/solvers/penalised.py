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
from garrote.solvers.quadratic import companions, restricted, sharpness, violation

# Working sets are not solved beyond what numbers can tell, as a share of the null model's gradient.
_LEAST = 1e-13
# How often they are solved more tightly where the gap is still too large.
_AGAIN = 5
# Columns that join a working set at once, at most; or twice as many as are in the model.
_FEWEST_TAKEN = 500


class Located(Protocol):
    """Coefficients of some columns, and the intercept beside them (or one for each class)."""

    coef: Floats
    intercept: Any

    @property
    def columns(self) -> Array:
        """The columns that the coefficients belong to."""

    @property
    def null(self) -> Evaluated:
        """The fit without any column."""


class Smooth(Protocol):
    """A loss on a growing working set, and the intercept beside it (or one for each class)."""

    coef: Floats
    curvature: Floats
    intercept: Any

    @property
    def columns(self) -> Array:
        """The columns of the working set, in order of their coming."""

    @property
    def inside(self) -> Array:
        """Which columns are in it."""

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
    points = []
    for step, strength in enumerate(strengths):
        smooth.grow(_screened(smooth, penalty, terms, seen.gradient, strength, before))
        rule = penalty.at(strength, terms)
        tolerance = tolerance_at(smooth, float(strength), control, sharpness(rule))
        seen, rounds = yield from solve_at(smooth, rule, tolerance, control.max_iter)
        point = certified(smooth, rule, float(strength), seen, rounds)
        for _ in range(_AGAIN):
            if not point.certificate.gap > control.tol or point.rounds >= control.max_iter:
                break
            tolerance *= 0.1
            seen, more = yield from solve_at(smooth, rule, tolerance, control.max_iter - rounds)
            rounds += more
            point = certified(smooth, rule, float(strength), seen, rounds)
        points.append(point)
        before = strength
        control.report("path", step + 1, len(strengths))
        if explains_enough(smooth, points[-1], control):
            break
    return points


def explains_enough(smooth: Located, point: Solved, control: Control) -> bool:
    """Tell whether a path may end here."""
    if control.stop_at is None:
        return False
    return point.loss <= (1.0 - control.stop_at) * smooth.null.loss


def tolerance_at(smooth: Smooth, strength: float, control: Control, share: float = 1e-3) -> float:
    """Return how far a coefficient's optimality may be violated, in units of gradients.

    It is a ``share`` of the tolerance on the duality gap, of what the strength allows.
    """
    largest = float(np.abs(smooth.null.gradient).max(initial=0.0))
    return max(control.tol * share * min(strength, largest), _LEAST * largest)


def solve_at(
    smooth: Smooth, rule: Any, tolerance: float, max_iter: int
) -> Generator[Floats, Floats, tuple[Evaluated, int]]:
    """Solve for one rule, from the present coefficients; return the fit as seen, and the rounds."""
    rounds = 0
    while True:
        rounds += 1 + smooth.solve(restricted(rule, smooth.columns), tolerance, max_iter - rounds)
        seen = yield from smooth.evaluate()
        off = violation(rule, seen.gradient, everywhere(smooth), smooth.curvature)
        violating = _joining(smooth, rule, np.where(off > tolerance, off, 0.0))
        if not len(violating) or rounds >= max_iter:
            return seen, rounds
        smooth.grow(violating)


def certified(smooth: Smooth, rule: Any, strength: float, seen: Evaluated, rounds: int) -> Solved:
    """Return the present coefficients as the solution at one strength, with their certificate."""
    certificate = certify(rule, *_model(smooth), seen, smooth.curvature, smooth.null)
    return solved(smooth, strength, seen.loss, certificate, rounds)


def solved(
    smooth: Located, strength: float, loss: float, certificate: OptimalityCertificate, rounds: int
) -> Solved:
    """Return the present coefficients as the solution at one strength."""
    # A copy: intercepts of several classes are an array that the solver goes on with.
    intercept = np.copy(smooth.intercept)[()]
    return Solved(float(strength), *_model(smooth), intercept, loss, certificate, rounds)


def _model(smooth: Located) -> tuple[Array, Floats]:
    used = np.flatnonzero(smooth.coef)
    return smooth.columns[used], smooth.coef[used]


def _screened(
    smooth: Smooth, penalty: Penalty, terms: Terms, gradient: Floats, strength: float, before: float
) -> Array:
    """Return columns outside of the working set that may be in the model at the next strength."""
    ahead = strength if np.isinf(before) else max(2 * strength - before, 0.0)
    nothing = np.zeros(len(gradient))
    rule = penalty.at(ahead, terms)
    off = violation(rule, gradient, nothing, smooth.curvature)
    return _joining(smooth, rule, off)


def _joining(smooth: Smooth, rule: Any, off: Floats) -> Array:
    """Return columns that join the working set: violating ones, and those that come with them."""
    columns = companions(rule, foremost(smooth, off))
    return columns[~smooth.inside[columns]]


def foremost(smooth: Smooth, off: Floats) -> Array:
    """Return columns outside of the working set that violate their optimality, most of all if many.

    From a much stronger penalty nearly all columns of a wide table do, and few of them will stay.
    """
    outside = np.flatnonzero((off > 0) & ~smooth.inside)
    most = max(_FEWEST_TAKEN, 2 * int(np.count_nonzero(smooth.coef)))
    if len(outside) > most:
        outside = outside[np.argpartition(-off[outside], most)[:most]]
    return np.sort(outside)


def everywhere(smooth: Smooth) -> Floats:
    """Return the present coefficients of all columns."""
    coef = np.zeros(len(smooth.curvature))
    coef[smooth.columns] = smooth.coef
    return coef
