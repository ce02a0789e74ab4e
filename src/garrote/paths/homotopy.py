"""From a problem and a penalty to the knots of its path, or to exact fits between them."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.paths.penalised import adapted, as_path, corrected, penalty_solver
from garrote.penalties.base import Penalty, Terms
from garrote.problem import Problem
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.solvers.control import Control
from garrote.solvers.descent.optimality import certify
from garrote.solvers.losses.least_squares import LeastSquares, as_seen, null_squares
from garrote.solvers.penalised.homotopy import Point, Walked, walk
from garrote.solvers.penalised.refitting import relaxed


def homotopy_solver(
    problem: Problem,
    penalty: Penalty,
    alphas: Floats | None,
    terms: Terms,
    control: Control,
    *,
    eps: float = 0.0,
    drops: bool = True,
    relax: float = 0.0,
) -> Generator[Floats, Floats, Path[PenaltyFit]]:
    """Return the generator that walks one path; see `garrote.solvers.lockstep`.

    Parameters
    ----------
    problem, penalty, terms, control
        As everywhere; ``control.max_iter`` bounds the number of knots.
    alphas : array or None
        Strengths, descending, at which fits are wanted; None for all knots.
    eps : float
        Where the knots end, as a share of the first.
    drops : bool
        Whether variables may leave. Without, the path is that of least angle regression; its gaps tell
        how far it is from the lasso's.
    relax : float
        As in `garrote.paths.penalised.penalty_solver`.
    """
    given = terms
    terms = yield from adapted(problem, penalty, terms, control)
    walked = yield from _walk_to(problem, penalty, alphas, terms, control, eps, drops)
    points = walked.knots if alphas is None else walked.asked
    solved = yield from _certified(problem, penalty, points, terms)
    solved = yield from corrected(problem, penalty, terms, solved)
    smooth = LeastSquares(problem)
    if relax > 0:
        solved = yield from relaxed(smooth, solved, terms, control, relax)
    path = as_path(problem, smooth, solved)
    path = replace(path, cut=walked.cut, moves=tuple(walked.moves))
    if alphas is not None and len(points) < len(alphas) and drops:
        # The limit was one of knots: coordinates have theirs.
        swept = Control(control.tol, callback=control.callback)
        below = alphas[len(points) :]
        rest = yield from penalty_solver(problem, penalty, below, given, swept, relax)
        path = replace(path, fits=path.fits + rest.fits, cut=None)
    return path


def _walk_to(
    problem: Problem,
    penalty: Penalty,
    alphas: Floats | None,
    terms: Terms,
    control: Control,
    eps: float,
    drops: bool,
) -> Generator[Floats, Floats, Walked]:
    """Walk one path to all strengths where the ridge stays the same, else a path to each."""
    one, two = _rules(penalty, terms)
    if one.ridge.tolist() == two.ridge.tolist():
        last, asked = (0.0, ()) if alphas is None else (alphas[-1], alphas)
        return (
            yield from walk(
                problem, one, last, asked, eps=eps, drops=drops, max_knots=control.max_iter
            )
        )
    if alphas is None:
        raise ValueError(
            "with a ridge that grows with alpha the path has no knots: give `strengths`, or use "
            "garrote.penalties.L1WithRidge, whose ridge is fixed"
        )
    return (yield from _one_walk_each(problem, penalty, alphas, terms, control, drops))


def _rules(penalty: Penalty, terms: Terms) -> tuple[Any, Any]:
    """Return the penalty's rules at strengths 1 and 2."""
    one, two = penalty.at(1.0, terms), penalty.at(2.0, terms)
    if not one.threshold.any():
        raise ValueError("no variable has a penalty, so that there is nothing to walk along")
    return one, two


def _one_walk_each(
    problem: Problem, penalty: Any, alphas: Floats, terms: Terms, control: Control, drops: bool
) -> Generator[Floats, Floats, Walked]:
    """Walk down to each strength on a path of its own, with the ridge that belongs to it."""
    found = Walked()
    for alpha in alphas:
        if alpha == 0.0:
            break
        rule = penalty.at(alpha, terms)
        each = rule._replace(threshold=rule.threshold / alpha)
        walked = yield from walk(
            problem, each, alpha, (alpha,), drops=drops, max_knots=control.max_iter
        )
        if walked.cut:
            found.cut = walked.cut
            break
        found.asked += walked.asked
    return found


def _certified(
    problem: Problem, penalty: Penalty, points: Sequence[Point], terms: Terms
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Certify solutions from the data, some of them in one pass over X."""
    null, together = null_squares(problem), problem.columns_together
    curvature = problem.curvature / problem.n
    solved = []
    for start in range(0, len(points), together):
        batch = points[start : start + together]
        columns = np.unique(np.concatenate([point.columns for point in batch]))
        coef = np.zeros((len(columns), len(batch)))
        for k, point in enumerate(batch):
            coef[np.searchsorted(columns, point.columns), k] = point.coef
        squared, gradient = yield from problem.evaluate(columns, coef)
        for k, (strength, used, values) in enumerate(batch):
            explained = float(values @ problem.xty[used])
            seen = as_seen(problem, float(squared[k]), gradient[k], explained)
            rule = penalty.at(strength, terms)
            certificate = certify(rule, used, values, seen, curvature, null)
            solved.append(PenaltyFit(strength, used, values, 0.0, seen.loss, certificate, 1))
    return solved
