"""Mean-field posteriors under a proper slab, averaged over what is not known, and audited.

Each (w_j, s_j) has its own factor (Titsias & Lazaro-Gredilla 2011; Carbonetto & Stephens 2012). The slab
variance and the prior log odds gamma are averaged over: for every slab variance of a grid the solution
is annealed and reheated over gamma. Or they are set, by EM or by annealing pi
(`garrote.inference.mean_field.learned`). A slab of unknown shape has such a grid for every shape. Other
starts and orders of updating are tried at the best of them, and the optima that these lead to are
followed over the grid. The posterior is the mixture of all distinct optima at all priors, weighted by
their bounds on the evidence, as Iba wished. What it misses shows in the audit: all models of the most
probable variables are summed exactly, the others being held at their mean-field values.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from garrote.arrays import Floats
from garrote.inference.auditing import audit
from garrote.inference.beliefs import Beliefs
from garrote.inference.mean_field.evidence_bound import mix_priors
from garrote.inference.mean_field.factorised import Average, factorised_posterior
from garrote.inference.mean_field.following import Place, follow
from garrote.inference.mean_field.hyperparameters import Hyperparameters, Learning
from garrote.inference.mean_field.learned import learn_by_annealing, learn_by_em
from garrote.inference.mean_field.paired_mean_field import (
    PairedSetup,
    fit_paired,
    slab_prior,
    solve_paired,
)
from garrote.inference.mean_field.prior_grid import (
    Cell,
    Range,
    odds_ranges,
    variance_ranges,
)
from garrote.inference.mean_field.solved import (
    Found,
    GridPrior,
    Solutions,
    bounds_of,
    component,
    look_around,
)
from garrote.inference.methods import MeanField
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.paths.annealed import fit_path
from garrote.priors.slab import IndependentSlab
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.results.shapes import SlabShapes
from garrote.solvers.control import Control, same_solution
from garrote.solvers.garrote.starts import DISTINCT, distinct_optima

# Sweeps of one solution, at most, by default.
MOST_SWEEPS = 10_000
# Slab variances beyond one whose solutions have so little log weight beside the best have even less.
_NEGLIGIBLE = 10.0
# Optima are followed whose bounds are this near to the best one's, and to priors that are as near.
_FOLLOWED = 7.0


def mean_field_posterior(task: Task, method: MeanField) -> Inferred:
    """Solve, try other starts and orders, mix, audit, and change to the user's units."""
    problem, beliefs = task.problem, task.beliefs
    Learning.under(beliefs, method.name)  # refuses other slabs
    ways = {"average": _average_over_grid, "em": learn_by_em, "anneal": learn_by_annealing}
    control = task.control(method.tol, method.max_iter or MOST_SWEEPS)
    found = ways[method.hyperparameters](problem, beliefs, control)
    average, weights, log_evidence, shapes = _mixture(problem, beliefs, found)
    checked = audit(problem, beliefs, average.inclusion, average.mean, average.variance)
    posterior = factorised_posterior(
        problem, beliefs, average, found.optima, weights, task.names, checked, log_evidence, shapes
    )
    how = found.how if shapes is None else f"{found.how}; {shapes}"
    return Inferred(
        with_substitutes(problem, posterior), found.optima.fits[0].certificate, method.name,
        how, found.converged, found.path, beliefs.doubts(None),
    )  # fmt: skip


def _mixture(
    problem: Problem, beliefs: Beliefs, found: Found
) -> tuple[Average, Floats, float, SlabShapes | None]:
    """Mix all solutions; return also the optima's weights, the bound on the log evidence, and shapes."""
    every = [(place, fit) for place, fits in found.solutions.items() for fit in fits]
    components = [component(problem, found.priors[place], fit) for place, fit in every]
    bounds = bounds_of(problem, beliefs, found.priors, found.solutions)
    logs, weights = mix_priors(bounds, found.solutions, found.best)
    average = Average(problem.n_features, logs, components)
    shapes = _shapes(beliefs, [place.shape for place, _ in every], logs)
    return average, weights, float(logsumexp(logs)), shapes


def _shapes(beliefs: Beliefs, shape: Sequence[int], logs: Sequence[float]) -> SlabShapes | None:
    """Return how probable the shapes of the slab are, by the weights of their solutions."""
    separations = [slab.known_separation for _, slab in beliefs.prior.shapes()]
    if len(set(shape)) == 1:  # there is no other, or it was chosen
        return None
    share = np.bincount(shape, softmax(logs), minlength=len(separations)).astype(np.float64)
    return SlabShapes.of(np.array(separations), share)


class _Grid(NamedTuple):
    """What annealing finds over a grid: by prior, by slab variance, and the highest bound of a prior."""

    priors: dict[Place, GridPrior]
    solutions: Solutions
    paths: dict[tuple[int, int], Path]
    highest: dict[Place, float]

    def best(self, shape: int | None = None) -> Place:
        """Return the prior of the highest bound, of all or of one shape."""
        some = [at for at in self.highest if shape is None or at.shape == shape]
        return max(some, key=lambda at: self.highest[at])


