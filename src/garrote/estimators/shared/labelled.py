"""What selecting classifiers of two classes share: labels, probabilities, predictions, tags."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array, Floats
from garrote.estimators.given.inputs import check_new_offset, check_new_rows
from garrote.estimators.shared.densities import MeasuredRows, measure_labels
from garrote.estimators.shared.selectors import SelectingEstimator
from garrote.likelihoods import Binomial
from garrote.limits.budgets import ENTRIES_OF_LABELS_REFITTED
from garrote.results.posterior import Posterior
from garrote.summaries import listing

# Probabilities are this far from 0 and 1 at least when log odds are taken of them.
_LEAST = 1e-15


class SelectingClassifier(SelectingEstimator, ClassifierMixin, BaseEstimator):
    """A classifier of two classes that selects and has a ``posterior_``, by log odds linear in X."""

    @property
    def _entries_refitted(self) -> int:
        return ENTRIES_OF_LABELS_REFITTED

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def predict_proba(self, X: Any, offset: Any = None) -> Floats:
        """Return the probability of each class, averaged over models and coefficients.

        An ``offset`` is a known part of the log odds, one number a row.
        """
        check_is_fitted(self, "coef_")
        X = check_new_rows(self, X)
        second = self._probability(X, check_new_offset(self, Binomial(), offset, X.shape[0]))
        return np.column_stack([1.0 - second, second])

    def predict_log_proba(self, X: Any, offset: Any = None) -> Floats:
        """Return the logarithm of the probability of each class."""
        return np.asarray(np.log(np.maximum(self.predict_proba(X, offset), _LEAST)))

    def decision_function(self, X: Any, offset: Any = None) -> Floats:
        """Return the log odds of the second class, of its averaged probability."""
        p = np.clip(self.predict_proba(X, offset)[:, 1], _LEAST, 1.0 - _LEAST)
        return np.asarray(np.log(p) - np.log1p(-p))

    def predict(self, X: Any, offset: Any = None) -> Array:
        """Return the more probable class."""
        second = self.predict_proba(X, offset)[:, 1] > 0.5
        return self.classes_[second.astype(np.intp)]

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return the share of rows whose class is predicted."""
        return float(accuracy_score(y, self.predict(X, offset), sample_weight=sample_weight))

    def _measure(self, X: Any, y: Any, offset: Any) -> MeasuredRows:
        return measure_labels(self, X, y, offset)

    def _probability(self, X: Any, offset: Floats | None = None) -> Floats:
        """Return the probability of the second class for checked rows."""
        posterior: Posterior = self.posterior_
        return posterior.mean_response(Binomial(), X, offset)


def two_classes(y: Array, weights: Floats) -> tuple[Array, Floats]:
    """Return the two classes among rows of positive weight, and every row's as 0 or 1.

    Rows of weight 0 may have labels of their own: they count as the nearest class.
    """
    check_classification_targets(y)
    classes = np.unique(y[weights > 0])
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only among rows of positive weight, {classes[0]}: rows of two classes are "
            "needed"
        )
    if len(classes) > 2:
        some = listing(classes.tolist(), str, 5)
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}: "
            f"y has {len(classes)} classes ({some}); SparseClassifier takes any number"
        )
    return classes, np.minimum(np.searchsorted(classes, y), 1).astype(np.float64)
