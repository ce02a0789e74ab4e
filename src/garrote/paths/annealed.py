"""From a problem to a path: the grid of gammas, both directions, the better solution at each gamma."""

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple, cast, overload

import numpy as np
from scipy.special import logit

from garrote.arrays import Floats
from garrote.designs.base import Design
from garrote.paths.combinations import HOMOTOPIES, check_combination
from garrote.paths.homotopy import homotopy_solver
from garrote.paths.penalised import (
    ALPHAS,
    as_stored,
    as_strengths,
    equal_terms,
    penalty_solver,
    resolve_alphas,
    stop_at,
)
from garrote.penalties.base import Penalty, Terms
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.fit import Fit, PenaltyFit
from garrote.results.path import Path
from garrote.solvers.control import Control
from garrote.solvers.garrote.coordinate_annealing import anneal_by_sweeps
from garrote.solvers.garrote.parallel_updates import anneal_in_parallel
from garrote.solvers.lockstep import run_together

# The solvers of a prior's path, by name.
SOLVERS: dict[str, Callable[..., Generator[Floats, Floats, Any]]] = {
    "coordinate": anneal_by_sweeps,
    "primal": partial(anneal_in_parallel, form="primal"),
    "dual": partial(anneal_in_parallel, form="dual"),
}
# Gammas of a grid, and the largest inclusion probability at the first of them.
GAMMAS, EPS = 50, 1e-3

# The dense end of the default grid: -1, or the log odds of N / 40 variables among D, and with more
# columns than rows of 50 at most. Beyond it solutions cost most and have long begun to fit noise
# (at N = 1000, D = 10,000 with 20 true variables, 79 are expected there, and twice as many a little on).
_ROWS_FOR_EACH = 40.0
# Labels need a denser end. Their z-scores are low even where effects are strong, and lower yet in the
# folds of a cross-validation, which then find nothing on a path that ends at N / 40 variables.
_LABELS_FOR_EACH = 10.0
_DENSE_SIZE = 50.0
_DENSEST = -1.0
# Log odds that rounding has left near 0.
_NO_ODDS = 1e-12


class DenseEnd(NamedTuple):
    """Where a placed grid of gammas ends: a variable for every so many rows, and the largest gamma."""

    rows_for_each: float = _ROWS_FOR_EACH
    largest: float = np.inf

    @classmethod
    def for_labels(cls, offsets: Floats) -> "DenseEnd":
        """Return the end for labels: at most the gamma at which half of the variables have even odds.

        The price of a slab is no part of the prior odds, as it is where the slab is flat.
        """
        return cls(_LABELS_FOR_EACH, -float(np.median(offsets)) if len(offsets) else 0.0)


def gamma_grid(
    problem: Problem,
    prior: SpikeTerms,
    count: int = 50,
    eps: float = 1e-3,
    end: DenseEnd = DenseEnd(),  # noqa: B008 - a tuple
) -> Floats:
    """Return gammas from the empty model to the dense end, evenly spaced in sqrt(-gamma).

    The first is the largest gamma at which no variable has an inclusion probability above ``eps``
    (Kappen & Gomez 2014, Eq. 13, for columns of any scale). A variable comes in at about
    |z| = sqrt(-2 gamma), z being its estimate in standard errors: the steps are even in z.
    """
    usable = problem.curvature > 0
    if not usable.any() or problem.yty <= 0:
        return np.linspace(2 * logit(eps), logit(eps), count)
    explained = prior.pooled(problem.xty[usable] ** 2 / problem.curvature[usable], usable)
    precision = prior.first_precision(problem.response_variance)
    sparse_end = logit(eps) - np.max(0.5 * precision * explained + prior.offsets[usable])
    size = problem.n / end.rows_for_each
    if problem.n_features > problem.n:
        size = min(size, _DENSE_SIZE)
    variables = problem.n_features - len(problem.usable) + len(prior.switches(problem.usable))
    dense_end = min(_DENSEST, float(logit(min(size / variables, 0.5))))
    # gamma and its offset add up to a variable's log odds. The range is that of the median offset: a
    # few variables with other odds do not move it.
    dense_end -= float(np.median(prior.offsets[usable]))
    dense_end = min(dense_end, end.largest)
    # Few rows: leave at least half of the way from the empty model open.
    dense_end = max(dense_end, sparse_end / 2 if sparse_end < 0 else sparse_end + 10.0)
    if dense_end >= 0 or sparse_end >= 0:
        return np.linspace(sparse_end, dense_end, count)
    return -(np.linspace(np.sqrt(-sparse_end), np.sqrt(-dense_end), count) ** 2)


