"""How users say which columns belong together: labels, names, patterns, mappings, indicator columns."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder

from garrote import SparseRegressor
from garrote.paths import FollowPath
from garrote.penalties import GroupLasso
from garrote.penalties.groups.grouping import resolve_groups
from garrote.proximal import Groups, group_l2, group_linf, sparse_group
from reference import group_lasso, sparse_regression

NAMES = np.array(list("abcdef"))
# Of columns a to f.
EXPECTED = [0, 1, 1, 2, 2, 0]


def partition(labels):
    """Return the sets of positions that have one label."""
    labels = np.asarray(labels)
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@pytest.mark.parametrize(
    "groups",
    [
        {"f": 0, "a": 0, "b": 1, "d": 2, "c": 1, "e": 2},
        {"f": "x", "a": "x", "b": "y", "d": "z", "c": "y", "e": "z"},
        {5: 0, 0: 0, 1: 1, 2: 1, 3: 2, 4: 2},
        {"first": ["f", "a"], "second": ["b", "c"], "third": ["d", "e"]},
        {"[af]": 0, "[bc]": 1, "[de]": 2},
        pd.Series([2, 2, 1, 1, 0, 0], index=list("edcbfa")),
        pd.Series(["z", "z", "y", "y", "x", "x"], index=list("edcbfa")).astype("category"),
        pd.Series(EXPECTED),
        pd.Series([2, 2, 1, 1, 0, 0], index=[4, 3, 2, 1, 5, 0]),
        EXPECTED,
        [f"group {g}" for g in EXPECTED],
        (g for g in EXPECTED),
        np.array(EXPECTED, dtype=object),
        [0.5, 1.5, 1.5, 7.0, 7.0, 0.5],
        [{"a", "f"}, {"b", "c"}, ("d", "e")],
        [[0, -1], [1, 2], np.array([3, 4])],
        Groups([["a", "b", "b", "c", "c", "a"].index(label) for label in "abbcca"]),
    ],
)
def test_columns_are_looked_up_by_what_they_are_called(groups):
    assert partition(resolve_groups(groups, 6, NAMES)) == partition(EXPECTED)


def test_a_mapping_in_another_order_gives_the_same_fit():
    X, y, _ = sparse_regression(60, 6, 3)
    frame = pd.DataFrame(X, columns=NAMES)
    expected = SparseRegressor(penalty=GroupLasso(EXPECTED), alpha=0.2).fit(frame, y).coef_
    by_name = {name: EXPECTED[list(NAMES).index(name)] for name in "facebd"}
    for groups in (by_name, pd.Series(by_name)):
        model = SparseRegressor(penalty=GroupLasso(groups), alpha=0.2)
        np.testing.assert_array_equal(clone(model).fit(frame, y).coef_, expected)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a": 0, "b": 0, "c": 1, "d": 1, "e": 1}, "no label for column 'f'"),
        (dict.fromkeys("abcdefg", 0), "'g', but no column is called so; known are 'a'"),
        ({**dict.fromkeys("abcdef", 0), "[ab]": 1}, "two labels for column 'a', 0 and 1"),
        ({**dict.fromkeys("abcdef", 0), 7: 1}, "has column 7, but there are columns 0 to 5"),
        (pd.Series(range(6), index=list("abcdee")), "'e' twice in its index"),
        (pd.Series(range(6), index=list("ABCDEF")), "'A', but no column is called so"),
        (pd.DataFrame({"g": EXPECTED}), r"a table of shape \(6, 1\)"),
        (pd.Series([0, 1, 1, 2, 2, np.nan]), "no label .* at position 5"),
        (pd.Series(["x", None, "x", "x", "x", "x"]), "no label .* at position 1"),
        ([0.0, 1.0, np.nan, 2.0, 2.0, 0.0], "no label .* at position 2"),
        (["x", np.nan, "x", "x", "x", "x"], "no label .* at position 1"),
        ([0, "a", 1, 1, 0, 0], "all numbers or all text, got 0 and 'a'"),
        ([0, 1, 1, 1j, 2, 2], "numbers or text, got 1j at position 3"),
        ([[0, 1], 2, [3, 4, 5]], "has 2 beside lists of columns: put it into a list of its own"),
        ([[True, False, False, False, False, True], [1, 2, 3, 4]], "has column True"),
        (3, "groups must be labels, .* got 3"),
        (2.5, "groups must be labels, .* got 2.5"),
        ("gene", "groups must be labels, .* got 'gene'"),
        ({1, 2}, "a set, which has no order"),
    ],
)  # fmt: skip
def test_groups_that_cannot_be_meant_get_a_sentence(groups, message):
    with pytest.raises(ValueError, match=message):
        GroupLasso(groups).resolved(6, NAMES)


def test_names_without_named_columns_are_refused():
    with pytest.raises(ValueError, match="groups names 'a', but X has no column names"):
        resolve_groups({"a": 0, "b": 1}, 2)


# --- operators


@pytest.mark.parametrize("labels", [list("aabbb"), [1, 1, 2, 2, 2], [-3.5, -3.5, 0.0, 0.0, 0.0],
                                    [[0, 1], [2, 3, 4]], np.array([5, 5, 9, 9, 9])])  # fmt: skip
@pytest.mark.parametrize("operator", [group_l2, group_linf, sparse_group])
def test_operators_know_the_same_groups_as_penalties(operator, labels):
    x = np.array([3.0, -1.0, 0.5, 2.0, -4.0])
    expected = operator(x, 0.7, [0, 0, 1, 1, 1], weights=[1.0, 2.0])
    np.testing.assert_array_equal(operator(x, 0.7, labels, weights=[1.0, 2.0]), expected)
    assert partition(resolve_groups(labels, 5)) == partition(Groups(labels).labels)


# --- indicator columns


def coded(**factors):
    """Return indicator columns named variable, separator, level; each factor has three."""
    rng = np.random.default_rng(0)
    columns = {}
    for stem, levels in factors.items():
        drawn = rng.integers(0, len(levels), 60)
        columns |= {f"{stem}{level}": drawn == k for k, level in enumerate(levels)}
    return pd.DataFrame(columns).astype(float)


def factors_of(frame):
    found = resolve_groups("factors", frame.shape[1], frame.columns.to_numpy(), frame.to_numpy())
    return {frozenset(frame.columns[list(part)]) for part in partition(found)}


@pytest.mark.parametrize(
    "names",
    [
        ["city_L.A.", "city_New York", "city_St. Louis"],
        ["age_18_25", "age_26_35", "age_36_99"],
        ["r_0.5", "r_0.7", "r_1"],
        ["city=St. Louis", "city=St. Paul", "city=Boston"],
        ["C(city)[T.L.A.]", "C(city)[T.x_y]", "C(city)[T.x_z]"],
        ["onehot__age_18_25", "onehot__age_26-35", "onehot__age_a=b"],
        ["a.b_1", "a.b_2", "a.b_-1"],
    ],
)
@pytest.mark.parametrize("scale", [1.0, 0.25])
@pytest.mark.parametrize("drop", [0, 1])
def test_levels_may_be_called_anything(names, scale, drop):
    other = ["onehot__size_s", "onehot__size_m", "onehot__size_l"]
    rng = np.random.default_rng(0)
    one, two = rng.integers(0, 3, 80), rng.integers(0, 3, 80)
    frame = pd.DataFrame({name: scale * (one == k) for k, name in enumerate(names[drop:])})
    frame = frame.assign(**{name: 1.0 * (two == k) for k, name in enumerate(other)})
    frame["city_size"] = rng.standard_normal(80)
    assert factors_of(frame) == {
        frozenset(names[drop:]), frozenset(other), frozenset(["city_size"])
    }  # fmt: skip


def test_columns_that_are_no_indicators_or_exclude_nobody_stay_alone():
    frame = coded(colour_=["red", "blue", "green"])
    rng = np.random.default_rng(1)
    for name in ("size_small", "size_large"):
        frame[name] = rng.random(60)
    for name in ("has_dog", "has_cat"):
        frame[name] = (rng.random(60) < 0.5).astype(float)
    assert factors_of(frame) == {
        frozenset(["colour_red", "colour_blue", "colour_green"]),
        *(frozenset([name]) for name in ("size_small", "size_large", "has_dog", "has_cat")),
    }


def test_a_variable_whose_name_begins_another_s_is_told_apart():
    frame = coded(city_=["A", "B", "C"], city_state_=["NY", "CA", "LA"])
    assert factors_of(frame) == {
        frozenset(["city_A", "city_B", "city_C"]),
        frozenset(["city_state_NY", "city_state_CA", "city_state_LA"]),
    }


@pytest.mark.parametrize("drop", [None, "first"])
@pytest.mark.parametrize("sparse", [False, True])
def test_what_scikit_learn_encodes_is_grouped_by_itself(drop, sparse):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({
        "city": rng.choice(["L.A.", "New York", "St. Louis"], 90),
        "age": rng.choice(["18_25", "26_35", "36_99"], 90),
    })  # fmt: skip
    encoder = OneHotEncoder(drop=drop, sparse_output=sparse).fit(table)
    X, names = encoder.transform(table), encoder.get_feature_names_out()
    width = X.shape[1] // 2
    stored = scipy.sparse.csc_array(X) if sparse else X
    found = resolve_groups("factors", 2 * width, names, stored)
    assert found.tolist() == [0] * width + [1] * width


def test_no_factor_at_all_is_said():
    X, y, _ = sparse_regression(40, 3, 2)
    frame = pd.DataFrame(X, columns=["age", "size_a", "size_b"])
    with pytest.warns(UserWarning, match="found no two indicator columns"):
        SparseRegressor(penalty=GroupLasso("factors"), alpha=0.1).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SparseRegressor(penalty=GroupLasso("factors"), alpha=0.1).fit(
            coded(a_=["x", "y"], b_=["x", "y"]), np.arange(60.0)
        )


# --- columns that leave their group


@pytest.mark.parametrize(
    ("weights", "left_with"), [("size", [2**0.5] * 2), ("equal", [1, 1]), ([1.0, 2.0], [1, 2])]
)
def test_a_column_without_penalty_leaves_its_group(weights, left_with):
    X, y, _ = sparse_regression(60, 5, 3, seed=1)
    model = SparseRegressor(
        GroupLasso([0, 0, 0, 1, 1], weights=weights), 0.3, penalty_factor={0: 0.0}, standardize=False,
        fit_intercept=False, method=FollowPath(tol=1e-12),
    ).fit(X, y)  # fmt: skip
    # A free column is projected out of the others and of y.
    free = X[:, [0]]
    left = np.column_stack([X[:, 1:], y])
    left = left - free @ np.linalg.lstsq(free, left, rcond=None)[0]
    # The reference has weights of the root of the size, which is 2 for both that are left.
    factor = np.repeat(left_with, 2) / 2**0.5
    expected = group_lasso(left[:, :-1] / factor, left[:, -1], np.array([0, 0, 1, 1]), 0.3) / factor
    np.testing.assert_allclose(model.coef_[1:], expected, atol=1e-6)
    assert model.coef_[0] != 0
    assert "beside 1 always in" in model.selection_.headline
