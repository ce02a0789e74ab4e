"""The garrote of numbers and of labels: its path, and gamma by cross-validated deviance of folds."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from garrote.arrays import Array, Floats
from garrote.likelihoods.uncertain import gaussian_mean
from garrote.paths.annealed import start_solver, stored_design
from garrote.priors.garrote import SpikeTerms
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.selecting.cross_validation import CrossValidation, Fold, HeldOut, cross_validate
from garrote.selecting.label_scores import Scores, together
from garrote.solvers.algebra.group_coordinates import GroupCoordinates
from garrote.solvers.annealing import Annealed
from garrote.solvers.control import Control, residuals
from garrote.solvers.garrote.certificate import free_energy
from garrote.solvers.garrote.coordinate_annealing import Annealer
from garrote.solvers.labels.bound_annealing import anneal_bound
from garrote.solvers.labels.logistic_bound import LabelFit, LogisticBound
from garrote.solvers.lockstep import Solver, run_together

# Prior log odds at which no variable is in.
_NOBODY = -200.0


class Predicted(NamedTuple):
    """Mean responses, in the units of a fold's problem: without variables, and at each gamma.

    Folds are not certified: their errors decide on gamma, and nothing else is taken from them. At each
    gamma the branch of lower free energy comes last.
    """

    null: Floats
    means: Iterator[tuple[int, Floats]]


class Garrote(Protocol):
    """How the path of all rows is solved, and how a fold's is."""

    @property
    def fold_tolerance(self) -> float:
        """The tolerance of folds.

        Held-out errors carry sampling noise far above it. The curve of errors is right to a fraction of
        the differences between neighbouring gammas, which choose.
        """

    def path(self, problem: Problem, gammas: Floats, control: Control) -> Solver:
        """Return the solver of the path of all rows."""

    def predict(
        self, problem: Problem, gammas: Floats, control: Control, wanted: Array
    ) -> Generator[Floats, Floats, Predicted]:
        """Solve a fold, and predict the rows that are wanted."""


def anneal_garrote(garrote: Garrote, whole: Problem, gammas: Floats, control: Control) -> Any:
    """Fit the path on all rows, without folds."""
    (found,) = run_together([garrote.path(whole, gammas, control)], stored_design(whole))
    return found


def cross_validate_garrote(
    garrote: Garrote,
    whole: Problem,
    folds: Sequence[Fold],
    gammas: Floats,
    control: Control,
    n_jobs: int | None = None,
) -> tuple[Any, CrossValidation]:
    """Fit the path on all rows and on every fold; return it with the folds' held-out errors."""
    tol = max(control.tol, garrote.fold_tolerance)
    loose = replace(control, tol=tol, callback=None)
    whole, folds = _with_shared_moments(whole, folds)
    hold_out = partial(_hold_out, garrote=garrote, gammas=gammas, control=loose)
    solving = garrote.path(whole, gammas, control)
    return cross_validate(hold_out, folds, whole, solving, n_jobs)


def _with_shared_moments(whole: Problem, folds: Sequence[Fold]) -> tuple[Problem, Sequence[Fold]]:
    """Compute X'X once where that is cheaper; a fold's is that less its held-out rows' products."""
    if not whole.compressible:
        return whole, folds
    whole = whole.with_known_gram()
    gram = whole.whole_gram()
    shared = []
    for fold in folds:
        parts = np.allclose(fold.problem.weights + fold.held_out, whole.weights)
        if parts and not len(whole.scale.covariates) and fold.problem.compressible:
            without = whole.table.gram_without(gram, fold.problem.table, fold.held_out)
            fold = replace(fold, problem=replace(fold.problem, known_gram=without))
        shared.append(fold)
    return whole, shared


def _hold_out(
    fold: Fold, shown: Array, garrote: Garrote, gammas: Floats, control: Control
) -> Generator[Floats, Floats, HeldOut]:
    """Solve one fold and measure it at each gamma on the rows that it holds out."""
    problem = fold.problem
    wanted = fold.held_out > 0
    wanted[shown] = True
    found = yield from garrote.predict(problem, gammas, control, wanted)
    errors, kept = np.full(len(gammas), np.nan), np.full((len(gammas), len(shown)), np.nan)
    scores: dict[int, Scores | None] = {}
    for k, mean in found.means:
        scores[k] = fold.label_scores(mean)
        errors[k] = fold.error(problem.likelihood.link(mean))
        kept[k] = (problem.response - mean)[shown] * problem.scale.response_scale
    null = fold.error(problem.likelihood.link(found.null))
    return HeldOut(errors, kept, null, together([scores.get(k) for k in range(len(gammas))]))


