"""A table on disk with a known answer, and calls of the command line."""

import csv
from pathlib import Path

import numpy as np
import pytest

from garrote.cli.main import main

# So few rows have a slab of one shape, of which sums over all models take a moment.
N, NAMES = 48, ["alpha", "beta", "gamma ray", "delta", "epsilon", "age"]


def write(path: Path, header, rows) -> str:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)
    return str(path)


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, len(NAMES)))
    y = 2.0 * X[:, 0] - 1.5 * X[:, 2] + 0.5 * X[:, 5] + 0.3 * rng.standard_normal(N)
    return X, y


@pytest.fixture
def table(values, tmp_path):
    X, y = values
    return write(tmp_path / "data.csv", [*NAMES, "y"], np.column_stack([X, y]))


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call
