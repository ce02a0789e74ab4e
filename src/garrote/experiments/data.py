"""Published tables that garrote does not carry: where studies look for them, and who has them."""

import os
from pathlib import Path
from typing import NamedTuple

VARIABLE = "GARROTE_DATA"


class Source(NamedTuple):
    """A package that carries a table, the licence of that package, and who measured it."""

    package: str
    licence: str
    origin: str


# Files as the studies read them. Counts of alleles are stored as small integers in "X" of an .npz file.
SOURCES = {
    "boston.csv": Source(
        "R package MASS, data set Boston (columns in capitals, MEDV last)",
        "GPL-2 or GPL-3",
        "Harrison & Rubinfeld 1978; also UCI housing.data",
    ),
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
    "prostate.csv": Source(
        "R package ElemStatLearn, data set prostate (train as 0 or 1)",
        "GPL-2 or later",
        "Stamey et al. 1989",
    ),
    "prostate_murphy.csv": Source(
        "collection pmtkdata, prostate.data (as prostate.csv, with lweight 6.10758 in row 32)",
        "MIT",
        "Stamey et al. 1989, as Murphy's programs have it",
    ),
    "uscrime.csv": Source(
        "R package MASS, data set UScrime (with a header)",
        "GPL-2 or GPL-3",
        "Ehrlich 1973; Vandaele 1978",
    ),
}


def find(name: str) -> Path:
    """Return where a table lies, in the folder that the environment variable GARROTE_DATA names.

    Parameters
    ----------
    name : str
        File name, such as ``"boston.csv"``.
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
