"""The command line as a person types it: right, wrong, piped, interrupted."""

import contextlib
import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import garrote
from command_line import NAMES, N, write
from garrote import SparseClassifier, SparseRegressor, VariationalGarrote, __version__
from garrote.cli import console
from garrote.cli.arguments import COMMANDS
from garrote.cli.main import main
from garrote.cli.rendering import short_names
from garrote.estimators.registry import SELECTORS
from garrote.inference import Gibbs, Sample
from garrote.limits.costs import foretell
from garrote.paths.combinations import ALL_FAMILIES
from garrote.persistence import load_model, save_model
from garrote.priors import ExpectedSize, GaussianSlab, StudentPrior, TwoHumpedSlab

# --- cells that are not what their column is


def test_slips_are_named_and_read_as_the_options_say(run, values, tmp_path):
    X, y = values
    rows = [[*x, v, 1 + k % 3] for k, (x, v) in enumerate(zip(X, y, strict=True))]
    rows[7][1], rows[9][6] = "-999", "67 F"
    file = write(tmp_path / "slips.csv", [*NAMES, "y", "site"], rows)
    code, out, err = run("select", file, "--target", "y", "--encode")
    assert (code, out) == (1, "")
    assert "'y' is a column of numbers but for '67 F' in line 11" in " ".join(err.split())
    assert "-999 is far from all other values of 'beta' (1): does it mean a missing" in " ".join(
        err.split()
    )
    assert f"garrote select {file} --target y --encode --na '67 F,-999' --missing drop" in err
    model = tmp_path / "model.garrote"
    code, out, err = run(
        "select", file, "--target", "y", "--na", "-999,67 F", "--missing", "drop", "--gamma", "-9",
        "--categories", "site", "--save", model,
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert f"slips.csv: {N - 2} rows, 7 variables (8 columns), response y" in out
    said = " ".join(out.split())
    assert f"1 of {N} rows has no 'y': left out, {N - 1} kept" in said
    assert f"1 row with missing values was dropped, {N - 2} kept: 'beta' (1)" in said
    code, out, err = run("predict", model, file, "--missing", "mean")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == N + 1
    code, _, err = run("select", "--zscores", file, "--ld", file, "--n", "9", "--na", "x")
    assert code == 2
    assert "--na does not go with --zscores" in err


# --- what reaches a terminal

STEERING = "\x1b[31mred\x9b1m\u202e\x07"


def is_harmless(text):
    """Tell whether a text holds no character that could steer a terminal."""
    return all(c.isprintable() or c == "\n" for c in text)


def test_no_name_level_or_file_steers_the_terminal(run, values, tmp_path):
    X, y = values
    odd = [f"{name}{STEERING}" for name in NAMES]
    response = f"y{STEERING}"
    labels = np.where(y > 0, f"up{STEERING}", "down")
    file = write(
        tmp_path / f"data{STEERING}.csv",
        [*odd, response, "label"],
        [[*x, v, c] for x, v, c in zip(X, y, labels, strict=True)],
    )
    model = tmp_path / f"m{STEERING}.garrote"
    commands = [
        ["select", file, "--target", response, "--exclude", "label", "--save", model],
        ["select", file, "--target", "label", "--method", "lasso", "--alpha", "bic"],
        ["select", file, "--target", response, "--exclude", "label", "--quiet", "--gamma", "-5"],
        [
            "select",
            file,
            "--target",
            response,
            "--exclude",
            "label",
            "--json",
            "-",
            "--gamma",
            "-5",
        ],
        ["select", file, "--target", response],
        ["select", file, "--target", f"z{STEERING}"],
        ["select", f"{file}.nowhere{STEERING}", "--target", response],
        ["select", file, "--target", response, "--set", f"q{STEERING}=1"],
        ["select", file, "--target", response, "--weights", odd[0], "--exclude", "label"],
        ["select", file, "--target", response, "--report", tmp_path / STEERING / "r.html"],
        ["predict", model, file, "--offset", f"o{STEERING}"],
        ["predict", f"{model}{STEERING}", file],
        [f"command{STEERING}"],
    ]
    for command in commands:
        _, out, err = run(*command)
        assert out + err
        assert is_harmless(out + err), (command, out, err)


def test_predictions_are_the_labels_themselves_but_on_a_terminal(
    run, labelled, tmp_path, monkeypatch
):
    model = SparseClassifier(alpha=0.1).fit([[0.0], [1.0]] * 9, [STEERING, "b"] * 9)
    column = {"name": "x", "kind": "number", "levels": [], "reference": None, "means": [0.5]}
    save_model(model, tmp_path / "m", extra={"coding": {"columns": [column]}})
    rows = write(tmp_path / "rows.csv", ["x"], [[0.0], [1.0]])
    assert STEERING in run("predict", tmp_path / "m", rows)[1]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    out = run("predict", tmp_path / "m", rows)[1]
    assert is_harmless(out)
    assert "\\x1b[31mred" in out


def test_closed_standard_input_is_no_traceback(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    said = "garrote: standard input is closed: send a table to it, or name a file\n"
    assert run("select", "-", "--target", "y") == (1, "", said)


def test_a_terminal_without_the_letters_of_a_name_shows_their_codes(values, tmp_path, monkeypatch):
    X, y = values
    file = write(tmp_path / "d.csv", ["größe", *NAMES[1:], "y"], np.column_stack([X, y]))
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True) as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        assert main(["select", file, "--target", "y", "--gamma", "-5"]) == 0
        assert b"gr\\xf6\\xdfe" in terminal.buffer.getvalue()


# --- the answer


def test_select_prints_a_ranked_table_within_80_columns(run, table):
    code, out, err = run("select", table, "--target", "y", "--method", "garrote")
    assert code == 0
    assert err == ""
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == f"data.csv: {N} rows, 6 variables, response y"
    rows = [line.split("  ")[0] for line in lines if " to " in line and line[0] in "abcdeg"]
    assert rows[:2] == ["alpha", "gamma ray"]
    for said in ("variables selected", "Cross-validated", "without any variable", "Certificate"):
        assert said in out


def test_effects_are_in_the_units_of_the_file(run, values, tmp_path):
    X, y = values
    scaled = X * [1000.0, 1, 0.01, 1, 1, 1]
    file = write(tmp_path / "scaled.csv", [*NAMES, "y"], np.column_stack([scaled, y]))
    _, out, _ = run("select", file, "--target", "y", "--json", "-")
    effects = {v["name"]: v["effect"] for v in json.loads(out)["variables"]}
    assert effects["alpha"] == pytest.approx(2e-3, rel=0.1)
    assert effects["gamma ray"] == pytest.approx(-150.0, rel=0.1)


def test_json_holds_the_whole_answer(run, table, tmp_path):
    file = tmp_path / "out.json"
    code, out, _ = run("select", table, "--target", "y", "--cv", "4", "--json", file)
    assert code == 0
    assert f"All results are in {file}." in out.replace("\n", " ")
    document = json.loads(file.read_text())
    assert document["response"] == "y"
    assert document["validation"]["folds"] == 4
    assert document["provenance"]["source"] == "data.csv"
    assert document["provenance"]["command"][:2] == ["garrote", "select"]


def test_json_to_standard_output_is_nothing_but_json(run, table):
    code, out, err = run("select", table, "--target", "y", "--json", "-")
    assert code == 0
    assert err == ""
    assert json.loads(out)["schema"].startswith("garrote.selection/")


def test_quiet_prints_the_selected_names_only(run, table):
    _, out, err = run("select", table, "--target", "y", "--quiet")
    assert out.splitlines()[:2] == ["alpha", "gamma ray"]
    assert set(out.splitlines()) <= set(NAMES)
    assert err == ""


def test_covariates_are_always_in(run, table):
    _, out, _ = run("select", table, "--target", "y", "--covariates", "age,delta")
    assert out.count("always in") == 3  # two rows and the headline
    assert "beside 2 always in" in out


def test_columns_can_be_excluded_and_included(run, table):
    _, out, _ = run("select", table, "--target", "y", "--exclude", "alpha", "--quiet")
    assert "alpha" not in out.split()
    _, out, _ = run("select", table, "--target", "y", "--include", "alpha,beta", "--json", "-")
    assert json.loads(out)["n_variables"] == 2


def test_a_name_with_a_comma_can_be_quoted(run, values, tmp_path):
    X, y = values
    file = write(tmp_path / "t.csv", ["a,b", *NAMES[1:], "y"], np.column_stack([X, y]))
    code, out, _ = run("select", file, "--target", "y", "--exclude", '"a,b"', "--json", "-")
    assert code == 0
    assert json.loads(out)["n_variables"] == 5


def test_weights_take_rows_out(run, values, tmp_path):
    X, y = values
    spoiled = np.r_[y[:40], 1e6 * np.ones(N - 40)]
    weights = np.r_[np.ones(40), np.zeros(N - 40)]
    rows = np.column_stack([X, weights, spoiled])
    file = write(tmp_path / "w.csv", [*NAMES, "w", "y"], rows)
    _, out, _ = run("select", file, "--target", "y", "--weights", "w", "--json", "-")
    document = json.loads(out)
    assert document["n_variables"] == 6
    assert document["provenance"]["total_weight"] == 40
    assert {"alpha", "gamma ray"} <= {v["name"] for v in document["variables"] if v["selected"]}


def test_groups_share_a_fold(run, values, tmp_path):
    X, y = values
    rows = [[*x, f"site {k % 8}", t] for k, (x, t) in enumerate(zip(X, y, strict=True))]
    file = write(tmp_path / "g.csv", [*NAMES, "site", "y"], rows)
    code, out, _ = run("select", file, "--target", "y", "--groups", "site", "--json", "-")
    assert code == 0
    assert json.loads(out)["n_variables"] == 6
    code, _, err = run("select", file, "--target", "y", "--groups", "site", "--cv", "20")
    assert code == 1
    assert "8" in err


def test_a_number_for_gamma_needs_no_validation(run, table):
    _, out, _ = run("select", table, "--target", "y", "--gamma", "-1e1", "--json", "-")
    document = json.loads(out)
    assert document["validation"] is None
    assert document["path"]["strengths"][document["path"]["chosen"]] == -10.0


def test_any_setting_of_the_method_can_be_given(run, table):
    for name in ("solver=dual", "method=dual"):
        arguments = ["--method", "garrote", "--gamma", "-6", "--set", name, "--set", "tol=1e-3"]
        _, out, _ = run("select", table, "--target", "y", *arguments, "--json", "-")
        told = json.loads(out)["provenance"]["settings"]["method"]
        assert told.startswith("Anneal(solver='dual', gammas=50")
        assert "tol=0.001" in told


def test_bounds_and_expected_sizes_are_typed_by_their_own_names(run, table):
    given = ("select", table, "--target", "y", "--json", "-")
    _, out, _ = run(*given, "--method", "garrote", "--expected-size", "2")
    assert json.loads(out)["provenance"]["settings"]["gamma"] == "ExpectedSize(size=2.0)"
    lasso = (*given, "--method", "lasso", "--alpha", "0.1")
    _, out, _ = run(*lasso, "--set", "lower=0", "--set", "upper=age:0.5")
    assert json.loads(out)["provenance"]["settings"]["bounds"] == "(0, {'age': 0.5})"
    code, _, err = run(*lasso, "--set", "lower=0", "--set", "bounds=0,1")
    assert code == 2
    assert "--set bounds and --set lower or upper say the same thing" in err
    code, _, err = run(*given, "--method", "garrote", "--expected-size", "2", "--set", "gamma=-3")
    assert code == 2
    assert "--expected-size and --set gamma say the same thing" in err


def test_bounds_on_the_penalty_and_ratios_to_choose_from_have_options(run, table):
    given = ("select", table, "--target", "y", "--stability", "0", "--json", "-")
    _, out, _ = run(*given, "--bound", "1.5")
    found = json.loads(out)
    assert found["method"].startswith("lasso")
    assert found["provenance"]["settings"]["alpha"] == "Bound(size=1.5)"
    assert "chosen such that the penalty is at most 1.5" in found["rule"]
    ratios = (*given, "--penalty", "elastic-net", "--l1-ratio", ".2,.8")
    _, out, _ = run(*ratios)
    assert "l1_ratio = 0.8 of 0.2, 0.8" in json.loads(out)["rule"]
    _, out, _ = run(*given, "--penalty", "elastic-net", "--l1-ratio", "0.3", "--alpha", "0.1")
    assert "l1_ratio=0.3" in json.loads(out)["provenance"]["settings"]["penalty"]
    for more, said in [
        (["--bound", "1", "--alpha", "0.1"], "--bound and --alpha say the same thing"),
        (["--bound", "-1"], "must be at least 0, got -1"),
        (["--penalty", "elastic-net", "--l1-ratio", "0.2,3"], "must be between 0 and 1"),
        (["--method", "garrote", "--bound", "1"], "add --method lasso"),
    ]:
        code, _, err = run(*given, *more)
        assert code == 2
        assert said in err


def test_the_seed_decides_the_folds(run, table):
    errors = []
    for seed in (0, 0, 1):
        given = ("--method", "garrote", "--seed", seed, "--json", "-")
        _, out, _ = run("select", table, "--target", "y", *given)
        errors.append(json.loads(out)["validation"]["mean"])
    assert errors[0] == errors[1] != errors[2]


def test_models_are_sampled_unless_a_method_or_its_settings_are_asked_for(run, table, tmp_path):
    words = ("select", table, "--target", "y", "--stability", "0")
    for more, method in (
        ((), "spike-slab"),
        (("--expected-size", "2"), "spike-slab"),
        (("--set", "n_steps=200"), "spike-slab"),
        (("--gamma", "-4"), "garrote"),
        (("--rule", "min"), "garrote"),
        (("--cv", "3"), "spike-slab"),
        (("--set", "max_iter=5000"), "garrote"),
    ):
        code, out, _ = run(*words, *more)
        assert code == 0
        assert f"method {method}, which" in out
    _, out, _ = run(*words, "--method", "garrote")
    assert "method garrote, which" not in out
    wide = np.random.default_rng(0).standard_normal((30, 5001))
    np.savez(tmp_path / "wide.npz", X=wide, y=3 * wide[:, 0])
    _, out, _ = run("select", tmp_path / "wide.npz", *words[2:], "--cv", "2")
    assert "method garrote, which" in out


def test_not_converged_is_exit_code_3(run, table):
    code, out, err = run("select", table, "--target", "y", "--set", "max_iter=1")
    assert code == 3
    assert "NOT reached" in out
    assert "max_iter" in err


def test_every_method_of_the_registry_runs(run, table):
    _, listed, _ = run("methods")
    for name in SELECTORS:
        assert f"{name}:" in listed
        given = ("--target", "y", "--method", name, "--stability", "0", "--quiet")
        assert run("select", table, *given)[0] == 0


# --- the version


def test_version(run):
    assert run("--version") == (0, f"garrote {__version__}\n", "")


# --- the wrong thing, on purpose


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, ["name a command", "select"]),
        (["slect", "data.csv"], 2, ["no command 'slect'", "did you mean select?"]),
        (["select"], 2, ["file", "--target"]),
        (["select", "data.csv"], 2, ["--target"]),
        (["select", "data.csv", "--targt", "y"], 2, ["--targt", "did you mean --target?"]),
        (["select", "nowhere.csv", "--target", "y"], 1, ["nowhere.csv"]),
        (["select", "data.csv", "--target", "yy"], 1, ["yy", "data.csv"]),
        (["select", "data.csv", "--target", "y", "--method", "shrinkage", "--set", "prior=bic"], 2,
         ["prior=bic: there is no such prior here; add --method spike-slab"]),
        (["select", "data.csv", "--target", "y", "--method", "shrinkage", "--set", "prior=hope"], 2,
         ["prior=hope", "known are laplace", "horseshoe"]),
        (["select", "data.csv", "--target", "y", "--method", "horseshoe"], 2,
         ["is a prior: give --method shrinkage --set prior=horseshoe"]),
        (["select", "data.csv", "--target", "y", "--method", "mcp"], 2, ["give --penalty mcp"]),
        (["select", "data.csv", "--target", "y", "--method", "garotte"], 2,
         ["garotte", "did you mean garrote?"]),
        (["select", "data.csv", "--target", "y", "--gamma", "high"], 2, ["--gamma", "'high'"]),
        (["select", "data.csv", "--target", "y", "--gamma", "3", "--expected-size", "2"], 2,
         ["--expected-size", "--gamma"]),
        (["select", "data.csv", "--target", "y", "--cv", "1"], 2, ["--cv", "at least 2"]),
        (["select", "data.csv", "--target", "y", "--cv", "500"], 1, ["500"]),
        (["select", "data.csv", "--target", "y", "--covariates", "weight"], 1, ["weight"]),
        (["select", "data.csv", "--target", "y", "--report", "no/such/out.html"], 1,
         ["--report", "no/such"]),
        (["select", "data.csv", "--target", "y", "--json", "."], 1, ["--json", "folder"]),
        (["select", "data.csv", "--target", "y", "--set", "speed=9"], 2, ["speed", "gammas"]),
        (["select", "data.csv", "--target", "y", "--set", "speed"], 2, ["NAME=VALUE"]),
        (["select", "data.csv", "--target", "y", "--missing", "ignore"], 2, ["--missing"]),
        (["select", "data.csv", "more.csv", "--target", "y"], 2, ["more.csv"]),
        (["select", "data.csv", "--target", "y", "--quiet", "--json", "-"], 2, ["--quiet"]),
        (["predict", "data.csv", "data.csv"], 1, ["data.csv"]),
        (["report", "data.csv"], 1, ["data.csv", "JSON"]),
        (["report", "nowhere.json"], 1, ["nowhere.json"]),
        (["reproduce", "vg-table-99"], 2, ["vg-table-99"]),
        (["-x"], 2, ["garrote", "-x"]),
        (["select", "data.csv", "--target", "y", "--cv", "4", "--set", "cv=3"], 2, ["--cv", "--set cv"]),
        (["select", "data.csv", "--target", "y", "--seed", "99999999999"], 2, ["--seed", "below"]),
        (["select", "data.csv", "--target", "y", "--set", "callback=3"], 2, ["callback"]),
    ],
)  # fmt: skip
def test_a_wrong_command_line_gets_one_line_that_helps(
    run, table, tmp_path, monkeypatch, arguments, code, said
):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    got, out, err = run(*arguments)
    assert got == code
    assert out == ""
    assert len(err.splitlines()) == 1, err
    assert err.startswith("garrote: ")
    assert all(word in err for word in said), err
    assert sorted(tmp_path.iterdir()) == before


