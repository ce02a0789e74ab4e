"""Annotations of variables in a file, and at the command line."""

import numpy as np
import pytest

from command_line import run  # noqa: F401 - a fixture
from garrote.tables import TableError
from garrote.tables.genetics.annotations import read_annotations


def write(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_names_and_numbers_are_read(tmp_path):
    found = read_annotations(write(tmp_path / "a.csv", ["gene,coding,depth", "a,1,0.5", "b,0,-2"]))
    assert found.by_variable() == {
        "a": {"coding": 1.0, "depth": 0.5},
        "b": {"coding": 0.0, "depth": -2.0},
    }


REFUSED = {
    "need a column of variables' names": ["gene", "a"],
    "'a' twice": ["gene,coding", "a,1", "a,0"],
    "which is no number": ["gene,coding", "a,1", "b,often"],
    "has no number in the column 'coding'": ["gene,coding", "a,1", "b,"],
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_annotates_nothing_is_refused(said, tmp_path):
    with pytest.raises(TableError, match=said):
        read_annotations(write(tmp_path / "a.csv", REFUSED[said]))


def test_the_command_line_learns_enrichments(tmp_path, run):  # noqa: F811
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    y = X[:, :2] @ [1.0, 0.8] + rng.standard_normal(80)
    rows = [",".join(f"{v:.4f}" for v in row) for row in np.column_stack([X, y])]
    table = write(tmp_path / "t.csv", ["a,b,c,d,e,y", *rows])
    told = write(tmp_path / "a.csv", ["gene,coding", "a,1", "b,1", "c,0", "d,0", "e,0"])
    options = ["select", table, "--target", "y", "--annotations", told, "--stability", "0"]
    code, out, _ = run(*options)
    assert code == 0
    assert "coding +" in out
    refused = run(*options, "--method", "garrote")[2]
    assert "take --method spike-slab or single-effects" in refused
    both = run(*options, "--expected-size", "2")[2]
    assert "are laws of inclusion: give one" in both
