"""Choosing alpha by cross-validated deviance (of a Gaussian response, squared errors)."""

from collections.abc import Callable, Generator, Sequence
from functools import partial

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.base import inverse_link
from garrote.paths.annealed import start_penalty_solver
from garrote.paths.combinations import is_possible
from garrote.paths.penalised import as_stored, make_smooth
from garrote.penalties.base import Penalty, Terms
from garrote.problem import Problem
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.selecting.cross_validation import CrossValidation, Fold, HeldOut, cross_validate
from garrote.selecting.label_scores import Scores, score_many
from garrote.solvers.control import Control
from garrote.solvers.lockstep import Solver

# Held-out errors carry sampling noise far above this, so folds are not solved any tighter.
_FOLD_TOLERANCE, _FOLD_SHARPNESS = 1e-3, 0.3
# Least angle regression is no way to the lasso, but another path.
_OWN_PATH = "least-angle"
# Beyond so many times the memory of X, folds wait for each other; they share passes over X else.
_MUCH = 1.0


def cross_validate_penalty(
    whole: Problem,
    penalty: Penalty,
    terms_for: Callable[[Problem], Terms],
    folds: Sequence[Fold],
    alphas: Floats,
    control: Control,
    solver: str = "coordinate",
    relax: float = 0.0,
    n_jobs: int | None = None,
) -> tuple[Path[PenaltyFit], CrossValidation]:
    """Fit the path on all rows and on every fold; return it with the folds' held-out errors.

    Folds are solved by coordinates, where those can, whatever ``solver`` is: solvers stop at different
    distances from an optimum, and of several optima at different ones, and the choice of alpha must not
    depend on that.
    """
    solve = partial(start_penalty_solver, eps=None, solver=solver, relax=relax)
    in_folds = partial(solve, solver=_fold_solver(whole, penalty, solver))
    # Which of several optima is found may depend on digits: convex folds alone are solved loosely.
    loosely = penalty.convex and solver != _OWN_PATH
    tol, sharpness = control.tol, 0.0
    if loosely:
        tol, sharpness = max(tol, _FOLD_TOLERANCE), _FOLD_SHARPNESS
    loose = Control(tol, control.max_iter, stop_at=control.stop_at, sharpness=sharpness)
    hold_out = partial(
        _hold_out,
        penalty=penalty,
        terms_for=terms_for,
        alphas=alphas,
        control=loose,
        solve=in_folds,
    )
    terms = terms_for(whole)
    solving = solve(as_stored(whole, penalty), penalty, alphas, terms=terms, control=control)
    in_turn = _needs_much(whole, penalty, len(folds) + 1)
    return cross_validate(hold_out, folds, whole, solving, n_jobs, in_turn)


def _fold_solver(problem: Problem, penalty: Penalty, solver: str) -> str:
    """Return the solver of folds."""
    if solver == _OWN_PATH or not is_possible(penalty, problem.likelihood, "coordinate"):
        return solver
    return "coordinate"


def _needs_much(problem: Problem, penalty: Penalty, tasks: int) -> bool:
    """Tell whether working sets of all folds at once may be many times X.

    As many columns as there are rows may be in a model, and a working set keeps those and their cross
    products. The lasso and its kin end their paths before that.
    """
    if not problem.has_rows or penalty.is_elastic_net:
        return False
    rows, columns = problem.table.shape
    most = min(rows, columns)
    return tasks * 8 * most * (rows + most) > _MUCH * problem.table.stored.nbytes


def _hold_out(
    fold: Fold,
    shown: Array,
    penalty: Penalty,
    terms_for: Callable[[Problem], Terms],
    alphas: Floats,
    control: Control,
    solve: Callable[..., Solver],
) -> Generator[Floats, Floats, HeldOut]:
    """Solve one fold and measure it at each alpha on the rows that it holds out."""
    problem, terms = fold.problem, terms_for(fold.problem)
    path: Path[PenaltyFit] = yield from solve(
        as_stored(problem, penalty), penalty, alphas, terms=terms, control=control
    )
    return measure_path(fold, shown, path, len(alphas))


def measure_path(fold: Fold, shown: Array, path: Path[PenaltyFit], count: int) -> HeldOut:
    """Measure a fold's path on the rows that it holds out, at each of ``count`` strengths."""
    problem = fold.problem
    errors, residuals = np.zeros(count), np.zeros((count, len(shown)))
    parts: list[Scores] = []
    for first in range(0, len(path), problem.columns_together):
        group = range(first, min(first + problem.columns_together, len(path)))
        means = []
        for k, eta in zip(group, linear_predictors(problem, path, group), strict=True):
            errors[k] = fold.error(eta)
            means.append(_means(problem, eta))
            residuals[k] = _residuals(problem, means[-1])[shown]
        if fold.has_labels:
            parts.append(score_many(problem.response, np.stack(means), fold.held_out))
    # A fold whose path ends early stays as it is there: weaker penalties would hardly change it.
    last = len(path) - 1
    errors[last:], residuals[last:] = errors[last], residuals[last]
    scores = Scores.joined(parts, count) if parts else None
    return HeldOut(errors, residuals, _null_error(fold), scores)


def linear_predictors(problem: Problem, path: Path[PenaltyFit], positions: Sequence[int]) -> Floats:
    """Return the linear predictors of all rows at some strengths, a row each.

    For a Gaussian problem they are relative to the mean (and the covariates) of the training rows; for
    several classes there is a matrix (classes x rows) for each strength.
    """
    D = problem.n_features
    outputs = path.n_features // D
    fits = [path.fits[k] for k in positions]
    columns = np.unique(np.concatenate([fit.columns for fit in fits]) % D)
    coef = np.zeros((len(columns), len(fits), outputs))
    for k, fit in enumerate(fits):
        coef[np.searchsorted(columns, fit.columns % D), k, fit.columns // D] = fit.coef
    fitted = problem.table.dot(columns, coef.reshape(len(columns), len(fits) * outputs)).T
    fitted = fitted.reshape(len(fits), outputs, -1)
    fitted = fitted + np.array([np.atleast_1d(fit.intercept) for fit in fits])[:, :, None]
    fitted = fitted + problem.known_part
    return fitted if outputs > 1 else fitted[:, 0]


def _means(problem: Problem, eta: Floats) -> Floats:
    """Return the predicted means, a row for each of several classes or responses."""
    if problem.likelihood.several:
        return np.asarray(problem.likelihood.mean(eta))
    return np.asarray(inverse_link(problem.likelihood, eta))


def _residuals(problem: Problem, mean: Floats) -> Floats:
    """Return responses less their predicted means; NaN where rows have several, or times."""
    if problem.likelihood.several or problem.likelihood.of_times:
        return np.full(len(problem.response), np.nan)
    return problem.response - mean


def _null_error(fold: Fold) -> float:
    """Return the held-out error of the intercept alone."""
    problem = fold.problem
    level = make_smooth(problem).intercept
    shape = (*np.shape(level), len(problem.response))
    eta = np.broadcast_to(np.expand_dims(level, -1), shape)
    return fold.error(eta + problem.known_part)