@overload
def fit_path(
    problem: Problem,
    prior: Penalty,
    strengths: int | Floats | None = None,
    *,
    eps: float | None = None,
    solver: str = "coordinate",
    control: Control | None = None,
    terms: Terms | None = None,
    relax: float = 0.0,
) -> Path[PenaltyFit]: ...


@overload
def fit_path(
    problem: Problem,
    prior: SpikeTerms | None = None,
    strengths: int | Floats | None = None,
    *,
    eps: float | None = None,
    solver: str = "coordinate",
    control: Control | None = None,
) -> Path[Fit]: ...


def fit_path(
    problem: Problem,
    prior: Any = None,
    strengths: int | Floats | None = None,
    *,
    eps: float | None = None,
    solver: str = "coordinate",
    control: Control | None = None,
    terms: Terms | None = None,
    relax: float = 0.0,
) -> Path[Any]:
    """Fit one problem over a grid of strengths: anneal and reheat a prior, or relax a penalty.

    Parameters
    ----------
    problem : Problem
    prior : SpikeTerms or Penalty, optional
        Offsets to gamma, sign constraints, known noise (by default none of them); or a penalty of
        `garrote.penalties`.
    strengths : int or array, optional
        How many strengths to place, or the strengths themselves: 50 gammas of a prior, 100 alphas of a
        penalty, or with ``solver="homotopy"`` all its knots. Alphas are those of
        1/(2n) ||y - Xw||^2 + alpha * penalty, with y in its own units (also where the problem has it in
        standard deviations) and the columns as the problem has them.
    eps : float, optional
        Of a placed grid: the inclusion probability at the first gamma (1e-3), or the last alpha as a
        share of the first (1e-3, and 1e-2 with more columns than rows).
    solver : str, default="coordinate"
        "primal" and "dual" are for a prior. "homotopy" (LARS) follows the lasso, or the elastic net,
        from knot to knot, exactly; "least-angle" (LAR) is the same without variables that leave. The
        classical solvers ("ista", "fista", "sparsa", "projected_gradient", "em", "iterated_ridge",
        "subgradient", "shooting", "smoothing", "sigmoid", "root") are slower; see the manual.
    control : Control, optional
        Tolerance (1e-4 for a prior, a gap of 1e-6 for a penalty), iteration limit, callback; and the
        share of the deviance at which a placed grid of alphas ends, 0.999 unless the response is
        Gaussian and the penalty convex. Strengths that were given are all fitted.
    terms : Terms, optional
        Each variable's own factor of the penalty, and bounds of its coefficient: for the columns as the
        problem has them, in units of y.
    relax : float
        For a penalty: 1 takes the coefficients of an unpenalised fit to the columns found, 0 the
        penalised ones; what is between mixes both (the relaxed lasso).

    Returns
    -------
    Path
        Of `Fit` for a prior, of `PenaltyFit` for a penalty.

    Examples
    --------
    >>> from garrote import Problem, fit_path
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> path = fit_path(Problem.from_rows(data.X, data.y), strengths=10)
    >>> path.coefficients().shape
    (10, 20)
    """
    prior = flat_prior(problem.n_features) if prior is None else prior
    follow = _BY_STRENGTHS[prior.strengths]
    return follow(problem, prior, strengths, eps, control, solver, terms, relax)


