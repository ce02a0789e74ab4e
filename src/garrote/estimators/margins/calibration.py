"""Decisions as probabilities: a logistic curve for each machine, from rows it was not trained on."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from garrote.arrays import Array, Floats
from garrote.estimators.margins.pairs import pairs_of
from garrote.likelihoods import Binomial
from garrote.solvers.losses.newton import fit_newton


def fold_decisions(machine: Any, X: Any, y: Array, weights: Floats, folds: int) -> Floats:
    """Return what machines trained without a row say of it, a column for each pair of classes."""
    kept = np.flatnonzero(weights > 0)
    fewest = int(np.unique(y[kept], return_counts=True)[1].min())
    if fewest < 2:
        raise ValueError(
            "calibration needs two rows of every class, one of which is left out at a time: give more "
            "rows, or calibration=None"
        )
    found = np.zeros((len(y), len(pairs_of(len(np.unique(y[kept]))))))
    splitter = StratifiedKFold(min(folds, fewest), shuffle=True, random_state=0)
    for train, held in splitter.split(np.zeros((len(kept), 1)), y[kept]):
        part = np.zeros(len(y))
        part[kept[train]] = weights[kept[train]]
        other = clone(machine).set_params(calibration=None, callback=None).fit(X, y, part)
        found[kept[held]] = other._decide(X[kept[held]])
    return found


def logistic_curves(
    decisions: Floats, y: Array, weights: Floats, classes: Array
) -> tuple[Floats, Floats]:
    """Return slopes and offsets of the log odds of the second of each pair of classes.

    Targets are (n + 1) / (n + 2) and 1 / (n + 2) for classes of n rows, so that no curve is ever steep
    beyond what the rows tell (Platt 1999).
    """
    slopes, offsets = [], []
    for k, (first, second) in enumerate(pairs_of(len(classes))):
        rows = np.flatnonzero(((y == classes[first]) | (y == classes[second])) & (weights > 0))
        positive, shares = y[rows] == classes[second], weights[rows]
        above, below = float(shares[positive].sum()), float(shares[~positive].sum())
        target = np.where(positive, (above + 1.0) / (above + 2.0), 1.0 / (below + 2.0))
        # A target between 0 and 1 is a row of each label, weighted by its share.
        fit = fit_newton(
            Binomial(),
            np.tile(decisions[rows, k], 2)[:, None],
            np.repeat([1.0, 0.0], len(rows)),
            sample_weight=np.concatenate([shares * target, shares * (1.0 - target)]),
        )
        slopes.append(fit.coef[0])
        offsets.append(fit.intercept)
    return np.array(slopes), np.array(offsets)