def test_a_text_column_is_coded_and_said_so_but_names_of_rows_are_refused(run, values, tmp_path):
    X, y = values
    rows = [["red" if x[0] > 0 else "blue", *x[1:], t] for x, t in zip(X, y, strict=True)]
    file = write(tmp_path / "t.csv", ["colour", *NAMES[1:], "y"], rows)
    for encode in ([], ["--encode"]):  # which older commands say
        code, out, _ = run("select", file, "--target", "y", "--stability", "0", *encode)
        assert code == 0
        assert "'colour' was coded in 1 column" in out
        assert "\ncolour=" in out
    rows = [[f"name {k}", *row[1:]] for k, row in enumerate(rows)]
    file = write(tmp_path / "n.csv", ["name", *NAMES[1:], "y"], rows)
    code, _, err = run("select", file, "--target", "y")
    assert code == 1
    assert "--exclude name" in err


def test_missing_values_are_counted_and_the_remedy_named(run, values, tmp_path):
    X, y = values
    rows = [[*x, t] for x, t in zip(X.astype(object), y, strict=True)]
    rows[3][1] = rows[7][1] = ""
    file = write(tmp_path / "m.csv", [*NAMES, "y"], rows)
    code, _, err = run("select", file, "--target", "y")
    assert code == 1
    assert "beta" in err
    assert "2" in err
    assert "--missing" in err
    for how, count in (("drop", N - 2), ("mean", N)):
        _, out, _ = run("select", file, "--target", "y", "--missing", how, "--json", "-")
        assert json.loads(out)["provenance"]["n_rows"] == count


