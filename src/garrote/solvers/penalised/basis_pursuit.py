"""Basis pursuit as a linear programme: the least l1 norm of all coefficients that match the response.

With w = p - m, both >= 0, the problem is min factor'(p + m) subject to X(p - m) = y, which SciPy's HiGHS
solves by the dual simplex method. Its vertex names the columns and its multipliers v the dual answer,
max y'v subject to |X'v| <= factor. Both are only good to the tolerance of the simplex method; least
squares on the columns named, and multipliers that meet their slopes, give the remaining digits.
"""

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty, Terms
from garrote.problem import Problem
from garrote.results.certificates import Certificate, matching
from garrote.results.fit import PenaltyFit
from garrote.rules import Evaluated, dual_bound, total_cost
from garrote.solvers.control import Control
from garrote.solvers.losses.least_squares import null_squares

# What the best coefficients may leave of a response that they match, as a share of its length.
_MATCHED = 1e-8
# The least tolerances that HiGHS takes, for a response whose largest entry is 1.
_TOLERANCE = 1e-10
# Coefficients below this share of the largest are not in the vertex, but rounding.
_NOTHING = 1e-9


class _Programme(NamedTuple):
    """The rows to be matched, and what each column may cost and be."""

    X: Floats
    y: Floats
    rule: Any


def solve_basis_pursuit(
    problem: Problem, penalty: Penalty, terms: Terms, control: Control
) -> Generator[Floats, Floats, list[PenaltyFit]]:
    """Solve a Gaussian problem with rows; the path has one strength, 0.

    Yields vectors to be multiplied with X; see `garrote.solvers.lockstep`.
    """
    if not problem.has_rows:
        raise ValueError(
            "penalty 'basis pursuit' matches y row by row, and moments or z-scores have no rows: take "
            "penalty='lasso'"
        )
    rule, coef = penalty.at(0.0, terms), np.zeros(problem.n_features)
    rows, columns = np.flatnonzero(problem.weights > 0), problem.usable
    multipliers = np.zeros(len(problem.weights))
    unit, rounds = float(np.abs(problem.response[rows]).max(initial=0.0)), 0
    if unit > 0:
        part = type(rule)(*(each[columns] for each in rule))
        scaled = part._replace(lower=part.lower / unit, upper=part.upper / unit)
        X, y = problem.table.block(columns)[rows], problem.response[rows] / unit
        programme = _Programme(X, y, scaled)
        _refuse_noise(programme)
        found, multipliers[rows], rounds = _solve(programme)
        coef[columns] = unit * found
    point = yield from _certified(problem, rule, coef, multipliers, rounds)
    control.report("path", 1, 1)
    return [point]


def _refuse_noise(programme: _Programme) -> None:
    """Refuse a response outside of the span of the columns; tell how far outside."""
    X, y, _ = programme
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    left = float(np.linalg.norm(y - X @ best) / np.linalg.norm(y))
    if left > _MATCHED:
        raise ValueError(
            f"no coefficients match y: {X.shape[1]} columns that vary leave {100 * left:.3g} % of its "
            f"length in {len(y)} rows, and penalty 'basis pursuit' allows {100 * _MATCHED:.0e} %. With "
            "noise take penalty='lasso' (basis pursuit denoising), with "
            "alpha=garrote.paths.Bound(...) for a bound on the norm"
        )


def _solve(programme: _Programme) -> tuple[Floats, Floats, int]:
    """Return coefficients, multipliers of the rows, and the simplex steps."""
    X, y, rule = programme
    outcome = linprog(
        np.concatenate([rule.threshold, rule.threshold]),
        A_eq=np.hstack([X, -X]),
        b_eq=y,
        bounds=np.column_stack([np.zeros(2 * len(rule.upper)), [*rule.upper, *-rule.lower]]),
        method="highs-ds",
        options={
            "primal_feasibility_tolerance": _TOLERANCE,
            "dual_feasibility_tolerance": _TOLERANCE,
        },
    )
    if outcome.status == 2:
        raise ValueError(
            "no coefficients between the given bounds match y: penalty 'basis pursuit' needs wider "
            "ones, or take penalty='lasso'"
        )
    if outcome.status != 0:
        raise ValueError(
            f"the linear programme of penalty 'basis pursuit' ended without an answer: "
            f"{outcome.message} Take penalty='lasso' with a small alpha"
        )
    positive, negative = np.split(outcome.x, 2)
    coef = _sharpened(programme, positive - negative)
    multipliers = _meeting(programme, coef, np.asarray(outcome.eqlin.marginals))
    return coef, multipliers, int(outcome.nit)


def _sharpened(programme: _Programme, coef: Floats) -> Floats:
    """Return the least-squares fit to the columns of a vertex, if it is one and matches better."""
    X, y, rule = programme
    free = np.abs(coef) > _NOTHING * np.abs(coef).max(initial=0.0)
    held = free & ((coef >= rule.upper) | (coef <= rule.lower))
    free &= ~held
    fitted = np.where(held, coef, 0.0)
    fitted[free] = np.linalg.lstsq(X[:, free], y - X @ fitted, rcond=None)[0]
    inside = (fitted >= rule.lower) & (fitted <= rule.upper) & (fitted * coef >= 0)
    before, after = (float(np.linalg.norm(y - X @ each)) for each in (coef, fitted))
    better = after <= max(before, _TOLERANCE)
    return fitted if inside.all() and better else coef


def _meeting(programme: _Programme, coef: Floats, multipliers: Floats) -> Floats:
    """Return the multipliers nearest to some at which X'v is the slope wherever the cost is smooth."""
    X, _, rule = programme
    smooth = (coef != 0) & (coef < rule.upper) & (coef > rule.lower)
    columns = X[:, smooth]
    wanted = rule.threshold[smooth] * np.sign(coef[smooth]) - columns.T @ multipliers
    return np.asarray(multipliers + np.linalg.lstsq(columns.T, wanted, rcond=None)[0])


def _certified(
    problem: Problem, rule: Any, coef: Floats, multipliers: Floats, rounds: int
) -> Generator[Floats, Floats, PenaltyFit]:
    """Look at an answer, and at the multipliers that vouch for it, from the data alone."""
    used: Array = np.flatnonzero(coef)
    left = problem.response - problem.table.dot(used, coef[used, None])[:, 0]
    weights = np.where(problem.weights > 0, problem.weights, np.inf)
    # What covariates explain of the multipliers has no product with columns that they were taken out of.
    vouching = problem.table.project(multipliers[:, None] / weights[:, None])[:, 0]
    squared, products = yield from problem.evaluate_residuals(
        np.ascontiguousarray([left, vouching])
    )
    along = float(multipliers @ problem.response)
    seen = Evaluated(0.0, products[1], lambda share: share * along)
    norm = float(total_cost(rule, used, coef[used]))
    bound = float(dual_bound(rule, coef, seen, problem.curvature, null_squares(problem)))
    certificate: Certificate = matching(
        max(norm - bound, 0.0) / (norm or 1.0),
        float(np.sqrt(squared[0] / problem.yty)) if problem.yty > 0 else 0.0,
    )
    loss = 0.5 * float(squared[0]) / problem.n
    return PenaltyFit(0.0, used, coef[used], 0.0, loss, certificate, max(rounds, 1))
