"""What each command does: select and predict, report, texts, reproduce."""

import csv

import numpy as np
import pytest

from command_line import NAMES, write


def test_a_saved_model_predicts_new_rows_matched_by_name(run, values, table, tmp_path):
    X, y = values
    model = tmp_path / "model.garrote"
    code, _, _ = run("select", table, "--target", "y", "--save", model)
    assert code == 0
    turned = [5, 4, 3, 2, 1, 0]
    new = write(tmp_path / "new.csv", [*[NAMES[j] for j in turned], "extra"],
                np.column_stack([X[:, turned], y]))  # fmt: skip
    code, out, _ = run("predict", model, new)
    assert code == 0
    rows = list(csv.DictReader(out.splitlines()))
    predicted = np.array([float(row["prediction"]) for row in rows])
    deviation = np.array([float(row["standard_deviation"]) for row in rows])
    assert np.corrcoef(predicted, y)[0, 1] > 0.98
    assert 0.2 < np.median(deviation) < 0.5
    file = tmp_path / "predictions.csv"
    assert run("predict", model, new, "--output", file)[0] == 0
    assert file.read_text() == out


def test_a_missing_column_is_named(run, values, table, tmp_path):
    model = tmp_path / "model.garrote"
    run("select", table, "--target", "y", "--save", model)
    new = write(tmp_path / "new.csv", NAMES[1:], values[0][:, 1:])
    code, out, err = run("predict", model, new)
    assert code == 1
    assert out == ""
    assert "alpha" in err


def test_a_report_can_be_made_at_once_or_later(run, table, tmp_path):
    now, saved = tmp_path / "now.html", tmp_path / "saved.json"
    code, _, _ = run("select", table, "--target", "y", "--report", now, "--json", saved)
    assert code == 0
    assert run("report", saved)[0] == 0
    assert (tmp_path / "saved.html").read_text() == now.read_text()


def test_texts_says_where_an_equation_is(run):
    code, out, _ = run("texts", "murphy", "13.31")
    assert code == 0
    assert out.splitlines()[:2] == [
        "Eq. 13.31: probabilities renormalised over the models found",
        "  garrote.inference.Search",
    ]
    assert "garrote reproduce vg-figure-3" in run("texts", "vg", "figure", "3")[1]
    assert "garrote.coding.SparseCoder" in run("texts", "murphy", "section 13.8")[1]
    assert "murphy: Murphy, K. P. (2012)" in run("texts")[1]
    assert run("texts", "iba")[1].count("iba-figure-2") == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["murphi"], 2, "did you mean murphy?"),
        (["vg", "99"], 2, "vg has no place '99'"),
        (["vg", "lasso"], 1, "'lasso' is no number"),
    ],
)
def test_texts_says_what_it_does_not_know(run, words, code, said):
    found, _, error = run("texts", *words)
    assert found == code
    assert said in error


def test_reproduce_lists_and_runs_studies(run):
    code, out, _ = run("reproduce")
    assert code == 0
    assert "vg-table-1" in out
    code, out, _ = run("reproduce", "vg-figure-2", "--quick")
    assert code == 0
