"""The precision that EM expects under the fused lasso (Murphy 2012, Eqs. 13.117-13.121).

Given the present coefficients the precision matrix has threshold_j / |w_j| on its diagonal, and for
every edge weight / |w_i - w_j| like the Laplacian of a graph: tridiagonal along a chain.
"""

from typing import Any

import numpy as np
from scipy.linalg import solveh_banded
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import splu

from garrote.arrays import Floats

# Sizes and differences are this large at least, as a share of the largest coefficient: precisions that
# differ by more cannot be solved for.
_LEAST = 1e-7
# What is added to all precisions, as a share of the largest: a level that nothing pulls to 0 has none.
_LEVEL = 1e-14


def spread_of_precision(rule: Any, coef: Floats, directions: Floats) -> Floats:
    """Return the inverse of the precision at some coefficients, times directions (D x r)."""
    least = _LEAST * (float(np.abs(coef).max(initial=0.0)) or 1.0)
    one, other = rule.graph.edges.T
    across = rule.weight / np.maximum(np.abs(coef[one] - coef[other]), least)
    alone = rule.threshold / np.maximum(np.abs(coef), least)
    count = len(coef)
    diagonal = alone + np.bincount(one, across, count) + np.bincount(other, across, count)
    diagonal = diagonal + _LEVEL * diagonal.max(initial=0.0)
    if not len(rule.order):
        beside = coo_array((-across, (one, other)), (count, count))
        return splu((diags_array(diagonal) + beside + beside.T).tocsc()).solve(directions)
    rank = np.empty(count, np.intp)
    rank[rule.order] = np.arange(count)
    bands = np.zeros((2, count))
    bands[0] = diagonal[rule.order]
    bands[1, rank[rule.graph.edges].min(axis=1)] = -across
    spread = np.empty_like(directions)
    spread[rule.order] = solveh_banded(bands, directions[rule.order], lower=True)
    return spread
