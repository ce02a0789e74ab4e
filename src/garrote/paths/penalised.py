"""From a problem and a penalty to a path of certified fits."""

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.paths.combinations import by_latent_responses
from garrote.paths.criteria import bayesian_criterion
from garrote.penalties.base import Penalty, Terms
from garrote.penalties.elastic_net import L1, Ridge
from garrote.penalties.subset import NoPenalty
from garrote.problem import Problem
from garrote.results.fit import PenaltyFit
from garrote.results.path import Path
from garrote.rules import restricted, slopes
from garrote.solvers.classical.path import CLASSICAL_SOLVERS, solve_classically
from garrote.solvers.control import Control
from garrote.solvers.lockstep import Solver, run_together
from garrote.solvers.losses.coupled_rows import CoupledLoss, SparseCoupledLoss
from garrote.solvers.losses.generalised import GeneralisedLoss
from garrote.solvers.losses.latent import LatentLeastSquares
from garrote.solvers.losses.least_squares import LeastSquares
from garrote.solvers.losses.quantiles import QuantileLoss
from garrote.solvers.losses.sparse_loss import SparseLoss
from garrote.solvers.losses.whole_loss import losses_of
from garrote.solvers.penalised.basis_pursuit import solve_basis_pursuit
from garrote.solvers.penalised.best_subset import solve_best_subsets
from garrote.solvers.penalised.concave_path import solve_concave_path
from garrote.solvers.penalised.fused_signal import SignalSquares, is_signal
from garrote.solvers.penalised.refitting import relaxed
from garrote.solvers.penalised.reweighted import solve_reweighted
from garrote.solvers.penalised.ridge import ridge_scores, solve_ridge, solve_rotated
from garrote.solvers.penalised.tied.reweighted_groups import solve_group_tangents
from garrote.solvers.penalised.working_set_path import (
    Smooth,
    solve_at,
    solve_path,
    tolerance_at,
)

# Alphas of a grid, and the last as a share of the first: with more rows than columns, and with fewer.
ALPHAS = 100
_EPS, _EPS_WIDE = 1e-3, 1e-2
# A placed grid may end where so much of the deviance is explained, as in glmnet.
_ENOUGH = 0.999
# Losses below this share of the null model's are those of a fit that matches the data.
_MATCHED = 1e-6
# A strength at which nothing that is penalised is in.
_FORBIDDING = 1e200


def make_smooth(
    problem: Problem, solver: str = "coordinate", penalty: Penalty | None = None
) -> Smooth:
    """Return the loss of a problem, ready for a working set."""
    if penalty is not None and penalty.compares and is_signal(problem):
        return SignalSquares(problem)
    if problem.likelihood.kinked:
        return QuantileLoss(problem)
    if by_latent_responses(solver, problem.likelihood.least_squares):
        return LatentLeastSquares(problem)
    if problem.likelihood.least_squares:
        return LeastSquares(problem)
    if problem.likelihood.several:
        return losses_of(problem.likelihood).working(problem)
    structured = penalty is not None and penalty.structured
    if problem.has_rows and not problem.table.keeps_blocks and not structured:
        return (SparseCoupledLoss if problem.likelihood.coupled else SparseLoss)(problem)
    return (CoupledLoss if problem.likelihood.coupled else GeneralisedLoss)(problem)


def equal_terms(problem: Problem) -> Terms:
    """Return factors of 1 and no bounds, for every coefficient of a problem."""
    return Terms.equal(problem.n_features).repeated(outputs_of(problem))


def as_stored(problem: Problem, penalty: Penalty) -> Problem:
    """Return the same problem as paths are followed on it: by its moments, where those are smaller."""
    return problem if penalty.matches else problem.compressed()


def outputs_of(problem: Problem) -> int:
    """Return how many coefficients a column has: one for each class, or response."""
    return int(problem.likelihood.outputs)


def alpha_grid(
    problem: Problem, penalty: Penalty, terms: Terms, count: int = ALPHAS, eps: float | None = None
) -> Floats:
    """Return alphas from the least that empties the model downwards, evenly spaced in logarithms."""
    if not penalty.charges or penalty.matches:
        return np.zeros(1)
    smooth = make_smooth(problem, penalty=penalty)
    terms = run_alone(problem, adapted(problem, penalty, terms, Control(1e-6)))
    gradient = _first_gradient(problem, smooth, penalty, terms)
    largest = penalty.largest_strength(gradient, terms, smooth.curvature)
    if eps is None:
        eps = _EPS_WIDE if problem.n_features > problem.n else _EPS
    return np.geomspace(largest or 1.0, eps * (largest or 1.0), count)


