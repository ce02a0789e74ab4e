"""``garrote select --table``: every variable, with what is known of it, in a file of its own."""

import polars as pl
import pytest

from command_line import NAMES
from garrote.cli.main import main


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_all_variables_are_written_with_what_is_known_of_each(run, table, tmp_path, suffix):
    file = tmp_path / f"out.{suffix}"
    code, out, _ = run("select", table, "--target", "y", "--table", file, "--stability", "3")
    assert code == 0
    assert f"out.{suffix}" in out
    found = pl.read_csv(file) if suffix == "csv" else pl.read_excel(file)
    assert set(found["variable"]) == set(NAMES)
    assert found.columns[:2] == ["variable", "selected"]
    assert {"probability", "effect", "lower 95%", "upper 95%", "found again", "set"} < {
        *found.columns
    }
    chosen = found.filter("selected")
    assert {"alpha", "gamma ray", "age"} == set(chosen["variable"])
    effects = dict(zip(chosen["variable"], chosen["effect"], strict=True))
    assert effects["alpha"] == pytest.approx(2, abs=0.2)
    assert effects["gamma ray"] == pytest.approx(-1.5, abs=0.2)


def test_a_table_of_another_kind_is_refused_before_any_work(run, table, tmp_path):
    code, _, err = run("select", table, "--target", "y", "--table", tmp_path / "out.pdf")
    assert code == 1
    assert "must end in .csv or .xlsx" in err
    assert main(["select", table, "--target", "y", "--table", "-"]) == 1