def test_a_failed_run_leaves_old_results_alone(run, table, tmp_path):
    file = tmp_path / "out.json"
    file.write_text("precious")
    code, _, _ = run("select", table, "--target", "nothing", "--json", file)
    assert code == 1
    assert file.read_text() == "precious"


@pytest.mark.parametrize("name", ["a\nb\tc", "x" * 10_000, "\u202eevil", "表" * 40, ""])
def test_strange_names_take_one_short_line_of_a_terminal(name, monkeypatch):
    assert short_names([name])[0].isprintable()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    (shown,) = short_names([name])
    assert shown
    assert shown.isprintable()
    assert len(shown) <= 32


def test_long_names_stay_apart_on_a_terminal_and_whole_where_programs_read(
    run, values, tmp_path, monkeypatch
):
    X, y = values
    stem = "this_is_a_very_long_column_name_number_one_"
    names = [f"{stem}alpha", "b", f"{stem}gamma", "d", "e", "f"]
    file = write(tmp_path / "long.csv", [*names, "y"], np.column_stack([X, y]))
    _, out, _ = run("select", file, "--target", "y", "--quiet")
    assert out.splitlines()[:2] == [names[0], names[2]]
    _, out, _ = run("select", file, "--target", "y")
    rows = [line.split()[0] for line in out.splitlines() if line.startswith("this_is")]
    assert rows == [names[0], names[2]]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    _, out, _ = run("select", file, "--target", "y")
    rows = [line.split()[0] for line in out.splitlines() if line.startswith("this_is")]
    assert len(set(rows)) == 2
    assert max(map(len, rows)) <= 32


