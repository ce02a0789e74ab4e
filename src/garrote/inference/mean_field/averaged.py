"""Mean-field posteriors under a proper slab, averaged over what is not known, and audited.

Each (w_j, s_j) has its own factor (Titsias & Lazaro-Gredilla 2011; Carbonetto & Stephens 2012). The slab
variance and the prior log odds gamma are averaged over: for every slab variance of a grid the solution
is annealed and reheated over gamma. Or they are set, by EM or by annealing pi
(`garrote.inference.mean_field.paired_mean_field`). Other starts and orders of updating are tried at the
best of them, and the optima that these lead to are followed over the grid. The posterior is the mixture
of all distinct optima at all priors, weighted by their bounds on the evidence, as Iba wished. What it
misses shows in the audit: all models of the most probable variables are summed exactly, the others
being held at their mean-field values.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logsumexp

from garrote.arrays import Floats
from garrote.inference.auditing import audit
from garrote.inference.beliefs import Beliefs
from garrote.inference.mean_field.evidence_bound import evidence_bounds, mix_priors
from garrote.inference.mean_field.factorised import Average, Component, factorised_posterior
from garrote.inference.mean_field.following import Place, follow
from garrote.inference.mean_field.hyperparameters import Hyperparameters, Learning
from garrote.inference.mean_field.paired_mean_field import (
    Paired,
    PairedSetup,
    anneal_paired,
    fit_paired,
    paired_path,
    slab_prior,
    solve_at,
)
from garrote.inference.mean_field.prior_grid import Cell, odds_ranges, variance_ranges, whole_cell
from garrote.inference.methods import MeanField
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.paths.annealed import fit_path, stored_design
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.solvers.control import Control, same_solution
from garrote.solvers.garrote.exploring import explore
from garrote.solvers.garrote.starts import DISTINCT, Optima, distinct_optima
from garrote.solvers.lockstep import run_together

# Sweeps of one solution, at most, by default.
MOST_SWEEPS = 10_000
# Slab variances beyond one whose solutions have so little log weight beside the best have even less.
_NEGLIGIBLE = 10.0
# Optima are followed whose bounds are this near to the best one's, and to priors that are as near.
_FOLLOWED = 7.0


Solutions = dict[Place, list[Fit]]


class _Prior(NamedTuple):
    """A grid point of hyperparameters, and the cell of the grid that it represents."""

    at: Hyperparameters
    cell: Cell


class _Found(NamedTuple):
    """Solutions by their priors, of which the best has ``optima`` that were looked for."""

    priors: dict[Place, _Prior]
    solutions: Solutions
    best: Place
    optima: Optima
    converged: bool
    how: str
    path: Path | None = None


def mean_field_posterior(task: Task, method: MeanField) -> Inferred:
    """Solve, try other starts and orders, mix, audit, and change to the user's units."""
    problem, beliefs = task.problem, task.beliefs
    Learning.under(beliefs, method.name)  # refuses other slabs
    ways = {"average": _average_over_grid, "em": _learn_by_em, "anneal": _learn_by_annealing}
    control = task.control(method.tol, method.max_iter or MOST_SWEEPS)
    found = ways[method.hyperparameters](problem, beliefs, control)
    average, weights, log_evidence = _mixture(problem, beliefs, found)
    checked = audit(problem, beliefs, average.inclusion, average.mean, average.variance)
    posterior = factorised_posterior(
        problem, beliefs, average, found.optima, weights, task.names, checked, log_evidence
    )
    return Inferred(
        with_substitutes(problem, posterior), found.optima.fits[0].certificate, method.name,
        found.how, found.converged, found.path, beliefs.doubts(None),
    )  # fmt: skip


def _mixture(problem: Problem, beliefs: Beliefs, found: _Found) -> tuple[Average, Floats, float]:
    """Mix all solutions; return also the weights of the optima, and the bound on the log evidence."""
    components: list[Component] = []
    for place, fits in found.solutions.items():
        ridge = 1.0 / found.priors[place].at.variance
        components += [
            (fit, fit.noise_variance / (problem.curvature[fit.columns] + ridge)) for fit in fits
        ]
    bounds = _bounds(problem, beliefs, found.priors, found.solutions)
    logs, weights = mix_priors(bounds, found.solutions, found.best)
    return Average(problem.n_features, logs, components), weights, float(logsumexp(logs))


def _bounds(
    problem: Problem, beliefs: Beliefs, priors: dict[Place, _Prior], solutions: Solutions
) -> dict[Place, list[float]]:
    """Return the bound of every solution, integrated over the priors it stands for."""
    pairs = [(priors[place].cell, fit) for place, fits in solutions.items() for fit in fits]
    every = iter(evidence_bounds(problem, beliefs, pairs))
    return {place: [next(every) for _ in fits] for place, fits in solutions.items()}


class _Grid(NamedTuple):
    """What annealing finds over a grid: by prior, by slab variance, and the highest bound of a prior."""

    priors: dict[Place, _Prior]
    solutions: Solutions
    paths: dict[int, Path]
    highest: dict[Place, float]


