"""Proximal operators: each against a plain reference and against its own definition."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from garrote import proximal
from garrote.penalties import ElasticNet, thresholding
from garrote.proximal import (
    Graph,
    Groups,
    denoise_on_graph,
    elastic_net,
    fused_lasso,
    graph_total_variation,
    group_l2,
    group_linf,
    hard_threshold,
    project_box,
    project_l1_ball,
    project_l2_ball,
    project_linf_ball,
    project_simplex,
    soft_threshold,
    sparse_group,
    total_variation,
    total_variation_gap,
)
from garrote.proximal.chain import _scan
from reference import (
    differences,
    fused_by_dual,
    obeys_variational_inequality,
    project_l1_ball_by_sorting,
)

# Halves make ties, the hard case of every algorithm that sorts, cuts or merges.
numbers = st.one_of(
    st.integers(-8, 8).map(lambda k: k / 2),
    st.floats(-10, 10).filter(lambda v: v == 0 or abs(v) > 1e-6),
)
strengths = st.sampled_from([0.0, 0.3, 0.5, 1.0, 2.5, 7.0, 1e3])
seeds = st.integers(0, 2**32 - 1)


def vectors(smallest=1, largest=9):
    return st.lists(numbers, min_size=smallest, max_size=largest).map(np.array)


def some_groups(rng, n):
    """Groups of unequal sizes, their members anywhere."""
    labels = np.unique(rng.integers(0, 3, n), return_inverse=True)[1]
    return labels, rng.choice([0.0, 0.5, 1.0, 2.0], labels.max() + 1)


def some_edges(rng, n):
    """Edges of a graph that may have several components, duplicates and weights of 0."""
    pairs = rng.integers(0, n, (rng.integers(0, 3 * n), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return pairs, rng.choice([0.0, 0.5, 1.0, 3.0], len(pairs))


def chain(n):
    return np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)


def around(x, z, seed):
    """Points at all distances from z: along each axis, random, shrunk, and with runs made equal."""
    rng = np.random.default_rng(seed)
    points = [x, np.zeros_like(z), np.full_like(z, z.mean())]
    for step in (1e-4, 1e-2, 1.0):
        points += [z + sign * step * e for e in np.eye(len(z)) for sign in (-1, 1)]
        points += [z + step * rng.normal(size=z.shape) for _ in range(5)]
        points += [z * (1 - step), z * (1 + step)]
    for i in range(len(z)):
        fused = z.copy()
        fused[i:] = z[i:].mean()
        points.append(fused)
    return points


def norm_of_groups(order, labels, weights):
    return lambda z: sum(w * np.linalg.norm(z[labels == g], order) for g, w in enumerate(weights))


def assert_prox(penalty, x, z, seed):
    assert obeys_variational_inequality(penalty, x, z, around(x, z, seed))


# Each by its definition


@given(vectors(), strengths, st.floats(0, 1))
def test_elementwise_operators_are_what_the_coordinate_rules_make_of_one_value(x, strength, ratio):
    np.testing.assert_allclose(
        elastic_net(x, strength, ratio),
        thresholding(ElasticNet(ratio), x, strength),
        rtol=1e-13,
        atol=1e-13,
    )
    np.testing.assert_array_equal(soft_threshold(x, strength), elastic_net(x, strength, 1.0))


@given(vectors(), strengths, seeds)
def test_soft_threshold_is_the_prox_of_the_weighted_l1_norm(x, strength, seed):
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], len(x))
    z = soft_threshold(x, strength, weights)
    assert_prox(lambda c: strength * weights @ np.abs(c), x, z, seed)


@given(vectors(), strengths, seeds)
def test_hard_threshold_picks_the_cheaper_of_nothing_and_the_value(x, strength, seed):
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], len(x))
    z = hard_threshold(x, strength, weights)
    cost = (z - x) ** 2 / 2 + strength * weights * (z != 0)
    grid = np.linspace(-11, 11, 2201)[:, None]
    brute = ((grid - x) ** 2 / 2 + strength * weights * (grid != 0)).min(axis=0)
    assert (cost <= np.minimum(brute, strength * weights) + 1e-12).all()


def test_hard_threshold_lies_at_the_root_of_twice_the_strength():
    assert hard_threshold([1.999, 2.001, -2.001], 2.0).tolist() == [0.0, 2.001, -2.001]


@given(vectors(), st.sampled_from([0.0, 0.5, 1.0, 3.0, 50.0]), seeds)
def test_l1_ball_projection_is_that_of_sorting(x, radius, seed):
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.0], len(x))
    for each in (None, weights):
        plain = np.ones(len(x)) if each is None else each
        np.testing.assert_allclose(
            project_l1_ball(x, radius, each),
            project_l1_ball_by_sorting(x, radius, plain),
            atol=1e-12,
        )


@pytest.mark.parametrize("spread", [0.0, 0.1, 3.0])
def test_l1_ball_projection_of_a_long_vector_is_that_of_sorting(spread):
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000) * np.exp(spread * rng.normal(size=20_000))
    weights = rng.uniform(0.5, 2.0, len(x))
    for radius in (1e-3, 10.0, 0.5 * weights @ np.abs(x)):
        projected = project_l1_ball(x, radius, weights)
        # What is left of the largest has their rounding.
        rounding = 10 * np.finfo(float).eps * np.abs(x).max()
        np.testing.assert_allclose(weights @ np.abs(projected), radius, rtol=1e-12, atol=rounding)
        expected = project_l1_ball_by_sorting(x, radius, weights)
        np.testing.assert_allclose(projected, expected, atol=1e-12 * np.abs(x).max())


@given(vectors(), st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_simplex_projection_keeps_the_sum_and_only_shifts_what_is_left(x, total):
    z = project_simplex(x, total)
    assert z.min() >= 0
    np.testing.assert_allclose(z.sum(), total, atol=1e-12)
    # The variational inequality at the corners, and so everywhere.
    for corner in total * np.eye(len(x)):
        assert (x - z) @ (corner - z) <= 1e-10


def test_simplex_projection_keeps_its_digits_beside_huge_numbers():
    z = project_simplex([-1e15, 0.3, 0.1, -3e10], 1.0)
    np.testing.assert_allclose(z, [0.0, 0.6, 0.4, 0.0], rtol=1e-14)


@given(vectors(), strengths)
def test_l2_ball_projection_shortens_and_keeps_the_direction(x, radius):
    z = project_l2_ball(x, radius)
    length = np.linalg.norm(x)
    np.testing.assert_allclose(np.linalg.norm(z), min(length, radius), atol=1e-12)
    np.testing.assert_allclose(z * length, x * np.linalg.norm(z), atol=1e-10)


@given(vectors(), seeds)
def test_box_projection_is_the_nearest_point_between_the_bounds(x, seed):
    rng = np.random.default_rng(seed)
    lower = rng.choice([-np.inf, -1.0, 0.0], len(x))
    upper = rng.choice([0.0, 1.5, np.inf], len(x))
    expected = [min(max(v, low), high) for v, low, high in zip(x, lower, upper, strict=True)]
    np.testing.assert_array_equal(project_box(x, lower, upper), expected)


@given(vectors(), strengths, seeds)
def test_group_operators_are_the_prox_of_their_norms(x, strength, seed):
    labels, weights = some_groups(np.random.default_rng(seed), len(x))
    l2, linf = (norm_of_groups(order, labels, weights) for order in (2, np.inf))
    shrunk = group_l2(x, strength, labels, weights)
    assert_prox(lambda c: strength * l2(c), x, shrunk, seed)
    cut = group_linf(x, strength, labels, weights)
    assert_prox(lambda c: strength * linf(c), x, cut, seed)
    both = sparse_group(x, strength, labels, 0.3, weights)
    assert_prox(lambda c: strength * (0.3 * np.abs(c).sum() + 0.7 * l2(c)), x, both, seed)


@given(vectors(largest=30), strengths)
def test_chain_variation_is_that_of_the_dual_least_squares(x, strength):
    z = total_variation(x, strength)
    expected = fused_by_dual(x, differences(len(x), chain(len(x))), np.full(len(x) - 1, strength))
    np.testing.assert_allclose(z, expected, atol=1e-9)
    assert total_variation_gap(x, z, strength) < 1e-12


@given(vectors(largest=30), strengths, seeds)
def test_weighted_chain_variation_is_that_of_the_dual_least_squares(x, strength, seed):
    weights = np.random.default_rng(seed).choice([0.0, 0.1, 1.0, 3.0], len(x) - 1)
    z = total_variation(x, strength, weights)
    expected = fused_by_dual(x, differences(len(x), chain(len(x))), strength * weights)
    np.testing.assert_allclose(z, expected, atol=1e-9)
    assert total_variation_gap(x, z, strength, weights) < 1e-12


@given(vectors(), strengths, seeds)
def test_graph_variation_is_that_of_the_dual_least_squares(x, strength, seed):
    edges, weights = some_edges(np.random.default_rng(seed), len(x))
    answer = denoise_on_graph(x, strength, edges, weights)
    expected = fused_by_dual(x, differences(len(x), edges), strength * weights)
    np.testing.assert_allclose(answer.values, expected, atol=1e-8)
    assert answer.gap < 1e-14
    assert (np.abs(answer.flow) <= strength * answer.graph.weights).all()


@given(vectors(smallest=2), strengths, strengths, seeds)
def test_fused_lasso_is_that_of_the_dual_least_squares(x, fusion, sparsity, seed):
    n = len(x)
    edges, weights = some_edges(np.random.default_rng(seed), n)
    for given_edges, used, each in ((edges, edges, weights), (None, chain(n), None)):
        rows = np.vstack([differences(n, used), np.eye(n)])
        plain = np.ones(len(used)) if each is None else each
        limits = np.concatenate([fusion * plain, np.full(n, sparsity)])
        z = fused_lasso(x, fusion, sparsity, given_edges, each)
        np.testing.assert_allclose(z, fused_by_dual(x, rows, limits), atol=1e-8)


# Long and hard inputs


def adversaries(n):
    rng = np.random.default_rng(1)
    line = np.linspace(-1, 1, n)
    return {
        "noise": rng.normal(size=n),
        "steps": np.repeat(rng.normal(size=n // 100), 100) + rng.normal(size=n),
        "walk": np.cumsum(rng.normal(size=n)),
        "ramp": 100 * line,
        "parabola": 100 * line**2,
        "vee": 100 * np.abs(line),
        "saw": np.arange(n) % 7 + 20 * line,
        "constant": np.full(n, 3.7),
    }


@pytest.mark.parametrize("kind", adversaries(100))
@pytest.mark.parametrize("strength", [0.01, 1.0, 30.0, 1e9])
def test_long_chains_are_solved_to_rounding_by_both_ways(kind, strength):
    x = adversaries(30_000)[kind]
    z = total_variation(x, strength)
    scale = np.abs(x).max()
    np.testing.assert_allclose(
        z, total_variation(x, strength, np.ones(len(x) - 1)), atol=1e-9 * scale
    )
    centred, moved = x - x.mean(), z - x.mean()
    assert total_variation_gap(centred, moved, strength) < 1e-8


def test_a_large_offset_costs_no_more_than_its_own_digits():
    x = adversaries(30_000)["noise"]
    shifted = total_variation(x + 1e8, 3.0) - 1e8
    np.testing.assert_allclose(shifted, total_variation((x + 1e8) - 1e8, 3.0), atol=1e-7)
    graph = Graph.lattice(150, 200)
    shifted = graph_total_variation(x + 1e8, 0.5, graph) - 1e8
    np.testing.assert_allclose(
        shifted, graph_total_variation((x + 1e8) - 1e8, 0.5, graph), atol=1e-7
    )


@pytest.mark.parametrize("kind", ["ramp", "parabola", "vee", "walk"])
def test_the_scan_gives_up_before_its_returns_cost_quadratic_time(kind):
    x = adversaries(30_000)[kind]
    out = np.empty(len(x))
    stopped, side = _scan(x, 30.0, out)
    assert stopped < len(x)
    assert side in (-1, 1)
    np.testing.assert_allclose(out[:stopped], total_variation(x, 30.0)[:stopped])


@pytest.mark.parametrize("kind", adversaries(100))
def test_a_chain_as_a_graph_is_the_chain(kind):
    x = adversaries(1000)[kind]
    for strength in (0.5, 20.0):
        answer = denoise_on_graph(x, strength, chain(len(x)))
        expected = total_variation(x, strength)
        np.testing.assert_allclose(answer.values, expected, atol=1e-10 * np.abs(x).max())


def graphs():
    rng = np.random.default_rng(2)
    pairs = rng.integers(0, 2000, (6000, 2))
    parents = [int(rng.integers(0, child)) for child in range(1, 2000)]
    return {
        "lattice": Graph.lattice(40, 50),
        "random": Graph(2000, pairs[pairs[:, 0] != pairs[:, 1]]),
        "tree": Graph(2000, np.stack([np.arange(1, 2000), parents], axis=1)),
        "star": Graph(2000, np.stack([np.zeros(1999, dtype=int), np.arange(1, 2000)], axis=1)),
        "uneven": Graph(2000, chain(2000), np.exp(3 * rng.normal(size=1999))),
    }


@pytest.mark.parametrize("kind", graphs())
@pytest.mark.parametrize("strength", [0.01, 0.3, 2.0, 1e6])
def test_large_graphs_are_certified(kind, strength):
    graph = graphs()[kind]
    rng = np.random.default_rng(3)
    x = rng.normal(size=graph.n_nodes) * np.exp(rng.normal(size=graph.n_nodes))
    answer = denoise_on_graph(x, strength, graph)
    assert answer.gap < 1e-15
    # Beginning with the flow of a neighbour changes nothing but the time.
    near = denoise_on_graph(
        x, strength, graph, start=denoise_on_graph(1.1 * x, strength, graph).flow
    )
    np.testing.assert_allclose(near.values, answer.values, atol=1e-9)


def test_a_gap_tells_that_a_solution_is_not_one():
    x = np.random.default_rng(4).normal(size=50)
    z = total_variation(x, 1.0)
    assert total_variation_gap(x, z, 1.0) < 1e-14
    worse = z + 0.01 * np.random.default_rng(5).normal(size=50)
    excess = lambda v: 0.5 * ((v - x) ** 2).sum() + np.abs(np.diff(v)).sum()  # noqa: E731
    unit = 0.5 * ((x - x.mean()) ** 2).sum()
    assert total_variation_gap(x, worse, 1.0) >= (excess(worse) - excess(z)) / unit > 1e-4


def test_numbers_that_are_equal_but_for_rounding_have_no_gap():
    x = np.full(3, 0.1)
    x[1] = np.nextafter(0.1, 1)
    assert total_variation_gap(x, total_variation(x, 1.0, [1.0, 3.0]), 1.0, [1.0, 3.0]) < 1e-12
    assert denoise_on_graph(x, 1.0, chain(3)).gap < 1e-12


# Properties that all of them share

_LABELS = np.array([0, 1, 0, 2, 1, 0, 2, 2])
_EDGES = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [5, 1], [6, 7]])
CONVEX = {
    "soft": lambda x: soft_threshold(x, 0.7),
    "elastic net": lambda x: elastic_net(x, 0.7, 0.4),
    "box": lambda x: project_box(x, -0.3, 0.8),
    "l1 ball": lambda x: project_l1_ball(x, 2.0),
    "l2 ball": lambda x: project_l2_ball(x, 1.5),
    "linf ball": lambda x: project_linf_ball(x, 0.6),
    "simplex": lambda x: project_simplex(x, 1.5),
    "group l2": lambda x: group_l2(x, 0.8, _LABELS),
    "group linf": lambda x: group_linf(x, 0.8, _LABELS),
    "sparse group": lambda x: sparse_group(x, 0.8, _LABELS),
    "chain": lambda x: total_variation(x, 0.6),
    "weighted chain": lambda x: total_variation(x, 0.6, np.arange(7.0)),
    "graph": lambda x: graph_total_variation(x, 0.6, _EDGES),
    "fused": lambda x: fused_lasso(x, 0.6, 0.2),
}
PROJECTIONS = ["box", "l1 ball", "l2 ball", "linf ball", "simplex"]
SYMMETRIC = ["soft", "elastic net", "box", "l1 ball", "l2 ball", "linf ball", "simplex"]
ODD = sorted(set(CONVEX) - {"box", "simplex"})


@pytest.mark.parametrize("name", CONVEX)
@given(vectors(8, 8), vectors(8, 8))
def test_operators_are_firmly_nonexpansive(name, x, y):
    moved = CONVEX[name](x) - CONVEX[name](y)
    assert moved @ (x - y) >= moved @ moved - 1e-9


@pytest.mark.parametrize("name", PROJECTIONS)
@given(vectors(8, 8))
def test_projections_leave_what_they_return(name, x):
    once = CONVEX[name](x)
    np.testing.assert_allclose(CONVEX[name](once), once, atol=1e-14)


@pytest.mark.parametrize("name", SYMMETRIC)
@given(vectors(8, 8), st.permutations(range(8)))
def test_operators_do_not_know_the_order_of_coefficients(name, x, order):
    np.testing.assert_allclose(CONVEX[name](x[order]), CONVEX[name](x)[order], atol=1e-13)


@given(vectors(8, 8), st.permutations(range(8)))
def test_groups_and_graphs_follow_a_permutation(x, order):
    order = np.array(order)
    place = np.argsort(order)
    for operator in (group_l2, group_linf, sparse_group):
        moved = operator(x[order], 0.8, _LABELS[order])
        np.testing.assert_allclose(moved, operator(x, 0.8, _LABELS)[order], atol=1e-13)
    moved = graph_total_variation(x[order], 0.6, place[_EDGES])
    np.testing.assert_allclose(moved, graph_total_variation(x, 0.6, _EDGES)[order], atol=1e-10)


@pytest.mark.parametrize("name", ODD)
@given(vectors(8, 8))
def test_operators_of_norms_are_odd_and_keep_zero(name, x):
    np.testing.assert_allclose(CONVEX[name](-x), -CONVEX[name](x), atol=1e-12)
    np.testing.assert_array_equal(CONVEX[name](np.zeros(8)), np.zeros(8))


@pytest.mark.parametrize("name", CONVEX)
@given(vectors(8, 8))
def test_float32_stays_float32_and_near_float64(name, x):
    x = x.astype(np.float32)
    single = CONVEX[name](x)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, CONVEX[name](x.astype(float)), atol=1e-5)


@pytest.mark.parametrize("name", CONVEX)
def test_operators_never_write_into_their_argument_nor_return_it(name):
    x = 1e-3 * np.random.default_rng(6).normal(size=8)
    before = x.copy()
    result = CONVEX[name](x)
    np.testing.assert_array_equal(x, before)
    assert not np.shares_memory(result, x)


@given(vectors(), strengths)
def test_a_norm_and_the_ball_of_its_dual_share_out_x(x, strength):
    one = np.zeros(len(x), dtype=int)
    np.testing.assert_allclose(soft_threshold(x, strength) + project_linf_ball(x, strength), x)
    pairs = [(group_l2, project_l2_ball), (group_linf, project_l1_ball)]
    for operator, projection in pairs:
        together = operator(x, strength, one) + projection(x, strength)
        np.testing.assert_allclose(together, x, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(vectors(8, 8))
def test_arrays_of_other_libraries_give_what_numpy_gives(dtype, x):
    x = x.astype(dtype)
    foreign = array_api_strict.asarray(x)
    weights = np.array([0.0, 1, 2, 0.5, 1, 1, 3, 1])
    for operator in (
        *(CONVEX[name] for name in [*SYMMETRIC, "group l2", "sparse group"] if name != "simplex"),
        lambda v: hard_threshold(v, 0.7),
        lambda v: hard_threshold(v, 0.7, weights),
        lambda v: soft_threshold(v, 0.7, weights),
        lambda v: elastic_net(v, 0.7, 0.5, weights),
        lambda v: project_l1_ball(v, 2.0, weights),
        lambda v: project_l1_ball(v, 0.0),
        lambda v: group_l2(v, 0.7, Groups(_LABELS), [1.0, 0.0, 2.0]),
        lambda v: project_box(v, -weights, weights),
    ):
        result = operator(foreign)
        assert isinstance(result, type(foreign))
        assert result.dtype == foreign.dtype
        np.testing.assert_allclose(np.asarray(result), operator(x), atol=1e-5)


def test_large_numbers_are_taken_up_to_the_limit_and_not_called_infinite_beyond():
    x = np.array([1e151, 1e151, -1.0])
    assert group_linf(x, 0.0, [0, 1, 2]).tolist() == x.tolist()
    assert total_variation(x, 0.0).tolist() == x.tolist()
    for operator in (lambda x: group_linf(x, 0.0, [0, 1, 2]), lambda x: total_variation(x, 0.0)):
        with pytest.raises(
            ValueError, match=r"x is 1.5e\+308 at position 0: numbers beyond 1e\+151"
        ):
            operator(1.5e157 * x)


def test_lists_and_integers_become_floating_point_numbers():
    assert soft_threshold([3, -1], 1).tolist() == [2.0, 0.0]
    assert total_variation([0, 4], 1).tolist() == [1.0, 3.0]
    assert soft_threshold(np.array([[3.0, -1.0]]), 1).tolist() == [[2.0, 0.0]]


@pytest.mark.parametrize("length", [0, 1])
def test_empty_and_single_vectors_are_answered(length):
    x = np.full(length, 2.0)
    assert total_variation(x, 1.0).tolist() == x.tolist()
    assert graph_total_variation(x, 1.0, []).tolist() == x.tolist()
    assert project_l1_ball(x, 1.0).tolist() == [1.0] * length
    assert group_linf(x, 0.5, np.zeros(length, dtype=int)).tolist() == [1.5] * length
    assert group_l2(x, 0.5, np.zeros(length, dtype=int)).tolist() == [1.5] * length


# Graphs


def test_an_edge_given_twice_counts_with_both_weights():
    graph = Graph(3, [[1, 0], [0, 1], [1, 2]], [1.0, 2.0, 0.5])
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.weights.tolist() == [3.0, 0.5]


def test_an_adjacency_matrix_and_its_edges_are_one_graph():
    weights = np.array([[0, 2.0, 0], [2.0, 0, 0.5], [0, 0.5, 0]])
    for matrix in (weights, csr_array(weights)):
        graph = Graph.from_adjacency(matrix)
        assert graph.edges.tolist() == [[0, 1], [1, 2]]
        assert graph.weights.tolist() == [2.0, 0.5]
    with pytest.raises(ValueError, match="symmetric"):
        Graph.from_adjacency(np.triu(weights))
    with pytest.raises(ValueError, match="itself"):
        Graph.from_adjacency(weights + np.eye(3))


def test_components_are_solved_apart():
    x = np.array([0.0, 1.0, 10.0, 12.0, 5.0])
    answer = denoise_on_graph(x, 100.0, [[0, 1], [2, 3]])
    assert answer.values.tolist() == [0.5, 0.5, 11.0, 11.0, 5.0]
    assert answer.gap < 1e-15


# Bad input

X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: soft_threshold(X, -1.0), "strength must be a finite number >= 0, got -1.0"),
        (lambda: soft_threshold(X, np.nan), "strength must be a finite number"),
        (lambda: total_variation(X, np.inf), "strength must be a finite number"),
        (lambda: fused_lasso(X, 1.0, -2.0), "sparsity must be a finite number >= 0, got -2.0"),
        (lambda: project_l2_ball(X, -1.0), "radius must be"),
        (lambda: project_simplex(X, -1.0), "total must be"),
        (lambda: project_simplex([]), "one number or more"),
        (lambda: elastic_net(X, 1.0, 1.5), "l1_ratio must lie between 0 and 1, got 1.5"),
        (lambda: soft_threshold(X, 1.0, [1.0, 2.0]), "one for each coefficient"),
        (lambda: soft_threshold(X, 1.0, [1.0, -2.0, 1.0]), "weights must be finite and >= 0"),
        (lambda: total_variation(X, 1.0, [1.0]), "one for each pair of neighbours"),
        (lambda: total_variation([1.0, np.nan], 1.0), "got nan at position 1"),
        (lambda: project_l1_ball([np.inf, 1.0]), "got inf at position 0"),
        (lambda: total_variation(np.eye(2), 1.0), "one dimension"),
        (lambda: project_box(X, 1.0, 0.0), "lower must not exceed upper"),
        (lambda: group_l2(X, 1.0, [0, 1]), "vectors of one length"),
        (lambda: group_l2(X, 1.0, [[0, 1], [1, 2]]), "groups 0 and 1 share coefficient 1"),
        (lambda: group_l2(X, 1.0, [[0], [2]]), "coefficients 1 are in no group"),
        (lambda: group_l2(X, 1.0, [[0, 1, 2], []]), "group 1 is empty"),
        (lambda: group_l2(X, 1.0, [[0, 1], -1]), "has -1 beside lists"),
        (lambda: group_l2(X, 1.0, [0.0, 1.0, np.nan]), "no label .* at position 2"),
        (lambda: group_l2(X, 1.0, [0, "a", 1]), "all numbers or all text, got 0 and 'a'"),
        (lambda: group_l2(X, 1.0, 3), "a label for each coefficient, .* got 3"),
        (lambda: group_l2(X, 1.0, {0, 1, 2}), "which has no order"),
        (lambda: group_l2(X, 1.0, [0, 0, 1], [1.0]), "one for each group"),
        (lambda: graph_total_variation(X, 1.0, [[0, 3]]), "node 3.*from 0 to 2"),
        (lambda: graph_total_variation(X, 1.0, [[0, 1], [-1, 1]]), "node -1"),
        (lambda: graph_total_variation(X, 1.0, [[0, 1], [2, 2]]), "edge 1 joins node 2 to itself"),
        (lambda: graph_total_variation(X, 1.0, [0, 1]), "pairs of node numbers"),
        (lambda: graph_total_variation(X, 1.0, [[0, 1]], [1.0, 2.0]), "one for each edge"),
        (lambda: graph_total_variation(X, 1.0, [[0, 1]], [-1.0]), "weights must be finite"),
        (lambda: graph_total_variation(X, 1.0, Graph(4, [[0, 1]])), "4 nodes, but x has 3"),
        (lambda: graph_total_variation(X, 1.0, Graph(3, [[0, 1]]), [1.0]), "not both"),
        (lambda: denoise_on_graph(X, 1.0, [[0, 1]], start=[1.0, 2.0]), "start must be"),
        (lambda: total_variation_gap(X, X[:2], 1.0), "one length, got 3 and 2"),
    ],
)
def test_bad_input_gets_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_operators_with_a_compiled_loop_refuse_other_arrays_and_words():
    with pytest.raises(TypeError, match="takes NumPy arrays, got"):
        total_variation(array_api_strict.asarray(X), 1.0)
    with pytest.raises(TypeError, match="array of real numbers"):
        soft_threshold(np.array(["a"]), 1.0)


def test_every_operator_is_public():
    assert set(proximal.__all__) <= set(dir(proximal))
