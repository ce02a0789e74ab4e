"""Chains that are caught among models of next to no probability, beside what others found."""

from collections.abc import Sequence

import numpy as np
from scipy.special import entr

from garrote.inference.beliefs import Beliefs
from garrote.inference.models.model_laws import log_posteriors
from garrote.inference.models.over_models import visited
from garrote.problem import Problem
from garrote.solvers.models.model_chain import Sampling

# A chain is lost if all that it can have seen has less than exp(-this) of the probability of one model
# that another chain was in.
_NEGLIGIBLE = 20.0
# The most visited models of a chain, among which the most probable is looked for.
_LOOKED_AT = 5


def find_lost(
    problem: Problem, beliefs: Beliefs, chains: Sequence[Sampling]
) -> tuple[list[int], tuple[int, ...]]:
    """Return the chains that are lost, and the most probable model that was found.

    What a chain moved among has at most the probability of its most probable model times the exponential
    of its entropy, and that is no more than the sum of the variables' own entropies. Strong effects that
    together are worth much more than their price, and each on its own less, hold a chain that began with
    nothing: averaged with others it would count as much as they do.
    """
    n, yty, spent = beliefs.n, problem.yty, beliefs.spent
    rules = [(log, slab.reference_rule(n, yty, spent)) for log, slab in beliefs.prior.grid()]
    most, models = [], []
    for chain in chains:
        seen, _ = visited([chain], _LOOKED_AT)
        logs = log_posteriors(problem, beliefs.inclusion, rules, seen, every=False)
        most.append(float(logs.max()))
        models.append(seen[int(np.argmax(logs))])
    best = int(np.argmax(most))
    lost = []
    for c, chain in enumerate(chains):
        inclusion = np.clip(chain.inclusion, 0.0, 1.0)
        entropy = float(np.sum(entr(inclusion) + entr(1.0 - inclusion)))
        if most[c] + entropy < most[best] - _NEGLIGIBLE:
            lost.append(c)
    return lost, models[best]
