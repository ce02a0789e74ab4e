"""From a problem and a greedy search to a path of certified models."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.coupled import (
    per_weight,
    weighted_gradient,
    weighted_log_likelihood,
    weighted_saturated,
)
from garrote.problem import Problem
from garrote.results.certificates import of_subset
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.solvers.control import Control
from garrote.solvers.greedy import ColumnUnits, GreedySearch, Limits, SubsetRegression
from garrote.solvers.greedy.label_regression import LabelRegression
from garrote.solvers.greedy.matching_pursuit import Moves
from garrote.solvers.greedy.subset_regression import Point

NO_COLUMNS = np.zeros(0, dtype=np.intp)
# With at most this share of the rows, columns are told from each other by the data.
_LONGEST = 1.0


def longest_path(problem: Problem, units: ColumnUnits) -> int:
    """Return how many units a path goes up to by default: all, or as many as N rows can tell apart.

    N / log D is about the number of variables up to which any method can find the true ones.
    """
    usable = len(problem.usable)
    count = len(units.of(problem.usable))
    told = max(1, int(_LONGEST * problem.max_rank / max(np.log(max(usable, 2)), 1.0)))
    return min(count, told if usable >= problem.max_rank else max(told, min(count, 50)))


def greedy_solver(
    problem: Problem,
    search: GreedySearch,
    units: ColumnUnits,
    limits: Limits,
    control: Control,
    always: Array = NO_COLUMNS,
) -> Generator[Floats, Floats, Path[PenaltyFit]]:
    """Return the generator that follows one path; see `garrote.solvers.lockstep`.

    ``always`` are columns of a model of labels or counts that every subset has; those of numbers are
    projected out by the problem.
    """
    regression: Any
    if problem.likelihood.least_squares:
        regression = SubsetRegression(problem.with_known_gram(), units)
    else:
        regression = LabelRegression(problem, units, always)
    points = yield from search.follow(regression, limits)
    fits = yield from _certified(problem, search, units, points, limits.most, control)
    null = 0.5 * regression.whole / problem.n
    path = Path(tuple(fits), problem.scale, problem.n_features, null)
    ended = len(points) - 1 < limits.most and search.strength == "size"
    return replace(path, cut=_why(problem, len(points) - 1)) if ended else path


def audited(
    problem: Problem, search: GreedySearch, units: ColumnUnits, limits: Limits, fit: PenaltyFit
) -> Generator[Floats, Floats, PenaltyFit]:
    """Return a model with a certificate of what the search promises of it, computed afresh.

    The subset is factorised anew, so that nothing depends on the way by which the search came there.
    """
    if not problem.likelihood.least_squares:
        return fit
    regression = SubsetRegression(problem.with_known_gram(), units)
    yield from regression.become(units.of(fit.columns).tolist())
    promises = search.promises(regression, fit.strength, limits)
    return replace(fit, certificate=of_subset({**fit.certificate.parts, **promises}))


def _why(problem: Problem, size: int) -> str:
    if problem.likelihood.least_squares:
        return f"the path ends at size {size}: no other column explains anything of what is left"
    return (
        f"the path ends at size {size}: with more the response is separated, and no coefficients are "
        "the most likely"
    )


def _certified(
    problem: Problem,
    search: GreedySearch,
    units: ColumnUnits,
    points: Sequence[Point],
    most: int,
    control: Control,
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Look at all models from the data alone."""
    fits: list[PenaltyFit] = []
    largest = float(np.abs(problem.xty).max(initial=0.0)) or 1.0
    together = max(problem.columns_together, 2)
    before: tuple[Point, Floats] | None = None
    moves = None if search.least_squares else Moves(problem, units)
    for first in range(0, len(points), together):
        some = points[first : first + together]
        losses, gradients = yield from _seen(problem, some)
        for point, loss, slope in zip(some, losses, gradients, strict=True):
            parts = dict(point.parts or {})
            if search.least_squares:
                off = float(np.abs(slope[point.columns]).max(initial=0.0))
                parts["normal equations"] = off / largest
            elif moves is not None and before is not None:
                share = getattr(search, "learning_rate", 1.0)
                parts["step"] = _step_error(problem, moves, units, share, most, before, point)
            before = point, slope
            fits.append(
                PenaltyFit(
                    point.strength, point.columns, point.coef, point.intercept, loss,
                    of_subset(parts), point.n_iter,
                )
            )  # fmt: skip
            control.report("path", len(fits), len(points))
    return fits


def _seen(
    problem: Problem, points: Sequence[Point]
) -> Generator[Floats, Floats, tuple[list[float], Floats]]:
    """Return half the mean deviance, and the gradient, of some models."""
    columns = np.unique(np.concatenate([point.columns for point in points]).astype(np.intp))
    coef = np.zeros((len(columns), len(points)))
    for k, point in enumerate(points):
        coef[np.searchsorted(columns, point.columns), k] = point.coef
    if problem.likelihood.least_squares:
        squared, slopes = yield from problem.evaluate(columns, coef)
        return [0.5 * float(each) / problem.n for each in squared], slopes
    likelihood, y = problem.likelihood, problem.response
    level = weighted_saturated(likelihood, y, problem.weights)
    eta = problem.table.dot(columns, coef).T + problem.known_part
    eta = eta + np.array([point.intercept for point in points])[:, None]
    losses = [
        (level - weighted_log_likelihood(likelihood, y, problem.weights, each)) / problem.n
        for each in eta
    ]
    rows = np.array(
        [
            per_weight(weighted_gradient(likelihood, y, problem.weights, each), problem.weights)
            for each in eta
        ]
    )
    _, slopes = yield from problem.evaluate_residuals(rows)
    return losses, slopes


def _step_error(
    problem: Problem,
    moves: Moves,
    units: ColumnUnits,
    share: float,
    most: int,
    before: tuple[Point, Floats],
    point: Point,
) -> float:
    """Return how far a step is from that along the unit which explains most, as a share of it.

    Where no more units may come in, that is one of those inside.
    """
    last, slope = before
    change, size = np.zeros(problem.n_features), np.sqrt(problem.curvature)
    change[point.columns] = point.coef
    change[last.columns] -= last.coef
    worth, inside = moves.worth(slope), units.of(last.columns)
    allowed = inside if len(inside) >= most else np.arange(len(units))
    moved = int(units.owner[np.argmax(np.abs(change) * size)])
    best = float(np.sqrt(worth[allowed].max(initial=0.0))) or 1.0
    columns, move = moves.move(moved, slope)
    change[columns] -= share * move
    off = float((np.abs(change) * size).max(initial=0.0)) / share
    return max(off, best - float(np.sqrt(max(worth[moved], 0.0)))) / best
