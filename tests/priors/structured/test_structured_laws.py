"""Laws in which variables hang together: what they say of sets, by stories told in plain Python."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

from garrote.priors import (
    CategoryInclusion,
    ChainInclusion,
    GraphInclusion,
    GroupedInclusion,
    HeredityInclusion,
    TwoLevelInclusion,
)
from garrote.priors.structured.switch_table import flip, prior_gain, swap_gain, take_out_everyone
from structured_laws import LAWS, OFFSETS, D, log_story, sets

EVERYONE = np.arange(D)


@pytest.mark.parametrize("name", LAWS)
def test_sets_have_the_probabilities_of_the_story(name):
    logs = LAWS[name].over(EVERYONE, D).log_prior(sets())
    np.testing.assert_allclose(logs - np.logaddexp.reduce(logs), log_story(name), atol=1e-10)


@pytest.mark.parametrize("name", [name for name in LAWS if name not in ("strong", "weak")])
def test_probabilities_of_all_sets_add_up_to_1(name):
    logs = LAWS[name].over(EVERYONE, D).log_prior(sets())
    assert np.logaddexp.reduce(logs) == pytest.approx(0.0, abs=1e-10)


# Offsets raise the odds of members within their group, and of children given their parents.
CONDITIONAL = ("two levels", "two levels, known", "categories", "by parents")


@pytest.mark.parametrize("name", [name for name in LAWS if name not in CONDITIONAL])
def test_offsets_raise_the_odds_of_sets(name):
    logs = LAWS[name].over(EVERYONE, D, OFFSETS).log_prior(sets())
    known = log_story(name, OFFSETS)
    np.testing.assert_allclose(logs - np.logaddexp.reduce(logs), known, atol=1e-10)


@pytest.mark.parametrize("name", CONDITIONAL[:3])
def test_offsets_keep_the_law_over_blocks_normalised(name):
    logs = LAWS[name].over(EVERYONE, D, OFFSETS).log_prior(sets())
    assert np.logaddexp.reduce(logs) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("name", LAWS)
def test_gains_of_kernels_are_differences_of_the_log_prior(name):
    law, rng = LAWS[name].over(EVERYONE, D, OFFSETS), np.random.default_rng(0)
    table, inside = law.table(), np.zeros(D, dtype=bool)
    take_out_everyone.py_func(table)
    python = {"flip": flip.py_func, "gain": prior_gain.py_func, "swap": swap_gain.py_func}
    for _ in range(60):
        now = law.log_prior(inside)[0]
        for g in range(D):
            other = inside.copy()
            other[g] = not other[g]
            there = law.log_prior(other)[0]
            gain = now - there if inside[g] else there - now
            assert python["gain"](table, g) == pytest.approx(gain, abs=1e-9)
        if 0 < inside.sum() < D:
            i, j = rng.choice(np.flatnonzero(inside)), rng.choice(np.flatnonzero(~inside))
            other = inside.copy()
            other[[i, j]] = False, True
            between = inside & (i != EVERYONE)
            there = law.log_prior(other)[0] if law.log_prior(between)[0] > -np.inf else -np.inf
            assert python["swap"](table, i, j) == pytest.approx(there - now, abs=1e-9)
        g = int(rng.integers(D))
        if np.isfinite(python["gain"](table, g)):
            python["flip"](table, g)
            inside[g] = not inside[g]


def test_columns_without_content_are_passed_over():
    present = np.array([0, 1, 3, 4, 5, 6, 7])
    chain = ChainInclusion(come=0.1, stay=0.7).over(present, D)
    np.testing.assert_array_equal(chain.ties.links, [[k, k + 1] for k in range(6)])
    graph = GraphInclusion([(1, 2), (1, 3)]).over(present, D)
    np.testing.assert_array_equal(graph.ties.links, [[1, 2]])
    # A parent that is not there is in.
    heredity = HeredityInclusion({7: [2, 0]}, (0.1, 0.2, 0.5)).over(present, D)
    np.testing.assert_allclose(np.exp(heredity.ties.heredity[6][0]), [0.2, 0.5])


def test_names_numbers_matrices_and_neighbours_tell_the_same_graph():
    names = [f"g{j}" for j in range(4)]
    matrix = np.zeros((4, 4))
    matrix[0, 1] = matrix[1, 0] = matrix[2, 3] = 1.0
    given = [(0, 1), (2, 3)], [("g0", "g1"), ("g3", "g2")], {"g0": ["g1"], "g2": ["g3"]}, matrix
    logs = [
        GraphInclusion(edges).found_among(names, None).over(np.arange(4), 4).log_prior(sets(4))
        for edges in (*given, scipy.sparse.csr_array(matrix))
    ]
    assert all(np.allclose(other, logs[0]) for other in logs)


def test_laws_over_groups_of_columns_may_have_them_hang_together():
    groups = [0, 0, 1, 2, 2, 3]
    law = GroupedInclusion(groups, law=ChainInclusion(come=0.2, stay=0.6)).over(np.arange(6), 6)
    assert law.of_column.tolist() == groups
    plain = ChainInclusion(come=0.2, stay=0.6).over(np.arange(4), 4)
    np.testing.assert_allclose(law.log_prior(sets(4)), plain.log_prior(sets(4)))


@pytest.mark.parametrize("name", LAWS)
def test_laws_are_cloned_and_equal_themselves(name):
    law = LAWS[name]
    assert clone(law) == law
    assert law.found_among([f"x{j}" for j in range(D)], lambda groups: groups) is not None


NAMES = ["a", "b", "c"]
REFUSED = {
    "has 'z', but no variable": lambda: GraphInclusion([("a", "z")]).found_among(NAMES, None),
    "neighbour of itself": lambda: GraphInclusion([("a", "a")]).found_among(NAMES, None),
    "pairs of variables": lambda: GraphInclusion([("a",)]),
    "must be square": lambda: GraphInclusion(np.ones((3, 4))),
    "coupling must be a finite number": lambda: GraphInclusion(coupling=np.inf),
    "probability must lie between": lambda: GraphInclusion(probability=1.0),
    "go round in a circle": lambda: HeredityInclusion({"a": "b", "b": "a"}).found_among(
        NAMES, None
    ),
    "has 'd', but no variable": lambda: HeredityInclusion({"a": "d"}).found_among(NAMES, None),
    "kind must be one of": lambda: HeredityInclusion({}, "some"),
    "must be 'strong', 'weak' or": lambda: HeredityInclusion({}, (0.1, 1.0)),
    "has 2 probabilities, but a variable has 2 parents": lambda: HeredityInclusion(
        {2: [0, 1]}, (0.1, 0.2)
    ).over(np.arange(3), 3),
    "must be a mapping": lambda: HeredityInclusion([1, 2]),
    "'a' twice": lambda: ChainInclusion(["a", "b", "a"]).found_among(NAMES, None),
    "nothing of 'c'": lambda: ChainInclusion([["a"], ["b"]]).found_among(NAMES, None),
    "must both be probabilities": lambda: ChainInclusion(come=0.1),
    "give come as well": lambda: ChainInclusion(stay=0.1),
    "must be a probability between 0 and 1": lambda: ChainInclusion(come=1.5, stay=0.2),
    "has none for category '1'": lambda: CategoryInclusion([0, 1], {0: 0.1}).over(np.arange(2), 2),
    "needs the names of the columns": lambda: TwoLevelInclusion().over(np.arange(2), 2),
    "has 2 labels for 3 columns": lambda: TwoLevelInclusion([0, 1]).over(np.arange(3), 3),
    "law of a part must be": lambda: TwoLevelInclusion([0, 1], ChainInclusion()).over(
        EVERYONE[:2], 2
    ),
    "give them to a HeredityInclusion": lambda: GroupedInclusion(
        [0, 1], ChainInclusion(), parents={"1": "0"}
    ),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_cannot_be_meant_is_refused(said):
    with pytest.raises(ValueError, match=said):
        REFUSED[said]()


def test_a_coupling_that_puts_everything_in_is_warned_of():
    ring = [(j, (j + 1) % 20) for j in range(20)] + [(j, (j + 2) % 20) for j in range(20)]
    with pytest.warns(UserWarning, match="expect 20 of 20 variables"):
        GraphInclusion(ring, coupling=3.0).over(np.arange(20), 20)
    GraphInclusion(ring, coupling=0.3).over(np.arange(20), 20)


def test_a_series_tells_categories_by_name():
    series = pd.Series(["coding", "coding", "other"], index=NAMES)
    law = CategoryInclusion(series, {"coding": (1, 1), "other": 0.1})
    assert law.groups == {"a": "coding", "b": "coding", "c": "other"}
