"""EM for the fused lasso: precisions of coefficients and of differences (Murphy 2012, 13.117-13.121).

Given the present coefficients the precision matrix has threshold_j / |w_j| on its diagonal, and for
every edge weight / |w_i - w_j| like the Laplacian of a graph: tridiagonal along a chain.
"""

import numpy as np
from scipy.linalg import solveh_banded
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import splu

from garrote.arrays import Floats
from garrote.penalties.fusion.fused_rule import FusedRule
from garrote.solvers.classical.scale_mixture_em import expected_spread, first_guess

# Sizes and differences are this large at least, as a share of the largest coefficient: precisions that
# differ by more cannot be solved for.
_LEAST = 1e-7
# What is added to all precisions, as a share of the largest: a level that nothing pulls to 0 has none.
_LEVEL = 1e-14


@first_guess.register
def _(rule: FusedRule, coef: Floats, size: float) -> Floats:
    # Neighbours must differ, since those that are equal would stay so.
    return coef + size * np.random.default_rng(0).standard_normal(len(coef))


@expected_spread.register
def _(rule: FusedRule, coef: Floats, directions: Floats) -> Floats:
    least = _LEAST * (float(np.abs(coef).max(initial=0.0)) or 1.0)
    one, other = rule.graph.edges.T
    across = rule.weight / np.maximum(np.abs(coef[one] - coef[other]), least)
    own = rule.threshold / np.maximum(np.abs(coef), least)
    count = len(coef)
    diagonal = own + np.bincount(one, across, count) + np.bincount(other, across, count)
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
