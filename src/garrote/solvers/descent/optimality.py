"""The certificate of a penalised fit: its duality gap, and by how much optimality is violated."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.certificates import Certificate, optimality
from garrote.rules import Evaluated, dual_bound, total_cost, violation

# Products of columns with rows are not exact beyond this share of their lengths.
_ROUNDING = 1e-14


def beyond_rounding(gradient: Floats, curvature: Floats, spread: float) -> Floats:
    """Return a gradient with 0 where it is but the rounding of rows of some spread.

    Columns without content, and responses that no column explains, would else set the scale of
    a whole path. ``curvature`` is the mean square of each column.
    """
    rounding = _ROUNDING * spread * np.sqrt(curvature)
    return np.where((curvature > 0) & (np.abs(gradient) > rounding), gradient, 0.0)


def certify(
    rule: Any, columns: Array, coef: Floats, seen: Evaluated, curvature: Floats, null: Evaluated
) -> Certificate:
    """Return how far the coefficients of some columns (0 elsewhere) are from the optimum."""
    everywhere = np.zeros(len(curvature))
    everywhere[columns] = coef
    off = violation(rule, seen.gradient, everywhere, curvature).max(initial=0.0)
    largest = float(np.abs(null.gradient).max(initial=0.0)) or 1.0
    primal = seen.loss + total_cost(rule, columns, coef)
    dual = dual_bound(rule, everywhere, seen, curvature, null)
    gap = max(primal - dual, 0.0) / (null.loss or 1.0)
    return optimality(float(gap), float(off) / largest)
