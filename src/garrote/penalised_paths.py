"""From a problem and a penalty to a path of certified fits."""

from collections.abc import Generator
from dataclasses import replace
from numbers import Integral

import numpy as np

from garrote.arrays import Floats
from garrote.likelihoods.multinomial import Multinomial
from garrote.penalties.base import Penalty, Terms
from garrote.penalties.elastic_net import ElasticNet
from garrote.penalty_path import MultinomialPath, PenaltyFit, PenaltyPath
from garrote.problem import Problem
from garrote.solvers.annealing import Control
from garrote.solvers.generalised import GeneralisedLoss
from garrote.solvers.least_squares import LeastSquares
from garrote.solvers.multinomial import MultinomialLoss
from garrote.solvers.penalised import Smooth, Solved, solve_path
from garrote.solvers.quadratic import restricted

# Alphas of a grid, and the last as a share of the first: with more rows than columns, and with fewer.
ALPHAS = 100
_EPS, _EPS_WIDE = 1e-3, 1e-2
# Fits without a penalty are solved to this share of the null model's largest gradient.
_REFITTED = 1e-9


def make_smooth(problem: Problem) -> Smooth:
    """Return the loss of a problem, ready for a working set."""
    if problem.likelihood is None:
        return LeastSquares(problem)
    if isinstance(problem.likelihood, Multinomial):
        return MultinomialLoss(problem)
    return GeneralisedLoss(problem)


def equal_terms(problem: Problem) -> Terms:
    """Return factors of 1 and no bounds, for every coefficient of a problem."""
    return Terms.equal(problem.n_features).repeated(outputs_of(problem))


def outputs_of(problem: Problem) -> int:
    """Return how many coefficients a column has: one for each class."""
    likelihood = problem.likelihood
    return likelihood.classes if isinstance(likelihood, Multinomial) else 1


def alpha_grid(
    problem: Problem, penalty: Penalty, terms: Terms, count: int = ALPHAS, eps: float | None = None
) -> Floats:
    """Return alphas from the least that empties the model downwards, evenly spaced in logarithms."""
    largest = penalty.largest_strength(make_smooth(problem).null.gradient, terms)
    if eps is None:
        eps = _EPS_WIDE if problem.n_features > problem.n else _EPS
    return np.geomspace(largest or 1.0, eps * (largest or 1.0), count)


def resolve_alphas(
    problem: Problem, penalty: Penalty, terms: Terms, alphas: int | Floats, eps: float | None
) -> Floats:
    """Return the alphas themselves, descending, from a count or from what was given."""
    if isinstance(alphas, Integral) and not isinstance(alphas, bool):
        if alphas < 1:
            raise ValueError(f"alphas must be at least 1, got {alphas}")
        return alpha_grid(problem, penalty, terms, int(alphas), eps)
    try:
        grid = np.unique(np.asarray(alphas, dtype=np.float64))[::-1]
    except (TypeError, ValueError):
        grid = np.zeros(0)
    if isinstance(alphas, bool) or not len(grid) or not (np.isfinite(grid) & (grid >= 0)).all():
        raise ValueError(
            f"alphas must be a positive integer or an array of finite numbers >= 0, got {alphas!r}"
        )
    return grid


def penalty_solver(
    problem: Problem,
    penalty: Penalty,
    alphas: Floats,
    terms: Terms,
    control: Control,
    relax: float = 0.0,
) -> Generator[Floats, Floats, PenaltyPath]:
    """Return the generator that solves one path; see `garrote.solvers.lockstep`.

    ``relax`` mixes the penalised coefficients with those of an unpenalised fit to the same columns: 1
    takes the latter (debiasing, Murphy 2012, section 13.3.5), in between is the relaxed lasso.
    """
    smooth = make_smooth(problem)
    solved = yield from solve_path(smooth, penalty, alphas, terms, control)
    if relax > 0:
        solved = yield from _relaxed(smooth, solved, terms, control, relax)
    fits, outputs = tuple(_fit(point) for point in solved), outputs_of(problem)
    if outputs == 1:
        return PenaltyPath(fits, problem.scale, problem.n_features, smooth.null.loss)
    scale = replace(
        problem.scale,
        column_mean=np.tile(problem.scale.column_mean, outputs),
        column_scale=np.tile(problem.scale.column_scale, outputs),
        covariate_columns=np.zeros((0, outputs * problem.n_features)),
    )
    return MultinomialPath(
        fits, scale, outputs * problem.n_features, smooth.null.loss, classes=outputs
    )


def _relaxed(
    smooth: Smooth, solved: list[Solved], terms: Terms, control: Control, share: float
) -> Generator[Floats, Floats, list[Solved]]:
    """Move each solution towards the fit to its columns without a penalty, as far as there is one."""
    tolerance = _REFITTED * float(np.abs(smooth.null.gradient).max(initial=0.0))
    relaxed = []
    for point in solved:
        # All other columns of the working set are held at 0 by their bounds.
        lower, upper = np.zeros((2, len(terms.lower)))
        lower[point.columns], upper[point.columns] = (
            terms.lower[point.columns], terms.upper[point.columns],
        )  # fmt: skip
        free = ElasticNet(0.0).at(0.0, Terms(terms.factor, lower, upper))
        before = np.zeros(len(terms.lower))
        before[point.columns] = point.coef
        smooth.coef[:] = before[smooth.columns]
        rounds = smooth.solve(restricted(free, smooth.columns), tolerance, control.max_iter)
        smooth.coef[:] = share * smooth.coef + (1.0 - share) * before[smooth.columns]
        seen = yield from smooth.evaluate()
        after = np.zeros(len(terms.lower))
        after[smooth.columns] = smooth.coef
        relaxed.append(
            point._replace(
                coef=after[point.columns],
                intercept=smooth.intercept,
                loss=seen.loss,
                rounds=point.rounds + rounds,
            )
        )
    return relaxed


def _fit(point: Solved) -> PenaltyFit:
    return PenaltyFit(
        point.strength, point.columns, point.coef, point.intercept, point.loss, point.certificate,
        point.rounds,
    )  # fmt: skip
