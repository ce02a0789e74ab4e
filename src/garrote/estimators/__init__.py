"""The scikit-learn face; classes are resolved on first use, so that listing methods stays quick."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garrote.estimators.shrinkage_classifier import ShrinkageClassifier
    from garrote.estimators.shrinkage_regressor import ShrinkageRegressor
    from garrote.estimators.single_effects_classifier import SingleEffectsClassifier
    from garrote.estimators.single_effects_regressor import SingleEffectsRegressor
    from garrote.estimators.sparse_classifier import SparseClassifier
    from garrote.estimators.sparse_regressor import SparseRegressor
    from garrote.estimators.spike_slab_classifier import SpikeSlabClassifier
    from garrote.estimators.spike_slab_regressor import SpikeSlabRegressor
    from garrote.estimators.variational_garrote import VariationalGarrote
    from garrote.estimators.variational_garrote_classifier import VariationalGarroteClassifier

_HOMES = {
    "ShrinkageClassifier": "garrote.estimators.shrinkage_classifier",
    "ShrinkageRegressor": "garrote.estimators.shrinkage_regressor",
    "SingleEffectsClassifier": "garrote.estimators.single_effects_classifier",
    "SingleEffectsRegressor": "garrote.estimators.single_effects_regressor",
    "SparseClassifier": "garrote.estimators.sparse_classifier",
    "SparseRegressor": "garrote.estimators.sparse_regressor",
    "SpikeSlabClassifier": "garrote.estimators.spike_slab_classifier",
    "SpikeSlabRegressor": "garrote.estimators.spike_slab_regressor",
    "VariationalGarrote": "garrote.estimators.variational_garrote",
    "VariationalGarroteClassifier": "garrote.estimators.variational_garrote_classifier",
}

__all__ = [
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
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'garrote.estimators' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