def _average_over_grid(problem: Problem, beliefs: Beliefs, control: Control) -> _Found:
    """Anneal over a grid of priors, look around at the best one, and follow all optima over the grid."""
    priors, solutions, paths, highest = _anneal_over_grid(problem, beliefs, control)
    if not solutions:
        raise ValueError("no solution with the prior odds could be reached: too few rows")
    best = max(highest, key=lambda at: highest[at])
    path = paths[best.variance]
    optima = _look_around(
        problem, beliefs, priors[best].at, _both(path, best.odds), path.forward, control
    )
    solutions[best] = list(optima.fits)
    if len(optima.fits) > 1:
        bounds = _bounds(problem, beliefs, priors, {best: solutions[best]})[best]
        least = max(bounds) - _FOLLOWED
        near = [fit for fit, bound in zip(optima.fits, bounds, strict=True) if bound > least]
        at = {place: prior.at for place, prior in priors.items() if highest[place] > least}
        _follow(PairedSetup.of(problem, beliefs, control), at, solutions, best, near)
    converged = all(
        fit.certificate.value <= control.tol for fits in solutions.values() for fit in fits
    )
    how = "by mean field over a grid of priors"
    return _Found(priors, solutions, best, optima, converged, how)


def _follow(
    setup: PairedSetup,
    priors: dict[Place, Hyperparameters],
    found: Solutions,
    origin: Place,
    optima: Sequence[Fit],
) -> None:
    """Add optima of one prior to those of others, where they converge and do not interpolate."""
    most = max(setup.problem.most_variables, 1.0)

    def solve(fit: Fit, place: Place) -> Fit | None:
        after = solve_at(setup, fit, priors[place]).fit
        converged = after.certificate.value <= setup.control.tol
        return after if converged and after.expected_size <= most else None

    def same(one: Fit, other: Fit) -> bool:
        return same_solution(one, other, setup.problem, DISTINCT)

    follow(optima, found, origin, priors, solve, same)


def _anneal_over_grid(problem: Problem, beliefs: Beliefs, control: Control) -> _Grid:
    """Anneal and reheat over the log odds for each slab variance of a grid.

    From the middle of the grid outwards, in either direction as far as solutions have weight.
    """
    grid = variance_ranges(beliefs.prior)
    gammas, ranges = odds_ranges(beliefs)
    middle = int(np.argmin([abs(np.log(slab.variance or 1.0)) for slab, _ in grid]))
    found = _Grid({}, {}, {}, {})
    for outwards in (range(middle, len(grid)), range(middle - 1, -1, -1)):
        for row in outwards:
            slab, variances = grid[row]
            prior = slab_prior(problem, beliefs, slab)
            path = found.paths[row] = fit_path(problem, prior, gammas, control=control)
            priors = {
                Place(row, k): _Prior(
                    Hyperparameters(float(slab.variance or 1.0), float(gamma)),
                    Cell(variances, odds),
                )
                for k, (gamma, odds) in enumerate(zip(gammas, ranges, strict=True))
                if odds is not None and k < len(path)
            }
            there = {at: list(distinct_optima(problem, _both(path, at.odds)).fits) for at in priors}
            found.priors.update(priors)
            found.solutions.update(there)
            bounds = _bounds(problem, beliefs, priors, there)
            found.highest.update({at: max(each) for at, each in bounds.items()})
            least = max(found.highest.values(), default=0.0) - _NEGLIGIBLE
            if priors and max(found.highest[at] for at in priors) < least:
                break
    return found


def _both(path: Path, place: int) -> dict[str, Fit]:
    """Return the annealed and the reheated solution of a path."""
    return {"annealed": path.forward[place], "reheated": path.backward[place]}


def _look_around(
    problem: Problem,
    beliefs: Beliefs,
    at: Hyperparameters,
    rivals: dict[str, Fit],
    annealed: Sequence[Fit],
    control: Control,
) -> Optima:
    """Try other starts and orders at one prior; return the distinct optima."""
    prior = slab_prior(problem, beliefs, beliefs.prior.at(at.variance))
    task = explore(problem, prior, at.log_odds, annealed, control)
    (others,) = run_together([task], stored_design(problem))
    return distinct_optima(problem, rivals | others)


def _at_one_prior(
    problem: Problem,
    beliefs: Beliefs,
    best: Paired,
    rivals: dict[str, Fit],
    annealed: Sequence[Fit],
    control: Control,
) -> _Found:
    """Return the optima at hyperparameters that were learned; they stand for all others."""
    optima = _look_around(problem, beliefs, best.at, rivals, annealed, control)
    here = Place(0, 0)
    cell = whole_cell(Learning.under(beliefs, "mean-field"), beliefs)
    return _Found(
        {here: _Prior(best.at, cell)}, {here: list(optima.fits)}, here, optima, best.converged, ""
    )


def _learn_by_em(problem: Problem, beliefs: Beliefs, control: Control) -> _Found:
    best = fit_paired(problem, beliefs, control=control)
    found = _at_one_prior(problem, beliefs, best, {"EM": best.fit}, [best.fit], control)
    return found._replace(how=f"by mean field, hyperparameters by EM ({_in_words(best)})")


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
    setup = PairedSetup.of(problem, beliefs, control)
    rivals = {
        side: one.fit if one.fit is best.fit else solve_at(setup, one.fit, best.at).fit
        for side, one in sides.items()
    }
    found = _at_one_prior(
        problem, beliefs, best, rivals, [one.fit for one in whole.forward], control
    )  # other solutions on the path are on the way only
    how = f"by mean field, pi annealed and reheated ({_in_words(best)})"
    return found._replace(how=how, path=paired_path(problem, whole))


def _in_words(found: Paired) -> str:
    pi = float(expit(found.at.log_odds))
    return f"slab variance {found.at.variance:.3g}, prior probability {pi:.3g}"
