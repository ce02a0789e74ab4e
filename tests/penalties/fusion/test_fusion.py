"""Neighbours that are fused: graphs as they are given, and what solvers ask of their rule."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from garrote import SparseRegressor
from garrote.penalties import FusedLasso, Terms
from garrote.penalties.fusion.fused_rule import feasible_share
from garrote.penalties.fusion.neighbours import chain_order, in_order, resolve_graph
from garrote.proximal import Graph
from garrote.rules import proximal_point
from graphs import CHAIN, GRAPHS, LATTICE, PARTS
from reference import fused_regression, sparse_regression


@given(seed=st.integers(0, 10_000), chain=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_proximal_point_with_unequal_thresholds_minimises_its_objective(seed, chain):
    rng = np.random.default_rng(seed)
    edges = CHAIN if chain else LATTICE
    weights, thresholds = (
        rng.uniform(0, 1, len(edges)),
        rng.uniform(0, 1, 12) * (rng.random(12) < 0.7),
    )
    graph = Graph(12, edges, weights)
    rule = FusedLasso(graph).at(1.0, Terms.equal(12))._replace(threshold=thresholds)
    z = 2 * rng.standard_normal(12)
    expected = fused_regression(
        np.eye(12), z, graph.edges, 2 / 12, 0.5, graph.weights, np.maximum(thresholds, 1e-12)
    )
    np.testing.assert_allclose(
        rule.proximal_pieces(z, rule.weight, rule.threshold), expected, atol=1e-7
    )
    np.testing.assert_allclose(proximal_point(rule, z, 1.0), expected, atol=1e-7)


@given(seed=st.integers(0, 10_000), graph=st.sampled_from(list(GRAPHS)))
@settings(max_examples=40, deadline=None)
def test_the_feasible_share_is_that_of_a_linear_program(seed, graph):
    """The largest s with s g = A'u + v, |u| <= weight, |v| <= threshold."""
    rng = np.random.default_rng(seed)
    edges = GRAPHS[graph]
    rule = FusedLasso(edges, 0.3).at(0.5, Terms.equal(12)._replace(factor=rng.uniform(0.1, 2, 12)))
    g = rng.standard_normal(12)
    A = np.zeros((len(rule.weight), 12))
    for k, (i, j) in enumerate(rule.graph.edges):
        A[k, i], A[k, j] = 1.0, -1.0
    limits = np.concatenate([rule.weight, rule.threshold])
    answer = scipy.optimize.linprog(
        np.append(np.zeros(len(limits)), -1.0),
        A_eq=np.column_stack([A.T, np.eye(12), -g]),
        b_eq=np.zeros(12),
        bounds=[*((-limit, limit) for limit in limits), (0, 100.0)],
    )
    assert feasible_share(rule, g, 100.0) == pytest.approx(-answer.fun, rel=1e-9)


def test_graphs_can_be_given_in_many_ways():
    names = np.array(["a", "b", "c", "d"])
    expected = Graph(4, [[0, 1], [1, 2], [2, 3]])
    for graph in (
        None, [("a", "b"), ("c", "b"), ("d", "c")], [(1, 0), (2, 1), (2, 3)], expected,
        scipy.sparse.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(4, 4)), ("lattice", (1, 4)),
        "chain", ((j, j + 1) for j in range(3)), zip("abc", "bcd", strict=True),
        {(0, 1), (1, 2), (2, 3)}, [frozenset("ab"), frozenset("bc"), frozenset("cd")],
        np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]),
        pd.DataFrame({"from": ["a", "b", "c"], "to": ["b", "c", "d"]}),
        pd.DataFrame({"from": [0, 1, 2], "to": [1, 2, 3]}), ["lattice", [4, 1]],
    ):  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = resolve_graph(graph, 4, names)
        np.testing.assert_array_equal(found.edges, expected.edges)
    np.testing.assert_array_equal(resolve_graph(None, 4, None, [1, 0, 2]).edges, [[0, 1], [2, 3]])


