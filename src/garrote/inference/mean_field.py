"""Mean-field posteriors under a proper slab, averaged over what is not known, and audited.

Each (w_j, s_j) has its own factor (Titsias & Lazaro-Gredilla 2011; Carbonetto & Stephens 2012). The slab
variance and the prior log odds gamma are averaged over: for every slab variance of a grid the solution
is annealed and reheated over gamma, and solutions are weighted by their bounds on the evidence. Or they
are set, by EM or by annealing pi (`garrote.inference.paired_mean_field`). Other starts and orders of
updating are tried at the best of them, and the distinct optima enter with their own weights: a mixture,
as Iba wished. What a factorised posterior misses shows in the audit: all models of the most probable
variables are summed exactly, the others being held at their mean-field values.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, expit, logit

from garrote.arrays import Floats
from garrote.inference.auditing import audit
from garrote.inference.beliefs import Beliefs
from garrote.inference.factorised import Average, Factorised, factorised_posterior
from garrote.inference.hyperparameters import Learning
from garrote.inference.paired_mean_field import (
    Paired,
    anneal_paired,
    dense_side,
    fit_paired,
    resettle,
    slab_prior,
)
from garrote.paths import fit_path, stored_design
from garrote.priors.slab import GaussianSlab
from garrote.problem import Problem
from garrote.results import Fit, Path
from garrote.solvers.annealing import Control
from garrote.solvers.exploring import explore
from garrote.solvers.lockstep import run_together
from garrote.solvers.starts import Optima, Reached, distinct_optima

HYPERPARAMETERS = ("average", "em", "anneal")

# Log slab variances that are averaged over where it is unknown: first, last, how many. Those far out
# are tried only if the ones before have weight.
_LOG_VARIANCES = (-16.0, 24.0, 21)
# Log odds that are averaged over where the inclusion probability is unknown, and those on the way there.
_ODDS = 16
_APPROACH = 10
# Slab variances beyond one whose solutions have so little log weight beside the best have even less.
_NEGLIGIBLE = 10.0


class _Solution(NamedTuple):
    """A solution, the logarithm of its weight in the average, and its slab."""

    log_weight: float
    fit: Fit
    slab: GaussianSlab


class _Found(NamedTuple):
    """All solutions of one way to treat the hyperparameters.

    ``kept`` names the way to the best of them among its ``rivals``, which have its hyperparameters;
    ``annealed`` are solutions from sparse to dense.
    """

    solutions: list[_Solution]
    kept: str
    rivals: list[Reached]
    annealed: Sequence[Fit]
    converged: bool
    how: str
    path: Path | None = None

    @property
    def best(self) -> _Solution:
        return max(self.solutions, key=lambda one: one.log_weight)


def mean_field_posterior(
    problem: Problem,
    beliefs: Beliefs,
    names: tuple[str, ...],
    control: Control,
    hyperparameters: str = "average",
) -> Factorised:
    """Solve, average, try other starts and orders, audit, and change to the user's units."""
    Learning.under(beliefs, "mean-field")  # refuses other slabs
    ways = {"average": _average_over_grid, "em": _learn_by_em, "anneal": _learn_by_annealing}
    found = ways[hyperparameters](problem, beliefs, control)
    best = found.best
    prior = slab_prior(problem, beliefs, best.slab)
    task = explore(problem, prior, best.fit.strength, found.annealed, control)
    (others,) = run_together([task], stored_design(problem))
    optima = distinct_optima(problem, [*found.rivals, *others])
    average = Average(problem.n_features)
    for one in (*found.solutions, *_unseen(best, found.kept, optima)):
        c = problem.curvature[one.fit.columns]
        spread = one.fit.noise_variance / (c + 1.0 / (one.slab.variance or 1.0))
        average.add(one.log_weight, one.fit, spread)
    checked = audit(problem, beliefs, average.inclusion, average.mean, average.variance)
    posterior = factorised_posterior(problem, beliefs, average, optima, names, checked)
    return Factorised(posterior, optima.fits[0], found.converged, found.how, found.path)


def _unseen(best: _Solution, kept: str, optima: Optima) -> list[_Solution]:
    """Return the optima beside the best solution, with weights by their free energies."""
    return [
        best._replace(log_weight=best.log_weight + best.fit.free_energy - fit.free_energy, fit=fit)
        for fit, reached in zip(optima.fits, optima.reached, strict=True)
        if kept not in reached.split(", ")
    ]