def test_an_output_never_takes_the_place_of_an_input_or_of_another_output(run, table, tmp_path):
    before = Path(table).read_text()
    code, _, err = run("select", table, "--target", "y", "--json", table)
    assert code == 1
    assert "--json" in err
    assert Path(table).read_text() == before
    one = tmp_path / "one"
    code, _, err = run("select", table, "--target", "y", "--json", one, "--report", one)
    assert code == 1
    assert "--report" in err
    assert not one.exists()
    code, _, err = run("select", table, "--target", "y", "--save", "-")
    assert code == 1
    assert "--save cannot go to standard output" in err


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [(3, [], "5 folds need as many rows, and there are 3: give --cv 3"),
     (40, ["--groups", "site"], "5 folds need as many groups, and there are 2: give --cv 2")],
)  # fmt: skip
def test_folds_that_cannot_be_filled_are_refused_with_the_remedy(
    run, values, tmp_path, rows, more, said
):
    X, y = values
    data = np.column_stack([X, np.arange(N) % 2, y])[:rows]
    file = write(tmp_path / "few.csv", [*NAMES, "site", "y"], data)
    code, out, err = run("select", file, "--target", "y", "--method", "garrote", *more)
    assert code == 1
    assert out == ""
    assert said in err


def test_a_constant_response_is_noted_in_every_output(run, values, tmp_path):
    X, _ = values
    file = write(tmp_path / "const.csv", [*NAMES, "y"], np.column_stack([X, np.ones(N)]))
    code, out, err = run("select", file, "--target", "y", "--json", "-")
    assert code == 0
    assert any("constant" in said for said in json.loads(out)["warnings"])
    assert err == ""


def test_penalised_models_are_reached_with_their_settings_and_covariates(run, table):
    lasso = ("select", table, "--target", "y", "--method", "lasso")
    code, out, _ = run(*lasso, "--set", "penalty=mcp", "--covariates", "age,delta")
    assert code == 0
    assert "2 of 4 variables selected beside 2 always in" in out
    assert out.count("always in") == 3
    assert "interval\n" not in out
    code, _, err = run(*lasso, "--covariates", "age", "--set", "penalty_factor=2")
    assert code == 2
    assert "say the same thing" in err


def test_the_null_model_beside_covariates_is_called_by_its_name(run, table):
    given = ("--method", "garrote", "--covariates", "age")
    _, out, _ = run("select", table, "--target", "y", *given)
    assert "with the covariates alone" in out
    assert "without any variable" not in out


# --- responses that are no numbers


@pytest.fixture
def labelled(values, tmp_path):
    X, y = values
    rng = np.random.default_rng(1)
    odds = y + rng.logistic(size=N)
    columns = {
        "two": np.where(odds > 0, "well", "ill"),
        "three": np.array(["low", "middle", "high"])[np.digitize(y, [-1.0, 1.0])],
        "answer": np.where(odds > 0, "yes", "no"),
        "count": rng.poisson(np.exp(0.4 * y)),
        "digit": (odds > 0).astype(int),
    }
    header = [*NAMES, *columns]
    rows = [[*X[i].round(6), *(column[i] for column in columns.values())] for i in range(N)]
    return write(tmp_path / "labels.csv", header, rows)


def select_lasso(table, target, *more):
    names = ",".join(NAMES)
    given = ("--target", target, "--include", names, "--method", "lasso", "--stability", "0")
    return ("select", table, *given, *more)


