"""Choosing a strength by cross-validation: folds are weights on the rows and share passes over X."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from garrote.arrays import Array, Floats
from garrote.designs.base import Design
from garrote.likelihoods.base import log_likelihood, saturated
from garrote.likelihoods.coupled import weighted_deviance
from garrote.paths.annealed import stored_design
from garrote.problem import Problem
from garrote.selecting.label_scores import Scores, has_labels, score_labels
from garrote.solvers.lockstep import Solver, run_together
from garrote.summaries import Shown

# Rows whose predictions are kept for a picture, at most.
_ROWS_SHOWN = 300
# Where X has to be read again for them, at most this many of its entries, and at least so many rows.
_ENTRIES_READ = 1 << 19
_FEWEST_SHOWN = 20


@dataclass(frozen=True)
class Fold:
    """One split: the problem of its training rows and the weights of its held-out rows."""

    problem: Problem
    held_out: Floats

    def error(self, eta: Floats) -> float:
        """Return the mean deviance of held-out rows, in units of y: the squared error of numbers."""
        likelihood, y = self.problem.likelihood, self.problem.response
        if likelihood.coupled:
            return self._coupled_error(eta)
        if likelihood.several:
            each = 2.0 * likelihood.loss(y, eta)
        else:
            each = 2.0 * (saturated(likelihood, y) - log_likelihood(likelihood, y, eta))
        return self.mean_error(each * self.problem.scale.response_scale**2)

    def _coupled_error(self, eta: Floats) -> float:
        """Return the deviance of all rows less that of the training rows, for each held-out event.

        Held-out rows alone would compete with each other only (Verweij & van Houwelingen 1993).
        """
        likelihood, y, trained = (
            self.problem.likelihood,
            self.problem.response,
            self.problem.weights,
        )
        counted = likelihood.counted(y, self.held_out)
        if not counted > 0:
            raise ValueError("a fold of cv holds out no event: take fewer folds, or other splits")
        whole = weighted_deviance(likelihood, y, trained + self.held_out, eta)
        return (whole - weighted_deviance(likelihood, y, trained, eta)) / counted

    def label_scores(self, mean: Floats) -> Scores | None:
        """Return how well held-out labels are predicted by their probabilities; None for numbers."""
        if not self.has_labels:
            return None
        return score_labels(self.problem.response, mean, self.held_out)

    @property
    def has_labels(self) -> bool:
        """Whether responses are labels."""
        return has_labels(self.problem.likelihood)

    def mean_error(self, errors: Floats) -> float:
        """Return the mean of the rows' errors over those held out."""
        used = self.held_out > 0
        weights = self.held_out[used]
        return float(weights @ errors[used] / weights.sum())


class HeldOut(NamedTuple):
    """What one fold gives: errors on the rows that it holds out, and residuals of those shown.

    ``errors`` are one for each strength, NaN where the fold's path did not reach it; ``residuals``
    (strengths x rows shown) are in the units of the response; ``null_error`` is the error without any
    variable; ``labels`` are how well labels are predicted at each strength.
    """

    errors: Floats
    residuals: Floats
    null_error: float
    labels: Scores | None = None


# Fits one fold, and measures it on the rows that it holds out; also given the rows that are shown.
FitFold = Callable[[Fold, Array], Generator[Floats, Floats, HeldOut]]


