"""Graphs of twelve columns, by which neighbours are fused: a chain, a lattice, and parts."""

import numpy as np

from garrote.proximal import Graph

CHAIN = np.array([[i, i + 1] for i in range(11)])
LATTICE = Graph.lattice(3, 4).edges
# A triangle, a path that jumps about, and two columns without neighbours.
PARTS = np.array([[0, 1], [1, 2], [0, 2], [3, 9], [9, 5], [5, 4]])
GRAPHS = {"chain": CHAIN, "lattice": LATTICE, "parts": PARTS}
