"""Means and covariances of rows with weights, these as a root; and those of two parts as one."""

from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.solvers.coding.dealing import deal, dense_rows

# Directions of less than this share of the largest variance are rounding.
_NOTHING = 1e-14


class Moments(NamedTuple):
    """The sum of the weights, the mean, and a root A of the covariance, which is A'A."""

    total: float
    mean: Floats
    root: Floats


def moments_of(X: Any, weights: Floats) -> Moments:
    """Return the moments of rows, dense or sparse.

    The root has as many rows as X at most, so that wide tables need no matrix of columns by columns.
    """
    total = float(weights.sum())
    sums = deal(X, lambda rows, weight: weight @ rows, beside=(weights,))
    mean = np.sum(sums, axis=0) / total
    if X.shape[0] < X.shape[1]:
        root = (dense_rows(X, slice(None)) - mean) * np.sqrt(weights / total)[:, None]
        return Moments(total, mean, root)

    # About the mean, as products about 0 cancel where it is far from it.
    def scattered(rows: Floats, weight: Floats) -> Floats:
        rows = rows - mean
        return (rows * (weight / total)[:, None]).T @ rows

    return Moments(total, mean, _root(np.sum(deal(X, scattered, beside=(weights,)), axis=0)))


def joined(before: Moments, more: Moments) -> Moments:
    """Return the moments of two parts together (Chan, Golub & LeVeque 1983)."""
    total = before.total + more.total
    share = more.total / total
    apart = more.mean - before.mean
    parts = [
        np.sqrt(1.0 - share) * before.root,
        np.sqrt(share) * more.root,
        np.sqrt(share * (1.0 - share)) * apart[None],
    ]
    root = np.vstack(parts)
    root = _root(root.T @ root) if len(root) > root.shape[1] else root
    return Moments(total, before.mean + share * apart, root)


def _root(covariance: Floats) -> Floats:
    """Return A with A'A the covariance, a row for each direction in which there is variance."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > _NOTHING * max(float(values[-1]), 0.0)
    return np.ascontiguousarray((vectors[:, kept] * np.sqrt(values[kept])).T[::-1])
