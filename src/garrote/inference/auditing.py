"""Inclusion probabilities compared with exact ones, on the variables that matter most."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.inference.beliefs import Beliefs
from garrote.inference.slab_integral import integrate_over_slab, shares
from garrote.paths import stored_design
from garrote.posterior import Audit
from garrote.priors.slab import Slab
from garrote.problem import Problem
from garrote.solvers.enumeration import enumerate_models
from garrote.solvers.lockstep import run_together

# Variables whose models are summed, at most, and the least probability of any of them.
_AUDITED = 14
_AUDIBLE = 0.01


class _Summed(NamedTuple):
    log_total: float
    inclusion: Floats


def audit(
    problem: Problem, beliefs: Beliefs, inclusion: Floats, mean: Floats, variance: Floats
) -> Audit:
    """Sum over all models of the most probable variables, the others integrated as stated.

    The others are taken for independent of each other: their means are taken off the response, and their
    variances stay with what is left of it.
    """
    usable = problem.usable
    order = usable[np.argsort(-inclusion[usable], kind="stable")]
    top = np.sort(order[:_AUDITED][inclusion[order[:_AUDITED]] > _AUDIBLE])
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
