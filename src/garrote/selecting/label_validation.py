"""Choosing gamma for labels by cross-validated deviance, averaged over coefficients."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from garrote.arrays import Array, Floats
from garrote.likelihoods import Binomial
from garrote.likelihoods.base import log_likelihood
from garrote.likelihoods.uncertain import gaussian_mean
from garrote.problem import Problem
from garrote.selecting.cross_validation import (
    CrossValidation,
    HeldOut,
    kept_residuals,
    spread_rows,
)
from garrote.solvers.control import Control
from garrote.solvers.labels.bound_annealing import AnnealedBound, anneal_bound
from garrote.solvers.labels.logistic_bound import BoundSolution, LogisticBound

# Held-out errors carry sampling noise far above this, so folds are not solved any tighter. The curve of
# errors is then right to a fraction of the differences between neighbouring gammas, which choose.
_FOLD_TOLERANCE = 2e-3
# Prior log odds at which no variable is in.
_NOBODY = -200.0


@dataclass(frozen=True)
class LabelFold:
    """One split: the problem of its training rows and the weights of its held-out rows."""

    problem: Problem
    held_out: Floats


def cross_validate_labels(
    whole: LogisticBound,
    folds: Sequence[LabelFold],
    gammas: Floats,
    variance: float,
    n_jobs: int | None = None,
) -> tuple[AnnealedBound, CrossValidation]:
    """Fit the path on all rows and on every fold; return it with the folds' held-out deviances."""
    loose = Control(max(whole.control.tol, _FOLD_TOLERANCE), whole.control.max_iter)
    rows = spread_rows(whole.problem.weights)

    def hold_out(fold: LabelFold) -> tuple[HeldOut, float]:
        bound = LogisticBound(fold.problem, whole.labels, whole.offsets, loose)
        null = bound.solve(_NOBODY, bound.empty(_NOBODY, variance))
        # Predictions are measured as they will be made, by the likelihood's own curvature.
        solutions = [bound.widened(one) for one in anneal_bound(bound, gammas, variance).solutions]
        return _measured(whole.labels, fold.held_out, solutions, len(gammas), rows), float(
            _errors(whole.labels, fold.held_out, [null])[0]
        )

    jobs = min(effective_n_jobs(n_jobs), len(folds))
    both = Parallel(n_jobs=jobs, prefer="threads")(delayed(hold_out)(fold) for fold in folds)
    annealed = anneal_bound(whole, gammas, variance)
    parts = [part for part, _ in both]
    kept = kept_residuals(parts, [fold.held_out for fold in folds], rows)
    errors = np.array([part.errors for part in parts])
    nulls = np.array([null for _, null in both])
    reached = len(annealed.forward)
    return annealed, CrossValidation(
        np.array(gammas[:reached]), errors[:, :reached], nulls, rows, kept[:reached]
    )


def _measured(
    labels: Floats, held_out: Floats, solutions: Sequence[BoundSolution], count: int, shown: Array
) -> HeldOut:
    """Return deviances at each gamma, NaN where the fold's path ended before, and residuals."""
    errors, residuals = np.full(count, np.nan), np.full((count, len(shown)), np.nan)
    errors[: len(solutions)] = _errors(labels, held_out, solutions)
    for k, one in enumerate(solutions):
        mean = gaussian_mean(Binomial(), one.eta[shown], one.doubt[shown])
        residuals[k] = labels[shown] - mean
    return HeldOut(errors, residuals)


def _errors(labels: Floats, held_out: Floats, solutions: Iterable[BoundSolution]) -> Floats:
    """Return the mean deviance of held-out rows under each solution."""
    likelihood, used = Binomial(), held_out > 0
    weights = held_out[used] / held_out[used].sum()
    errors = []
    for one in solutions:
        mean = gaussian_mean(likelihood, one.eta[used], one.doubt[used])
        logs = log_likelihood(likelihood, labels[used], likelihood.link(mean))
        errors.append(-2.0 * float(weights @ logs))
    return np.array(errors)
