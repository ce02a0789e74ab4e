"""Inclusion probabilities compared with exact ones, on the variables that matter most.

Those are the most probable ones, others that resemble them, and those that would explain most of what
is left. A method that has taken one of two copies for the truth states next to nothing of the other, and
would pass an audit of the first alone.
"""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.models.slab_integral import integrate_over_slab, shares
from garrote.inference.resemblance import correlations
from garrote.paths.annealed import stored_design
from garrote.priors.slab import Slab
from garrote.problem import Problem
from garrote.results.posterior import Audit
from garrote.solvers.lockstep import run_together
from garrote.solvers.models.enumeration import enumerate_models

# Variables whose models are summed, at most, and the least probability of those taken by it.
_AUDITED = 14
_AUDIBLE = 0.01
# Variables stand in for those that are in if their absolute correlation is at least this; half of the
# places are theirs, if need be.
_RESEMBLING = 0.7
# Places that are left over go to those that would explain most of what is left, up to so many.
_OTHERS = 4


class _Summed(NamedTuple):
    log_total: float
    inclusion: Floats


def audit(
    problem: Problem, beliefs: Beliefs, inclusion: Floats, mean: Floats, variance: Floats
) -> Audit:
    """Sum over all models of the variables that matter, the others integrated as stated.

    The others are taken for independent of each other: their means are taken off the response, and their
    variances stay with what is left of it.
    """
    usable = problem.usable
    top = audited_columns(problem, inclusion, _AUDITED, _explaining(problem, mean))
    rest = np.setdiff1d(np.flatnonzero(mean), top)
    task = problem.evaluate(rest, mean[rest][:, None])
    ((squared, gradient),) = run_together([task], stored_design(problem))
    left = float(squared[0] + variance[rest] @ problem.curvature[rest])
    gram, odds = problem.known_block(top), beliefs.inclusion.log_odds[np.searchsorted(usable, top)]
    # Those outside count by their expected number in the prior on sizes.
    outside = round(float(inclusion[usable].sum() - inclusion[top].sum()))
    by_size = beliefs.inclusion.by_size[outside : outside + len(top) + 1]

    def find(slab: Slab) -> _Summed:
        # Of a constant response nothing is left: any scale will do, and 0 has no logarithm.
        rule = slab.rule(beliefs.n, problem.yty or 1.0, problem.n_features)
        exact = enumerate_models(rule, gram, gradient[0][top], left, by_size, odds, keep=1)
        return _Summed(exact.log_total, exact.inclusion)

    points, _ = integrate_over_slab(beliefs.slab, find)
    exact = sum(w * p.part.inclusion for w, p in zip(shares(points), points, strict=True))
    return Audit(top, inclusion[top], np.asarray(exact), "exact sums over their models")


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