def _fit_garrote_path(
    problem: Problem,
    prior: SpikeTerms,
    strengths: int | Floats | None,
    eps: float | None,
    control: Control | None,
    solver: str,
    terms: Terms | None,
    relax: float,
) -> Path[Fit]:
    """Anneal and reheat a prior over its gammas."""
    if terms is not None or relax:
        raise ValueError("terms and relax are of penalties: leave them out beside a prior")
    if not problem.likelihood.least_squares:
        raise ValueError(
            f"a garrote's path is of a Gaussian response, got {problem.likelihood.name}: "
            "VariationalGarroteClassifier has labels"
        )
    gammas = resolve_gammas(problem, prior, GAMMAS if strengths is None else strengths, eps or EPS)
    solving = start_solver(problem, prior, gammas, control or Control(), solver)
    (annealed,) = run_together([solving], stored_design(problem))
    return cast(Path[Fit], annealed)


def _fit_penalty_path(
    problem: Problem,
    penalty: Penalty,
    strengths: int | Floats | None,
    eps: float | None,
    control: Control | None,
    solver: str,
    terms: Terms | None,
    relax: float,
) -> Path[PenaltyFit]:
    """Solve for a problem in units of its response; a placed grid may end before its last alpha."""
    control = control or Control(1e-6)
    penalty = penalty.resolved(problem.n_features)
    compressed = as_stored(problem.in_response_units(), penalty)
    if control.stop_at is None and (strengths is None or isinstance(strengths, Integral)):
        control = replace(control, stop_at=stop_at(problem, penalty))
    solving = start_penalty_solver(
        compressed, penalty, strengths, eps, terms, control, solver, relax
    )
    (relaxed,) = run_together([solving], stored_design(compressed))
    return cast(Path[PenaltyFit], relaxed)


# By what strengths are called.
_BY_STRENGTHS: dict[str, Callable[..., Path[Any]]] = {
    "gammas": _fit_garrote_path,
    "alphas": _fit_penalty_path,
}


def resolve_gammas(
    problem: Problem,
    prior: SpikeTerms,
    gammas: int | Floats,
    eps: float,
    end: DenseEnd = DenseEnd(),  # noqa: B008 - a tuple
) -> Floats:
    """Return the gammas themselves, ascending, from a count or from what was given."""
    place = partial(gamma_grid, problem, prior, eps=eps, end=end)
    grid = as_strengths(gammas, "gammas", place)
    return np.where(np.abs(grid) < _NO_ODDS, 0.0, grid)  # even odds, and never "-0"


def flat_prior(n_features: int) -> SpikeTerms:
    """Return a prior without offsets, signs or known noise."""
    return SpikeTerms(np.zeros(n_features), np.zeros(n_features))


def start_penalty_solver(
    problem: Problem,
    penalty: Penalty,
    strengths: int | Floats | None,
    eps: float | None,
    terms: Terms | None,
    control: Control,
    solver: str = "coordinate",
    relax: float = 0.0,
) -> Generator[Floats, Floats, Path[PenaltyFit]]:
    """Return the generator that solves one penalised path; see `run_together`."""
    check_combination(penalty, problem.likelihood, solver)
    if len(problem.scale.covariates) and not problem.likelihood.least_squares:
        raise ValueError(
            f"covariates cannot be projected out of a {problem.likelihood.name} response: give their "
            "columns a penalty factor of 0 in their place"
        )
    terms = terms or equal_terms(problem)
    alphas = None
    if solver not in HOMOTOPIES or strengths is not None:
        count = ALPHAS if strengths is None else strengths
        alphas = resolve_alphas(problem, penalty, terms, count, eps)
    if solver not in HOMOTOPIES:
        return penalty_solver(problem, penalty, cast(Floats, alphas), terms, control, relax, solver)
    return homotopy_solver(
        problem, penalty, alphas, terms, control, eps=eps or 0.0, drops=solver == "homotopy",
        relax=relax,
    )  # fmt: skip


def start_solver(
    problem: Problem, prior: SpikeTerms, gammas: Floats, control: Control, solver: str
) -> Generator[Floats, Floats, Path[Fit]]:
    """Return the generator that solves one path of a prior; see `run_together`."""
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of {tuple(SOLVERS)}, got {solver!r}")
    annealed = yield from SOLVERS[solver](problem, prior, gammas, control)
    return annealed.path(problem.scale, problem.n_features, lambda fit: fit)


def stored_design(problem: Problem) -> Design | None:
    """Return the matrix that solvers of this problem share passes over, if it has rows."""
    return problem.design.stored
