"""The slabs that chains were in: how probable their shapes are, and which of them to average over."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.priors.base import Slab
from garrote.results.shapes import SlabShapes
from garrote.solvers.models.model_chain import Sampling

# Shapes of less weight are left out of the laws of coefficients.
_NEGLIGIBLE = 0.02
# Variances of one shape: how many, and how far from their mean, in standard deviations.
_COUNT, _REACH = 5, 2.0
# The least distance of log variances.
_LEAST_STEP = 0.02


def visited_slabs(
    chains: Sequence[Sampling], slab: Slab
) -> tuple[tuple[tuple[float, Slab], ...], SlabShapes | None]:
    """Return slabs with log weights, and the probabilities of their shapes where they were sampled.

    The weights are those of the prior, as all that averages over slabs asks for; slabs that no chain
    was near of are left out.
    """
    states = np.concatenate([chain.slabs for chain in chains])
    if not len(states):
        return tuple(slab.grid()), None
    weights = np.concatenate([chain.weights for chain in chains])
    logs, separations = states.T
    kept: list[tuple[float, Slab]] = []
    shapes: Any = slab.shapes()
    probability = np.array([weights[separations == shape.separation].sum() for _, shape in shapes])
    probability /= probability.sum()
    for (log_prior, shape), share in zip(shapes, probability, strict=True):
        if share > _NEGLIGIBLE:
            here = separations == shape.separation
            kept += [(log_prior + log, at) for log, at in _around(shape, logs[here], weights[here])]
    found = SlabShapes.of(np.array([shape.separation for _, shape in shapes]), probability)
    return tuple(kept), found


def _around(shape: Any, logs: Floats, weights: Floats) -> list[tuple[float, Slab]]:
    """Return slabs of one shape with variances around those visited, and their log weights."""
    if not shape.variance_is_unknown:
        return [(0.0, shape)]
    mean = float(np.average(logs, weights=weights))
    deviation = float(np.sqrt(np.average((logs - mean) ** 2, weights=weights)))
    step = max(2.0 * _REACH * deviation / (_COUNT - 1), _LEAST_STEP)
    grid = mean + step * (np.arange(_COUNT) - (_COUNT - 1) / 2)
    return [
        (float(shape.log_density(u) + np.log(step)), replace(shape, variance=float(np.exp(u))))
        for u in grid
    ]
