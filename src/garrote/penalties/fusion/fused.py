"""Neighbours that have equal coefficients: the fused lasso, along a chain or over a graph."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty, Terms, check_share
from garrote.penalties.fusion.fused_rule import FusedRule, feasible_share
from garrote.penalties.fusion.neighbours import (
    chain_order,
    edge_weights,
    resolve_graph,
    storable_graph,
)
from garrote.proximal.graph import Graph


@dataclass(frozen=True, eq=False)
class FusedLasso(Penalty):
    r"""The differences of neighbouring coefficients, so that these are constant over pieces.

    The penalty is (1 - l1_ratio) sum_(i, j) weight_ij \|w_i - w_j\| + l1_ratio sum_j factor_j \|w_j\|
    (Tibshirani et al. 2005). With l1_ratio = 0 the level of every component of the graph is free; with
    more of the lasso pieces are 0 as well. The text's lambda_1 and lambda_2 (Eq. 13.114) are
    alpha * l1_ratio and alpha * (1 - l1_ratio), up to the scale of its loss.

    Coefficients of different units cannot be compared: `SparseRegressor` and `SparseClassifier` leave
    columns in the units of X with this penalty, whatever ``standardize`` says, so that ``coef_`` itself
    is constant over pieces. Scale columns before if their units differ. `fit_path` takes a `Problem` as
    it is: make it with ``standardize=False``.

    Parameters
    ----------
    graph : None, "chain", pairs, sparse matrix, ("lattice", (rows, columns)) or Graph, default=None
        Which columns are neighbours: by default those that follow each other, with a warning if their
        names do not look ordered; "chain" is the same without it. Pairs are of positions or names, in a
        list, an array or a data frame. A symmetric SciPy sparse matrix has weights for entries. A
        lattice has columns row by row, as ``image.ravel()``.
    l1_ratio : float, default=0
        The share of the lasso.
    weights : array, optional
        One number >= 0 for each pair; 1 by default.

    References
    ----------
    Tibshirani, R. et al. (2005). Sparsity and smoothness via the fused lasso. JRSS B 67, 91-108.
    Murphy, K. P. (2012). Machine Learning: A Probabilistic Perspective, section 13.5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.penalties import FusedLasso, Terms
    >>> rule = FusedLasso([(0, 2), (2, 1)], l1_ratio=0.5).at(3.0, Terms.equal(3))
    >>> rule.charge(np.array([1.0, 0.0, 1.0]))
    4.5
    """

    graph: Any = None
    l1_ratio: float = 0.0
    weights: Any = None
    convex = True
    structured = True
    compares = True
    equal_pieces = True
    parabolas = ("em",)
    sums_absolute_values = True
    reference = (
        "Tibshirani, Saunders, Rosset, Zhu & Knight (2005), Sparsity and smoothness via the fused "
        "lasso. JRSS B 67, 91-108"
    )
    name = "fused lasso"

    def __post_init__(self) -> None:
        check_share(self.l1_ratio)
        if isinstance(self.graph, AbstractSet) and self.weights is not None:
            raise ValueError("weights go with pairs in an order, got a set of pairs: give a list")
        object.__setattr__(self, "graph", storable_graph(self.graph))
        object.__setattr__(self, "weights", edge_weights(self.weights))

    @property
    def least_weight(self) -> float:
        """The least that a difference of 1 is charged at a strength of 1, of those that are charged."""
        weights = self.graph.weights if isinstance(self.graph, Graph) else np.ones(1)
        return (1.0 - self.l1_ratio) * float(weights.min(initial=1.0))

    def resolved(self, count: int, names: Array | None = None, X: Any = None) -> "FusedLasso":
        """Return the same with a graph of the columns' positions."""
        graph = resolve_graph(self.graph, count, names, self.weights)
        return replace(self, graph=graph, weights=None)

    def at(self, strength: float, terms: Terms) -> FusedRule:
        """Return the rule at one strength."""
        if np.isfinite(terms.lower).any() or np.isfinite(terms.upper).any():
            raise ValueError(
                "the fused lasso has no bounds: leave them out, or take a penalty of single coefficients"
            )
        graph, order = self._layout(len(terms.factor))
        return FusedRule(
            graph, strength * (1.0 - self.l1_ratio) * graph.weights,
            strength * self.l1_ratio * terms.factor, order,
        )  # fmt: skip

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which all is fused, and 0 where the lasso pulls.

        The gradient is that of the best levels of components that nothing pulls to 0.
        """
        share = feasible_share(self.at(1.0, terms), gradient, np.inf)
        return 1.0 / share if share < np.inf else 0.0

    def count_pieces(self, columns: Array, coef: Floats, count: int) -> int:
        """Return how many pieces of equal coefficients there are that are not 0.

        That is an unbiased estimate of the degrees of freedom (Tibshirani & Taylor 2011).
        """
        everywhere = np.zeros(count)
        everywhere[columns] = coef
        rule = self.at(1.0, Terms.equal(count))
        label = rule.graph.joined(rule.equal_ends(everywhere)[0])
        return len(np.unique(label[everywhere != 0.0]))

    @cached_property
    def _layouts(self) -> dict[int, tuple[Graph, Array]]:
        return {}

    def _layout(self, count: int) -> tuple[Graph, Array]:
        """Return the graph and its order; where there are several outputs, each has its own copy."""
        if count not in self._layouts:
            graph = self.graph
            if not isinstance(graph, Graph) or count % max(graph.n_nodes, 1):
                graph = resolve_graph(graph, count, None, self.weights)
            if graph.n_nodes != count:
                shifts = graph.n_nodes * np.arange(count // graph.n_nodes)
                edges = (graph.edges + shifts[:, None, None]).reshape(-1, 2)
                graph = Graph(count, edges, np.tile(graph.weights, len(shifts)))
            self._layouts[count] = graph, chain_order(graph)
        return self._layouts[count]