@pytest.mark.parametrize(
    ("target", "more", "said", "response"),
    [
        ("two", [], "labels ill, well", "two = well"),
        ("two", ["--penalty", "mcp", "--gamma", "2.5", "--alpha", "bic"], "chosen by BIC", "two = well"),
        ("three", ["--rule", "1se"], "labels high, low, middle", "three"),
        ("answer", ["--alpha", "0.1"], "alpha = 0.1, chosen as given", "answer = yes"),
        ("count", ["--family", "poisson"], "Effects are on the log rate of count", "count"),
        ("digit", ["--family", "binomial"], "Effects are on the log odds of digit", "digit"),
        ("digit", ["--family", "multinomial"], "the log odds of digit = 1", "digit = 1"),
    ],
)  # fmt: skip
def test_labels_and_counts_are_fitted_as_what_they_are(
    run, labelled, tmp_path, target, more, said, response
):
    file = tmp_path / "out.json"
    code, out, err = run(*select_lasso(labelled, target, *more), "--json", file)
    assert (code, err) == (0, "")
    assert said in " ".join(out.split())
    found = json.loads(file.read_text())
    assert found["response"] == response
    chosen = {v["name"] for v in found["variables"] if v["selected"]}
    assert {"alpha", "gamma ray"} <= chosen
    assert "squared error" not in out


def test_a_saved_classifier_predicts_labels_with_their_probabilities(run, labelled, tmp_path):
    model = tmp_path / "model.garrote"
    assert run(*select_lasso(labelled, "three", "--save", model))[0] == 0
    code, out, _ = run("predict", model, labelled)
    rows = list(csv.DictReader(out.splitlines()))
    truth = [row["three"] for row in csv.DictReader(Path(labelled).read_text().splitlines())]
    assert code == 0
    assert (
        np.mean([row["prediction"] == label for row, label in zip(rows, truth, strict=True)]) > 0.8
    )
    for row in rows:
        chances = {k.removeprefix("probability of "): float(v) for k, v in list(row.items())[1:]}
        assert sum(chances.values()) == pytest.approx(1.0, abs=1e-5)
        assert max(chances, key=chances.get) == row["prediction"]


@pytest.mark.parametrize(
    ("target", "more", "code", "said"),
    [
        ("two", ["--family", "poisson"], 2, "the target holds labels of classes"),
        ("count", ["--penalty", "mpc"], 2, "there is no penalty 'mpc'; did you mean mcp?"),
        ("count", ["--alpha", "-1"], 2, "must be cv, bic, ebic, square-root or a number >= 0"),
        ("count", ["--set", "l1_ratio=0.3"], 2, "lasso has no setting l1_ratio"),
        ("count", ["--set", "class_weight=balanced"], 2, "lasso has no setting class_weight"),
        ("count", ["--family", "weibull"], 1, "family must be one of"),
        ("epsilon", ["--family", "poisson"], 1, "needs counts"),
        ("count", ["--penalty", "mcp", "--gamma", "-0.5"], 1, "gamma must be"),
    ],
)  # fmt: skip
def test_families_and_penalties_that_cannot_be_meant_get_one_line(
    run, labelled, target, more, code, said
):
    names = ",".join(name for name in NAMES if name != target)
    given = ("select", labelled, "--target", target, "--include", names, "--method", "lasso")
    reached, _, err = run(*given, *more)
    assert reached == code
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("method", ["garrote", "spike-slab"])
def test_bayesian_methods_take_labels_of_two_classes(run, labelled, tmp_path, method):
    file, model = str(tmp_path / "found.json"), str(tmp_path / "model.garrote")
    given = ("select", labelled, "--method", method, "--target", "two", "--include")
    code, out, err = run(*given, ",".join(NAMES[:4]), "--json", file, "--save", model)
    assert (code, err) == (0, "")
    assert json.loads(Path(file).read_text())["response"] == "two = well"
    assert "Effects are on the log odds of two = well" in " ".join(out.split())
    code, out, _ = run("predict", model, labelled)
    assert code == 0
    assert out.splitlines()[0] == "prediction,probability of ill,probability of well"


def test_three_classes_switch_the_default_method_and_are_refused_by_one_that_was_asked_for(
    run, labelled
):
    given = ("select", labelled, "--target", "three", "--include", "age")
    code, out, _ = run(*given)
    assert code == 0
    assert "method lasso, which takes more than two classes" in " ".join(out.split())
    code, _, err = run(*given, "--method", "spike-slab")
    assert code == 1
    assert "three has 3 classes, and --method spike-slab takes two: give --method lasso" in err


def test_zero_and_one_are_labels_unless_they_are_said_to_be_numbers(run, labelled):
    given = ("select", labelled, "--target", "digit", "--include", "age,beta")
    code, out, _ = run(*given)
    assert code == 0
    assert "digit is 0 or 1 in every row and was taken for labels" in " ".join(out.split())
    assert "log odds of digit = 1" in out
    for method in ("spike-slab", "garrote"):
        code, out, _ = run(*given, "--family", "gaussian", "--method", method)
        assert code == 0
        assert "log odds of digit" not in out


def test_a_method_without_families_takes_numbers_for_labels_if_told_so(run, labelled):
    given = ("select", labelled, "--target", "digit", "--include", "age", "--gamma", "-2")
    code, out, _ = run(*given, "--family", "binomial")
    assert code == 0
    assert "log odds of digit = 1" in " ".join(out.split())


def test_a_response_of_0_and_1_is_noted(run, labelled):
    _, out, _ = run(*select_lasso(labelled, "digit", "--alpha", "bic"))
    assert "--family binomial models its log odds" in " ".join(out.split())
    _, out, _ = run(*select_lasso(labelled, "digit", "--alpha", "bic", "--family", "binomial"))
    assert "fitted as a number" not in " ".join(out.split())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ["--penalty", "mcp", "--method", "spike-slab"],
            "spike-slab has no setting penalty; add --method lasso",
        ),
        (
            ["--method", "lasso", "--set", "groups=0,1"],
            "no setting groups; add --penalty group-lasso",
        ),
        (
            ["--penalty", "mcp", "--set", "graph=chain"],
            "no setting graph; add --penalty fused-lasso",
        ),
        (["--family", "probit"], "--family: garrote has no setting family; add --method lasso"),
        (["--set", "hope=1"], "garrote has no setting hope (it has"),
        (
            ["--method", "garrote", "--set", "n_steps=500"],
            "garrote has no setting n_steps; add --method spike-slab",
        ),
        (
            ["--method", "single-effects", "--expected-size", "2"],
            "single-effects has no setting expected_size; add --method garrote",
        ),
    ],
)
def test_settings_of_another_method_name_it(run, labelled, given, said):
    code, _, err = run("select", labelled, "--target", "digit", *given)
    assert code == 2
    assert said in err


