"""What every estimator with a ``selection_`` does with it: a summary, and the selected columns of X."""

from typing import Any

from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array
from garrote.designs.base import is_design
from garrote.estimators.shared.following import follow_rows
from garrote.results.selections.selection import Selection
from garrote.summaries import Summary


class StatesSelection(SelectorMixin):
    """A selector in scikit-learn's manner whose support is that of its ``selection_``."""

    selection_: Selection

    def __init_subclass__(cls, **settings: Any):
        super().__init_subclass__(**settings)
        follow_rows(cls)

    def summary(self) -> Summary:
        """Return what was found as a table that prints, shows as HTML and becomes a data frame."""
        check_is_fitted(self, "selection_")
        return self.selection_.summary()

    def _get_support_mask(self) -> Array:
        check_is_fitted(self, "selection_")
        return self.selection_.selected

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X, which may be a design, an operator or on a GPU."""
        return X.pick(self.get_support(indices=True)) if is_design(X) else super().transform(X)
