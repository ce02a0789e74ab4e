"""Sparse linear models and Bayesian variable selection, with a certificate for every answer."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from garrote.estimators import __all__ as _ESTIMATORS

__version__ = "0.1.0"

if TYPE_CHECKING:
    from garrote.estimators import (
        ShrinkageClassifier,
        ShrinkageRegressor,
        SingleEffectsClassifier,
        SingleEffectsRegressor,
        SparseClassifier,
        SparseRegressor,
        SpikeSlabClassifier,
        SpikeSlabRegressor,
        VariationalGarrote,
        VariationalGarroteClassifier,
    )
    from garrote.paths.annealed import fit_path
    from garrote.persistence import load
    from garrote.problem import Problem
    from garrote.results.certificates import Certificate
    from garrote.results.fit import Fit
    from garrote.results.path import Path
    from garrote.results.posterior import Posterior
    from garrote.results.selection import Selection
    from garrote.solvers.classical.array_descent import proximal_gradient

# Public names and where they live: resolved on first use, so that `import garrote` stays quick.
_HOMES = {
    **dict.fromkeys(_ESTIMATORS, "garrote.estimators"),
    "Problem": "garrote.problem",
    "fit_path": "garrote.paths.annealed",
    "load": "garrote.persistence",
    "proximal_gradient": "garrote.solvers.classical.array_descent",
    "Certificate": "garrote.results.certificates",
    "Fit": "garrote.results.fit",
    "Path": "garrote.results.path",
    "Posterior": "garrote.results.posterior",
    "Selection": "garrote.results.selection",
}

__all__ = [
    "Certificate",
    "Fit",
    "Path",
    "Posterior",
    "Problem",
    "Selection",
    "ShrinkageClassifier",
    "ShrinkageRegressor",
    "SingleEffectsClassifier",
    "SingleEffectsRegressor",
    "SparseClassifier",
    "SparseRegressor",
    "SpikeSlabClassifier",
    "SpikeSlabRegressor",
    "VariationalGarrote",
    "VariationalGarroteClassifier",
    "fit_path",
    "load",
    "proximal_gradient",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'garrote' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
