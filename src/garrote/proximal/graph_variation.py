"""Total variation over a graph, exactly: values are split by minimum cuts until each piece is constant.

A piece that is constant has the mean of its numbers. If the surpluses over that mean can be carried
along the edges to the deficits, within weights, the piece is constant indeed, and the flow is the
dual solution that proves it. Otherwise a minimum cut separates values above the mean from those
below; its edges carry their whole weight from now on, and both sides are solved alone. All pieces
of a level share one flow, which the next level starts from.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.proximal.carrying import (
    ROUNDING,
    carry_all,
    flow_on_edges,
    network_of,
    new_search,
)
from garrote.proximal.gaps import relative_gap
from garrote.proximal.graph import Graph, as_graph
from garrote.proximal.inputs import as_strength, as_vector
from garrote.proximal.max_flow import cut_off, label_components
from garrote.summaries import Shown


@dataclass(frozen=True, eq=False, repr=False)
class GraphDenoising(Shown):
    """The total variation operator's answer on a graph, and its proof.

    Attributes
    ----------
    values : array
        The solution, of the type of ``x``.
    graph : Graph
        The graph, its edges distinct and sorted.
    flow : array
        The dual solution: one number for each edge of the graph, at most strength times weight in size.
    gap : float
        The duality gap, divided by the objective of a constant solution.

    Examples
    --------
    >>> from garrote.proximal import Graph, denoise_on_graph
    >>> answer = denoise_on_graph([0.0, 2.0, 1.0, 9.0], 0.5, Graph.lattice(2, 2))
    >>> answer.values.tolist()
    [1.0, 2.0, 1.0, 8.0]
    """

    values: Array
    graph: Graph
    flow: Floats
    gap: float


def graph_total_variation(x: Any, strength: float, edges: Any, weights: Any = None) -> Array:
    """Make coefficients equal that a graph joins: the graph-guided fused lasso.

    ::

        prox(x) = argmin_z ||z - x||^2 / 2 + strength sum_{(i, j) in edges} weights_ij |z_i - z_j|

    Exact to rounding, by minimum cuts. :func:`denoise_on_graph` returns the duality gap as well.

    Parameters
    ----------
    x : array
        A NumPy vector, one number for each node.
    strength : float
    edges : array of int, shape (n_edges, 2), or Graph
        Pairs of nodes, numbered from 0. One that is given twice counts with the sum of its weights;
        the graph may have several components. A :class:`Graph` is not checked anew and also comes
        from an adjacency matrix.
    weights : array, optional
        One number >= 0 for each edge, 1 by default; for a :class:`Graph`, its own.

    Returns
    -------
    array
        Of the shape and type of ``x``.

    References
    ----------
    Murphy (2012), Eq. 13.116 with X = I; Hochbaum (2001), J. ACM 48; Chambolle & Darbon (2009), Int. J.
    Comput. Vis. 84; flows by Goldberg & Tarjan (1988), J. ACM 35.

    Examples
    --------
    >>> from garrote.proximal import graph_total_variation
    >>> graph_total_variation([0.0, 1.0, 5.0, 6.0], 1.0, [[0, 1], [1, 2], [2, 3]]).tolist()
    [1.0, 1.0, 5.0, 5.0]
    """
    return denoise_on_graph(x, strength, edges, weights).values


def denoise_on_graph(
    x: Any, strength: float, edges: Any, weights: Any = None, start: Any = None
) -> GraphDenoising:
    """Solve :func:`graph_total_variation` and return its dual solution and duality gap too.

    Parameters
    ----------
    x, strength, edges, weights
        As in :func:`graph_total_variation`.
    start : array, optional
        The ``flow`` of a problem nearby, on the same graph, to begin with.

    Returns
    -------
    GraphDenoising

    Examples
    --------
    >>> from garrote.proximal import denoise_on_graph
    >>> answer = denoise_on_graph([0.0, 1.0, 5.0, 6.0], 1.0, [[0, 1], [1, 2], [2, 3]])
    >>> answer.flow.tolist(), answer.gap
    ([-1.0, -1.0, -1.0], 0.0)
    """
    vector, strength = as_vector(x), as_strength(strength)
    graph = as_graph(edges, weights, len(vector))
    limits = strength * graph.weights
    centre = float(vector.mean(dtype=np.float64)) if len(vector) else 0.0
    centred = vector.astype(np.float64) - centre
    values, flow = split_by_cuts(centred, graph, limits, _checked(start, limits))
    gap = relative_gap(centred, values, flow, graph, limits)
    return GraphDenoising((values + centre).astype(vector.dtype), graph, flow, gap)


def _checked(start: Any, limits: Floats) -> Floats:
    """Return a flow to begin with, within its limits."""
    if start is None:
        return np.zeros(len(limits))
    flow = np.asarray(start, dtype=np.float64)
    if flow.shape != limits.shape or not np.isfinite(flow).all():
        raise ValueError(
            f"start must be a finite flow of shape {limits.shape}, one number for each of the graph's "
            f"edges, got shape {flow.shape}"
        )
    return np.clip(flow, -limits, limits)


def split_by_cuts(
    numbers: Floats, graph: Graph, limits: Floats, start: Floats
) -> tuple[Floats, Floats]:
    """Return the solution for numbers of mean 0 and its flow on each edge, within ``limits``."""
    network, forwards = network_of(graph, limits, start)
    final = np.zeros(len(network.head))
    part = np.empty(graph.n_nodes, dtype=np.int64)
    search = new_search(graph.n_nodes)
    tolerance = ROUNDING * np.abs(numbers).max(initial=0.0)
    held = numbers - graph.outflow(start)
    while True:
        n_parts = label_components(network, part, search.queue)
        means = np.bincount(part, held, n_parts) / np.bincount(part, minlength=n_parts)
        surplus = held - means[part]
        carry_all(network, surplus, tolerance, search)
        held = surplus + means[part]
        unsettled = np.bincount(part, surplus > tolerance, n_parts) > 0
        if not cut_off(network, part, unsettled, search.distance, final):
            break
    return means[part], flow_on_edges(graph, forwards, final + network.flow)
