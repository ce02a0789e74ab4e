"""Choosing gamma for labels by cross-validated deviance, averaged over coefficients."""

from collections.abc import Generator, Sequence
from functools import partial

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods import Binomial
from garrote.likelihoods.base import log_likelihood
from garrote.likelihoods.uncertain import gaussian_mean
from garrote.selecting.cross_validation import CrossValidation, Fold, HeldOut, cross_validate
from garrote.solvers.annealing import Annealed
from garrote.solvers.control import Control
from garrote.solvers.labels.bound_annealing import anneal_bound
from garrote.solvers.labels.logistic_bound import BoundSolution, LogisticBound

# Held-out errors carry sampling noise far above this, so folds are not solved any tighter. The curve of
# errors is then right to a fraction of the differences between neighbouring gammas, which choose.
_FOLD_TOLERANCE = 2e-3
# Prior log odds at which no variable is in.
_NOBODY = -200.0


def cross_validate_labels(
    whole: LogisticBound,
    folds: Sequence[Fold],
    gammas: Floats,
    variance: float,
    n_jobs: int | None = None,
) -> tuple[Annealed[BoundSolution], CrossValidation]:
    """Fit the path on all rows and on every fold; return it with the folds' held-out deviances."""
    hold_out = partial(_hold_out, whole=whole, gammas=gammas, variance=variance)
    solving = _whole_path(whole, gammas, variance)
    return cross_validate(hold_out, folds, whole.problem, solving, n_jobs)


def _whole_path(
    whole: LogisticBound, gammas: Floats, variance: float
) -> Generator[Floats, Floats, Annealed[BoundSolution]]:
    yield from ()  # a solver like the others, though it shares no pass over X
    return anneal_bound(whole, gammas, variance)


def _hold_out(
    fold: Fold, shown: Array, whole: LogisticBound, gammas: Floats, variance: float
) -> Generator[Floats, Floats, HeldOut]:
    """Solve one fold and measure it at each gamma on the rows that it holds out."""
    yield from ()
    labels, tol = whole.labels, max(whole.control.tol, _FOLD_TOLERANCE)
    bound = LogisticBound(fold.problem, labels, whole.offsets, Control(tol, whole.control.max_iter))
    null = bound.solve(_NOBODY, bound.empty(_NOBODY, variance))
    errors = np.full(len(gammas), np.nan)
    residuals = np.full((len(gammas), len(shown)), np.nan)
    for k, one in enumerate(anneal_bound(bound, gammas, variance).solutions):
        # Predictions are measured as they will be made, by the likelihood's own curvature.
        wide = bound.widened(one)
        errors[k] = _deviance(fold, labels, wide)
        residuals[k] = labels[shown] - _means(wide, shown)
    return HeldOut(errors, residuals, _deviance(fold, labels, null))


def _means(solution: BoundSolution, rows: Array) -> Floats:
    """Return the mean labels of some rows, averaged over the linear predictor."""
    return gaussian_mean(Binomial(), solution.eta[rows], solution.doubt[rows])


def _deviance(fold: Fold, labels: Floats, solution: BoundSolution) -> float:
    """Return the mean deviance of the rows that a fold holds out."""
    used, likelihood, each = fold.held_out > 0, Binomial(), np.zeros(len(labels))
    eta = likelihood.link(_means(solution, used))
    each[used] = -2.0 * log_likelihood(likelihood, labels[used], eta)
    return fold.mean_error(each)