def _average_over_grid(problem: Problem, beliefs: Beliefs, control: Control) -> Found:
    """Anneal over a grid of priors, look around at the best one, and follow all optima over the grid."""
    found = _Grid({}, {}, {}, {})
    for number, (log, shape) in enumerate(beliefs.prior.shapes()):
        _anneal_over_variances(
            problem, beliefs, number, variance_ranges(shape, log), control, found
        )
    if not found.solutions:
        raise ValueError("no solution with the prior odds could be reached: too few rows")
    best = found.best()
    path = found.paths[best.shape, best.variance]
    optima = look_around(
        problem, beliefs, found.priors[best], _both(path, best.odds), path.forward, control
    )
    found.solutions[best] = list(optima.fits)
    if len(optima.fits) > 1:
        bounds = bounds_of(problem, beliefs, found.priors, {best: found.solutions[best]})[best]
        least = max(bounds) - _FOLLOWED
        near = [fit for fit, bound in zip(optima.fits, bounds, strict=True) if bound > least]
        for number, (_, shape) in enumerate(beliefs.prior.shapes()):
            setup = PairedSetup.of(problem, replace(beliefs, prior=shape), control)
            _follow(setup, found, number, best, near, least)
    converged = all(
        fit.certificate.value <= control.tol for fits in found.solutions.values() for fit in fits
    )
    how = "by mean field over a grid of priors"
    return Found(found.priors, found.solutions, best, optima, converged, how)


def _follow(
    setup: PairedSetup, grid: _Grid, shape: int, best: Place, optima: Sequence[Fit], least: float
) -> None:
    """Add optima of the best prior to those of others of a shape that have weight.

    Where they converge and do not interpolate.
    """
    most = max(setup.problem.most_variables, 1.0)
    places = [at for at in grid.priors if at.shape == shape and grid.highest[at] > least]
    if not places:
        return

    def solve(fit: Fit, place: Place) -> Fit | None:
        after = solve_paired(setup, fit, grid.priors[place].at).fit
        converged = after.certificate.value <= setup.control.tol
        return after if converged and after.expected_size <= most else None

    def same(one: Fit, other: Fit) -> bool:
        return same_solution(one, other, setup.problem, DISTINCT)

    origin = best if shape == best.shape else grid.best(shape)
    here = optima if origin is best else [solve(fit, origin) for fit in optima]
    follow([fit for fit in here if fit is not None], grid.solutions, origin, places, solve, same)


def _anneal_over_variances(
    problem: Problem,
    beliefs: Beliefs,
    shape: int,
    grid: list[tuple[IndependentSlab, Range]],
    control: Control,
    found: _Grid,
) -> None:
    """Anneal and reheat over the log odds for each slab variance of a grid; add to what is found.

    From the middle of the grid outwards, in either direction as far as solutions have weight. The middle
    of a further shape is where the shapes before it have most.
    """
    gammas, ranges = odds_ranges(beliefs)
    around = _first_variance(problem, beliefs, control)
    if found.highest:
        around = found.priors[found.best()].at.variance
    middle = int(np.argmin([abs(np.log((slab.variance or 1.0) / around)) for slab, _ in grid]))
    for outwards in (range(middle, len(grid)), range(middle - 1, -1, -1)):
        for row in outwards:
            slab, variances = grid[row]
            path = fit_path(problem, slab_prior(problem, beliefs, slab), gammas, control=control)
            found.paths[shape, row] = path
            priors = {
                Place(row, k, shape): GridPrior(
                    Hyperparameters(float(slab.variance or 1.0), float(gamma)),
                    Cell(variances, odds, slab),
                )
                for k, (gamma, odds) in enumerate(zip(gammas, ranges, strict=True))
                if odds is not None and k < len(path)
            }
            there = {at: list(distinct_optima(problem, _both(path, at.odds)).fits) for at in priors}
            found.priors.update(priors)
            found.solutions.update(there)
            bounds = bounds_of(problem, beliefs, priors, there)
            found.highest.update({at: max(each) for at, each in bounds.items()})
            least = max(found.highest.values(), default=0.0) - _NEGLIGIBLE
            if priors and max(found.highest[at] for at in priors) < least:
                break


def _first_variance(problem: Problem, beliefs: Beliefs, control: Control) -> float:
    """Return the slab variance to begin with: of two humps the one that EM finds for one hump.

    Narrow humps in another place than the effects say nothing of where these are.
    """
    slab = beliefs.prior
    if not (slab.variance_is_unknown and slab.known_separation):
        return 1.0
    one_hump = replace(beliefs, prior=slab.apart(0.0))
    return fit_paired(problem, one_hump, control=control).at.variance


def _both(path: Path, place: int) -> dict[str, Fit]:
    """Return the annealed and the reheated solution of a path."""
    return {"annealed": path.forward[place], "reheated": path.backward[place]}
