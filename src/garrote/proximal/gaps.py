"""How far a solution of total variation is from the optimum: its duality gap.

For any flow u on the edges with |u_e| at most limit_e, the objective of z exceeds the least one by
at most ||z - (x - outflow of u)||^2 / 2 + sum_e (limit_e |z_i - z_j| - u_e (z_i - z_j)), a sum of
terms >= 0, which rounding does not spoil.
"""

from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.proximal.graph import Graph
from garrote.proximal.inputs import as_strength, as_vector, as_weights, unit_of


def relative_gap(x: Floats, z: Floats, flow: Floats, graph: Graph, limits: Floats) -> float:
    """Return the duality gap of ``z`` and a flow, divided by the objective of a constant solution."""
    unit = unit_of(x)  # a ratio of objectives has none, while squares may overflow, or vanish
    x, z, flow, limits = x / unit, z / unit, flow / unit, limits / unit
    differences = z[graph.edges[:, 0]] - z[graph.edges[:, 1]]
    misfit = z - (x - graph.outflow(flow))
    gap = 0.5 * float(misfit @ misfit) + float(
        (limits * np.abs(differences) - flow * differences).sum()
    )
    if not np.any(x):
        return gap
    # Numbers that are equal but for rounding have a constant's objective that is nothing else.
    rounding = float(np.finfo(np.float64).eps * (x @ x))
    return gap / max(0.5 * float(((x - x.mean()) ** 2).sum()), rounding)


def total_variation_gap(x: Any, z: Any, strength: float, weights: Any = None) -> float:
    """Return the duality gap of a solution ``z`` of :func:`total_variation`, relative to a constant one.

    The flow between neighbours is the running sum of x - z, cut to strength times weight.

    Parameters
    ----------
    x, z : array
        What was given to the operator, and what it returned.
    strength : float
    weights : array, optional
        One number >= 0 for each pair of neighbours.

    Returns
    -------
    float
        Zero at the solution, up to rounding; the objective of a constant is the unit.

    Examples
    --------
    >>> from garrote.proximal import total_variation, total_variation_gap
    >>> x = [1.0, 1.5, 0.5, 6.0, 5.0]
    >>> total_variation_gap(x, total_variation(x, 1.0), 1.0) < 1e-15
    True
    >>> round(total_variation_gap(x, x, 1.0), 2)
    0.63
    """
    given, solution = as_vector(x), as_vector(z)
    n = len(given)
    if len(solution) != n:
        raise ValueError(f"x and z must have one length, got {n} and {len(solution)}")
    given, solution = given.astype(np.float64), solution.astype(np.float64)
    limits = as_strength(strength) * as_weights(weights, (max(n - 1, 0),), "pair of neighbours")
    flow = np.clip(np.cumsum(given - solution)[:-1], -limits, limits)
    nodes = np.arange(n)
    chain = Graph(n, np.stack([nodes[:-1], nodes[1:]], axis=1))
    return relative_gap(given, solution, flow, chain, limits)
