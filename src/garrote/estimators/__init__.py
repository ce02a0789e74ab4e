"""The scikit-learn face; classes are resolved on first use, so that listing methods stays quick."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garrote.estimators.bayesian_classifier import BayesianClassifier
    from garrote.estimators.bayesian_selector import BayesianSelector
    from garrote.estimators.sparse_classifier import SparseClassifier
    from garrote.estimators.sparse_regressor import SparseRegressor
    from garrote.estimators.variational_garrote import VariationalGarrote
    from garrote.estimators.variational_garrote_classifier import VariationalGarroteClassifier

_HOMES = {
    "BayesianClassifier": "garrote.estimators.bayesian_classifier",
    "BayesianSelector": "garrote.estimators.bayesian_selector",
    "SparseClassifier": "garrote.estimators.sparse_classifier",
    "SparseRegressor": "garrote.estimators.sparse_regressor",
    "VariationalGarrote": "garrote.estimators.variational_garrote",
    "VariationalGarroteClassifier": "garrote.estimators.variational_garrote_classifier",
}

__all__ = [
    "BayesianClassifier",
    "BayesianSelector",
    "SparseClassifier",
    "SparseRegressor",
    "VariationalGarrote",
    "VariationalGarroteClassifier",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'garrote.estimators' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
