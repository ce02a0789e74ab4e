"""What selecting estimators share: summary, support, tags; regressors also their predictive spread."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array, Floats
from garrote.designs.base import is_design
from garrote.estimators.shared.saving import SaveMixin
from garrote.results.posterior import Posterior
from garrote.results.selection import Selection
from garrote.selecting.cross_validation import CrossValidation
from garrote.summaries import Summary


class SelectorFace(SaveMixin, SelectorMixin):
    """An estimator that selects: fitted, it has ``coef_`` and ``selection_``."""

    selection_: Selection

    def summary(self) -> Summary:
        """Return what was found as a table that prints, shows as HTML and becomes a data frame."""
        check_is_fitted(self, "coef_")
        return self.selection_.summary()

    def _store_validation(self, validation: CrossValidation | None, strength: str) -> None:
        """Keep the curve of a cross-validation over a strength; forget that of a fit before."""
        if validation is not None:
            self.cv_results_: dict[str, Any] = validation.results(strength)
        elif hasattr(self, "cv_results_"):
            del self.cv_results_

    def _get_support_mask(self) -> Array:
        check_is_fitted(self, "coef_")
        return self.selection_.selected

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X, which may be a design."""
        return X.pick(self.get_support(indices=True)) if is_design(X) else super().transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class SelectingRegressor(SelectorFace, RegressorMixin, BaseEstimator):
    """A regressor that selects and has a ``posterior_``."""

    def _deviation_given_support(self, X: Any, center: Floats) -> Floats:
        """Return predictive deviations from noise, intercept and the support's coefficients."""
        posterior: Posterior = self.posterior_
        block = (dense_columns(X, posterior.support) - center) * posterior.standard_error
        spread = np.sum((block @ posterior.correlation) * block, axis=1)
        noise = posterior.noise_variance
        at_mean = noise / self._total_weight if self.fit_intercept else 0.0
        return np.asarray(np.sqrt(noise + at_mean + np.maximum(spread, 0.0)))


def dense_columns(X: Any, columns: Array) -> Floats:
    """Return some columns of an array or a sparse matrix as float64."""
    block = X[:, columns]
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block, np.float64)