@dataclass(frozen=True, repr=False)
class CrossValidation(Shown):
    """Held-out errors over a grid of strengths: mean squared errors, or mean deviances.

    Attributes
    ----------
    strengths : array of shape (K,)
        Those that the path of all rows reached.
    errors : array of shape (folds, K)
        Mean error of each fold; NaN where a fold's path did not reach the strength.
    null_errors : array of shape (folds,)
        The same without any variable but the covariates.
    rows : array of int of shape (n,)
        Some rows, evenly spread, for which held-out residuals are kept.
    residuals : array of shape (K, n)
        Those residuals in the units of the response; NaN where a row was never held out.
    labels : Scores, optional
        How well labels are predicted, by fold and strength.
    """

    strengths: Floats
    errors: Floats
    null_errors: Floats
    rows: Array
    residuals: Floats
    labels: Scores | None = None

    @property
    def mean(self) -> Floats:
        """Mean over folds; NaN where any fold has none."""
        return self.errors.mean(axis=0)

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean over folds (0 for a single split)."""
        folds = len(self.errors)
        if folds < 2:
            return np.zeros_like(self.strengths)
        largest = np.nanmax(self.errors, initial=0.0) or 1.0  # squares of errors may overflow
        return largest * (self.errors / largest).std(axis=0, ddof=1) / np.sqrt(folds)

    def results(self, strength: str) -> dict[str, Any]:
        """Return what an estimator keeps as ``cv_results_``; ``strength`` is its name there."""
        return {
            strength: self.strengths,
            "mean_error": self.mean,
            "standard_error": self.standard_error,
            "fold_errors": self.errors,
            "null_error": float(self.null_errors.mean()),
        }

    def choose(self, rule: str) -> int:
        """Return the position of the least error, or of the sparsest fit within 1 std. error."""
        best = int(np.nanargmin(self.mean))
        if rule == "min":
            return best
        within = self.mean <= self.mean[best] + self.standard_error[best]
        return int(np.flatnonzero(within)[0])


def cross_validate(
    fit_fold: FitFold,
    folds: Sequence[Fold],
    whole: Problem,
    fit_whole: Solver,
    n_jobs: int | None = None,
    in_turn: bool = False,
) -> tuple[Any, CrossValidation]:
    """Fit the path of all rows and every fold; return the path with the folds' held-out errors.

    Parameters
    ----------
    fit_fold : callable
        From a fold and the rows that are shown to the solver that fits and measures it.
    folds : sequence of Fold
    whole : Problem
        That of all rows.
    fit_whole : Solver
        Fits the path of all rows. What it returns has ``strengths``.
    n_jobs : int, optional
        Threads over which the path and the folds are spread.
    in_turn : bool
        Whether those of one thread wait for each other, in place of sharing passes over X.
    """
    rows = spread_rows(whole.weights)
    tasks: list[Solver] = [fit_whole, *(fit_fold(fold, rows) for fold in folds)]
    path, *parts = run_in_threads(tasks, stored_design(whole), n_jobs, in_turn)
    reached = len(path.strengths)
    errors = np.array([part.errors[:reached] for part in parts])
    nulls = np.array([part.null_error for part in parts])
    kept = _kept_residuals(parts, folds, rows)[:reached]
    scores = [part.labels for part in parts if part.labels is not None]
    labels = Scores.stacked(scores) if scores else None
    return path, CrossValidation(path.strengths, errors, nulls, rows, kept, labels)


def run_in_threads(
    tasks: Sequence[Solver], design: Design | None, n_jobs: int | None, in_turn: bool = False
) -> list[Any]:
    """Run generators to their ends, dealt out to threads; those of one thread share passes over X.

    ``in_turn`` runs those of one thread one after the other instead, which needs the memory of one only.
    """
    run = _run_in_turn if in_turn else run_together
    jobs = min(effective_n_jobs(n_jobs), len(tasks))
    # Threads of a matrix product inside of these would be in each other's way.
    limited = nullcontext() if jobs == 1 else threadpool_limits(max(1, cpu_count() // jobs), "blas")
    with limited:
        # Solvers that share passes over X are no use to other processes, a cluster's say.
        outcomes = Parallel(n_jobs=jobs, require="sharedmem")(
            delayed(run)(tasks[k::jobs], design) for k in range(jobs)
        )
    results: list[Any] = [None] * len(tasks)
    for k, batch in enumerate(outcomes):
        results[k::jobs] = batch
    return results


def _run_in_turn(tasks: Sequence[Solver], design: Design | None) -> list[Any]:
    return [run_together([task], design)[0] for task in tasks]


def _kept_residuals(parts: Sequence[HeldOut], folds: Sequence[Fold], rows: Array) -> Floats:
    """Return each shown row's residuals by the fold that held it out, NaN if none did."""
    kept = np.full(parts[0].residuals.shape, np.nan)
    for part, fold in zip(parts, folds, strict=True):
        tested = fold.held_out[rows] > 0
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


def make_folds(
    weights: Floats, splits: Sequence[tuple[Array, Array]], part: Callable[[Floats], Problem]
) -> list[Fold]:
    """Turn index splits into problems on the same rows, with weight zero on those held out.

    ``part`` makes the problem of some weights.
    """
    return [Fold(part(inside), outside) for inside, outside in _split_weights(weights, splits)]


def _split_weights(
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