def _first_gradient(problem: Problem, smooth: Smooth, penalty: Any, terms: Terms) -> Floats:
    """Return the gradient where all that is penalised is 0 and what is not is fitted."""
    if penalty.compares:
        # Strong enough to hold any gradient, and no more: the levels are found to all digits.
        strength = 10.0 * float(np.abs(smooth.null.gradient).sum())
        rule: Any = penalty.at(strength / penalty.least_weight, terms)
        _refuse_free_levels(problem, rule)
        free = np.flatnonzero(rule.free)
    else:
        rule = L1().at(_FORBIDDING / max(float(terms.factor.max()), 1.0), terms)
        free = np.flatnonzero(terms.factor == 0)
    if not len(free):
        return smooth.null.gradient
    smooth.grow(free)
    tolerance = tolerance_at(smooth, 0.0, Control())
    seen, _ = run_alone(problem, solve_at(smooth, rule, tolerance, Control().max_iter))
    return seen.gradient * (1 + 1e-10)  # rounding must not let the first one in


def run_alone(problem: Problem, solver: Solver) -> Any:
    """Run one generator to its end."""
    (result,) = run_together([solver], problem.table.stored if problem.has_rows else None)
    return result


def resolve_alphas(
    problem: Problem, penalty: Penalty, terms: Terms, alphas: int | Floats, eps: float | None
) -> Floats:
    """Return the alphas themselves, descending, from a count or from what was given."""

    def place(count: int) -> Floats:
        return alpha_grid(problem, penalty, terms, count, eps)[::-1]

    return as_strengths(alphas, "alphas", place, least=0.0)[::-1]


