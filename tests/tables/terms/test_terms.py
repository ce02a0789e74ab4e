"""Columns made of columns: against formulaic, again of new rows, refused where they mean nothing."""

import json

import formulaic
import numpy as np
import pandas as pd
import pytest

from garrote.tables import TableError, Wanted, read_table
from garrote.tables.terms.expanding import expand_again
from garrote.tables.terms.expansion import Expansion, blocks_of, coded_groups
from garrote.tables.terms.formula import read_formula
from garrote.tables.terms.splines import bs, curve, natural, poly

ROWS = 90


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": rng.normal(size=ROWS),
            "b": rng.normal(3.0, 2.0, ROWS),
            "site": rng.choice(["A", "B", "C", "D"], ROWS),
            "sex": rng.choice(["m", "f"], ROWS),
            "x": rng.gamma(2.0, size=ROWS),
            "weight (kg)": rng.normal(70.0, 9.0, ROWS),
            "y": rng.normal(size=ROWS),
        }
    )


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("terms") / "table.csv"
    frame.to_csv(path, index=False)
    return str(path)


def read(file, **wanted):
    return read_table(file, Wanted(target="y", encode=True, **wanted))


def matrix_of(formula, frame):
    """Return the columns that formulaic makes, by its own splines and not those imported here."""
    return np.asarray(formulaic.model_matrix(formula, frame, context={}))


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ a*b + C(site) + bs(x, 5)",
        "y ~ a:site + sex",
        "y ~ site*sex + poly(x, 3)",
        "y ~ (a + b + site)**2 - a:b",
        "y ~ `weight (kg)`*a + log(x) + I(b**2)",
        "y ~ scale(a)*center(b)",
    ],
)
def test_a_formula_spans_what_formulaic_makes_of_it(formula, frame, file):
    ours = np.column_stack([np.ones(ROWS), read(file, formula=formula).X])
    theirs = matrix_of(formula.split("~")[1], frame)
    both = np.linalg.matrix_rank(np.column_stack([ours, theirs]))
    assert np.linalg.matrix_rank(ours) == np.linalg.matrix_rank(theirs) == both


def test_splines_are_those_of_formulaic():
    x = np.random.default_rng(1).gamma(2.0, size=200)
    theirs = matrix_of("bs(x, 6) - 1", pd.DataFrame({"x": x}))
    np.testing.assert_allclose(bs(x, 6).values(x[:, None]), theirs, atol=1e-10)
    theirs = matrix_of("poly(x, 3) - 1", pd.DataFrame({"x": x}))
    ours = poly(x, 3).values(x[:, None])
    np.testing.assert_allclose(np.abs(np.sum(ours * theirs, axis=0)), 1.0, atol=1e-8)


@pytest.mark.parametrize("values", ["continuous", "few", "tied"])
def test_a_curve_is_orthogonal_to_the_straight_line(values):
    rng = np.random.default_rng(2)
    x = {
        "continuous": rng.gamma(2.0, size=300),
        "few": rng.integers(0, 5, 300).astype(float),
        "tied": np.where(rng.random(300) < 0.8, 0.0, rng.gamma(2.0, size=300)),
    }[values]
    bends = curve(x).values(x[:, None])
    line = np.column_stack([np.ones(len(x)), x])
    np.testing.assert_allclose(line.T @ bends / len(x), 0.0, atol=1e-7 * np.abs(line).max() ** 2)
    np.testing.assert_allclose(bends.std(axis=0), 1.0)
    assert np.linalg.matrix_rank(np.column_stack([line, bends])) == 2 + bends.shape[1]


@pytest.mark.parametrize("make", [curve, lambda x: natural(x, 4), lambda x: bs(x, 5)])
def test_splines_go_on_as_straight_lines_beyond_the_rows_fitted_to(make):
    x = np.random.default_rng(3).normal(size=100)
    beyond = np.linspace(x.max() + 1.0, x.max() + 3.0, 5)
    found = make(x).values(beyond[:, None])
    np.testing.assert_allclose(np.diff(found, 2, axis=0), 0.0, atol=1e-9)


def test_products_of_numbers_are_of_standard_deviations_and_levels_are_whole(frame, file):
    table = read(file, interactions=("a", "b", "site"))
    a, b = ((frame[name] - frame[name].mean()) / frame[name].std(ddof=0) for name in "ab")
    np.testing.assert_allclose(table.X[:, table.names.index("a:b")], a * b, atol=1e-12)
    assert table.variables.names[-3:] == ("a:b", "a:site", "b:site")
    assert table.variables.parents["a:site"] == ("a", "site")
    level = table.names.index("b:site=B")
    if table.coding.columns[2].reference != "B":
        np.testing.assert_allclose(table.X[:, level], b * (frame["site"] == "B"), atol=1e-12)


