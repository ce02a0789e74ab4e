"""Sparse linear models and Bayesian variable selection, with a certificate for every answer."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from garrote.estimators import __all__ as _ESTIMATORS

__version__ = "0.1.0"

if TYPE_CHECKING:  # what type checkers cannot read from the table below
    from garrote.estimators import Bolasso as Bolasso
    from garrote.estimators import GreedyClassifier as GreedyClassifier
    from garrote.estimators import GreedyRegressor as GreedyRegressor
    from garrote.estimators import KernelFeatures as KernelFeatures
    from garrote.estimators import Knockoffs as Knockoffs
    from garrote.estimators import NonNegativeGarrote as NonNegativeGarrote
    from garrote.estimators import RelevanceClassifier as RelevanceClassifier
    from garrote.estimators import RelevanceRegressor as RelevanceRegressor
    from garrote.estimators import RelevanceVectorClassifier as RelevanceVectorClassifier
    from garrote.estimators import RelevanceVectorRegressor as RelevanceVectorRegressor
    from garrote.estimators import ShrinkageClassifier as ShrinkageClassifier
    from garrote.estimators import ShrinkageRegressor as ShrinkageRegressor
    from garrote.estimators import SingleEffectsClassifier as SingleEffectsClassifier
    from garrote.estimators import SingleEffectsRegressor as SingleEffectsRegressor
    from garrote.estimators import SmoothSVC as SmoothSVC
    from garrote.estimators import SmoothSVR as SmoothSVR
    from garrote.estimators import SparseClassifier as SparseClassifier
    from garrote.estimators import SparseRegressor as SparseRegressor
    from garrote.estimators import SpikeSlabClassifier as SpikeSlabClassifier
    from garrote.estimators import SpikeSlabRegressor as SpikeSlabRegressor
    from garrote.estimators import StabilitySelection as StabilitySelection
    from garrote.estimators import VariationalGarrote as VariationalGarrote
    from garrote.estimators import VariationalGarroteClassifier as VariationalGarroteClassifier
    from garrote.estimators.comparing import compare as compare
    from garrote.paths.annealed import fit_path as fit_path
    from garrote.persistence import load as load
    from garrote.problem import Problem as Problem
    from garrote.results.certificates import Certificate as Certificate
    from garrote.results.fit import Fit as Fit
    from garrote.results.path import Path as Path
    from garrote.results.posterior import Posterior as Posterior
    from garrote.results.selections.comparison import Comparison as Comparison
    from garrote.results.selections.selection import Selection as Selection
    from garrote.solvers.classical.array_descent import proximal_gradient as proximal_gradient

# Public names and where they live: resolved on first use, so that `import garrote` stays quick.
_HOMES = {
    **dict.fromkeys(_ESTIMATORS, "garrote.estimators"),
    "Problem": "garrote.problem",
    "fit_path": "garrote.paths.annealed",
    "compare": "garrote.estimators.comparing",
    "load": "garrote.persistence",
    "proximal_gradient": "garrote.solvers.classical.array_descent",
    "Certificate": "garrote.results.certificates",
    "Comparison": "garrote.results.selections.comparison",
    "Fit": "garrote.results.fit",
    "Path": "garrote.results.path",
    "Posterior": "garrote.results.posterior",
    "Selection": "garrote.results.selections.selection",
}

# Rooms that are used by their name: garrote.impute.pool, garrote.greedy.OMP, garrote.knockoffs.ModelX.
_ROOMS = ("binary", "coding", "greedy", "impute", "knockoffs", "many", "smoothing")

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"garrote.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'garrote' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS, "__version__"])