@pytest.mark.parametrize(
    ("target", "given", "said"),
    [
        ("two", ["--set", "prior=single-effects"], "no such prior here; add --method single-effects"),
        ("two", ["--set", "prior=horseshoe"], "no such prior here; add --method shrinkage"),
        ("two", ["--set", "noise_variance=1"], "spike-slab has no setting noise_variance for labels"),
        ("three", [], "three has 3 classes, and --method spike-slab takes two: give --method lasso"),
        (
            "digit",
            ["--family", "binomial", "--set", "prior=single-effects"],
            "no such prior here; add --method single-effects",
        ),
        ("same", [], "one class only among rows of positive weight, x: rows of two classes"),
    ],
)  # fmt: skip
def test_what_labels_do_not_have_names_what_they_have(run, labelled, target, given, said):
    rows = list(csv.reader(Path(labelled).read_text().splitlines()))
    table = write(Path(labelled), [*rows[0], "same"], [[*row, "x"] for row in rows[1:]])
    names = ("--include", ",".join(NAMES))
    code, _, err = run(
        "select", table, "--target", target, "--method", "spike-slab", *names, *given
    )
    assert code != 0
    assert said in err


def test_what_a_message_on_labels_names_does_what_it_says(run, labelled):
    names = ("--target", "digit", "--include", ",".join(NAMES))
    given = ("--method", "single-effects", "--family", "binomial")
    code, out, err = run("select", labelled, *names, *given)
    assert (code, err) == (0, "")
    assert "single effects" in out


@pytest.mark.filterwarnings("ignore:.*could not hold cv")
@pytest.mark.parametrize("method", ["garrote", "spike-slab"])
def test_a_known_part_of_log_odds_is_used_by_fits_and_predictions(run, values, tmp_path, method):
    X, y = values
    rng = np.random.default_rng(3)
    known = np.linspace(-3.0, 3.0, N)
    labels = np.where(y + known + rng.logistic(size=N) > 0, "well", "ill")
    rows = [[*X[i], known[i], labels[i]] for i in range(N)]
    table = write(tmp_path / "labels.csv", [*NAMES, "known", "label"], rows)
    model = tmp_path / "model.garrote"
    asked = ("--target", "label", "--method", method, "--offset", "known", "--stability", "0")
    assert run("select", table, *asked, "--save", model)[0] == 0
    code, out, _ = run("predict", model, table)
    assert code == 0
    loaded = load_model(model)
    stated = [float(row["probability of well"]) for row in csv.DictReader(out.splitlines())]
    np.testing.assert_allclose(stated, loaded.predict_proba(X, known)[:, 1], rtol=1e-5, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*could not hold cv")
def test_a_known_part_of_numbers_is_used_by_fits_and_predictions(run, table, values, tmp_path):
    model, names = tmp_path / "model.garrote", ",".join(NAMES[2:])
    asked = ("--target", "y", "--include", names, "--offset", NAMES[1], "--gamma", "-3")
    assert run("select", table, *asked, "--save", model)[0] == 0
    X, y = values
    same = VariationalGarrote(-3.0).fit(X[:, 2:], y - X[:, 1])
    np.testing.assert_allclose(load_model(model).coef_, same.coef_, rtol=1e-4, atol=1e-6)
    code, out, _ = run("predict", model, table)
    assert code == 0
    stated = [float(row["prediction"]) for row in csv.DictReader(out.splitlines())]
    np.testing.assert_allclose(stated, same.predict(X[:, 2:]) + X[:, 1], rtol=1e-3, atol=1e-3)


def test_settings_of_priors_and_methods_make_objects(run, table, tmp_path):
    model = tmp_path / "model.garrote"
    given = ("--target", "y", "--save", model, "--stability", "0", "--method")
    slab = ("spike-slab", "--expected-size", "2")
    settings = ("--set", "slab_variance=2", "--set", "n_steps=300", "--set", "burn_in=50")
    assert run("select", table, *given, *slab, *settings)[0] in (0, 3)
    made = load_model(model)
    assert made.prior == TwoHumpedSlab(2)
    assert made.method == Sample(300, 50)
    assert made.inclusion == ExpectedSize(2.0)
    settings = ("--set", "prior=student", "--set", "degrees=4", "--set", "n_steps=200")
    assert run("select", table, *given, "shrinkage", *settings)[0] in (0, 3)
    made = load_model(model)
    assert (made.prior, made.method) == (StudentPrior(4), Gibbs(200))


@pytest.mark.parametrize(
    ("settings", "prior"),
    [
        (["separation=0", "n_steps=100"], TwoHumpedSlab(separation=0)),
        (["method=search", "n_steps=100", "slab_variance=2"], GaussianSlab(2)),
    ],
    ids=str,
)
def test_a_slab_is_set_as_far_as_the_method_has_it(run, table, tmp_path, settings, prior):
    model = tmp_path / "model.garrote"
    given = ("--target", "y", "--method", "spike-slab", "--save", model)
    typed = [part for setting in settings for part in ("--set", setting)]
    assert run("select", table, *given, *typed)[0] in (0, 3)
    assert load_model(model).prior == prior


def test_a_penalty_asks_for_the_method_that_has_penalties(run, table):
    code, out, err = run("select", table, "--target", "y", "--penalty", "mcp", "--alpha", "bic")
    assert (code, err) == (0, "")
    assert "chosen by BIC" in out
    code, _, err = run("select", table, "--target", "y", "--penalty", "mcp", "--method", "garrote")
    assert code == 2
    assert "n_starts" in err  # what the method has, and nothing of the penalty
    assert "gamma, " in err


# --- groups and graphs


@pytest.fixture
def genes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 5))
    y = X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(N)
    names = ["gene1_a", "gene1_b", "gene2_a", "gene2_b", "age"]
    return write(tmp_path / "genes.csv", [*names, "y"], np.column_stack([X, y]))


def grouped(table, groups, *more):
    return ("select", table, "--target", "y", "--penalty", "group-lasso", "--alpha", "0.1",
            "--set", f"groups={groups}", *more)  # fmt: skip


