"""How Gibbs samplers draw the variance and the shape of a slab of two humps, given the coefficients.

Signs are summed over: the variance moves by Metropolis steps, the shape is drawn from all shapes.
"""

from typing import Any

import numpy as np
from scipy.special import softmax

from garrote.arrays import Array, Floats
from garrote.solvers.models.model_chain import Trail

# Standard deviations of the steps of the slab's log variance.
_STEPS = (0.7, 0.2, 0.06)


def draw_slab(
    slab: Any, shapes: Any, variance: float, shape: int, coef: Floats, rng: np.random.Generator
) -> tuple[float, int]:
    """Draw the variance and which of the ``shapes`` the slab has, beginning with those of now.

    ``coef`` are the coefficients of variables that are in; in deviations of the noise, if there is any.
    """

    def log_slab(variance: float) -> float:
        log_density = float(slab.log_density(np.log(variance)))
        return log_density + log_humps(coef, variance, shapes[shape][1].separation)

    if slab.variance_is_unknown:
        for step in _STEPS:
            there = variance * float(np.exp(step * rng.standard_normal()))
            gain = log_slab(there) - log_slab(variance)
            if np.log(rng.random()) < gain:
                variance = there
    if len(shapes) > 1:
        logs = [log + log_humps(coef, variance, known.separation) for log, known in shapes]
        return variance, int(rng.choice(len(logs), p=softmax(logs)))
    return variance, shape


def log_humps(coef: Floats, variance: float, separation: float) -> float:
    """Return the log density of coefficients, in deviations of the noise, under two humps."""
    narrow, place = (1.0 - separation) * variance, np.sqrt(separation * variance)
    near = -0.5 * (np.abs(coef) - place) ** 2 / narrow
    both = near + np.log1p(np.exp(-2.0 * np.abs(coef) * place / narrow))
    return float(np.sum(both) - 0.5 * len(coef) * np.log(8.0 * np.pi * narrow))


def with_slabs(trail: Trail, slabs: list[tuple[float, float]]) -> Trail:
    """Return the way of a walk with log variance and separation of the slab of each state.

    Of the states of one sweep the last counts, with the slab that it was drawn with.
    """
    which: Array = np.cumsum(trail.flips < 0) - (trail.flips < 0)
    return trail._replace(slabs=np.array(slabs).reshape(-1, 2)[which])
