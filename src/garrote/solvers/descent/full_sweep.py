"""One sweep over many columns of a design with rows, on the residuals: about one pass over X."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import block_width
from garrote.designs.dense import DenseColumns
from garrote.designs.standardized import StandardizedDesign
from garrote.limits.budgets import ENTRIES_PER_CALL
from garrote.rules import Residual, restricted
from garrote.solvers.descent.sweep import sweep


def full_sweep(
    design: StandardizedDesign,
    rule: Any,
    columns: Array,
    coef: Floats,
    target: Floats,
    residuals: Floats,
    curvature: Floats,
    resolution: float,
) -> float:
    """Update ``coef`` and ``target`` on ``columns`` and the ``residuals``, all in place.

    All arrays but ``columns`` run over the whole design. Returns the largest step.
    """
    residual = Residual(residuals * design.weights, np.zeros(1), design.weights)
    readable = design.columns()
    largest = 0.0
    if readable is not None:
        step = max(1, int(ENTRIES_PER_CALL / max(1.0, design.stored.column_cost)))
        for first in range(0, len(columns), step):
            part = columns[first : first + step]
            moved = sweep(readable, rule, part, coef, target, residual, curvature, resolution)
            largest = max(largest, moved)
    else:
        width = block_width(design.shape[0])
        for first in range(0, len(columns), width):
            part = columns[first : first + width]
            block = DenseColumns(np.asfortranarray(design.block(part)))
            values, z, places = coef[part], target[part], np.arange(len(part))
            local = restricted(rule, part)
            moved = sweep(block, local, places, values, z, residual, curvature[part], resolution)
            coef[part], target[part] = values, z
            largest = max(largest, moved)
    weighted = residual.values + residual.shift[0] * design.weights
    np.divide(weighted, design.weights, out=residuals, where=design.weights > 0)
    return float(largest)