@pytest.mark.parametrize(
    "groups",
    [
        "gene1_*,gene2_*,age",
        "gene2_*,age,gene1_*",
        "gene2_b:0,gene1_a:1,gene1_b:1,gene2_a:0,age:2",
        "gene2_b:two,gene1_a:one,gene1_b:one,gene2_a:two,age:none",
        "gene1_*:1,gene2_*:2,age:3",
        "a,a,b,b,c",
        "gene1_a,gene1_a,b,b,c",
        "0,0,1,1,7",
    ],
)
def test_groups_are_named_by_patterns_names_or_labels(run, genes, tmp_path, groups):
    found, expected = tmp_path / "model.garrote", [{0, 1}, {2, 3}, {4}]
    code, _, err = run(*grouped(genes, groups, "--save", found))
    assert (code, err) == (0, "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the splitter is not kept
        penalty = garrote.load(found).penalty
    names = np.array(["gene1_a", "gene1_b", "gene2_a", "gene2_b", "age"], dtype=object)
    labels = penalty.resolved(5, names).groups
    sets = [set(np.flatnonzero(labels == g).tolist()) for g in np.unique(labels)]
    assert sorted(sets, key=min) == expected


@pytest.mark.parametrize(
    ("groups", "code", "said"),
    [
        ("gene1_*,gene2_*", 1, "columns 'age' are in no group"),
        ("gene1_*,gene3_*,gene2_*,age", 1, "groups has 'gene3_*', but no column is called so"),
        ("gene1_*,gene*,age", 1, "share column 'gene1_a'"),
        ("gene1", 2, "--set groups=gene1: no column is called so; give factors, names or patterns"),
        ("a,a,b", 1, "3 labels for 5 columns"),
        ("gene1_a:0,gene1_b:0", 1, "columns 'gene2_a', 'gene2_b', 'age' are in no group"),
        ("gene1_a:0,gene1_a:1", 2, "two numbers for 'gene1_a'"),
        ("gene1_a:x,gene1_a:y", 2, "two labels for 'gene1_a'"),
    ],
)
def test_groups_that_do_not_fit_the_table_get_one_line(run, genes, groups, code, said):
    reached, _, err = run(*grouped(genes, groups))
    assert reached == code
    assert said in err
    assert len(err.splitlines()) == 1


def test_covariates_leave_their_group_and_need_none(run, genes):
    code, out, err = run(*grouped(genes, "gene1_*,gene2_*", "--covariates", "gene1_a,age"))
    assert (code, err) == (0, "")
    assert "beside 2 always in" in " ".join(out.split())
    code, _, err = run(*grouped(genes, "gene1_*,gene2_*,age", "--set", "penalty_factor=gene1_b:3"))
    assert code == 1
    assert "penalty_factor is 1 for column 'gene1_a' and 3 for 'gene1_b'" in err


def test_words_that_were_coded_are_groups_whatever_their_levels(run, tmp_path):
    rng = np.random.default_rng(0)
    city = rng.choice(["St. Louis", "St. Paul", "New_York"], N)
    age = rng.choice(["18_25", "26_35", "36=x"], N)
    # Indicators that were in the table before are found as well.
    size = rng.integers(0, 3, N)
    rows = zip(city, age, *((size == k).astype(int) for k in range(3)), rng.random(N), strict=True)
    file = write(tmp_path / "words.csv", ["city", "age", "s_0.5", "s_0.7", "s_1", "y"], rows)
    model = tmp_path / "model.garrote"
    code, _, err = run(*grouped(file, "factors", "--encode", "--save", model))
    assert (code, err) == (0, "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        penalty = garrote.load(model).penalty
    assert penalty.groups.tolist() == [0, 0, 1, 1, 2, 2, 2]


@pytest.fixture
def ordered(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12))
    y = X @ np.repeat([1.0, -1.0, 2.0], 4) + 0.3 * rng.standard_normal(80)
    return write(tmp_path / "waves.csv", [*(f"t{j}" for j in range(12)), "y"], np.c_[X, y])


def fused(table, *more):
    given = ("--target", "y", "--penalty", "fused-lasso", "--alpha", "0.3", "--stability", "0")
    return ("select", table, *given, *more)


def effects(out):
    return {v["name"]: v["effect"] for v in json.loads(out)["variables"]}


@pytest.mark.parametrize("header", ["", "from,to\n", "Source,Target\n"])
def test_graphs_are_named_or_read_from_a_file_of_edges(run, ordered, tmp_path, header):
    names = [f"t{j}" for j in range(12)]
    edges = tmp_path / "edges.csv"
    edges.write_text(header + "".join(f"{a},{b}\n" for a, b in pairwise(names)))
    expected = effects(run(*fused(ordered, "--json", "-"))[1])
    for graph in ("chain", "lattice:1x12", edges):
        code, out, err = run(*fused(ordered, "--json", "-", "--set", f"graph={graph}"))
        assert (code, err) == (0, "")
        assert effects(out) == pytest.approx(expected, abs=1e-12)
    lattice = effects(run(*fused(ordered, "--json", "-", "--set", "graph=lattice:3x4"))[1])
    assert lattice != pytest.approx(expected, abs=1e-3)


def test_edges_may_have_weights_and_leave_covariates_out(run, ordered, tmp_path):
    edges = tmp_path / "edges.tsv"
    edges.write_text("".join(f"{j}\t{j + 1}\t{1 if j != 3 else 0}\n" for j in range(10)))
    given = fused(ordered, "--set", f"graph={edges}", "--json", "-")
    code, out, err = run(*given, "--covariates", "t11")
    assert (code, err) == (0, "")
    values = effects(out)
    assert values["t3"] != values["t4"]
    assert values["t11"] != values["t10"]
    code, _, err = run(*given, "--covariates", "t10")
    assert code == 2
    assert "the fused lasso compares 't10' with its neighbours" in err
    code, _, err = run(*given, "--set", "weights=1,2")
    assert code == 2
    assert "say the same thing" in err


@pytest.mark.parametrize(
    ("edges", "code", "said"),
    [
        (None, 2, "--set graph={file}: give chain, lattice:ROWSxCOLUMNS"),
        ("t0,t1\nt1,t21\n", 1, "line 2 of {file} has 't21', which is no variable; did you mean"),
        ("t0,t1\nt1,12\n", 1, "line 2 of {file} has '12', which is no variable"),
        ("t0,t1\nt1\n", 1, "line 2 of {file} has 1 cells"),
        ("t0,t1,2\nt1,t2\n", 1, "line 2 of {file} has 2 cells"),
        ("t0,t1,much\n", 1, "line 1 of {file} has the weight 'much'"),
        ("t0,t0\n", 1, "joins node 0 to itself"),
    ],
)
def test_edges_that_cannot_be_used_are_named_by_their_line(
    run, ordered, tmp_path, edges, code, said
):
    file = tmp_path / "edges.csv"
    if edges is not None:
        file.write_text(edges)
    reached, _, err = run(*fused(ordered, "--set", f"graph={file}"))
    assert reached == code
    assert said.format(file=file) in err
    assert len(err.splitlines()) == 1


def test_pieces_are_counted_where_a_penalty_makes_them(run, ordered, tmp_path):
    report = tmp_path / "report.html"
    code, out, _ = run(*fused(ordered, "--set", "l1_ratio=0.1", "--report", report))
    assert code == 0
    assert "12 of 12 variables selected, in 3 pieces of equal effects" in " ".join(out.split())
    page = re.sub("<.*?>", "", report.read_text(encoding="utf-8"))
    assert "12 of 12 variables explain y, in 3 pieces of equal effects: t" in page
    _, out, _ = run(*fused(ordered, "--json", "-"))
    assert json.loads(out)["pieces"] == 3
    _, out, _ = run("select", ordered, "--target", "y", "--penalty", "lasso", "--json", "-")
    assert json.loads(out)["pieces"] is None


def test_the_help_names_every_family(run):
    _, out, _ = run("select", "--help")
    assert all(family in out for family in ALL_FAMILIES)


def test_settings_may_be_lists_and_numbers_of_columns(run, labelled, tmp_path):
    file = tmp_path / "out.json"
    given = select_lasso(
        labelled, "digit", "--alpha", "bic", "--json", file, "--family", "gaussian"
    )
    code, out, _ = run(
        *given, "--set", "alphas=0.5,0.1,0.3", "--set", "penalty_factor=age:0,delta:2.5"
    )
    assert code == 0
    assert "1 always in" in " ".join(out.split())
    found = json.loads(file.read_text())
    assert found["path"]["strengths"] == [0.5, 0.3, 0.1]
    code, _, err = run(*given, "--set", "penalty_factor=aeg:0")
    assert code == 1
    assert "names an unknown column 'aeg'; known are" in err


def test_an_offset_is_known_to_the_fit_and_to_predictions(run, values, tmp_path):
    X, y = values
    known = np.linspace(-2.0, 2.0, N)
    counts = np.random.default_rng(3).poisson(np.exp(0.4 * y + known))
    table = write(tmp_path / "counts.csv", [*NAMES, "log_days", "count"], np.c_[X, known, counts])
    model = tmp_path / "model.garrote"
    asked = ("select", table, "--target", "count", "--method", "lasso", "--family", "poisson")
    code, _, err = run(*asked, "--alpha", "0.05", "--offset", "log_days", "--save", model)
    assert (code, err) == (0, "")
    code, out, _ = run("predict", model, table)
    assert code == 0
    fitted = SparseRegressor(alpha=0.05, family="poisson").fit(X, counts, offset=known)
    predicted = [float(row["prediction"]) for row in csv.DictReader(out.splitlines())]
    np.testing.assert_allclose(predicted, fitted.predict(X, known), rtol=1e-6)
    code, _, err = run("predict", model, table, "--offset", "age")
    assert (code, "is a variable of the model" in err) == (1, True)
    bare = write(tmp_path / "bare.csv", NAMES, X)
    code, _, err = run("predict", model, bare)
    assert (code, "log_days" in err) == (1, True)


# --- as a process


COMMAND = [sys.executable, "-m", "garrote"]


def test_a_table_can_come_through_a_pipe(table):
    with Path(table).open() as stream:
        done = subprocess.run([*COMMAND, "select", "-", "--target", "y", "--quiet"], stdin=stream,
                              capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.splitlines()[:2] == ["alpha", "gamma ray"]
    assert done.stderr == ""


def test_a_reader_that_leaves_early_is_no_error_message(table):
    process = subprocess.Popen([*COMMAND, "select", table, "--target", "y", "--json", "-"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    process.stdout.close()
    _, err = process.communicate()
    assert b"Traceback" not in err
    assert b"Broken" not in err


@pytest.mark.parametrize("command", [
    ["select", "nothere.csv", "--target", "y"],
    ["select", "--zscores", "nothere.csv", "--ld", "nothere.npz", "--n", "5"],
    ["compare", "nothere.csv", "--target", "y"],
    ["predict", "nothere.garrote", "nothere.csv"],
])  # fmt: skip
def test_a_missing_file_is_named_before_anything_heavy_is_loaded(command):
    code = (
        "import sys\nfrom garrote.cli.main import main\n"
        f"assert main({command!r}) == 1\n"
        "heavy = {'scipy', 'sklearn', 'numba', 'polars', 'jinja2'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "nothere" in done.stderr
    assert "does not exist" in done.stderr


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom garrote.cli.main import main\n"
        "assert main(['--help']) == 0 and main(['select', '--help']) == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'polars', 'jinja2'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in COMMANDS)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_progress_is_shown_on_a_terminal_only(table):
    there, here = pty.openpty()
    words = [*COMMAND, "select", table, "--target", "y", "--method", "garrote"]
    process = subprocess.Popen(words, stderr=here,
                               stdout=subprocess.DEVNULL)  # fmt: skip
    os.close(here)
    shown = ""
    with contextlib.suppress(OSError):  # the end of a terminal
        while piece := os.read(there, 10_000):
            shown += piece.decode()
    os.close(there)
    assert process.wait() == 0
    assert "forward" in shown
    assert shown.rstrip().endswith("\x1b[K")  # the line is cleared in the end


def test_an_interrupt_ends_within_a_second_and_leaves_nothing(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "big.npz", X=rng.standard_normal((2000, 4000)), y=rng.standard_normal(2000))
    before = sorted(p.name for p in tmp_path.iterdir())
    arguments = ["select", "big.npz", "--target", "y", "--set", "tol=1e-9"]
    arguments += ["--json", "out.json", "--report", "out.html"]
    process = subprocess.Popen([*COMMAND, *arguments], cwd=tmp_path, stderr=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)  # fmt: skip
    said = process.stdout.readline()  # it has read the file and begins to fit
    assert "2000 rows" in said
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert time.monotonic() - start < 5  # a second on a free machine
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_what_a_long_fit_will_cost_is_said_before_it_begins(capsys):
    with console.warnings_kept(quiet=False) as heard:
        foretell("a search that expands 10000 models", 600.0, "lower n_steps (10000)")
        said = capsys.readouterr().err
        warnings.warn("another thing", UserWarning, stacklevel=1)
    assert "takes about 10 min on one core: lower n_steps (10000) for less" in " ".join(
        said.split()
    )
    assert heard == ["another thing"]
    with console.warnings_kept(quiet=True) as heard:
        foretell("a search that expands 10000 models", 600.0, "lower n_steps (10000)")
    assert not heard
    assert not capsys.readouterr().err


def test_fits_of_less_than_a_minute_are_not_worth_a_word(recwarn):
    foretell("something", 59.0, "do less")
    assert not recwarn
