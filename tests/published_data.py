"""How the files of published data are read."""

import csv

import numpy as np


def load(folder, name):
    with np.load(folder / name, allow_pickle=False) as file:
        return dict(file)


def read_table(path, response):
    """Return numbers, response and names of a CSV file with a header."""
    with path.open(newline="") as file:
        names, *rows = csv.reader(file)
    values = np.array(rows, dtype=float)
    own = names.index(response)
    return np.delete(values, own, axis=1), values[:, own], [n for n in names if n != response]
