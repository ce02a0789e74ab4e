"""``garrote predict`` asks for the selected columns alone, and carries others through."""

import csv
import sys
from io import BytesIO, TextIOWrapper

import numpy as np
import polars as pl
import pytest

from command_line import write

N = 90


@pytest.fixture(
    scope="module", params=[["--method", "lasso", "--alpha", "0.2"], []], ids=["lasso", "models"]
)
def fitted(request, tmp_path_factory):
    """A model of two variables, one of them words, among columns that do not matter."""
    from garrote.cli.main import main

    folder = tmp_path_factory.mktemp("model")
    rng = np.random.default_rng(1)
    dose, noise = rng.standard_normal((2, N))
    arm, site = rng.choice(["a", "b"], N), rng.choice(["north", "south", "west"], N)
    y = 2 * dose + 3 * (arm == "b") + 0.1 * rng.standard_normal(N)
    rows = list(zip(dose, noise, arm, site, y, strict=True))
    table = write(folder / "t.csv", ["dose", "noise", "arm", "site", "y"], rows)
    model = folder / "m.garrote"
    choose = ["--encode", "--stability", "0", "--quiet", *request.param]
    assert main(["select", table, "--target", "y", "--save", str(model), *choose]) == 0
    return str(model), table


def predictions(text):
    return [float(row["prediction"]) for row in csv.DictReader(text.splitlines())]


def test_only_selected_columns_have_to_be_there(run, fitted, tmp_path):
    model, _ = fitted
    new = write(tmp_path / "new.csv", ["arm", "dose"], [["a", 0], ["b", 1]])
    code, out, _ = run("predict", model, new)
    assert code == 0
    np.testing.assert_allclose(predictions(out), [0, 5], atol=0.6)
    code, _, err = run("predict", model, write(tmp_path / "less.csv", ["arm"], [["a"]]))
    assert code == 1
    assert "'dose'" in err


def test_unknown_words_and_gaps_elsewhere_do_not_matter(run, fitted, tmp_path):
    model, _ = fitted
    header = ["dose", "noise", "arm", "site"]
    whole = [[0.3, 0, "a", "north"], [1, 0.5, "b", "west"], [1, 1, "b", "south"]]
    odd = [[0.3, "", "a", "Mars"], [1, 0.5, "b", "west"], [1, "inf", "b", ""]]
    _, expected, _ = run("predict", model, write(tmp_path / "whole.csv", header, whole))
    code, out, _ = run("predict", model, write(tmp_path / "odd.csv", header, odd))
    assert code == 0
    np.testing.assert_allclose(predictions(out), predictions(expected), atol=0.1)
    for column, value in ((2, "c"), (0, "")):
        wrong = [list(row) for row in whole]
        wrong[1][column] = value
        code, _, err = run("predict", model, write(tmp_path / "wrong.csv", header, wrong))
        assert code == 1
        assert header[column] in err


def test_columns_are_carried_through_as_they_stand_in_the_file(run, fitted, tmp_path, monkeypatch):
    model, _ = fitted
    rows = [["007", "a", 0, "x"], ["008", "b", 1, ""]]
    new = write(tmp_path / "new.csv", ["ID", "arm", "dose", "note"], rows)
    code, out, _ = run("predict", model, new, "--keep", "ID,note")
    assert code == 0
    found = list(csv.DictReader(out.splitlines()))
    assert [(row["ID"], row["note"]) for row in found] == [("007", "x"), ("008", "")]
    assert out.splitlines()[0].startswith("ID,note,prediction")
    file = tmp_path / "out.xlsx"
    assert run("predict", model, new, "--keep", "ID", "--output", file)[0] == 0
    frame = pl.read_excel(file)
    assert frame["ID"].to_list() == ["007", "008"]
    np.testing.assert_allclose(frame["prediction"], predictions(out), rtol=1e-8)
    with open(new, "rb") as stream:  # read once: a pipe has no second time
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stream.read())))
    assert run("predict", model, "-", "--keep", "ID,note")[1] == out


@pytest.mark.parametrize(("keep", "said"), [("Id", "'ID'"), ("prediction", "rename it")])
def test_a_column_that_cannot_be_kept_is_named(run, fitted, tmp_path, keep, said):
    model, _ = fitted
    new = write(tmp_path / "n.csv", ["ID", "arm", "dose", "prediction"], [["1", "a", 0, 5]])
    code, _, err = run("predict", model, new, "--keep", keep)
    assert code == 1
    assert keep in err
    assert said in err


def test_a_model_without_variables_predicts_its_mean(run, values, tmp_path):
    X, _ = values
    y = np.random.default_rng(5).standard_normal(len(X))
    names = [f"v{j}" for j in range(X.shape[1])]
    table = write(tmp_path / "t.csv", [*names, "y"], np.column_stack([X, y]))
    model = tmp_path / "m"
    chosen = ["--method", "lasso", "--alpha", "5", "--stability", "0", "--save", model]
    assert run("select", table, "--target", "y", *chosen)[0] == 0
    code, out, _ = run("predict", model, write(tmp_path / "n.csv", ["ID"], [["p"], ["q"]]))
    assert code == 0
    np.testing.assert_allclose(predictions(out), [y.mean()] * 2, rtol=1e-6)
    code, _, err = run("predict", model, write(tmp_path / "n.csv", ["ID"], []))
    assert code == 1
    assert "no rows" in err
