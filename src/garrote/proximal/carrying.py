"""A graph's edges carry surpluses of its nodes to deficits: as much as their limits allow."""

import numpy as np

from garrote.arrays import Array, Floats
from garrote.proximal.graph import Graph
from garrote.proximal.max_flow import FAR, Network, NodeQueue, carry, measure_distances

# Surpluses below this share of the largest are rounding.
ROUNDING = 1e-12


def largest_flow(numbers: Floats, graph: Graph, limits: Floats) -> Floats:
    """Return the flow on each edge that carries as much as can be carried from positive to negative.

    What is left of the positive numbers is then the largest of sum_i numbers_i u_i - sum_ij limits_ij
    |u_i - u_j| over u in {0, 1}, and no flow within the limits leaves less (Ford & Fulkerson 1956).
    """
    network, forwards = network_of(graph, limits, np.zeros(len(limits)))
    surplus = np.array(numbers, dtype=np.float64)
    carry_all(
        network, surplus, ROUNDING * np.abs(surplus).max(initial=0.0), new_search(len(surplus))
    )
    return flow_on_edges(graph, forwards, network.flow)


def network_of(graph: Graph, limits: Floats, start: Floats) -> tuple[Network, Array]:
    """Return a graph's arcs with their capacities and flows, and which of them run forwards."""
    first, head, mate, edge = graph.arcs
    forwards = np.repeat(np.arange(graph.n_nodes), np.diff(first)) < head
    flow = np.where(forwards, start[edge], -start[edge])
    return Network(first, head, mate, limits[edge], flow), forwards


def flow_on_edges(graph: Graph, forwards: Array, flow: Floats) -> Floats:
    """Return the flow of each edge, given that of all arcs."""
    carried = np.empty(len(graph.edges))
    carried[graph.arcs.edge[forwards]] = flow[forwards]
    return carried


def new_search(n: int) -> NodeQueue:
    """Return the room in which a search for ways to deficits is done."""
    return NodeQueue(
        distance=np.full(n, FAR, dtype=np.int64),
        current=np.empty(n, dtype=np.int64),
        waiting=np.zeros(n, dtype=np.bool_),
        queue=np.empty(n, dtype=np.int64),
    )


def carry_all(network: Network, surplus: Floats, tolerance: float, search: NodeQueue) -> None:
    """Carry surpluses until none can reach a deficit; ``search.distance`` then tells who could."""
    # Distances grow stale: measured best when found anew after some visits of every arc. It also lets
    # an interrupt through.
    work = len(network.head) + len(surplus)
    while True:
        count = measure_distances(network, surplus, tolerance, search)
        if count == 0:
            return
        carry(network, surplus, tolerance, search, count, work)
