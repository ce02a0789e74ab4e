"""Choosing gamma by cross-validation: folds are weights on the same rows and share passes over X."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from garrote.arrays import Array, Floats
from garrote.designs.base import Design
from garrote.paths.annealed import assemble_path, start_solver, stored_design, trace_solver
from garrote.priors.garrote import GarrotePrior
from garrote.problem import Problem
from garrote.results.fit import Path
from garrote.solvers.control import Control, residuals
from garrote.solvers.garrote.certificate import free_energy
from garrote.solvers.lockstep import Solver, run_together

# Held-out errors carry sampling noise far above this, so folds are not solved any tighter. The curve of
# errors is then right to a fraction of the differences between neighbouring gammas, which choose.
_FOLD_TOLERANCE = 0.01
# All solvers solve the same equations, but not to the same digits, nor to the same of several optima:
# folds have one way, so that the choice of gamma does not depend on how the path is solved.
_FOLD_SOLVER = "coordinate"
# Rows whose predictions are kept for a picture, at most.
_ROWS_SHOWN = 300
# Where X has to be read again for them, at most this many of its entries, and at least so many rows.
_ENTRIES_READ = 1 << 19
_FEWEST_SHOWN = 20


@dataclass(frozen=True)
class Fold:
    """One split: the problem of its training rows and the weights of its held-out rows."""

    problem: Problem
    prior: GarrotePrior
    held_out: Floats


class HeldOut(NamedTuple):
    """What one fold gives: its error at each strength, and residuals of the rows that are shown."""

    errors: Floats
    residuals: Floats


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
    rows : array of int of shape (n,)
        Some rows, evenly spread, for which held-out residuals are kept.
    residuals : array of shape (K, n)
        Those residuals in the units of the response; NaN where a row was never held out.
    """

    gammas: Floats
    errors: Floats
    null_errors: Floats
    rows: Array
    residuals: Floats

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

    def results(self, strength: str) -> dict[str, Any]:
        """Return what an estimator keeps as ``cv_results_``; ``strength`` is what its grid is of."""
        return {
            strength: self.gammas,
            "mean_error": self.mean,
            "standard_error": self.standard_error,
            "fold_errors": self.errors,
            "null_error": float(self.null_errors.mean()),
        }

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
    """Fit the path on all rows and on every fold; return it with the folds' held-out errors.

    ``solver`` is that of the path; folds are always solved by coordinate sweeps.
    """
    loose = Control(max(control.tol, _FOLD_TOLERANCE), control.max_iter)
    rows = spread_rows(whole.weights)
    whole, folds = _with_shared_moments(whole, folds)
    tasks: list[Solver] = [start_solver(whole, prior, gammas, control, solver)]
    tasks += [_hold_out(fold, gammas, loose, rows) for fold in folds]
    annealing, *held_out = run_in_threads(tasks, stored_design(whole), n_jobs)
    path = assemble_path(whole, annealing)
    errors = np.array([part.errors for part in held_out])
    kept = kept_residuals(held_out, [fold.held_out for fold in folds], rows)
    nulls = np.array([_squared_error(fold, fold.problem.response) for fold in folds])
    reached = len(path)
    return path, CrossValidation(path.strengths, errors[:, :reached], nulls, rows, kept[:reached])


