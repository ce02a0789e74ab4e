"""Mean-field posteriors of logistic models by the Jaakkola bound, averaged over prior odds, and audited.

gamma is annealed and reheated; at each the slab's variance is set by EM where it is unknown, and a slab
of unknown shape has a path for every shape. The posterior is the mixture of all distinct optima at all
gammas, weighted by their bounds on the evidence. Or one gamma is chosen, that of the highest objective
on the path or by EM, and the best shape: its optima stand for all others.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from garrote.inference.auditing import audit
from garrote.inference.beliefs import Beliefs
from garrote.inference.covariates import with_covariates_of_labels
from garrote.inference.mean_field.evidence_bound import mix_priors, over_log_odds
from garrote.inference.mean_field.following import Place, add_distinct, follow
from garrote.inference.mean_field.hyperparameters import Hyperparameters, Learning, em_steps
from garrote.inference.mean_field.label_optima import look_around
from garrote.inference.mean_field.label_posterior import Weighed, average_of, describe
from garrote.inference.mean_field.paired_mean_field import annealed_odds, odds_towards
from garrote.inference.mean_field.prior_grid import (
    Cell,
    Range,
    odds_ranges,
    whole_cell,
    whole_variance_range,
)
from garrote.inference.methods import MeanField
from garrote.inference.models.signs import ways_under
from garrote.inference.substitutes import with_substitutes
from garrote.inference.task import Inferred, Task
from garrote.limits.costs import MEAN_FIELD_SECONDS, foretell
from garrote.priors.evidence.humps import humps_of, signed_weights
from garrote.priors.slab import EffectSlab
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.results.posterior import Posterior
from garrote.results.shapes import SlabShapes
from garrote.solvers.annealing import Annealed
from garrote.solvers.control import Control
from garrote.solvers.labels.bound_annealing import (
    anneal_bound,
    as_path,
    same_label_fit,
)
from garrote.solvers.labels.bound_rounds import NextVariance
from garrote.solvers.labels.logistic_bound import LabelFit, LogisticBound

# Rounds of the bound for one solution, at most, by default.
MOST_ROUNDS = 1000
# Optima are followed to gammas whose log weight is this near to the best.
_FOLLOWED = 7.0


class _Shape(NamedTuple):
    """What was found with one shape of the slab: the bound, the annealed path, and weights."""

    bound: LogisticBound
    annealed: Annealed[LabelFit]
    weighed: Weighed
    objective: float
    still: bool

    @property
    def best(self) -> LabelFit:
        """The best solution."""
        return max(self.weighed.optima, key=lambda one: one.bound)


class _Solved(NamedTuple):
    """The posterior, the best solution and its shape, whether all converged, and the path, if any."""

    posterior: Posterior
    best: LabelFit
    converged: bool
    path: Path[Fit] | None
    separation: float


def label_mean_field(task: Task, method: MeanField) -> Inferred:
    """Solve, mix, audit, and change to the user's units."""
    problem, beliefs = task.problem, task.beliefs
    what = f"mean field for {len(problem.response)} labels and {task.usable} columns"
    seconds = MEAN_FIELD_SECONDS * len(problem.response) * task.usable
    foretell(what, seconds, "give the prior a variance, and inclusion")
    control = task.control(method.tol, method.max_iter or MOST_ROUNDS)
    found = _solve(problem, beliefs, control, task.names, method.hyperparameters)
    how = f"by mean field with Jaakkola's bound, {_in_words(found, method.hyperparameters)}"
    how = how if found.posterior.shapes is None else f"{how}; {found.posterior.shapes}"
    return Inferred(
        with_substitutes(problem, found.posterior), found.best.certificate, method.name, how,
        found.converged, found.path, beliefs.doubts(None),
    )  # fmt: skip


def _in_words(found: _Solved, hyperparameters: str) -> str:
    variance = f"slab variance {found.best.variance:.3g}"
    if hyperparameters == "average":
        return f"over prior odds ({variance})"
    at = Hyperparameters(found.best.variance, found.best.strength)
    ways = {"em": "hyperparameters by EM", "anneal": "pi annealed and reheated"}
    return f"{ways[hyperparameters]} ({at.in_words(found.separation)})"


