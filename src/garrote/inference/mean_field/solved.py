"""Solutions of the mean field by the priors where they were found, and their bounds on the evidence."""

from collections.abc import Sequence
from typing import NamedTuple

from garrote.inference.beliefs import Beliefs
from garrote.inference.mean_field.evidence_bound import evidence_bounds
from garrote.inference.mean_field.factorised import Component
from garrote.inference.mean_field.following import Place
from garrote.inference.mean_field.hyperparameters import Hyperparameters
from garrote.inference.mean_field.paired_mean_field import slab_factors, slab_prior
from garrote.inference.mean_field.prior_grid import Cell
from garrote.paths.annealed import stored_design
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.solvers.control import Control
from garrote.solvers.garrote.exploring import explore
from garrote.solvers.garrote.starts import Optima, distinct_optima
from garrote.solvers.lockstep import run_together

Solutions = dict[Place, list[Fit]]


class GridPrior(NamedTuple):
    """A grid point of hyperparameters, and the cell of the grid that it represents."""

    at: Hyperparameters
    cell: Cell


class Found(NamedTuple):
    """Solutions by their priors, of which the best has ``optima`` that were looked for."""

    priors: dict[Place, GridPrior]
    solutions: Solutions
    best: Place
    optima: Optima
    converged: bool
    how: str
    path: Path | None = None


def component(problem: Problem, prior: GridPrior, fit: Fit) -> Component:
    """Return a solution with the spreads of its weights."""
    factors = slab_factors(prior.cell.slab)
    return fit, factors.spreads(fit.weight, problem.curvature[fit.columns], fit.precision)


def bounds_of(
    problem: Problem, beliefs: Beliefs, priors: dict[Place, GridPrior], solutions: Solutions
) -> dict[Place, list[float]]:
    """Return the bound of every solution, integrated over the priors it stands for."""
    pairs = [(priors[place].cell, fit) for place, fits in solutions.items() for fit in fits]
    every = iter(evidence_bounds(problem, beliefs, pairs))
    return {place: [next(every) for _ in fits] for place, fits in solutions.items()}


def look_around(
    problem: Problem,
    beliefs: Beliefs,
    prior: GridPrior,
    rivals: dict[str, Fit],
    annealed: Sequence[Fit],
    control: Control,
) -> Optima:
    """Try other starts and orders at one prior; return the distinct optima."""
    terms = slab_prior(problem, beliefs, prior.cell.slab)
    task = explore(problem, terms, prior.at.log_odds, annealed, control)
    (others,) = run_together([task], stored_design(problem))
    return distinct_optima(problem, rivals | others)