def run_in_threads(
    tasks: Sequence[Solver], design: Design | None, n_jobs: int | None, in_turn: bool = False
) -> list[Any]:
    """Run generators to their ends, dealt out to threads; those of one thread share passes over X.

    ``in_turn`` runs those of one thread one after the other instead, which needs the memory of one only.
    """
    run = _run_in_turn if in_turn else run_together
    jobs = min(effective_n_jobs(n_jobs), len(tasks))
    # Threads of a matrix product inside of these would be in each other's way.
    own = nullcontext() if jobs == 1 else threadpool_limits(max(1, cpu_count() // jobs), "blas")
    with own:
        outcomes = Parallel(n_jobs=jobs, prefer="threads")(
            delayed(run)(tasks[k::jobs], design) for k in range(jobs)
        )
    results: list[Any] = [None] * len(tasks)
    for k, batch in enumerate(outcomes):
        results[k::jobs] = batch
    return results


def _run_in_turn(tasks: Sequence[Solver], design: Design | None) -> list[Any]:
    return [run_together([task], design)[0] for task in tasks]


def kept_residuals(parts: Sequence[HeldOut], held_out: Sequence[Floats], rows: Array) -> Floats:
    """Return each shown row's residuals by the fold that held it out, NaN if none did."""
    kept = np.full(parts[0].residuals.shape, np.nan)
    for part, weights in zip(parts, held_out, strict=True):
        tested = weights[rows] > 0
        kept[:, tested] = part.residuals[:, tested]
    return kept


def spread_rows(weights: Floats, most: int = _ROWS_SHOWN) -> Array:
    """Return some rows of positive weight, evenly spread over all of them."""
    usable = np.flatnonzero(weights > 0)
    return usable[np.unique(np.linspace(0, len(usable) - 1, most).round().astype(np.intp))]


def rows_to_show(problem: Problem) -> Array:
    """Return rows whose predictions a picture shows, fewer where they are long."""
    most = max(_FEWEST_SHOWN, min(_ROWS_SHOWN, _ENTRIES_READ // problem.n_features))
    return spread_rows(problem.weights, most)


def _with_shared_moments(whole: Problem, folds: Sequence[Fold]) -> tuple[Problem, Sequence[Fold]]:
    """Compute X'X once where it pays; a fold's is that less the products of its held-out rows."""
    if not whole.compressible:
        return whole, folds
    gram = whole.whole_gram()
    shared = []
    for fold in folds:
        parts = np.allclose(fold.problem.weights + fold.held_out, whole.weights)
        if parts and not len(whole.scale.covariates) and fold.problem.compressible:
            own = whole.table.gram_without(gram, fold.problem.table, fold.held_out)
            fold = replace(fold, problem=replace(fold.problem, known_gram=own))
        shared.append(fold)
    return replace(whole, known_gram=gram), shared


def make_folds(
    weights: Floats,
    splits: Sequence[tuple[Array, Array]],
    part: Callable[[Floats], Problem],
    prior_for: Callable[[Problem], GarrotePrior],
) -> list[Fold]:
    """Turn index splits into problems on the same rows, with weight zero on those held out.

    ``part`` makes the problem of some weights.
    """
    folds = []
    for inside, outside in split_weights(weights, splits):
        problem = part(inside)
        folds.append(Fold(problem, prior_for(problem), outside))
    return folds


def split_weights(
    weights: Floats, splits: Sequence[tuple[Array, Array]]
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the weights of training and of held-out rows for every split; refuse empty ones."""
    if not len(splits):
        raise ValueError("cv gives no splits; pass an integer, a splitter or a list of splits")
    count = len(weights)
    for number, split in enumerate(splits):
        train, test = (np.flatnonzero(p) if np.asarray(p).dtype == bool else p for p in split)
        highest = max(np.max(train, initial=0), np.max(test, initial=0))
        if highest >= count:
            raise ValueError(f"fold {number} of cv has row {highest}, but there are {count} rows")
        inside = weights * np.bincount(train, minlength=count)
        outside = weights * np.bincount(test, minlength=count)
        for name, part in (("training", inside), ("test", outside)):
            if not part.sum() > 0:
                raise ValueError(f"fold {number} has no {name} rows of positive weight; change cv")
        yield inside, outside


def _hold_out(
    fold: Fold, gammas: Floats, control: Control, shown: Array
) -> Generator[Floats, Floats, HeldOut]:
    """Solve one fold and measure it at each gamma on the rows that it holds out.

    At each gamma the branch of lower free energy predicts. Folds are not certified: their errors
    decide on gamma, and nothing else is taken from them.
    """
    problem = fold.problem
    trace = trace_solver(problem, fold.prior, gammas, control, _FOLD_SOLVER)
    forward, backward, _ = yield from trace
    errors, energies = np.full(len(gammas), np.nan), np.full(len(gammas), np.inf)
    kept = np.full((len(gammas), len(shown)), np.nan)
    for points in (forward, backward):
        fresh = [k for k, p in enumerate(points) if points is forward or p is not forward[k]]
        for first in range(0, len(fresh), problem.columns_together):
            group = fresh[first : first + problem.columns_together]
            for k, row in zip(group, residuals(problem, [points[k] for k in group]), strict=True):
                squared = float(row**2 @ problem.weights)
                energy = free_energy(problem, fold.prior, points[k], squared)
                if energy < energies[k]:
                    energies[k], errors[k] = energy, _squared_error(fold, row)
                    kept[k] = row[shown] * problem.scale.response_scale
    return HeldOut(errors, kept)


def _squared_error(fold: Fold, residuals: Floats) -> float:
    factor = fold.problem.scale.response_scale**2
    return float(fold.held_out @ residuals**2 / fold.held_out.sum() * factor)
