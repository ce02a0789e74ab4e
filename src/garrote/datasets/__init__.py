"""Regressions with a known truth, and small real tables."""

from garrote.datasets.diabetes import load_diabetes_quadratic
from garrote.datasets.prostate import Prostate, load_prostate
from garrote.datasets.simulation import (
    Regression,
    make_kappen_gomez_1,
    make_kappen_gomez_2,
    make_sparse_regression,
    make_zhao_yu,
)

__all__ = [
    "Prostate",
    "Regression",
    "load_diabetes_quadratic",
    "load_prostate",
    "make_kappen_gomez_1",
    "make_kappen_gomez_2",
    "make_sparse_regression",
    "make_zhao_yu",
]
