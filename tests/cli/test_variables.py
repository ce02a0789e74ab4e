"""Words, interactions, curves and formulas at the command line: one variable each, predicted again."""

import json

import numpy as np
import pandas as pd
import pytest

from garrote.cli.main import main
from garrote.persistence import load_extra, load_model

QUICK = ["--stability", "0"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(1)
    n = 160
    frame = pd.DataFrame(
        {
            "age": rng.normal(50.0, 10.0, n).round(1),
            "dose": rng.gamma(2.0, size=n).round(3),
            "site": rng.choice(["Aachen", "Bonn", "Koeln", "Trier"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "sex": rng.choice(["m", "f"], n),
            "colour": rng.choice(["red", "green", "blue"], n),
        }
    )
    site = frame["site"].map({"Aachen": 0.0, "Bonn": 1.5, "Koeln": -1.0, "Trier": 2.0})
    bend = 2 * np.sin(1.2 * frame["dose"])
    frame["y"] = (0.1 * frame["age"] + site + bend + rng.normal(size=n)).round(3)
    folder = tmp_path_factory.mktemp("words")
    frame.to_csv(folder / "t.csv", index=False)
    frame.drop(columns="y").head(7).to_csv(folder / "new.csv", index=False)
    return folder


def select(folder, *options):
    words = ["select", str(folder / "t.csv"), "--json", str(folder / "out.json"), *QUICK, *options]
    if not any(word.startswith("--formula") for word in options):
        words += ["--target", "y"]
    assert main(words) == 0
    return json.loads((folder / "out.json").read_text())


def variables(document):
    return {one["name"]: one for one in document["variables"]}


METHODS = ("lasso", "spike-slab", "garrote", "single-effects", "greedy")


@pytest.mark.parametrize("method", METHODS)
def test_a_word_is_one_variable_in_every_method(folder, method, capsys):
    document = select(folder, "--method", method)
    assert document["n_variables"] == 5
    site = variables(document)["site"]
    assert site["selected"]
    assert site["reference"] == "Aachen"
    assert [level["name"] for level in site["levels"]] == ["Bonn", "Koeln", "Trier"]
    assert len({level["probability"] for level in site["levels"]}) == 1
    said = capsys.readouterr().out
    assert "of 5 variables selected" in said
    assert "\n  Bonn " in said


def test_levels_are_variables_each_on_request(folder):
    document = select(folder, "--method", "lasso", "--levels", "separate")
    assert document["n_variables"] == 8
    assert "site=Bonn" in variables(document)


def test_a_penalty_without_groups_says_that_levels_are_apart(folder, capsys):
    document = select(folder, "--penalty", "mcp")
    assert document["n_variables"] == 8
    assert "the penalty mcp takes every column of site, colour" in " ".join(
        capsys.readouterr().out.split()
    )


def test_quiet_names_variables_and_the_table_has_levels(folder, capsys):
    words = ["select", str(folder / "t.csv"), "--target", "y", "--method", "lasso", "--rule", "1se"]
    assert main([*words, *QUICK, "--quiet", "--table", str(folder / "out.csv")]) == 0
    said = capsys.readouterr().out.split()
    assert sorted(said) == ["age", "dose", "site"]
    table = pd.read_csv(folder / "out.csv", keep_default_na=False)
    assert table.loc[table["variable"] == "site", "level"].tolist() == [
        "",
        "Bonn",
        "Koeln",
        "Trier",
    ]


def test_a_curve_is_found_with_its_straight_line_and_drawn_with_a_band(folder):
    document = select(folder, "--curves", "dose", "--method", "spike-slab")
    found = variables(document)
    assert found["dose"]["selected"]
    assert found["dose (curve)"]["selected"]
    (curve,) = document["curves"]
    assert curve["name"] == "dose"
    x, effect = np.array(curve["x"]), np.array(curve["effect"])
    inner = x < 5
    assert np.corrcoef(effect[inner], np.sin(1.2 * x[inner]))[0, 1] > 0.95
    band = np.array(curve["lower"]) <= effect, effect <= np.array(curve["upper"])
    assert all(one.mean() > 0.95 for one in band)


def test_an_interaction_is_never_surer_than_its_variables(folder):
    document = select(folder, "--interactions", "age,site,sex", "--method", "spike-slab")
    found = variables(document)
    pairs = [one for one in found.values() if one["kind"] == "interaction"]
    assert pairs
    for pair in pairs:
        least = min(found[name]["probability"] for name in pair["parents"] if name in found)
        assert pair["probability"] <= least + 1e-9


def test_methods_without_heredity_say_so(folder, capsys):
    select(folder, "--interactions", "age,site", "--method", "lasso")
    said = " ".join(capsys.readouterr().out.split())
    assert "may take an interaction without the variables that it is made of" in said


@pytest.mark.parametrize("method", ["lasso", "spike-slab"])
def test_a_formula_is_fitted_saved_and_predicted_with(folder, method, capsys):
    formula = "y ~ age*site + bs(dose, 5) + log(age) + C(sex)"
    model = str(folder / "model.garrote")
    select(folder, "--formula", formula, "--method", method, "--save", model)
    fitted = load_model(model)
    assert set(load_extra(model)) == {"coding", "terms"}
    capsys.readouterr()
    assert main(["predict", model, str(folder / "new.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    predicted = [float(line.split(",")[0]) for line in lines[1:]]
    assert len(predicted) == 7
    assert fitted.selection_.groups is not None
    whole = ["predict", model, str(folder / "t.csv")]
    assert main(whole) == 0
    again = [float(line.split(",")[0]) for line in capsys.readouterr().out.splitlines()[1:8]]
    np.testing.assert_allclose(again, predicted, rtol=1e-8)


def test_new_rows_need_the_columns_of_selected_terms_alone(folder, capsys, tmp_path):
    model = str(tmp_path / "model.garrote")
    select(folder, "--formula", "y ~ age + site*sex + colour", "--method", "lasso", "--alpha", "0.3",
           "--save", model)  # fmt: skip
    (tmp_path / "new.csv").write_text("age,site\n40,Bonn\n50,Trier\n")
    assert main(["predict", model, str(tmp_path / "new.csv")]) == 0
    (tmp_path / "new.csv").write_text("age,site\n40,Bonn\n50,Ulm\n")
    capsys.readouterr()
    assert main(["predict", model, str(tmp_path / "new.csv")]) == 1
    assert "'Ulm' in column 'site', line 3, did not occur" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--formula", "y ~ age", "--target", "dose"], "explains 'y' and --target is 'dose'"),
        (["--formula", "~ age"], "required: --target"),
        (["--target", "y", "--levels", "separate", "--interactions"], "needs its variables whole"),
        (["--target", "y", "--sheet", "2"], "is no workbook"),
    ],
)
def test_what_contradicts_itself_is_refused(folder, options, said, capsys):
    assert main(["select", str(folder / "t.csv"), *options]) in (1, 2)
    assert said in capsys.readouterr().err


def test_a_comparison_takes_words_for_one_variable(folder, capsys):
    words = ["compare", str(folder / "t.csv"), "--target", "y", "--methods", "lasso,shrinkage"]
    assert main([*words, "--cv", "3", "--report", str(folder / "c.html")]) == 0
    said = capsys.readouterr().out
    assert "5 variables (8 columns)" in said
    assert "\n  Bonn" in said
    page = (folder / "c.html").read_text(encoding="utf-8")
    assert 'class="level"' in page


def test_a_method_without_groups_takes_levels_one_by_one_and_says_so(folder, capsys):
    document = select(folder, "--method", "shrinkage")
    assert document["n_variables"] == 8
    assert "takes every column of site, colour for a variable of its own" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_search_for_single_columns_says_that_levels_are_apart(folder, capsys):
    document = select(folder, "--method", "best-subset")
    assert document["n_variables"] == 8
    said = " ".join(capsys.readouterr().out.split())
    assert "the search best-subset takes every column of site, colour" in said
