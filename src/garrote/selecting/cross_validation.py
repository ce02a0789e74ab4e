"""Choosing gamma by cross-validation: folds are weights on the same rows and share passes over X."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from garrote.arrays import Array, Floats
from garrote.designs.base import Design
from garrote.paths import assemble_path, start_solver
from garrote.priors.garrote import GarrotePrior
from garrote.problem import Problem
from garrote.results import Path
from garrote.solvers.annealing import Control
from garrote.solvers.lockstep import Solver, run_together

# Held-out errors carry sampling noise far above this, so folds are not solved any tighter.
_FOLD_TOLERANCE = 1e-2


@dataclass(frozen=True)
class Fold:
    """One split: the problem of its training rows and the weights of its held-out rows."""

    problem: Problem
    prior: GarrotePrior
    held_out: Floats


@dataclass(frozen=True)
class CrossValidation:
    """Held-out squared errors over a grid of gammas.

    Attributes
    ----------
    gammas : array of shape (K,)
    errors : array of shape (folds, K)
        Mean squared error of each fold; NaN where a fold's path did not reach the gamma.
    null_errors : array of shape (folds,)
        The same of the mean (and covariates) of the training rows.
    """

    gammas: Floats
    errors: Floats
    null_errors: Floats

    @property
    def mean(self) -> Floats:
        """Mean over folds; NaN where any fold has none."""
        return self.errors.mean(axis=0)

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean over folds (0 for a single split)."""
        folds = len(self.errors)
        if folds < 2:
            return np.zeros_like(self.gammas)
        largest = np.nanmax(self.errors, initial=0.0) or 1.0  # squares of errors may overflow
        return largest * (self.errors / largest).std(axis=0, ddof=1) / np.sqrt(folds)

    def choose(self, rule: str) -> int:
        """Return the position of the gamma of least error, or the sparsest within 1 std. error."""
        best = int(np.nanargmin(self.mean))
        if rule == "min":
            return best
        within = self.mean <= self.mean[best] + self.standard_error[best]
        return int(np.flatnonzero(within)[0])


def cross_validate(
    whole: Problem,
    prior: GarrotePrior,
    folds: Sequence[Fold],
    gammas: Floats,
    control: Control,
    solver: str = "coordinate",
    n_jobs: int | None = None,
) -> tuple[Path, CrossValidation]:
    """Fit the path on all rows and on every fold; return it with the folds' held-out errors."""
    loose = Control(max(control.tol, _FOLD_TOLERANCE), control.max_iter)
    tasks: list[Solver] = [start_solver(whole, prior, gammas, control, solver)]
    tasks += [_held_out_errors(fold, gammas, loose, solver) for fold in folds]
    stored: Design | None = whole.design.stored if whole.has_rows else None
    jobs = Parallel(n_jobs=n_jobs, prefer="threads")
    groups = (
        [list(range(k, len(tasks), jobs.n_jobs)) for k in range(jobs.n_jobs)]
        if jobs.n_jobs > 1
        else [list(range(len(tasks)))]
    )
    groups = [group for group in groups if group]
    outcomes = jobs(delayed(run_together)([tasks[k] for k in group], stored) for group in groups)
    results = {
        k: outcome
        for group, batch in zip(groups, outcomes, strict=True)
        for k, outcome in zip(group, batch, strict=True)
    }
    path = assemble_path(whole, results[0])
    errors = np.array([results[k + 1] for k in range(len(folds))])
    nulls = np.array([_squared_error(fold, fold.problem.response) for fold in folds])
    reached = len(path)
    return path, CrossValidation(path.strengths, errors[:, :reached], nulls)


def make_folds(
    design: Design,
    y: Array,
    weights: Floats,
    splits: Sequence[tuple[Array, Array]],
    prior_for: object,
    **settings: object,
) -> list[Fold]:
    """Turn index splits into problems on the same rows, with weight zero on those held out."""
    if not len(splits):
        raise ValueError("cv gives no splits; pass an integer, a splitter or a list of splits")
    folds = []
    for number, (train, test) in enumerate(splits):
        highest = max(np.max(train, initial=0), np.max(test, initial=0))
        if highest >= len(y):
            raise ValueError(f"fold {number} of cv has row {highest}, but there are {len(y)} rows")
        inside = weights * np.bincount(train, minlength=len(y))
        outside = weights * np.bincount(test, minlength=len(y))
        for name, part in (("training", inside), ("test", outside)):
            if not part.sum() > 0:
                raise ValueError(f"fold {number} has no {name} rows of positive weight; change cv")
        problem = Problem.from_rows(design, y, inside, **settings)
        folds.append(Fold(problem, prior_for(problem), outside))
    return folds


def _held_out_errors(
    fold: Fold, gammas: Floats, control: Control, solver: str
) -> Generator[Floats, Floats, Floats]:
    """Solve one fold and return its held-out error at each gamma."""
    problem = fold.problem
    annealing = yield from start_solver(problem, fold.prior, gammas, control, solver)
    path = assemble_path(problem, annealing)
    errors = np.full(len(gammas), np.nan)
    for first in range(0, len(path), problem.columns_together):
        group = path.fits[first : first + problem.columns_together]
        columns = np.unique(np.concatenate([fit.columns for fit in group]))
        coef = np.zeros((len(columns), len(group)))
        for k, fit in enumerate(group):
            coef[np.searchsorted(columns, fit.columns), k] = fit.coef
        left = problem.response[:, None] - problem.design.dot(columns, coef)
        for k in range(len(group)):
            errors[first + k] = _squared_error(fold, left[:, k])
    return errors


def _squared_error(fold: Fold, residuals: Floats) -> float:
    factor = fold.problem.scale.response_scale**2
    return float(fold.held_out @ residuals**2 / fold.held_out.sum() * factor)