@dataclass(frozen=True)
class GarroteOfNumbers:
    """The garrote of a Gaussian response, under the prior that a problem has.

    ``solver`` is that of the path. Folds are always solved by coordinate sweeps: all solvers solve the
    same equations, but not to the same digits, nor to the same of several optima, and the choice of
    gamma must not depend on that.
    """

    prior_for: Callable[[Problem], SpikeTerms]
    solver: str = "coordinate"
    fold_tolerance: float = 0.01

    def path(self, problem: Problem, gammas: Floats, control: Control) -> Solver:
        """Return the solver of the path of all rows, in coordinates of groups where there are some."""
        terms = self.prior_for(problem)
        seen = GroupCoordinates.of(problem, terms.groups).problem
        return start_solver(seen, terms, gammas, control, self.solver)

    def predict(
        self, problem: Problem, gammas: Floats, control: Control, wanted: Array
    ) -> Generator[Floats, Floats, Predicted]:
        """Solve a fold, and predict the rows that are wanted."""
        terms = self.prior_for(problem)
        problem = GroupCoordinates.of(problem, terms.groups).problem
        found = yield from Annealer(problem, terms, control).trace(gammas)
        return Predicted(np.zeros(len(problem.response)), _means(problem, terms, found))


def _means(
    problem: Problem, terms: SpikeTerms, found: Annealed[Fit]
) -> Iterator[tuple[int, Floats]]:
    """Yield what both directions predict, where the second is better than the first."""
    energies = np.full(len(found.forward), np.inf)
    for points in (found.forward, found.backward):
        known = found.forward if points is found.backward else [None] * len(points)
        fresh = [k for k, p in enumerate(points) if p is not known[k]]
        for first in range(0, len(fresh), problem.columns_together):
            group = fresh[first : first + problem.columns_together]
            for k, residual in zip(
                group, residuals(problem, [points[k] for k in group]), strict=True
            ):
                squared = float(residual**2 @ problem.weights)
                energy = free_energy(problem, terms, points[k], squared)
                if energy < energies[k]:
                    energies[k] = energy
                    yield k, problem.response - residual


@dataclass(frozen=True)
class GarroteOfLabels:
    """The garrote of labels by the bound of all rows, with a slab of known variance."""

    whole: LogisticBound
    variance: float
    fold_tolerance: float = 2e-3

    def path(self, problem: Problem, gammas: Floats, control: Control) -> Solver:
        """Return the solver of the path of all rows."""
        yield from ()  # a solver like the others, though it shares no pass over X
        return anneal_bound(self.whole, gammas, self.variance)

    def predict(
        self, problem: Problem, gammas: Floats, control: Control, wanted: Array
    ) -> Generator[Floats, Floats, Predicted]:
        """Solve a fold, and predict the rows that are wanted."""
        yield from ()
        groups = self.whole.groups
        seen = GroupCoordinates.of(problem, groups, projected=False).problem
        bound = LogisticBound(seen, self.whole.offsets, control, certifies=False, groups=groups)
        null = bound.solve(_NOBODY, bound.empty(_NOBODY, self.variance))
        found = anneal_bound(bound, gammas, self.variance)
        # Predictions are measured as they will be made, by the likelihood's own curvature.
        wide = (bound.widened(one) for one in found.solutions)
        means = ((k, _averaged(problem, one, wanted)) for k, one in enumerate(wide))
        return Predicted(_averaged(problem, null, wanted), means)


def _averaged(problem: Problem, solution: LabelFit, rows: Array) -> Floats:
    """Return the mean labels of some rows, averaged over their linear predictors; one half elsewhere."""
    means = np.full(len(problem.response), 0.5)
    means[rows] = gaussian_mean(problem.likelihood, solution.eta[rows], solution.eta_variance[rows])
    return means
