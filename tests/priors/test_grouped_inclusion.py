"""Laws of inclusion over groups: who belongs together, what sets weigh, and what is refused."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from garrote.penalties.groups.naming import resolve_named_groups
from garrote.priors import (
    BetaInclusion,
    ColumnGroups,
    ExpectedSize,
    GroupedInclusion,
    Inclusion,
    IndependentInclusion,
)

COLUMNS = np.arange(5)


def sets(count):
    return np.array(list(product([False, True], repeat=count)))


def test_the_probabilities_of_all_sets_of_groups_add_up_to_1():
    law = GroupedInclusion(["b", "a", "a", "b", "c"]).over(COLUMNS, 5)
    assert law.of_column.tolist() == [1, 0, 0, 1, 2]
    assert logsumexp(law.log_prior(sets(3))) == pytest.approx(0.0, abs=1e-12)
    assert law.over_groups.shared == (1.0, np.sqrt(3.0))


def test_a_set_without_a_parent_has_no_probability():
    law = GroupedInclusion([0, 0, 1, 2, 2], parents={2: [0, 1]}).over(COLUMNS, 5)
    allowed = np.isfinite(law.log_prior(sets(3)))
    assert [tuple(map(int, row)) for row in sets(3)[~allowed]] == [(0, 0, 1), (0, 1, 1), (1, 0, 1)]


def test_groups_of_one_column_have_the_law_of_columns():
    offsets = np.array([0.0, 0.3, -1.0, 2.0, 0.0])
    law = GroupedInclusion(["e", "d", "c", "b", "a"]).over(COLUMNS, 5, offsets)
    plain = BetaInclusion().over(COLUMNS, 5, offsets)
    assert isinstance(law, Inclusion)
    np.testing.assert_array_equal(law.log_odds, plain.log_odds)
    np.testing.assert_allclose(law.by_size, plain.by_size, rtol=1e-13)


def test_a_probability_of_each_group_goes_with_its_columns():
    given = IndependentInclusion([0.1, 0.2, 0.3, 0.4, 0.5])
    law = GroupedInclusion(["e", "d", "c", "b", "a"], given).over(COLUMNS, 5)
    np.testing.assert_allclose(1 / (1 + np.exp(-law.log_odds)), [0.5, 0.4, 0.3, 0.2, 0.1])


def test_columns_that_cannot_be_in_leave_their_group_and_parents_without_columns_are_in():
    law = GroupedInclusion([0, 0, 1, 2, 2], parents={2: [1]}, law=0.5)
    found = law.over(np.array([0, 3, 4]), 5)
    assert found.of_column.tolist() == [0, -1, -1, 1, 1]
    assert not found.has_parents
    assert found.labels == ("0", "2")


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        (["u", "u", "v", "v", "w"], ("u", "v", "w")),
        ({"site": [0, 1], "x": [4], "y": [2, 3]}, ("site", "x", "y")),
        ({"a_*": "A", "b_*": "B", "z": "Z"}, ("A", "B", "Z")),
        ([["a_red", "a_rose"], ["b_1_2", "b_1_3"], ["z"]], ("a", "b", "z")),
        (None, ("a_red", "a_rose", "b_1_2", "b_1_3", "z")),
        ("factors", ("a", "b", "z")),
    ],
)
def test_groups_are_called_by_their_labels_or_by_what_their_columns_share(given, labels):
    names = np.array(["a_red", "a_rose", "b_1_2", "b_1_3", "z"])
    X = np.array([[1, 0, 0, 1, 0.5], [0, 1, 1, 0, 0.1], [0, 0, 0, 0, 0.2]])
    numbers, found = resolve_named_groups(given, 5, names, X)
    assert found == labels
    assert len(numbers) == 5


def test_groups_of_one_name_get_numbers():
    names = np.array(["a_1", "b_1", "a_2", "b_2"])
    assert resolve_named_groups([[0, 1], [2, 3]], 4, names)[1] == (
        "a_1 and 1 more",
        "a_2 and 1 more",
    )
    assert resolve_named_groups([[0], [1], [2], [3]], 4, np.array(["a"] * 4))[1] == (
        "a", "a (2)", "a (3)", "a (4)",
    )  # fmt: skip


def test_laws_are_equal_by_their_settings():
    one = GroupedInclusion(np.array([0, 0, 1]), ExpectedSize(1.0), {"1": "0"})
    assert one == GroupedInclusion([0, 0, 1], ExpectedSize(1.0), {1: [0]})
    assert one != GroupedInclusion([0, 1, 1], ExpectedSize(1.0), {1: [0]})
    assert one.get_params()["law__size"] == 1.0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: GroupedInclusion(3), "groups must be labels"),
        (lambda: GroupedInclusion([0], parents=[1]), "parents must be a mapping"),
        (lambda: GroupedInclusion([0], GroupedInclusion([0])), "cannot have groups itself"),
        (
            lambda: GroupedInclusion([0, 1], parents={5: 0}).over(np.arange(2), 2),
            "'5', but no group",
        ),
        (
            lambda: GroupedInclusion([0, 1], parents={0: 1, 1: 0}).over(np.arange(2), 2),
            "in a circle among '0', '1'",
        ),
        (lambda: GroupedInclusion().over(np.arange(2), 2), "needs the names of the columns"),
        (lambda: GroupedInclusion([0, 1]).over(np.arange(3), 3), "2 labels for 3 columns"),
        (
            lambda: GroupedInclusion([0, 0]).over(np.arange(2), 2, np.array([0.0, 1.0])),
            "prior_log_odds differ within group '0'",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_resolved_groups_tell_their_sizes():
    law = GroupedInclusion("factors").with_groups(
        lambda groups: ColumnGroups(("site", "x"), np.array([0, 0, 1]))
    )
    assert law.groups.sizes.tolist() == [2, 1]
    assert not law.groups.are_single
    assert law.groups.columns(0).tolist() == [0, 1]