def _solve(
    problem: Problem,
    beliefs: Beliefs,
    control: Control,
    names: tuple[str, ...],
    hyperparameters: str,
) -> _Solved:
    """Average over shapes and prior odds, or choose the best of both."""
    shapes: list[_Shape] = []
    for log, slab in beliefs.prior.shapes():
        first = shapes[-1].best.variance if shapes else None
        known = replace(beliefs, prior=slab)
        shapes.append(_solve_shape(problem, known, control, log, first, hyperparameters))
    separations = np.array([slab.known_separation for _, slab in beliefs.prior.shapes()])
    if hyperparameters != "average":
        best_shape = int(np.argmax([one.objective for one in shapes]))
        shapes, separations = [shapes[best_shape]], separations[[best_shape]]
    totals = [float(logsumexp(one.weighed.logs)) for one in shapes]
    chosen = shapes[int(np.argmax(totals))]
    bound, annealed, weighed = chosen.bound, chosen.annealed, chosen.weighed
    moments = average_of([(one.bound, one.weighed.logs, one.weighed.solutions) for one in shapes])
    best, average = chosen.best, moments.average
    place = [one.strength for one in annealed.forward].index(best.strength)
    posterior: Posterior = describe(bound, annealed, place, moments, names, weighed)
    if ways_under(beliefs.prior).fits_labels:
        known = replace(beliefs, prior=EffectSlab(best.variance))
        checked = audit(problem, known, average.inclusion, average.mean, average.variance)
        posterior = replace(posterior, checked=checked)
    posterior = replace(posterior, shapes=SlabShapes.of(separations, softmax(totals)))
    everything = [one for shape in shapes for one in shape.weighed.solutions]
    converged = chosen.still and all(one.certificate.value <= control.tol for one in everything)
    path = None if hyperparameters == "em" else as_path(bound, annealed)
    described = with_covariates_of_labels(posterior)
    return _Solved(described, best, converged, path, bound.separation)


def _solve_shape(
    problem: Problem,
    beliefs: Beliefs,
    control: Control,
    log_weight: float,
    first: float | None,
    hyperparameters: str,
) -> _Shape:
    """Anneal under a slab of known shape, from a first variance, and weigh what is found."""
    learning, still = Learning.under(beliefs, "mean-field"), True
    bound = make_bound(problem, beliefs, control)
    gammas, ranges = odds_ranges(beliefs)
    if hyperparameters == "anneal":
        gammas = annealed_odds(learning, problem.n)
    learned = learning.next_variance if learning.slab.variance is None else None
    begin = first or learning.first().variance
    if hyperparameters == "em":
        annealed, still = _learn_odds(bound, learning, begin, learned)
    else:
        annealed = anneal_bound(bound, gammas, begin, learned)
    if hyperparameters == "average":
        variances = whole_variance_range(learning.slab, log_weight)
        cells = {
            Place(0, k): Cell(variances, odds, learning.slab)
            for k, odds in enumerate(ranges[: len(annealed.forward)])
            if odds is not None
        }
    else:
        cells = _best_cell(annealed, learning, whole_cell(learning, beliefs, log_weight))
    if not cells:
        raise ValueError("no solution with the prior odds could be reached: too few rows")
    highest = max(_objective(annealed.solutions[place.odds], learning) for place in cells)
    weighed = _weigh(bound, annealed, cells, learned)
    return _Shape(bound, annealed, weighed, highest + log_weight, still)


def _at(one: LabelFit) -> Hyperparameters:
    return Hyperparameters(one.variance, one.strength)


def _objective(one: LabelFit, learning: Learning) -> float:
    """Return what EM maximises: the bound plus the log prior of the hyperparameters."""
    return one.bound + learning.log_prior(_at(one))


def _best_cell(annealed: Annealed[LabelFit], learning: Learning, whole: Cell) -> dict[Place, Cell]:
    """Return the place of the highest objective, which stands for all that may be; none if none is.

    Where the odds are given, gamma = 0 is what they say.
    """
    heights = {
        k: _objective(one, learning)
        for k, one in enumerate(annealed.solutions)
        if learning.shared is not None or one.strength == 0.0
    }
    return {Place(0, max(heights, key=lambda k: heights[k])): whole} if heights else {}


