"""Designs in place of arrays: what estimators check of them, and how they predict for their rows."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from garrote.arrays import Array, Floats
from garrote.designs.base import Design, is_design


def check_design(estimator: Any, X: Design, y: Any, **checks: Any) -> Array:
    """Return y for the rows of a design, whose columns are looked at when they are measured."""
    y = np.asarray(validate_data(estimator, y=y, **checks))
    if len(y) != X.shape[0] or len(y) < 2:
        raise ValueError(
            f"X has {X.shape[0]} rows and y {len(y)}: give at least 2, as many of each"
        )
    estimator.n_features_in_ = X.shape[1]
    names = getattr(X, "names", None)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return y


def check_new_design(estimator: Any, X: Design) -> "DesignRows":
    """Return a design's rows to predict for, with as many columns as in the fit."""
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return DesignRows(X)


def splittable(X: Any) -> Any:
    """Return what a splitter of scikit-learn counts rows by: X, or as many numbers for a design."""
    return np.zeros((X.shape[0], 1)) if is_design(X) else X


class DesignRows:
    """A design that multiplies, and gives columns, as an array does."""

    def __init__(self, design: Design):
        self.design, self.shape = design, design.shape

    def __matmul__(self, coef: Floats) -> Floats:
        each = coef.reshape(self.shape[1], -1)
        used = np.flatnonzero(each.any(axis=1))
        product = self.design.dot(used, np.ascontiguousarray(each[used], dtype=np.float64))
        bad = np.flatnonzero(~np.isfinite(product).all(axis=1))
        if len(bad):
            raise ValueError(f"X gives no finite prediction at row {bad[0]} ({len(bad)} in all)")
        return product.reshape(self.shape[0], *coef.shape[1:])

    def __getitem__(self, which: tuple[slice, Array]) -> Floats:
        return self.design.take(np.asarray(which[1]), np.zeros(self.shape[1]))
