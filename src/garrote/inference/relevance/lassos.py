"""Relevance determination by a sequence of weighted lassos (Murphy 2012, Eqs. 13.172 and 13.173).

The evidence, as a penalty of w, is the least of w'diag(t)^-1 w + log |C(t)| over variances t (Eq.
13.161). log |C| is concave in t, so that a tangent lies above it, with slopes S_j = x_j'C^-1 x_j; the
least over t is then at t_j = |w_j| / sqrt(S_j), and what remains is a lasso with thresholds sqrt(S_j)
beside ||y - Xw||^2 / (2 s). The exponent 1/2 of Eq. 13.173 is that root; the matrix in it should read
s I + X diag(|w| / lambda) X'. Between lassos the noise makes a step of EM.
"""

from dataclasses import replace

import numpy as np

from garrote.arrays import Floats
from garrote.designs.standardized import StandardizedDesign
from garrote.paths.penalised import penalty_solver, run_alone
from garrote.penalties.base import Terms
from garrote.penalties.elastic_net import L1
from garrote.problem import Problem
from garrote.solvers.control import Control
from garrote.solvers.relevance.evidence import (
    Hyperpriors,
    Solution,
    expected_noise,
    solution_of,
)
from garrote.solvers.relevance.given_variances import Data, regression_of
from garrote.solvers.relevance.labelled_rows import LabelledRows

# Variances and slopes are set in turn so many times between two lassos: next to free beside these.
_TURNS = 5
# Lassos are solved to this share of the null model's objective, at least.
_GAP = 1e-9
_MOST_SWEEPS = 100_000


def lassos_of_numbers(
    problem: Problem, laws: Hyperpriors, noise: float, control: Control
) -> tuple[Solution, int]:
    """Repeat weighted lassos until coefficients rest; return how many there were."""
    data = regression_of(problem, "reweighted-l1")
    usable = problem.usable
    variance, coef = np.zeros(len(usable)), np.zeros(len(usable))
    strength = problem.curvature[usable] / noise
    rounds, noise_before = 0, np.inf
    for rounds in range(1, control.max_iter + 1):
        new = _lasso(problem, usable, np.sqrt(strength), noise / problem.n)
        moved = max(np.abs(new - coef).max(initial=0.0), abs(noise / noise_before - 1.0))
        coef, noise_before = new, noise
        variance, strength = _tangents(data, coef, strength, noise)
        noise = expected_noise(data.given(variance, noise), variance, noise, laws)
        control.report("evidence", rounds, control.max_iter)
        if moved <= control.tol:
            break
    given = data.given(variance, noise)
    return solution_of(given, variance, noise, laws), rounds


def lassos_of_labels(
    problem: Problem, rows: LabelledRows, laws: Hyperpriors, control: Control
) -> tuple[Solution, int]:
    """Repeat weighted lassos of labels until coefficients rest; return how many there were."""
    usable = problem.usable
    free = _with_free_covariates(problem)
    variance, coef = np.zeros(len(usable)), np.zeros(len(usable))
    fit = rows.fit(variance)
    strength = fit.working.data.given(variance, 1.0).strength
    rounds = 0
    for rounds in range(1, control.max_iter + 1):
        new = _lasso(free, usable, np.sqrt(strength), 1.0 / free.n)
        moved = float(np.abs(new - coef).max(initial=0.0))
        coef = new
        # The weights of the rows are those at the lasso's own fit.
        fixed = rows.fixed_beside(coef)
        data = rows.working(coef, fixed).data
        variance, strength = _tangents(data, coef, strength, 1.0, laws.most_variance)
        control.report("evidence", rounds, control.max_iter)
        if moved <= control.tol:
            break
    given = rows.given(variance, 1.0)
    return solution_of(given, variance, 1.0, laws), rounds


def _tangents(
    data: Data, coef: Floats, strength: Floats, noise: float, most: float = np.inf
) -> tuple[Floats, Floats]:
    """Return the variances for some coefficients, and the slopes of log |C| there."""
    for _ in range(_TURNS):
        variance = np.minimum(np.abs(coef) / np.sqrt(np.maximum(strength, 1e-300)), most)
        strength = data.given(variance, noise).strength
    return variance, strength


def _lasso(problem: Problem, usable: Floats, thresholds: Floats, alpha: float) -> Floats:
    """Return the coefficients of usable columns with thresholds of their own; others are not held."""
    factor = np.zeros(problem.n_features)
    factor[usable] = thresholds
    terms = Terms.equal(problem.n_features)._replace(factor=factor)
    # Columns without content are no part of it, held or not.
    solver = penalty_solver(problem, L1(), np.array([alpha]), terms, Control(_GAP, _MOST_SWEEPS))
    (fit,) = run_alone(problem, solver).fits
    coef = np.zeros(problem.n_features)
    coef[fit.columns] = fit.coef
    return np.asarray(coef[usable])


def _with_free_covariates(problem: Problem) -> Problem:
    """Return labels with their covariates among the columns, for a lasso that does not hold them."""
    if not len(problem.scale.covariates):
        return problem
    table, nothing = problem.table, np.zeros(0, dtype=np.intp)
    design = StandardizedDesign(
        table.stored, table.weights, center=table.centered, scale=bool((table.scale != 1).any())
    )
    scale = replace(
        problem.scale, covariates=nothing, covariate_response=np.zeros(0),
        covariate_columns=np.zeros((0, problem.n_features)),
    )  # fmt: skip
    return replace(problem, design=design, curvature=design.curvature, scale=scale)