def _learn_odds(
    bound: LogisticBound, learning: Learning, variance: float, learned: NextVariance | None
) -> tuple[Annealed[LabelFit], bool]:
    """Set the prior odds by EM; return the last solution, and whether they still move."""
    there = learning.first().log_odds
    gammas, place = odds_towards(there, learning.offsets)
    annealed = anneal_bound(bound, gammas, variance, learned)
    near = annealed.solutions[min(place, len(annealed.forward) - 1)]

    def following(one: LabelFit) -> Hyperparameters:
        gamma = learning.next_log_odds(one.strength, one.expected_size)
        return Hyperparameters(one.variance, gamma)

    def solve(one: LabelFit, at: Hyperparameters) -> LabelFit | None:
        again = bound.solve(at.log_odds, one, learned)
        most = max(bound.problem.most_variables, one.expected_size)
        return again if again.expected_size <= most else None

    steps, still = em_steps(bound.solve(there, near, learned), _at, following, solve)
    return Annealed((steps[-1],), (steps[-1],)), still


def _weigh(
    bound: LogisticBound,
    annealed: Annealed[LabelFit],
    cells: dict[Place, Cell],
    learned: NextVariance | None,
) -> Weighed:
    """Find the optima at all gammas that count, and weigh them by their bounds."""
    solutions: dict[Place, list[LabelFit]] = {}
    for k in cells:
        solutions[k] = []
        for one in (annealed.forward[k.odds], annealed.backward[k.odds]):
            add_distinct(solutions[k], one, same_label_fit)
    bounds = {k: [_over(bound, cells[k], one) for one in solutions[k]] for k in cells}
    origin = max(bounds, key=lambda k: max(bounds[k]))
    solutions[origin] = look_around(bound, solutions[origin], learned)
    if len(solutions[origin]) > 1:
        least = max(bounds[origin]) - _FOLLOWED
        near = [k for k in cells if max(bounds[k]) > least]
        most = max(bound.problem.most_variables, 1.0)

        def solve(one: LabelFit, place: Place) -> LabelFit | None:
            after = bound.solve(annealed.forward[place.odds].strength, one, learned)
            return after if after.expected_size <= most else None

        optima = list(solutions[origin])
        follow(optima, solutions, origin, near, solve, same_label_fit)
    bounds = {k: [_over(bound, cells[k], one) for one in found] for k, found in solutions.items()}
    logs, share = mix_priors(bounds, solutions, origin)
    every = [one for found in solutions.values() for one in found]
    order = np.argsort([-one.bound for one in solutions[origin]], kind="stable")
    return Weighed(logs, every, [solutions[origin][k] for k in order], share[order])


def _over(bound: LogisticBound, cell: Cell, one: LabelFit) -> float:
    """Return the bound on the log evidence by one solution, integrated over the priors of a cell.

    The factors of the solution are held fixed: only the terms of the slab and of the log odds vary.
    """
    m, offsets = one.probability, bound.offsets[one.columns]
    here = Cell(
        Range.at(float(np.log(one.variance))),
        Range.at(
            one.strength,
            -float(np.logaddexp(0.0, one.strength + bound.offsets[bound.problem.usable]).sum()),
        ),
        cell.slab,
    )
    ridge, lift, _ = humps_of(one.variance, bound.separation)
    humps = [humps_of(float(v), bound.separation) for v in np.exp(cell.log_variance.points)]
    ridges, lifts = np.array(humps).T[:2]
    squares = float(m @ (one.weight**2 + one.spread))
    along = float(m @ signed_weights(one.weight, lift * one.narrow, lift).along)
    slab = 0.5 * m.sum() * np.log(ridges / ridge) + 0.5 * squares * (ridge - ridges)
    slab += along * (lifts - lift)
    return (
        one.bound
        + cell.log_variance.log_integral(slab)
        + over_log_odds(cell, m, offsets)
        - over_log_odds(here, m, offsets)
    )


def make_bound(problem: Problem, beliefs: Beliefs, control: Control) -> LogisticBound:
    """Return the bound of a problem under some beliefs."""
    separation = beliefs.prior.known_separation
    return LogisticBound(problem, beliefs.offsets(problem), control, separation=separation)
