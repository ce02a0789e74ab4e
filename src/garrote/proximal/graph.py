"""Graphs whose edges say which coefficients ought to be equal."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.proximal.inputs import as_weights
from garrote.summaries import Shown


class Arcs(NamedTuple):
    """Every edge in both directions, sorted by the node that it leaves.

    Node i's arcs are ``first[i]`` to ``first[i + 1]``; ``head`` is where an arc leads, ``mate`` the same
    edge the other way and ``edge`` its number.
    """

    first: Array
    head: Array
    mate: Array
    edge: Array


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Shown):
    """Pairs of coefficients and their weights: checked once, for operators that are called many times.

    Edges have no direction. One that is given twice counts once, with the sum of its weights. The graph
    may have several components, and nodes without edges.

    Parameters
    ----------
    n_nodes : int
        The number of coefficients.
    edges : array of int, shape (n_edges, 2)
        Pairs of different nodes, numbered from 0; afterwards sorted and distinct.
    weights : array, optional
        One number >= 0 for each edge, 1 by default.

    Examples
    --------
    >>> from garrote.proximal import Graph
    >>> graph = Graph(3, [[0, 1], [2, 1], [1, 2]])
    >>> graph.edges.tolist(), graph.weights.tolist()
    ([[0, 1], [1, 2]], [1.0, 2.0])
    """

    n_nodes: int
    edges: Array
    weights: Any = None

    def __post_init__(self) -> None:
        edges = np.asarray(self.edges)
        if edges.size == 0:
            edges = np.empty((0, 2), dtype=np.int64)
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ValueError(
                "edges must be pairs of node numbers, an array of integers of shape (n_edges, 2), "
                f"got {edges.dtype} of shape {edges.shape}"
            )
        unknown = edges[(edges < 0) | (edges >= self.n_nodes)]
        if unknown.size:
            raise ValueError(
                f"edges name node {unknown[0]}, but nodes are numbered from 0 to {self.n_nodes - 1}"
            )
        loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
        if loops.size:
            raise ValueError(
                f"edge {loops[0]} joins node {edges[loops[0], 0]} to itself: remove such edges"
            )
        given = as_weights(self.weights, (len(edges),), "edge")
        ordered = np.sort(edges.astype(np.int64), axis=1)
        codes, which = np.unique(ordered @ [self.n_nodes, 1], return_inverse=True)
        distinct = np.stack(np.divmod(codes, max(self.n_nodes, 1)), axis=1)
        object.__setattr__(self, "edges", distinct)
        object.__setattr__(self, "weights", np.bincount(which.ravel(), given, len(distinct)))

    @classmethod
    def from_adjacency(cls, adjacency: Any) -> "Graph":
        """Make a graph of a symmetric SciPy sparse matrix or array, whose entries are the weights.

        Examples
        --------
        >>> from garrote.proximal import Graph
        >>> Graph.from_adjacency([[0, 2.0], [2.0, 0]]).weights.tolist()
        [2.0]
        """
        from scipy.sparse import coo_array

        entries = coo_array(adjacency)
        entries.sum_duplicates()
        entries.eliminate_zeros()
        n_rows, n_columns = entries.shape
        if n_rows != n_columns:
            raise ValueError(
                f"an adjacency matrix must be square, a row and a column for each node, got one of "
                f"{n_rows} x {n_columns}: give edges instead if they are pairs"
            )
        difference = coo_array(entries - entries.T)
        if abs(difference).sum() > 0:
            at = int(np.argmax(difference.data != 0))
            i, j, whole = difference.row[at], difference.col[at], entries.tocsr()
            raise ValueError(
                f"an adjacency matrix must be symmetric, but entry ({i}, {j}) is {whole[i, j]:g} and "
                f"({j}, {i}) is {whole[j, i]:g}: add its transpose, or give edges"
            )
        once = entries.row <= entries.col
        pairs = np.stack([entries.row[once], entries.col[once]], axis=1)
        return cls(n_rows, pairs, entries.data[once])

    @classmethod
    def lattice(cls, n_rows: int, n_columns: int) -> "Graph":
        """Make the grid of an image, whose nodes are numbered row by row: neighbours are joined.

        Examples
        --------
        >>> from garrote.proximal import Graph
        >>> Graph.lattice(2, 2).edges.tolist()
        [[0, 1], [0, 2], [1, 3], [2, 3]]
        """
        if not all(isinstance(side, Integral) and side >= 1 for side in (n_rows, n_columns)):
            raise ValueError(
                f"a lattice has whole numbers of rows and columns, at least 1 each, got {n_rows!r} x "
                f"{n_columns!r}"
            )
        nodes = np.arange(n_rows * n_columns).reshape(n_rows, n_columns)
        across = np.stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()], axis=1)
        down = np.stack([nodes[:-1].ravel(), nodes[1:].ravel()], axis=1)
        return cls(n_rows * n_columns, np.concatenate([across, down]))

    def outflow(self, flow: Floats) -> Floats:
        """Return what leaves each node, less what enters; edges run from first to second end."""
        return np.asarray(
            np.bincount(self.edges[:, 0], flow, self.n_nodes)
            - np.bincount(self.edges[:, 1], flow, self.n_nodes)
        )

    @cached_property
    def components(self) -> Array:
        """Return the number of each node's component, joined by edges of positive weight."""
        return self.joined(self.weights > 0)

    def joined(self, which: Array) -> Array:
        """Return the number of each node's component, joined by some of the edges."""
        one, other = self.edges[which].T
        return label_pieces(self.n_nodes, one, other)

    @cached_property
    def arcs(self) -> Arcs:
        """Return the edges in both directions, for loops over a node's neighbours."""
        m = len(self.edges)
        tails = self.edges.T.ravel()
        heads = self.edges[:, ::-1].T.ravel()
        order = np.lexsort((heads, tails))
        place = np.empty(2 * m, dtype=np.int64)
        place[order] = np.arange(2 * m)
        first = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=self.n_nodes))])
        mate = place[(order + m) % max(2 * m, 1)]
        return Arcs(first.astype(np.int64), heads[order], mate, order % max(m, 1))


def label_pieces(count: int, one: Array, other: Array) -> Array:
    """Return the number of the piece that each of ``count`` nodes is in, given the edges' two ends."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(count, count))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.intp)


def as_graph(edges: Any, weights: Any, n_nodes: int) -> Graph:
    """Return the graph on ``n_nodes`` nodes that a user's edges, or a Graph, describe."""
    if not isinstance(edges, Graph):
        return Graph(n_nodes, edges, weights)
    if edges.n_nodes != n_nodes:
        raise ValueError(f"the graph has {edges.n_nodes} nodes, but x has {n_nodes} numbers")
    if weights is not None:
        raise ValueError("give weights to the Graph, or edges as an array with weights, not both")
    return edges
