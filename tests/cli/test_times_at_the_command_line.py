"""Times until an event at the command line: options, codes of events, files and predictions."""

import json

import numpy as np
import pytest

import garrote
from command_line import write
from garrote.likelihoods import survival_times

LIGHT = ("--stability", "0", "--penalty", "lasso", "--alpha", "0.05")


@pytest.fixture
def columns():
    rng = np.random.default_rng(0)
    age, dose = rng.standard_normal((2, 80))
    time = np.round(rng.exponential(np.exp(-age)), 3) + 0.001
    status, site = rng.integers(1, 3, 80), np.where(rng.random(80) < 0.5, "north", "south")
    return {"days": time, "status": status, "age": age, "dose": dose, "site": site}


def table(path, columns):
    return write(path, list(columns), zip(*columns.values(), strict=True))


def test_the_fit_is_that_of_python_and_new_rows_have_survival(run, columns, tmp_path):
    file = table(tmp_path / "d.csv", columns)
    model, out = tmp_path / "m.garrote", tmp_path / "d.json"
    chosen = ("--time", "days", "--event", "status:2", "--strata", "site", *LIGHT)
    code, said, _ = run("select", file, *chosen, "--save", model, "--json", out)
    assert code == 0
    assert "log hazard of days until status:2" in said
    document = json.loads(out.read_text())
    assert document["response"] == "days until status:2"
    X = np.column_stack([columns["age"], columns["dose"]])
    y = survival_times(columns["days"], columns["status"] == 2, strata=columns["site"])
    same = garrote.SparseRegressor(family="cox", alpha=0.05).fit(X, y)
    loaded = garrote.load(model)
    np.testing.assert_allclose(loaded.coef_, same.coef_, rtol=1e-9)
    code, said, _ = run("predict", model, file, "--times", "0.5,1", "--strata", "site")
    assert code == 0
    rows = [line.split(",") for line in said.splitlines()]
    assert rows[0] == ["prediction", "survival at 0.5", "survival at 1"]
    curves = same.predict_survival(X, [0.5, 1.0], strata=columns["site"])
    np.testing.assert_allclose(np.array(rows[1:], float)[:, 1:], curves, rtol=1e-4)
    code, _, err = run("predict", model, file, "--times", "1")
    assert code == 1
    assert "--strata" in err


def test_sampled_models_are_the_default_and_rows_without_times_are_left_out(run, columns, tmp_path):
    columns["days"] = [*columns["days"][:-1], ""]
    columns["event"] = np.where(columns["status"] == 2, "true", "false")
    file = table(tmp_path / "d.csv", columns)
    code, said, _ = run(
        "select", file, "--time", "days", "--event", "event", "--exclude", "status,site",
        "--stability", "0",
    )  # fmt: skip
    assert code == 0
    assert "1 of 80 rows has no 'days': left out, 79 kept" in " ".join(said.split())
    assert "method spike-slab, by Cox's partial likelihood" in said
    assert "age" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--time", "days"), "--event is missing"),
        (("--time", "days", "--event", "status", "--target", "age"), "both name the response"),
        (("--time", "days", "--event", "status:2", "--family", "poisson"), "--family is poisson"),
        (("--target", "days", "--family", "cox"), "name the times and the events by --time"),
        (("--time", "days", "--event", "status"), "'1', '2', not 0 and 1: say which value"),
        (("--time", "days", "--event", "status:3"), "no row has '3' there"),
        (("--time", "when", "--event", "status:2"), "no column 'when' for --time"),
        (("--time", "site", "--event", "status:2"), "--time needs a column of numbers"),
        (
            ("--time", "days", "--event", "status:2", "--start", "days"),
            "--time and --start at once",
        ),
        (("--time", "days", "--event", "status:2", "--start", "late"), "in line 5"),
        (("--time", "age", "--event", "status:2"), "times must not be negative"),
        (
            ("--time", "days", "--event", "status:2", "--cv", "3", "--method", "spike-slab"),
            "densities",
        ),
        (("--time", "days", "--event", "never"), "all 80 rows are censored"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_remedy(run, columns, tmp_path, options, said):
    columns["late"] = np.where(np.arange(80) == 3, 99.0, 0.0)
    columns["never"] = np.zeros(80, int)
    file = table(tmp_path / "d.csv", columns)
    code, _, err = run("select", file, "--stability", "0", *options)
    assert code in (1, 2)
    assert said in " ".join(err.split())
