"""Kernels of a maximum flow without source and sink: surpluses of nodes are carried to deficits.

A network has the arcs of a graph, each with a capacity and a flow; the flows of mates are opposite.
Push and relabel (Goldberg & Tarjan 1988), first in, first out, with distances that are found anew
from time to time. Afterwards no node with a surplus can reach one with a deficit: the nodes that
cannot are a minimum cut. An arc that is full has a flow that equals its capacity to the last bit,
so that a cut is never leaky.
"""

from typing import NamedTuple

from garrote._jit import kernel
from garrote.arrays import Array, Floats

# The distance of nodes that cannot reach a deficit; any sum with it stays an integer.
FAR = 1 << 40


class Network(NamedTuple):
    """The arcs of a graph as in ``graph.Arcs``, and what they can carry and do carry."""

    first: Array
    head: Array
    mate: Array
    capacity: Floats
    flow: Floats


class NodeQueue(NamedTuple):
    """What is known of each node: distance to a deficit, next arc, whether it waits in the queue."""

    distance: Array
    current: Array
    waiting: Array
    queue: Array


@kernel(fastmath=False)
def label_components(network, part, stack):
    """Number the components that arcs with a capacity join, in ``part``; return how many there are."""
    part[:] = -1
    count = 0
    for seed in range(len(part)):
        if part[seed] >= 0:
            continue
        part[seed] = count
        stack[0], top = seed, 0
        while top >= 0:
            i = stack[top]
            top -= 1
            for arc in range(network.first[i], network.first[i + 1]):
                j = network.head[arc]
                if network.capacity[arc] > 0.0 and part[j] < 0:
                    part[j] = count
                    top += 1
                    stack[top] = j
        count += 1
    return count


@kernel(fastmath=False)
def measure_distances(network, surplus, tolerance, search):
    """Find each node's distance to a deficit; queue nodes with a surplus, farthest first; count them."""
    distance, queue = search.distance, search.queue
    end = 0
    for i in range(len(surplus)):
        search.current[i] = network.first[i]
        search.waiting[i] = False
        distance[i] = FAR
        if surplus[i] < -tolerance:
            distance[i] = 0
            queue[end] = i
            end += 1
    at = 0
    while at < end:
        i = queue[at]
        at += 1
        for arc in range(network.first[i], network.first[i + 1]):
            j = network.head[arc]
            # The mate has room when this arc does not carry its capacity backwards.
            if distance[j] == FAR and network.flow[arc] > -network.capacity[arc]:
                distance[j] = distance[i] + 1
                queue[end] = j
                end += 1
    count = 0
    for k in range(end):
        i = queue[k]
        if surplus[i] > tolerance:
            search.waiting[i] = True
            queue[count] = i
            count += 1
    for k in range(count // 2):
        queue[k], queue[count - 1 - k] = queue[count - 1 - k], queue[k]
    return count


@kernel(fastmath=False)
def carry(network, surplus, tolerance, search, count, work):
    """Push surpluses of the ``count`` queued nodes towards deficits, until the work allowed is done."""
    n = len(surplus)
    begin = 0
    while count > 0 and work > 0:
        i = search.queue[begin]
        begin = begin + 1 if begin + 1 < n else 0
        count -= 1
        search.waiting[i] = False
        while surplus[i] > tolerance:
            if search.current[i] == network.first[i + 1]:
                work -= network.first[i + 1] - network.first[i] + 8
                search.distance[i] = _least_distance(network, search.distance, i)
                search.current[i] = network.first[i]
                if search.distance[i] >= n:
                    break
            work -= 1
            arc = search.current[i]
            j = network.head[arc]
            if (
                search.distance[i] == search.distance[j] + 1
                and network.flow[arc] < network.capacity[arc]
            ):
                _push(network, surplus, i, j, arc)
                if surplus[j] > tolerance and not search.waiting[j]:
                    search.waiting[j] = True
                    end = begin + count
                    search.queue[end if end < n else end - n] = j
                    count += 1
            else:
                search.current[i] += 1


@kernel(fastmath=False, inline=True)
def _push(network, surplus, i, j, arc):
    """Carry as much of node i's surplus to node j as the arc has room for."""
    room = network.capacity[arc] - network.flow[arc]
    if surplus[i] < room:
        moved = surplus[i]
        network.flow[arc] = min(network.flow[arc] + moved, network.capacity[arc])
    else:
        moved = room
        network.flow[arc] = network.capacity[arc]
    network.flow[network.mate[arc]] = -network.flow[arc]
    surplus[i] -= moved
    surplus[j] += moved


@kernel(fastmath=False, inline=True)
def _least_distance(network, distance, i):
    """Return one more than the least distance that an arc with room leads to."""
    least = FAR
    for arc in range(network.first[i], network.first[i + 1]):
        if network.flow[arc] < network.capacity[arc]:
            least = min(least, distance[network.head[arc]] + 1)
    return least


@kernel(fastmath=False)
def cut_off(network, part, unsettled, distance, final):
    """Close the arcs between nodes that can reach a deficit and those that cannot; count them.

    Only in components that still have a surplus. Their flows, which are at capacity, go to ``final``.
    """
    closed = 0
    for i in range(len(part)):
        if not unsettled[part[i]]:
            continue
        for arc in range(network.first[i], network.first[i + 1]):
            j = network.head[arc]
            if network.capacity[arc] > 0.0 and (distance[i] == FAR) != (distance[j] == FAR):
                final[arc] = network.flow[arc]
                network.capacity[arc] = 0.0
                network.flow[arc] = 0.0
                closed += 1
    return closed