def test_a_curve_needs_its_straight_line(file):
    found = read(file, curves=("x",)).variables
    assert found.parents == {"x (curve)": ("x",)}
    assert found.kinds[found.names.index("x (curve)")] == "curve"


def test_terms_are_made_again_of_new_rows_after_a_journey_through_json(file):
    table = read(file, formula="y ~ a*site + bs(x, 4) + log(x) + poly(b, 2)", curves=("a",))
    again = Expansion.from_dict(json.loads(json.dumps(table.expansion.to_dict())))
    assert again == table.expansion
    base = read(file, include=("a", "site", "x", "b"))
    places = [base.coding.owners.index(name) for name in table.coding.owners[:1]]
    assert places == [0]
    rows = np.hstack([blocks_of(base.coding, base.X)[c.name] for c in table.coding.columns])
    np.testing.assert_allclose(expand_again("new", table.coding, rows, again), table.X, atol=1e-12)
    few = expand_again("new", table.coding, rows[:3], again)
    np.testing.assert_allclose(few, table.X[:3], atol=1e-12)


def test_levels_of_a_word_are_one_variable_and_parts_of_a_date_are_three(tmp_path):
    rows = ["day,site,y"] + [f"2020-0{1 + k % 9}-11,{'ABC'[k % 3]},{k}" for k in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    found = coded_groups(read(str(tmp_path / "t.csv")).coding)
    assert found.names == ("day:days", "day:month", "day:weekday", "site")
    assert found.references[-1] == "A"
    assert found.labels[-2:] == ("B", "C")


def test_constant_products_are_left_out_and_counted(tmp_path):
    rows = ["u,v,w,y"] + [f"{k % 2},{'p' if k % 2 else 'q'},{k * k % 7},{k}" for k in range(24)]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    wanted = {"categories": ("u",), "formula": "y ~ u:v + w"}
    table = read(str(tmp_path / "t.csv"), **wanted)
    assert any("the same in every row, and left out" in note for note in table.notes)
    assert np.ptp(table.X, axis=0).min() > 0


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"formula": "y ~ a + nothing"}, "has no column 'nothing' for --formula"),
        ({"formula": "b ~ a"}, "--formula explains 'b' and --target is 'y'"),
        ({"formula": "y ~ a +"}, "cannot be read"),
        ({"formula": "y ~ 0 + a"}, "leaves out the intercept"),
        ({"formula": "y ~ 1"}, "has no variable"),
        ({"formula": "y ~ a + y"}, "cannot be a variable too"),
        ({"formula": "log(y) ~ a"}, "one column before ~"),
        ({"formula": "y ~ open(a)"}, "a factor is a column or one of"),
        ({"formula": "y ~ I(a + b)"}, "a factor is a column or one of"),
        ({"formula": "y ~ bs(x)"}, "a factor is a column or one of"),
        ({"formula": "y ~ bs(x, 2)"}, "bs needs at least 3 columns"),
        ({"formula": "y ~ log(a)"}, "log(a) has no value where 'a' is"),
        ({"formula": "y ~ log(site)"}, "'site' is a column of words: write its name alone"),
        ({"formula": "y ~ a", "include": ("a",)}, "both say which columns are used"),
        ({"interactions": ("a", "nothing")}, "has no column 'nothing' for --interactions"),
        ({"interactions": ("a",)}, "needs two variables at least"),
        ({"curves": ("site",)}, "'site' is not a column of numbers"),
    ],
)
def test_what_means_nothing_is_refused_with_the_remedy(wanted, said, file):
    with pytest.raises(TableError) as refusal:
        read(file, **wanted)
    assert said in str(refusal.value)


def test_too_many_terms_are_refused_before_they_are_made(tmp_path):
    names = ",".join(f"v{j}" for j in range(210))
    rows = [",".join(str((k * j + j) % 7 + 0.5) for j in range(211)) for k in range(12)]
    (tmp_path / "t.csv").write_text("\n".join([f"{names},y", *rows]))
    with pytest.raises(
        TableError, match=r"with all terms there are 22,155 columns.*--interactions"
    ):
        read(str(tmp_path / "t.csv"), interactions=())


def test_the_columns_that_a_point_stands_for_are_all_others(file):
    assert read(file, formula="y ~ .").variables.names == (
        "a", "b", "site", "sex=m" if "sex=m" in read(file).names else "sex=f", "x", "weight (kg)",
    )  # fmt: skip
    assert read_formula("~ a*b").response is None


def test_a_damaged_term_is_refused(file):
    written = read(file, curves=("x",)).expansion.to_dict()
    written["terms"][-1]["factors"][0]["shape"]["shape"] = "eval"
    with pytest.raises(TableError, match="unknown shape"):
        Expansion.from_dict(written)
