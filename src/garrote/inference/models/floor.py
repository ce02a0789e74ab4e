"""Corners of integrals over the slab's variance, where what a model leaves of y reaches its floor."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq

from garrote.arrays import Array
from garrote.inference.beliefs import Beliefs
from garrote.inference.models.model_laws import spectra
from garrote.inference.models.slab_integral import Corner
from garrote.priors.base import Slab
from garrote.priors.evidence import noise_floor
from garrote.problem import Problem

# Log variances between which the corner is looked for.
_LEAST, _MOST = -60.0, 100.0
# The steep side falls off within 1 / shape of the log variance, of which this share is resolved.
_RESOLVED = 0.1


def corner_at_floor(
    problem: Problem, beliefs: Beliefs, slab: Slab, members: Sequence[int] | Array
) -> Corner | None:
    """Return where what a model leaves of y reaches the floor as the slab widens, if it ever does.

    ``slab`` has the shape of the slab that widens.
    """
    if not beliefs.prior.variance_is_unknown or not len(members):
        return None
    rule = slab.at(1.0).rule(beliefs.n, problem.yty, 0)
    floor = noise_floor(rule)
    if floor is None:
        return None
    columns = np.array(members, dtype=np.intp)
    found = spectra(problem, columns[None], problem.known_block(columns)[None])

    def above_floor(log_variance: float) -> float:
        inverse = found.inverse(np.array([rule.ridge * np.exp(-log_variance)]))
        return float(found.left(inverse)[0, 0]) - floor

    if above_floor(_LEAST) <= 0 or above_floor(_MOST) >= 0:
        return None
    return Corner(float(brentq(above_floor, _LEAST, _MOST)), _RESOLVED / rule.shape)