def as_strengths(
    given: Any, called: str, place: Callable[[int], Floats], least: float = -np.inf
) -> Floats:
    """Return strengths, ascending: those that were given, or as many placed ones."""
    if isinstance(given, Integral) and not isinstance(given, bool):
        if given < 1:
            raise ValueError(f"{called} must be at least 1, got {given}")
        return place(int(given))
    try:
        grid = np.unique(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        grid = np.zeros(0)
    if isinstance(given, bool) or not len(grid) or not (np.isfinite(grid) & (grid >= least)).all():
        numbers = "finite numbers" if np.isinf(least) else f"finite numbers >= {least:g}"
        raise ValueError(
            f"{called} must be a positive integer or an array of {numbers}, got {given!r}"
        )
    return grid


def stop_at(problem: Problem, penalty: Penalty) -> float | None:
    """Return the share of the deviance at which a placed grid ends; None if at its last alpha only.

    Fits that come near to the data are where separable classes drive coefficients to infinity, and
    where a penalty that is not convex has ever more optima. For the lasso and its kin with a Gaussian
    response nothing of that kind happens.
    """
    return None if problem.likelihood.least_squares and penalty.convex else _ENOUGH


def runs_away(
    problem: Problem,
    penalty: Penalty,
    fit: PenaltyFit,
    null: float,
    terms: Terms,
    relax: float = 0.0,
) -> bool:
    """Tell whether the coefficients of a fit would grow for ever.

    They do where labels are matched without error (of the null model's loss nothing is left) by
    coefficients that the penalty does not hold back any more.
    """
    matched = fit.loss <= _MATCHED * null and len(fit.columns) > 0
    if problem.likelihood.least_squares or not matched:
        return False
    rule = restricted(penalty.at(fit.strength, terms), fit.columns)
    return relax == 1 or bool((slopes(rule, np.abs(fit.coef)) == 0).any())


def penalty_solver(
    problem: Problem,
    penalty: Penalty,
    alphas: Floats,
    terms: Terms,
    control: Control,
    relax: float = 0.0,
    solver: str = "coordinate",
) -> Generator[Floats, Floats, Path[PenaltyFit]]:
    """Return the generator that solves one path; see `garrote.solvers.lockstep`.

    ``relax`` mixes the penalised coefficients with those of an unpenalised fit to the same columns: 1
    takes the latter (debiasing, Murphy 2012, section 13.3.5), in between is the relaxed lasso.
    """
    smooth = make_smooth(problem, solver, penalty)
    if penalty.matches and relax > 0:
        raise ValueError(
            "refit has nothing to undo: penalty 'basis pursuit' matches y already; leave refit at False"
        )
    if penalty.compares:
        _refuse_free_levels(problem, penalty.at(1.0, terms))
        if relax > 0:
            raise ValueError(
                "refit is for penalties that set single coefficients to 0; the fused lasso would lose "
                "its pieces: leave refit at False"
            )
    terms = yield from adapted(problem, penalty, terms, control)
    bounded = bool((np.isfinite(terms.lower) | np.isfinite(terms.upper)).any())
    squares = problem.likelihood.least_squares
    if not squares and not bounded:
        _refuse_without_penalty(problem, penalty, alphas)
    if solver in CLASSICAL_SOLVERS and not by_latent_responses(solver, squares):
        points = yield from solve_classically(solver, problem, penalty, alphas, terms, control)
    else:
        same = partial(make_smooth, solver=solver)
        points = yield from _solve(smooth, problem, penalty, alphas, terms, control, bounded, same)
    points = yield from corrected(problem, penalty, terms, points)
    if relax > 0:
        points = yield from relaxed(smooth, points, terms, control, relax)
    path = as_path(problem, smooth, points)
    if penalty.compares:
        path = replace(path, fits=tuple(_with_pieces(problem, penalty, fit) for fit in path.fits))
    if len(path) == len(alphas):
        return path
    why = f"more than {control.most} coefficients are not 0 there"
    if control.most is None or len(path.fits[-1].columns) <= control.most:
        if control.stop_at is None:
            return path
        why = f"{100 * control.stop_at:g} % of the deviance is explained there"
    cut = f"the path ends at alpha = {path.strengths[-1]:.4g}, {len(path)} of {len(alphas)}: {why}"
    return replace(path, cut=cut)


def _solve(
    smooth: Smooth,
    problem: Problem,
    penalty: Any,
    alphas: Floats,
    terms: Terms,
    control: Control,
    bounded: bool,
    make_loss: Callable[[Problem], Smooth],
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Choose the loop: closed forms first, then coordinates, then tangents of concave penalties."""
    gaussian = problem.likelihood.least_squares
    if penalty.matches:
        return (yield from solve_basis_pursuit(problem, penalty, terms, control))
    if penalty.of_subsets:
        return (yield from solve_best_subsets(problem, penalty.size, alphas, terms, control))
    if penalty.quadratic and not bounded:
        if gaussian:
            return (yield from solve_ridge(problem, penalty, alphas, terms, control))
        rotated = problem.n_features > len(problem.response) and (terms.factor > 0).all()
        if rotated and not problem.likelihood.kinked:
            return solve_rotated(problem, penalty, alphas, terms, control, make_loss)
    if not penalty.convex and penalty.structured:
        return (yield from solve_group_tangents(smooth, penalty, alphas, terms, control))
    if not penalty.convex and (not gaussian or penalty.by_tangents):
        return (yield from solve_reweighted(smooth, penalty, alphas, terms, control))
    if not penalty.convex:
        return (yield from solve_concave_path(smooth, penalty, alphas, terms, control))
    return (yield from solve_path(smooth, penalty, alphas, terms, control))


def _refuse_without_penalty(problem: Problem, penalty: Penalty, alphas: Floats) -> None:
    rows = int(np.count_nonzero(problem.weights))
    if problem.n_features >= rows and (not penalty.charges or alphas.min() == 0):
        raise ValueError(
            f"{problem.n_features} columns fit any response of {rows} rows: maximum likelihood without "
            "a penalty does not exist; take a small alpha, or Ridge() with one"
        )


def _refuse_free_levels(problem: Problem, rule: Any) -> None:
    levels = rule.levels // outputs_of(problem)
    if not problem.likelihood.least_squares and levels >= len(problem.response):
        raise ValueError(
            f"the graph has {levels} components whose levels nothing penalises, which fit any response "
            f"of {len(problem.response)} rows: set l1_ratio above 0, or join them"
        )


def adapted(
    problem: Problem, penalty: Penalty, terms: Terms, control: Control
) -> Generator[Floats, Floats, Terms]:
    """Return terms with the factors that a penalty's first fit gives, if it has one."""
    if penalty.first is None:
        return terms
    first = yield from first_estimate(problem, penalty, terms, control)
    return penalty.weighted(terms, first)


def first_estimate(
    problem: Problem, penalty: Penalty, terms: Terms, control: Control
) -> Generator[Floats, Floats, Floats]:
    """Return the coefficients of the first fit that a penalty asks for."""
    assert penalty.first is not None
    best = yield from _FIRST_FITS[penalty.first](problem, terms, control)
    first = np.zeros(len(terms.factor))
    first[best.columns] = best.coef
    return first


def _first_least_squares(
    problem: Problem, terms: Terms, control: Control
) -> Generator[Floats, Floats, PenaltyFit]:
    """Return the fit without a penalty; more columns than rows have none."""
    count = len(problem.usable)
    if count > problem.max_rank:
        raise ValueError(
            f"first='ols' needs fewer columns than rows: {count} columns fit any response of these; "
            "take first='ridge'"
        )
    points = yield from solve_ridge(problem, NoPenalty(), np.zeros(1), terms, control)
    return points[0]


def _first_ridge(
    problem: Problem, terms: Terms, control: Control
) -> Generator[Floats, Floats, PenaltyFit]:
    """Return the ridge of the best generalised cross-validation."""
    alphas = alpha_grid(problem, Ridge(), terms)
    points = yield from solve_ridge(problem, Ridge(), alphas, terms, control)
    return points[int(np.argmin(ridge_scores(problem, alphas, terms, points)))]


def _first_lasso(
    problem: Problem, terms: Terms, control: Control
) -> Generator[Floats, Floats, PenaltyFit]:
    """Return the lasso of the best Bayesian information criterion.

    Its N are the rows, so that weights of any scale give the same factors: the penalised objective
    itself does not know the scale either.
    """
    alphas = alpha_grid(problem, L1(), terms)
    points = yield from solve_path(make_smooth(problem), L1(), alphas, terms, control)
    loss = np.array([point.loss for point in points])
    size = np.array([len(point.columns) for point in points])
    scale, rows = problem.likelihood.noise_scale, problem.n_rows
    counted = (
        problem.counted * rows / problem.n
    )  # by which the scale of weights makes no difference
    criterion = bayesian_criterion(loss, size, rows, scale, counted=counted)
    return points[int(np.argmin(criterion))]


_FIRST_FITS = {"ols": _first_least_squares, "lasso": _first_lasso, "ridge": _first_ridge}


def corrected(
    problem: Problem, penalty: Penalty, terms: Terms, points: list[PenaltyFit]
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Undo the ridge's shrinkage of an elastic net, where that is asked for; see `ElasticNet`."""
    if not penalty.corrected:
        return points
    changed = []
    for point in points:
        ridge = penalty.at(point.strength, terms).ridge[point.columns]
        coef = point.coef * (1.0 + ridge * problem.n / problem.curvature[point.columns])
        squared, _ = yield from problem.evaluate(point.columns, coef[:, None])
        changed.append(replace(point, coef=coef, loss=0.5 * float(squared[0]) / problem.n))
    return changed


def _with_pieces(problem: Problem, penalty: Any, fit: PenaltyFit) -> PenaltyFit:
    """Return a fused fit with its pieces counted, and no effect of columns that are constant.

    Such a column is at the level of its neighbours, which joins them and fits nothing; times what is
    left of the column by rounding it would be an effect. Columns of zeros, as places of a signal that
    was not observed there, keep it.
    """
    count = penalty.count_pieces(fit.columns, fit.coef, outputs_of(problem) * problem.n_features)
    counted = {"pieces" if penalty.equal_pieces else "freedom": count}
    variables = fit.columns % problem.n_features
    told = (problem.curvature[variables] > 0) | (problem.scale.column_mean[variables] == 0)
    return replace(fit, columns=fit.columns[told], coef=fit.coef[told], **counted)


def as_path(problem: Problem, smooth: Smooth, points: list[PenaltyFit]) -> Path[PenaltyFit]:
    """Return solutions as a path."""
    fits, outputs = tuple(points), outputs_of(problem)
    if outputs == 1:
        return Path(fits, problem.scale, problem.n_features, smooth.null.loss)
    scale = replace(
        problem.scale,
        column_mean=np.tile(problem.scale.column_mean, outputs),
        column_scale=np.tile(problem.scale.column_scale, outputs),
        covariate_columns=np.zeros((0, outputs * problem.n_features)),
    )
    return Path(fits, scale, outputs * problem.n_features, smooth.null.loss, outputs=outputs)
