"""Who is whose neighbour: a graph of columns from an order, edges, an adjacency matrix or a lattice."""

import re
import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.penalties.groups.grouping import as_weights
from garrote.proximal.graph import Graph
from garrote.summaries import listing

# A name that tells its place: a stem, and a number at the end ("x12", "wave_0450", "t=3.5 s").
_PLACE = re.compile(r"^(.*?)(-?\d+(?:\.\d+)?)(\D*)$")


def resolve_graph(graph: Any, count: int, names: Array | None = None, weights: Any = None) -> Graph:
    """Return the graph of neighbours.

    Parameters
    ----------
    graph
        As in `garrote.penalties.FusedLasso`.
    count : int
        How many columns there are.
    names : array of str, optional
    weights : array, optional
        One number for each edge, or for each pair of columns that follow each other.
    """
    graph = storable_graph(graph)
    if graph is None or isinstance(graph, str):
        if graph is None and names is not None and not in_order(names):
            warnings.warn(
                f"the fused lasso compares columns that follow each other, but {listing(names, str, 4)} "
                "do not look ordered (one stem with rising numbers): give graph= with the pairs to "
                "compare (or 'chain'), or name the columns by their places",
                UserWarning,
                stacklevel=2,
            )
        return _checked(Graph(count, chain_edges(count), weights))
    if isinstance(graph, Graph):
        resolved, given = graph, "the Graph"
    elif scipy.sparse.issparse(graph):
        resolved, given = Graph.from_adjacency(graph), "the adjacency matrix"
    elif _is_lattice(graph):
        resolved, given = Graph.lattice(*graph[1]), f"a lattice of {graph[1]}"
    else:
        return _checked(Graph(count, _edges(graph, count, names), weights))
    if weights is not None:
        raise ValueError(f"weights go with edges or the chain; {given} has its own")
    if resolved.n_nodes != count:
        raise ValueError(f"graph has {resolved.n_nodes} nodes, but X has {count} columns")
    return _checked(resolved)


def storable_graph(graph: Any) -> Any:
    """Return a graph as given, in values that can be used twice and saved.

    What could not be a graph of any table is refused.
    """
    if graph is None or isinstance(graph, Graph) or (isinstance(graph, str) and graph == "chain"):
        return graph
    if scipy.sparse.issparse(graph):
        return graph if graph.format in ("csr", "csc", "coo") else graph.tocsr()
    if isinstance(graph, str | bytes | Mapping) or not hasattr(graph, "__iter__"):
        raise ValueError(
            "graph must be None, 'chain', pairs of columns, a SciPy sparse adjacency matrix or "
            f"('lattice', (rows, columns)), got {graph!r}"
        )
    if hasattr(graph, "columns") and hasattr(graph, "to_numpy"):
        graph = graph.to_numpy()
    if isinstance(graph, np.ndarray) and graph.dtype.kind in "iu" and graph.shape[1:] == (2,):
        return graph
    entries = graph.tolist() if isinstance(graph, np.ndarray) else list(graph)
    if entries and isinstance(entries[0], str) and entries[0] == "lattice":
        return "lattice", _lattice_shape(entries[1:])
    return [_pair(entry) for entry in entries]


def edge_weights(weights: Any) -> Floats | None:
    """Return weights of edges as an array; refuse what cannot be such."""
    if weights is None:
        return None
    values = as_weights(weights)
    if values is None:
        text = " ".join(repr(weights).split())[:100]
        raise ValueError(f"weights must be a finite number >= 0 for each pair, got {text}")
    return values


def in_order(names: Array) -> bool:
    """Tell whether names are of one stem, with numbers that rise or fall."""
    found = [_PLACE.match(str(name)) for name in names]
    if len({match.group(1, 3) if match else None for match in found}) > 1 or not all(found):
        return len(found) < 2
    steps = np.diff([float(match.group(2)) for match in found if match])
    return bool((steps > 0).all() or (steps < 0).all())


def chain_edges(count: int) -> Array:
    """Return the edges of a chain."""
    nodes = np.arange(count)
    return np.stack([nodes[:-1], nodes[1:]], axis=1)


def chain_order(graph: Graph) -> Array:
    """Return nodes such that edges join only those that follow each other; none if that cannot be."""
    count, edges = graph.n_nodes, graph.edges
    if (edges[:, 1] - edges[:, 0] == 1).all():
        return np.arange(count)
    degree = np.bincount(edges.ravel(), minlength=count)
    pieces = len(np.unique(graph.joined(np.ones(len(edges), dtype=bool))))
    # Components without a cycle, whose nodes have two neighbours at most, are paths.
    if degree.max(initial=0) > 2 or len(edges) != count - pieces:
        return np.zeros(0, np.intp)
    order: list[int] = []
    seen = np.zeros(count, dtype=bool)
    first, head, _, _ = graph.arcs
    for end in np.flatnonzero(degree <= 1):
        node = int(end)
        while not seen[node]:
            seen[node] = True
            order.append(node)
            ahead = [int(j) for j in head[first[node] : first[node + 1]] if not seen[j]]
            node = ahead[0] if ahead else node
    return np.array(order, dtype=np.intp)


def _checked(graph: Graph) -> Graph:
    """Return the graph without edges that have no weight."""
    used = graph.weights > 0
    if used.all():
        return graph
    return Graph(graph.n_nodes, graph.edges[used], graph.weights[used])


def _is_lattice(graph: Any) -> bool:
    return isinstance(graph, tuple) and graph[0] == "lattice"


def _lattice_shape(given: list[Any]) -> tuple[int, int]:
    """Return numbers of rows and columns."""
    shape = given[0] if len(given) == 1 else given
    sides = list(shape) if hasattr(shape, "__iter__") and not isinstance(shape, str) else []
    if len(sides) != 2 or not all(isinstance(side, Integral) and int(side) >= 1 for side in sides):
        raise ValueError(
            "a lattice is given as ('lattice', (rows, columns)), two whole numbers of at least 1, got "
            f"{shape!r}"
        )
    return int(sides[0]), int(sides[1])


def _pair(entry: Any) -> tuple[Any, Any]:
    """Return the two ends of an edge as Python's own values."""
    ends = [] if isinstance(entry, str) or not hasattr(entry, "__iter__") else list(entry)
    if len(ends) != 2:
        raise ValueError(
            f"graph must be a list of pairs of columns, got {entry!r} in it; an adjacency matrix has to "
            "be a SciPy sparse one, or garrote.proximal.Graph.from_adjacency(matrix)"
        )
    one, other = (end.item() if isinstance(end, np.generic) else end for end in ends)
    return one, other


def _edges(pairs: Any, count: int, names: Array | None) -> Array:
    """Return pairs of positions, given pairs of positions or names."""
    places = {str(name): j for j, name in enumerate(names)} if names is not None else {}
    found = [[_place(node, count, places) for node in pair] for pair in pairs]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _place(node: Any, count: int, places: dict[str, int]) -> int:
    if isinstance(node, str):
        if node in places:
            return places[node]
        known = f"known are {listing(list(places))}" if places else "X has no column names"
        raise ValueError(f"graph has node {node!r}, but {known}")
    # Tables of numbers, as text files give them, have positions that are floating-point numbers.
    whole = isinstance(node, Integral) or (isinstance(node, float) and node.is_integer())
    if not whole or not 0 <= int(node) < count:
        raise ValueError(f"graph has node {node!r}, but X has columns 0 to {count - 1}")
    return int(node)
