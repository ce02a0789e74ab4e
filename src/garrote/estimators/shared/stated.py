"""What every estimator with a ``selection_`` does with it: a summary, and the selected columns of X."""

from typing import Any

from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array
from garrote.designs.base import is_design
from garrote.designs.operator import operator_as_design
from garrote.results.selections.selection import Selection
from garrote.summaries import Summary


class StatesSelection(SelectorMixin):
    """A selector in scikit-learn's manner whose support is that of its ``selection_``."""

    selection_: Selection

    def summary(self) -> Summary:
        """Return what was found as a table that prints, shows as HTML and becomes a data frame."""
        check_is_fitted(self, "selection_")
        return self.selection_.summary()

    def _get_support_mask(self) -> Array:
        check_is_fitted(self, "selection_")
        return self.selection_.selected

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X, which may be a design or an operator."""
        X = operator_as_design(X)
        return X.pick(self.get_support(indices=True)) if is_design(X) else super().transform(X)