def _average_over_grid(problem: Problem, beliefs: Beliefs, control: Control) -> _Found:
    """Anneal and reheat over the log odds for each slab variance of a grid.

    From the middle of the grid outwards, in either direction as far as solutions have weight.
    """
    assert isinstance(beliefs.slab, GaussianSlab)
    grid = beliefs.slab.grid(_LOG_VARIANCES)
    middle = int(np.argmin([abs(np.log(slab.variance or 1.0)) for _, slab in grid]))
    paths: dict[GaussianSlab, Path] = {}
    solutions: list[_Solution] = []
    for outwards in (grid[middle:], grid[:middle][::-1]):
        for log_weight, slab in outwards:
            path, found = _average_over_odds(problem, beliefs, slab, control)
            found = [one._replace(log_weight=one.log_weight + log_weight) for one in found]
            paths[slab] = path
            solutions += found
            if found and _highest(found) < _highest(solutions) - _NEGLIGIBLE:
                break
    if not solutions:
        raise ValueError("no solution with the prior odds could be reached: too few rows")
    converged = all(one.fit.certificate.value <= control.tol for one in solutions)
    best = max(solutions, key=lambda one: one.log_weight)
    path = paths[best.slab]
    position = path.index(best.fit.strength)
    rivals = [
        Reached("annealed", path.forward[position]),
        Reached("reheated", path.backward[position]),
    ]
    kept = "reheated" if path.kept[position] == "backward" else "annealed"
    how = "by mean field over a grid of priors"
    return _Found(solutions, kept, rivals, path.forward, converged, how)


def _highest(solutions: list[_Solution]) -> float:
    return max(one.log_weight for one in solutions)


def _average_over_odds(
    problem: Problem, beliefs: Beliefs, slab: GaussianSlab, control: Control
) -> tuple[Path, list[_Solution]]:
    """Return the path over the log odds for one slab, and its solutions with their weights."""
    gammas, log_prior = odds_grid(beliefs, max(len(problem.usable), 1))
    path = fit_path(problem, slab_prior(problem, beliefs, slab), gammas, control=control)
    offsets = beliefs.inclusion.log_odds
    solutions = []
    for fit, wanted in zip(path.fits, log_prior, strict=False):
        if np.isfinite(wanted):
            bound = -fit.free_energy - float(np.logaddexp(0.0, fit.strength + offsets).sum())
            solutions.append(_Solution(wanted + bound, fit, slab))
    return path, solutions


def _learn_by_em(problem: Problem, beliefs: Beliefs, control: Control) -> _Found:
    found = fit_paired(problem, beliefs, control=control)
    solution = _as_solution(beliefs, found)
    how = f"by mean field, hyperparameters by EM ({_said(found)})"
    return _Found([solution], "EM", [Reached("EM", found.fit)], [found.fit], found.converged, how)


def _learn_by_annealing(problem: Problem, beliefs: Beliefs, control: Control) -> _Found:
    whole = anneal_paired(problem, beliefs, control=control)
    wanted = whole
    if beliefs.inclusion.shared is None:  # the odds are given: gamma = 0 is what they say
        there = [one.at.log_odds == 0.0 for one in whole.forward]
        if not any(there):
            raise ValueError("no solution with the prior odds could be reached: too few rows")
        here = slice(there.index(True), there.index(True) + 1)
        wanted = replace(whole, forward=whole.forward[here], backward=whole.backward[here])
    best = wanted.best
    place = [one.at.log_odds for one in whole.forward].index(best.at.log_odds)
    sides = {"annealed": whole.forward[place], "reheated": whole.backward[place]}
    kept = next(side for side, one in sides.items() if one.fit is best.fit)
    rivals = [
        Reached(
            side,
            one.fit if side == kept else resettle(problem, beliefs, one.fit, best.at, control).fit,
        )
        for side, one in sides.items()
    ]
    how = f"by mean field, pi annealed and reheated ({_said(best)})"
    return _Found(
        [_as_solution(beliefs, best)],
        kept,
        rivals,
        [one.fit for one in whole.forward],
        best.converged,  # others on the path are on the way only
        how,
        whole.path(problem),
    )


def _as_solution(beliefs: Beliefs, found: Paired) -> _Solution:
    assert isinstance(beliefs.slab, GaussianSlab)
    slab = replace(beliefs.slab, variance=found.at.variance)
    return _Solution(found.objective, found.fit, slab)


def _said(found: Paired) -> str:
    pi = float(expit(found.at.log_odds))
    return f"slab variance {found.at.variance:.3g}, prior probability {pi:.3g}"


def odds_grid(beliefs: Beliefs, usable: int) -> tuple[Floats, Floats]:
    """Return log odds to anneal over and their log prior weights, -inf for those on the way only."""
    shared, offsets = beliefs.inclusion.shared, beliefs.inclusion.log_odds
    if shared is None:  # each variable's odds are its own: gamma is 0
        dense = dense_side(0.0, offsets)
        gammas = np.concatenate([np.linspace(-15.0, 0.0, _APPROACH + 1), dense])
        return gammas, np.where(gammas == 0.0, 0.0, -np.inf)
    a, b = shared
    low = float(logit(min(0.1 / usable, 0.4)))
    high = float(logit(min(max(beliefs.n / 4, 1.0) / usable, 0.5)))
    grid = np.linspace(low, max(high, low + 1.0), _ODDS)
    p = expit(grid)
    log_prior = a * np.log(p) + b * np.log1p(-p) - betaln(a, b)
    approach, dense = low - 3.0 * np.arange(_APPROACH, 0, -1), dense_side(grid[-1], offsets)
    weights = [np.full(len(approach), -np.inf), log_prior, np.full(len(dense), -np.inf)]
    return np.concatenate([approach, grid, dense]), np.concatenate(weights)
