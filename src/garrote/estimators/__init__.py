"""Estimators in the manner of scikit-learn, each imported on first use, so that a list is quick."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from garrote.estimators.registry import CONTROLS, MACHINES, every_place

if TYPE_CHECKING:  # what type checkers cannot read from the rows of the registry
    from garrote.estimators.control.bolasso import Bolasso as Bolasso
    from garrote.estimators.control.knockoffs import Knockoffs as Knockoffs
    from garrote.estimators.control.stability_selection import (
        StabilitySelection as StabilitySelection,
    )
    from garrote.estimators.margins.smooth_svc import SmoothSVC as SmoothSVC
    from garrote.estimators.margins.smooth_svr import SmoothSVR as SmoothSVR
    from garrote.estimators.non_negative_garrote import NonNegativeGarrote as NonNegativeGarrote
    from garrote.estimators.relevance.kernel_machine import KernelFeatures as KernelFeatures
    from garrote.estimators.relevance.relevance_classifier import (
        RelevanceClassifier as RelevanceClassifier,
    )
    from garrote.estimators.relevance.relevance_regressor import (
        RelevanceRegressor as RelevanceRegressor,
    )
    from garrote.estimators.relevance.relevance_vectors import (
        RelevanceVectorClassifier as RelevanceVectorClassifier,
    )
    from garrote.estimators.relevance.relevance_vectors import (
        RelevanceVectorRegressor as RelevanceVectorRegressor,
    )
    from garrote.estimators.searching.greedy_classifier import GreedyClassifier as GreedyClassifier
    from garrote.estimators.searching.greedy_regressor import GreedyRegressor as GreedyRegressor
    from garrote.estimators.shrinkage_classifier import ShrinkageClassifier as ShrinkageClassifier
    from garrote.estimators.shrinkage_regressor import ShrinkageRegressor as ShrinkageRegressor
    from garrote.estimators.single_effects_classifier import (
        SingleEffectsClassifier as SingleEffectsClassifier,
    )
    from garrote.estimators.single_effects_regressor import (
        SingleEffectsRegressor as SingleEffectsRegressor,
    )
    from garrote.estimators.sparse_classifier import SparseClassifier as SparseClassifier
    from garrote.estimators.sparse_regressor import SparseRegressor as SparseRegressor
    from garrote.estimators.spike_slab_classifier import SpikeSlabClassifier as SpikeSlabClassifier
    from garrote.estimators.spike_slab_regressor import SpikeSlabRegressor as SpikeSlabRegressor
    from garrote.estimators.variational_garrote import VariationalGarrote as VariationalGarrote
    from garrote.estimators.variational_garrote_classifier import (
        VariationalGarroteClassifier as VariationalGarroteClassifier,
    )

_PLACES = (
    *(place for _, place in every_place()),
    *MACHINES,
    *(row.place for row in CONTROLS.values()),
)
_HOMES = {place.estimator: place.module for place in _PLACES}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'garrote.estimators' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
