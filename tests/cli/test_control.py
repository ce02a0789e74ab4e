"""``garrote select --control``: the method becomes the base of an estimator that controls errors."""

import csv
import json

import numpy as np
import pytest

import garrote
from garrote import SparseRegressor, StabilitySelection

SMALL = ("--set", "n_resamples=20")


def test_stability_is_selected_with_told_and_saved(run, table, values, tmp_path):
    X, y = values
    page, document, rows, model = (tmp_path / n for n in ("r.html", "r.json", "r.csv", "r.garrote"))
    code, out, _ = run(
        "select", table, "--target", "y", "--control", "stability", "--fdr", "0.4", *SMALL,
        "--report", page, "--json", document, "--table", rows, "--save", model,
    )  # fmt: skip
    assert code == 0
    assert "of the variables selected are expected to be" in " ".join(out.split())
    told = json.loads(document.read_text())
    plain = StabilitySelection(SparseRegressor(), false_share=0.4, n_resamples=20, random_state=0)
    plain.fit(X, y)
    assert told["evidence"] == "selection frequency"
    assert told["control"]["bound"] == pytest.approx(plain.expected_false_)
    assert told["n_selected"] == plain.selection_.n_selected
    with rows.open() as stream:
        found = {row["variable"]: row for row in csv.DictReader(stream)}
    assert float(found["alpha"]["frequency"]) == 1.0
    np.testing.assert_array_equal(garrote.load(model).predict(X), plain.predict(X))
    code, out, _ = run("predict", model, table)
    assert code == 0
    assert len(out.split()) == len(y) + 1
    text = page.read_text()
    assert "Frequency" in text
    assert "nearly certain" not in text
    assert "is not the probability that" in text


def test_any_method_is_a_base_and_bolasso_is_another_control(run, table):
    code, out, _ = run(
        "select", table, "--target", "y", "--control", "bolasso", "--method", "greedy", *SMALL
    )
    assert code == 0
    assert "no bound on false selections is stated" in " ".join(out.lower().split())


def test_knockoffs_keep_words_whole_and_say_what_they_promise(run, tmp_path):
    rng = np.random.default_rng(0)
    word, x = rng.integers(0, 3, 200), rng.standard_normal((200, 3))
    y = word + x[:, 0] + rng.standard_normal(200)
    lines = [
        f"{'abc'[w]},{a:.4f},{b:.4f},{c:.4f},{v:.4f}"
        for w, (a, b, c), v in zip(word, x, y, strict=True)
    ]
    file = tmp_path / "words.csv"
    file.write_text("site,a,b,c,y\n" + "\n".join(lines) + "\n")
    words = ["select", file, "--target", "y", "--control", "knockoffs", "--fdr", "0.5"]
    code, out, _ = run(*words, "--json", tmp_path / "found.json")
    assert code == 0
    said = " ".join(out.split())
    assert "is at most 0.5. That holds if rows are independent draws of a Gaussian law" in said
    assert "few different values of site, which no Gaussian law has" in said
    told = json.loads((tmp_path / "found.json").read_text())
    assert told["evidence"].endswith("q-value")
    assert told["control"]["bound"] == 0.5
    assert {v["name"] for v in told["variables"] if v["selected"]} >= {"site", "a"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--fdr", "0.1"], "--fdr goes with --control stability"),
        (["--control", "stabilty"], "stability"),
        (["--control", "stability", "--fdr", "1.5"], "between 0 and 1, got 1.5"),
        (["--control", "bolasso", "--fdr", "0.1"], "bounds no share"),
        (["--control", "stability", "--stability", "5"], "both fit parts of the rows"),
        (["--control", "stability", "--method", "spike-slab", "--cv", "5"], "leave --cv out"),
    ],
)
def test_mistakes_are_told(run, table, given, said):
    code, _, err = run("select", table, "--target", "y", *given)
    assert code != 0
    assert said in " ".join(err.split())
