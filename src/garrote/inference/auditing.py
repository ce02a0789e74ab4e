"""Inclusion probabilities compared with sums over models, on the variables that matter most.

Those are the most probable ones, others that resemble them, and those that would explain most of what
is left. A method that has taken one of two copies for the truth states next to nothing of the other, and
would pass an audit of the first alone.
"""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.models.signs import ways_under
from garrote.inference.models.slab_integral import averaged, integrate_over_slab
from garrote.inference.resemblance import correlations
from garrote.paths.annealed import stored_design
from garrote.priors.base import Slab
from garrote.problem import Problem
from garrote.results.accuracy import Audit
from garrote.solvers.labels.label_regression import fixed_columns
from garrote.solvers.lockstep import run_together
from garrote.solvers.losses.newton import Samples
from garrote.solvers.models.fitted_models import fit_all_models, make_table

# Variables whose models of labels are summed, at most, each fitted on its own.
_FITTED = 10
# The least probability of variables that are taken by it.
_AUDIBLE = 0.01
# Variables stand in for those that are in if their absolute correlation is at least this; half of the
# places are theirs, if need be.
_RESEMBLING = 0.7
# Places that are left over go to those that would explain most of what is left, up to so many.
_OTHERS = 4


class _Split(NamedTuple):
    """The columns whose models are summed, and means and variances of the rest, as stated.

    ``among`` is the prior on models of the former: by size, and their log odds.
    """

    top: Array
    rest: Array
    mean: Floats
    variance: Floats
    among: tuple[Floats, Floats]


class _Summed(NamedTuple):
    log_total: float
    inclusion: Floats


def audit(
    problem: Problem, beliefs: Beliefs, inclusion: Floats, mean: Floats, variance: Floats
) -> Audit:
    """Sum over all models of the variables that matter, the others as stated.

    The others are taken for independent of each other. Of numbers, their means are taken off the
    response, and their variances stay with what is left of it. Models of labels are fitted, by Laplace,
    beside the others' means; the slab's variance has to be known.
    """
    if problem.likelihood.least_squares:
        count = ways_under(beliefs.prior).audited
        top = audited_columns(problem, inclusion, count, _explaining(problem, mean))
        summed, how = _sum_of_numbers, "exact sums over their models"
    else:
        top = audited_columns(problem, inclusion, _FITTED)
        summed, how = _sum_of_labels, "Laplace's sums over their models"
    rest = np.setdiff1d(np.flatnonzero(mean), top)
    among = _among(problem, beliefs, inclusion, top)
    exact = summed(problem, beliefs, _Split(top, rest, mean[rest], variance[rest], among))
    return Audit(top, inclusion[top], exact, how)


def _sum_of_numbers(problem: Problem, beliefs: Beliefs, split: _Split) -> Floats:
    """Return exact probabilities of some columns."""
    top, rest = split.top, split.rest
    task = problem.evaluate(rest, split.mean[:, None])
    ((squared, gradient),) = run_together([task], stored_design(problem))
    left = float(squared[0] + split.variance @ problem.curvature[rest])
    gram = problem.known_block(top)

    def find(slab: Slab) -> _Summed:
        # Of a constant response nothing is left: any scale will do, and 0 has no logarithm.
        rule = slab.rule(beliefs.n, problem.yty or 1.0, problem.n_features, beliefs.spent)
        given = rule, gram, gradient[0][top], left, *split.among
        exact = ways_under(slab).enumerate(*given, keep=1)
        return _Summed(exact.log_total, exact.inclusion)

    points, _ = integrate_over_slab(beliefs.prior, find)
    return averaged(points, "inclusion")


def _sum_of_labels(problem: Problem, beliefs: Beliefs, split: _Split) -> Floats:
    """Return Laplace's probabilities of some columns, beside the means of the rest."""
    design, likelihood = problem.table, problem.likelihood
    fixed, held = fixed_columns(problem)
    columns = np.vstack([fixed.T, design.block(split.top, projected=False).T])
    samples = Samples(
        np.ascontiguousarray(columns),
        problem.response,
        problem.weights,
        problem.known_part + design.dot(split.rest, split.mean[:, None])[:, 0],
        np.append(held, np.full(len(split.top), 1.0 / beliefs.prior.known_variance)),
    )
    table = make_table(likelihood, samples, len(held), np.inf, True)
    return fit_all_models(likelihood, table, 0.0, *split.among).inclusion


def _among(
    problem: Problem, beliefs: Beliefs, inclusion: Floats, top: Array
) -> tuple[Floats, Floats]:
    """Return the prior on models of some columns by size, and their log odds.

    Those outside count by their expected number in the prior on sizes.
    """
    usable, prior = problem.usable, beliefs.inclusion
    outside = round(float(inclusion[usable].sum() - inclusion[top].sum()))
    by_size = prior.by_size[outside : outside + len(top) + 1]
    return by_size, prior.log_odds[np.searchsorted(usable, top)]


def audited_columns(
    problem: Problem, inclusion: Floats, most: int, explaining: Floats | None = None
) -> Array:
    """Return the most probable variables and those that could stand in for them, in order.

    ``explaining`` says how much each would explain of what is left: the best join, if there is room.
    """
    usable = problem.usable
    order = usable[np.argsort(-inclusion[usable], kind="stable")][:most]
    top = order[inclusion[order] > _AUDIBLE]
    sure = top[inclusion[top] > 0.5]
    alike = np.abs(correlations(problem, sure)).max(axis=0, initial=0.0)
    alike[top] = 0.0
    twins = np.argsort(-alike, kind="stable")
    twins = twins[alike[twins] >= _RESEMBLING]
    twins = twins[: max(most - len(top), min(most // 2, most - len(sure)))]
    chosen = np.concatenate([top[: most - len(twins)], twins])
    if explaining is not None:
        others = np.setdiff1d(usable, chosen)
        others = others[np.argsort(-explaining[others], kind="stable")]
        chosen = np.append(chosen, others[: min(_OTHERS, most - len(chosen))])
    return np.sort(chosen)


def _explaining(problem: Problem, mean: Floats) -> Floats:
    """Return how much of the residual at the stated means each column would explain alone."""
    columns = np.flatnonzero(mean)
    task = problem.evaluate(columns, mean[columns][:, None])
    ((_, gradient),) = run_together([task], stored_design(problem))
    return np.asarray(gradient[0] ** 2 / np.where(problem.curvature > 0, problem.curvature, np.inf))
