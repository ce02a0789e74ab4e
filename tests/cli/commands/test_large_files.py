"""Files that fill more memory than they may are read in blocks by `garrote select`."""

import json

import numpy as np
import polars as pl
import pytest

from garrote.cli.main import main
from garrote.tables import large


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 5))
    frame = pl.DataFrame(X, schema=[f"g{j}" for j in range(4)] + ["a*"]).with_columns(
        y=pl.Series(X[:, 1] - X[:, 4] + rng.standard_normal(900)),
        w=pl.Series(rng.integers(1, 4, 900)),
        site=pl.Series(rng.choice(["Ulm", "Bonn", "Kiel", "Jena", "Hof"], 900)),
        kind=pl.Series(np.where(X[:, 2] + rng.standard_normal(900) > 0, "ill", "well")),
    )
    frame.write_parquet(tmp_path / "big.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


SMALL = ("--max-memory", "0.00001")
ONLY = ("--exclude", "site,kind,w")


def selected(capsys, *options):
    assert main(["select", "big.parquet", "--target", "y", *options, "--json", "-"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "options",
    [
        ("--method", "lasso", *ONLY),
        ("--method", "garrote", "--weights", "w", "--groups", "site", "--exclude", "kind"),
        ("--method", "single-effects", "--covariates", "g0", *ONLY),
    ],
    ids=lambda options: options[1],
)
def test_answer_is_that_of_the_file_in_memory(folder, capsys, options):
    ours, plain = selected(capsys, *options, *SMALL), selected(capsys, *options)
    assert [v["name"] for v in ours["variables"]] == [v["name"] for v in plain["variables"]]
    effects = [np.array([v["effect"] for v in told["variables"]]) for told in (ours, plain)]
    np.testing.assert_allclose(*effects, atol=1e-8)
    assert "read in blocks of rows" in json.dumps(ours["check"])


def test_half_of_the_free_memory_is_the_limit_and_one_line_says_so(folder, capsys, monkeypatch):
    monkeypatch.setattr(large, "free_memory", lambda: 70_000)
    assert main(["select", "big.parquet", "--target", "y", "--method", "lasso", *ONLY]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "more than half of the free memory: it is read in blocks of rows" in shown
    monkeypatch.setattr(large, "free_memory", lambda: 80_000)
    assert main(["select", "big.parquet", "--target", "y", "--method", "lasso", *ONLY]) == 0
    assert "in blocks" not in capsys.readouterr().out


def test_labels_are_taken_from_words(folder, capsys):
    options = ("--method", "lasso", "--alpha", "bic", "--exclude", "site,w,y")
    assert main(["select", "big.parquet", "--target", "kind", *options, *SMALL]) == 0
    assert "g2" in capsys.readouterr().out


def test_saved_model_predicts_for_new_files(folder, capsys):
    options = ("--method", "lasso", *ONLY, *SMALL, "--save", "m.garrote")
    assert main(["select", "big.parquet", "--target", "y", *options]) == 0
    assert main(["predict", "m.garrote", "big.parquet", "--output", "p.csv"]) == 0
    assert pl.read_csv("p.csv").height == 900


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--exclude", "kind,w"), "'site' holds words, not numbers"),
        ((*ONLY, "--curves"), "--curves needs all of it there"),
        ((*ONLY, "--missing", "mean"), "--missing mean needs all of it there"),
        ((*ONLY, "--method", "spike-slab", "--cv", "5"), "this one is read in blocks"),
    ],
)
def test_what_needs_the_table_in_memory_is_refused(folder, capsys, options, said):
    assert main(["select", "big.parquet", "--target", "y", *options, *SMALL]) == 1
    assert said in " ".join(capsys.readouterr().err.split())


def test_missing_target_and_cell_are_named(folder, capsys):
    frame = pl.read_parquet("big.parquet")
    row = pl.int_range(pl.len()) == 41
    gaps = frame.with_columns(y=pl.when(row).then(None).otherwise("y"))
    gaps.write_parquet("big.parquet")
    assert main(["select", "big.parquet", "--target", "y", *ONLY, *SMALL]) == 1
    assert "'y' has no value in row 42" in " ".join(capsys.readouterr().err.split())
    frame.with_columns(g3=pl.when(row).then(None).otherwise("g3")).write_parquet("big.parquet")
    assert main(["select", "big.parquet", "--target", "y", *ONLY, *SMALL]) == 1
    assert "at row 41 of big.parquet, column 'g3'" in " ".join(capsys.readouterr().err.split())