@pytest.mark.parametrize(
    ("edges", "ordered"),
    [(CHAIN, True), (LATTICE, False), (PARTS, False), (PARTS[3:], True), ([[0, 1], [1, 0]], True)],
)
def test_chains_are_recognised_whatever_their_order(edges, ordered):
    graph = Graph(12, edges)
    order = chain_order(graph)
    assert len(order) == (12 if ordered else 0)
    if ordered:
        assert sorted(order) == list(range(12))
        rank = np.argsort(order)
        assert (np.abs(np.diff(rank[graph.edges], axis=1)) == 1).all()


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        (["x1", "x2", "x10"], True),
        (["900 nm", "902 nm", "904.5 nm"], True),
        (["t3", "t2", "t1"], True),
        (["x1", "x3", "x2"], False),
        (["age", "sex", "bmi"], False),
        (["x1", "y2"], False),
        (["age"], True),
    ],
)
def test_names_tell_whether_columns_are_ordered(names, ordered):
    assert in_order(np.array(names)) == ordered


def test_unordered_columns_are_warned_of():
    X, y, _ = sparse_regression(40, 3, 2)
    frame = pd.DataFrame(X, columns=["age", "sex", "bmi"])
    with pytest.warns(UserWarning, match="do not look ordered"):
        SparseRegressor(penalty=FusedLasso(), alpha=0.1).fit(frame, y)
    SparseRegressor(penalty=FusedLasso([("age", "bmi")]), alpha=0.1).fit(frame, y)
    SparseRegressor(penalty=FusedLasso(), alpha=0.1).fit(X, y)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([(0, 7)], "graph has node 7"),
        ([(0, -1)], "graph has node -1"),
        ([("a", "b")], "no column names"),
        ([(0, 1), (2, 2)], "joins node 2 to itself"),
        ([0, 1], "pairs of columns"),
        ("ring", "'chain', pairs of columns, .* got 'ring'"),
        (5, "pairs of columns, .* got 5"),
        ({"a": "b"}, "pairs of columns, .* got {'a': 'b'}"),
        (("lattice", (2.7, 3.2)), "two whole numbers of at least 1"),
        (("lattice", (-2, -3)), "two whole numbers of at least 1"),
        (("lattice", "2x3"), "a lattice is given as"),
        ([(0, 1, 2.0)], r"got \(0, 1, 2.0\) in it"),
        ([(0, 1.5)], "graph has node 1.5"),
        (
            scipy.sparse.coo_array(([2.0], ([3], [1])), shape=(5, 5)),
            r"\(1, 3\) is 0 and \(3, 1\) is 2",
        ),
        (scipy.sparse.coo_array((3, 5)), "must be square, .* got one of 3 x 5"),
        (("lattice", (2, 3)), "6 nodes, but X has 5 columns"),
        (("lattice", 5), "a lattice is given as"),
        (scipy.sparse.eye_array(5), "joins node 0 to itself"),
        (scipy.sparse.coo_array(([1.0], ([0], [1])), shape=(5, 5)), "symmetric"),
        (Graph(3, [[0, 1]]), "3 nodes, but X has 5 columns"),
    ],
)
def test_impossible_graphs_are_refused(graph, message):
    X, y, _ = sparse_regression(30, 5, 2)
    with pytest.raises(ValueError, match=message):
        SparseRegressor(penalty=FusedLasso(graph), alpha=0.1).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"l1_ratio": 1.0}, "below 1, got 1.0"),
        ({"l1_ratio": "a"}, "l1_ratio must be a number .* got 'a'"),
        ({"l1_ratio": None}, "l1_ratio must be a number .* got None"),
        ({"weights": {"a": 1.0}}, "a finite number >= 0 for each pair, got {'a': 1.0}"),
        ({"weights": [1.0, np.nan]}, "a finite number >= 0 for each pair"),
        ({"weights": [1.0, -1.0]}, "a finite number >= 0 for each pair"),
        ({"graph": {(0, 1)}, "weights": [1.0]}, "a set of pairs: give a list"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        FusedLasso(**settings)


def test_the_order_of_names_is_not_asked_for_where_a_chain_is():
    X, y, _ = sparse_regression(40, 3, 2)
    frame = pd.DataFrame(X, columns=["age", "sex", "bmi"])
    model = SparseRegressor(penalty=FusedLasso("chain"), alpha=0.1).fit(frame, y)
    expected = SparseRegressor(penalty=FusedLasso(), alpha=0.1).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)


def test_edges_of_a_generator_serve_every_fit():
    X, y, _ = sparse_regression(40, 3, 2)
    model = SparseRegressor(penalty=FusedLasso((j, j + 1) for j in range(2)), alpha=0.1)
    first = clone(model).fit(X, y).coef_
    np.testing.assert_array_equal(model.fit(X, y).coef_, first)
    np.testing.assert_array_equal(model.fit(X, y).coef_, first)
