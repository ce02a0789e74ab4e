"""Choosing gamma of the Variational Garrote by cross-validated squared errors."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from garrote.arrays import Array, Floats
from garrote.paths.annealed import start_solver
from garrote.priors.garrote import GarrotePrior
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.selecting.cross_validation import CrossValidation, Fold, HeldOut, cross_validate
from garrote.solvers.control import Control, residuals
from garrote.solvers.garrote.certificate import free_energy
from garrote.solvers.garrote.variational import Annealer

# Held-out errors carry sampling noise far above this, so folds are not solved any tighter. The curve of
# errors is then right to a fraction of the differences between neighbouring gammas, which choose.
_FOLD_TOLERANCE = 0.01


def cross_validate_garrote(
    whole: Problem,
    prior_for: Callable[[Problem], GarrotePrior],
    folds: Sequence[Fold],
    gammas: Floats,
    control: Control,
    solver: str = "coordinate",
    n_jobs: int | None = None,
) -> tuple[Path[Fit], CrossValidation]:
    """Fit the path on all rows and on every fold; return it with the folds' held-out errors.

    ``solver`` is that of the path. Folds are always solved by coordinate sweeps: all solvers solve the
    same equations, but not to the same digits, nor to the same of several optima, and the choice of
    gamma must not depend on that.
    """
    loose = replace(control, tol=max(control.tol, _FOLD_TOLERANCE), callback=None)
    whole, folds = _with_shared_moments(whole, folds)
    hold_out = partial(_hold_out, prior_for=prior_for, gammas=gammas, control=loose)
    solving = start_solver(whole, prior_for(whole), gammas, control, solver)
    return cross_validate(hold_out, folds, whole, solving, n_jobs)


def _with_shared_moments(whole: Problem, folds: Sequence[Fold]) -> tuple[Problem, Sequence[Fold]]:
    """Compute X'X once where it pays; a fold's is that less the products of its held-out rows."""
    if not whole.compressible:
        return whole, folds
    whole = whole.with_known_gram()
    gram = whole.whole_gram()
    shared = []
    for fold in folds:
        parts = np.allclose(fold.problem.weights + fold.held_out, whole.weights)
        if parts and not len(whole.scale.covariates) and fold.problem.compressible:
            own = whole.table.gram_without(gram, fold.problem.table, fold.held_out)
            fold = replace(fold, problem=replace(fold.problem, known_gram=own))
        shared.append(fold)
    return whole, shared


def _hold_out(
    fold: Fold,
    shown: Array,
    prior_for: Callable[[Problem], GarrotePrior],
    gammas: Floats,
    control: Control,
) -> Generator[Floats, Floats, HeldOut]:
    """Solve one fold and measure it at each gamma on the rows that it holds out.

    At each gamma the branch of lower free energy predicts. Folds are not certified: their errors
    decide on gamma, and nothing else is taken from them.
    """
    problem, prior = fold.problem, prior_for(fold.problem)
    found = yield from Annealer(problem, problem.compressed(), prior, control).trace(gammas)
    errors, energies = np.full(len(gammas), np.nan), np.full(len(gammas), np.inf)
    kept = np.full((len(gammas), len(shown)), np.nan)
    for points in (found.forward, found.backward):
        known = found.forward if points is found.backward else [None] * len(points)
        fresh = [k for k, p in enumerate(points) if p is not known[k]]
        for first in range(0, len(fresh), problem.columns_together):
            group = fresh[first : first + problem.columns_together]
            for k, row in zip(group, residuals(problem, [points[k] for k in group]), strict=True):
                squared = float(row**2 @ problem.weights)
                energy = free_energy(problem, prior, points[k], squared)
                if energy < energies[k]:
                    energies[k], errors[k] = energy, _squared_error(fold, row)
                    kept[k] = row[shown] * problem.scale.response_scale
    return HeldOut(errors, kept, _squared_error(fold, problem.response))


def _squared_error(fold: Fold, residual: Floats) -> float:
    return fold.mean_error(residual**2) * fold.problem.scale.response_scale**2
