"""Which rows are held out together: the same for the same table, in whatever order its rows come."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.utils import check_random_state

from garrote.arrays import Array
from garrote.designs.base import is_design
from garrote.designs.blocks import BlockDesign, CondensedDesign
from garrote.estimators.given.designs import splittable
from garrote.limits.budgets import ENTRIES_PER_BLOCK

Split = tuple[Array, Array]


def split_rows(
    cv: Any,
    X: Any,
    y: Array,
    groups: Any = None,
    *,
    labels: bool = False,
    seed: Any = None,
    offset: Any = None,
) -> list[Split]:
    """Return the rows to train on and those held out, fold by fold.

    A number of folds is filled at random by the seed, 0 if there is none; of labels class by class.
    Where there are ``groups``, scikit-learn deals them out whole, without chance. An ``offset`` of
    numbers is taken off first, as it is by the fit. Splitters and splits are used as they are.
    """
    if isinstance(X, CondensedDesign) and X.splits is not None:
        return X.splits
    return list(each_split(cv, X, y, groups, labels=labels, seed=seed, offset=offset))


def each_split(
    cv: Any,
    X: Any,
    y: Array,
    groups: Any = None,
    *,
    labels: bool = False,
    seed: Any = None,
    offset: Any = None,
) -> Iterator[Split]:
    """Do as `split_rows`, one fold at a time: all of them take as much memory as so many columns."""
    if not isinstance(cv, Integral):
        splitter = check_cv(cv, y, classifier=labels)
        yield from splitter.split(splittable(X), y, groups)
        return
    count = int(cv)
    if groups is not None:
        by_group = StratifiedGroupKFold(count) if labels else GroupKFold(count)
        yield from by_group.split(splittable(X), y, groups)
        return
    order = _sorted_rows(X, y if offset is None else y - offset)
    drawn = 0 if seed is None else check_random_state(seed).randint(2**31)
    shuffled = (StratifiedKFold if labels else KFold)(count, shuffle=True, random_state=drawn)
    for train, test in shuffled.split(order, y[order]):
        yield np.sort(order[train]), np.sort(order[test])


def _sorted_rows(X: Any, y: Array) -> Array:
    """Return the rows in an order that does not depend on how they came: by y, and among equals by X."""
    keys = np.atleast_2d(y.T)[::-1]
    if isinstance(X, BlockDesign):  # a pass over it is worth asking whether there are ties
        order = np.lexsort(keys)
        if not (np.diff(y[order], axis=0) == 0).reshape(len(y) - 1, -1).all(axis=1).any():
            return order
        return np.lexsort((X.row_lengths(), *keys))
    return np.lexsort((_lengths(X), *keys))


def _lengths(X: Any) -> Array:
    """Return a number for each row that the order and the signs of columns do not change; units do."""
    if is_design(X):
        (rows, columns), lengths = X.shape, np.zeros(X.shape[0])
        together = max(1, ENTRIES_PER_BLOCK // rows)
        for start in range(0, columns, together):
            some = np.arange(start, min(start + together, columns))
            block = X.take(some, np.zeros(columns))
            lengths += np.einsum("ij,ij->i", block, block)
        return lengths
    if scipy.sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)
