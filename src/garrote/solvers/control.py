"""What all solvers of the garrote share: control, progress, and residuals recomputed from the data."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.problem import Problem
from garrote.results.fit import Fit

# The orders in which coordinates may be gone through, by solvers that have a choice.
ORDERS = ("cyclic", "random", "greedy")


class Progress(NamedTuple):
    """What a callback is told: the stage, how many gammas of it are done, and of how many."""

    stage: str
    done: int
    total: int


Callback = Callable[[Progress], None]


@dataclass(frozen=True)
class Control:
    """When to stop, whom to tell, and from where an annealed path returns.

    ``stop_at`` is the share of the null model's deviance at which a path of falling penalties may end:
    beyond it weaker ones only bring the fit nearer to the data themselves. ``most`` ends it at the first
    fit of more coefficients than that. ``reheat`` is "cut" (from the
    last solution before those that nearly interpolate) or "dense" (from beyond them). ``sharpness`` is
    the least share of the tolerance to which working sets are solved; with 0 each solver takes its own,
    which is small where digits are cheap. ``order`` is that of coordinates ("cyclic", "random" or
    "greedy") and ``seed`` that of a random one, for the solvers that have one.
    """

    tol: float = 1e-4
    max_iter: int = 10_000
    callback: Callback | None = None
    stop_at: float | None = None
    reheat: str = "cut"
    sharpness: float = 0.0
    order: str = "cyclic"
    seed: int = 0
    most: int | None = None

    def report(self, stage: str, done: int, total: int) -> None:
        """Tell the callback, if there is one."""
        if self.callback is not None:
            self.callback(Progress(stage, done, total))


def evaluate_solutions(
    problem: Problem, fits: Sequence[Fit]
) -> Generator[Floats, Floats, tuple[Floats, Floats, Floats]]:
    """Return squared residuals, X'Wr and residuals of solutions, recomputed from the data."""
    everyone = np.arange(problem.n_features)
    if not problem.has_rows:
        squared, gradient = yield from problem.evaluate(everyone, _dense(problem, fits))
        return squared, gradient, gradient
    left = residuals(problem, fits)
    squared, gradient = yield from problem.evaluate_residuals(left)
    return squared, gradient, left


def residuals(problem: Problem, fits: Sequence[Fit]) -> Floats:
    """Return the residuals of solutions, one row each, for all rows of the data."""
    coef = _dense(problem, fits)
    # Short solutions are multiplied apart from long ones, which need all columns.
    short = np.array([len(point.columns) * 4 <= len(coef) for point in fits])
    fitted = np.empty((len(problem.response), len(fits)))
    for chosen in (np.flatnonzero(short), np.flatnonzero(~short)):
        if len(chosen):
            columns = np.flatnonzero(coef[:, chosen].any(axis=1))
            fitted[:, chosen] = problem.table.dot(columns, coef[np.ix_(columns, chosen)])
    return np.ascontiguousarray((problem.response[:, None] - fitted).T)


def squared_residuals(problem: Problem, fits: Sequence[Fit]) -> Floats:
    """Return the squared residuals of solutions, from the data or their moments."""
    squared = np.empty(len(fits))
    together = problem.columns_together
    for first in range(0, len(fits), together):
        some = slice(first, first + together)
        if problem.has_rows:
            squared[some] = residuals(problem, fits[some]) ** 2 @ problem.weights
            continue
        coef = _dense(problem, fits[some])
        columns = np.flatnonzero(coef.any(axis=1))
        coef = coef[columns]
        explained = coef * (2 * problem.xty[columns, None] - problem.known_block(columns) @ coef)
        squared[some] = np.maximum(problem.yty - explained.sum(axis=0), 0.0)
    return squared


def _dense(problem: Problem, fits: Sequence[Fit]) -> Floats:
    coef = np.zeros((problem.n_features, len(fits)))
    for k, point in enumerate(fits):
        coef[point.columns, k] = point.coef
    return coef


def same_solution(a: Fit, b: Fit, problem: Problem, tol: float) -> bool:
    """Tell whether two fits are one solution, up to the tolerance."""
    if abs(a.precision / b.precision - 1) > tol:
        return False
    probability, coef = np.zeros((2, problem.n_features))
    probability[a.columns], coef[a.columns] = a.probability, a.coef
    probability[b.columns] -= b.probability
    coef[b.columns] -= b.coef
    errors = np.sqrt(a.precision * problem.curvature)
    return bool(np.abs(probability).max() <= tol and (errors * np.abs(coef)).max() <= tol)
