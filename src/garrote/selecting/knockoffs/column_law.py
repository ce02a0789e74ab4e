"""The law of the columns, as model-X knockoffs take it: Gaussian, with means and covariances.

Where these are not known they are estimated from the rows, the covariance shrunk as far as Ledoit & Wolf
(2004) say: with few rows the plain one is singular, and copies would equal their originals. Columns that
nearly equal others allow less: shrunk, they would seem to be more than they are.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.covariance import ledoit_wolf_shrinkage

from garrote.arrays import Floats

# A covariance may miss symmetry by this share of its largest entry, and have eigenvalues as far below 0.
_ASYMMETRY, _NEGATIVE = 1e-8, 1e-8
COVARIANCES = ("shrunk", "empirical")
# By so much what is left of a column beside others may seem to grow, found by so many halvings; a
# correlation so near to 1 is that of an exact copy.
_GROWTH, _HALVINGS, _EXACT = 2.0, 20, 1e-10


@dataclass(frozen=True)
class ColumnLaw:
    """Means and covariances of the columns, and how these are known.

    Attributes
    ----------
    mean : array of shape (D,)
    covariance : array of shape (D, D)
    shrinkage : float
        How far correlations were shrunk to 0; 0 for those that were given.
    known : bool
        Whether means and covariance were both given.
    """

    mean: Floats
    covariance: Floats
    shrinkage: float
    known: bool


def law_of_columns(X: Floats, weights: Floats, covariance: Any, mean: Any) -> ColumnLaw:
    """Return the law of the columns of X: as given, or estimated from rows with weights.

    Parameters
    ----------
    X : array of shape (N, D)
    weights : array of shape (N,)
    covariance : {"shrunk", "empirical"} or array of shape (D, D)
    mean : array of shape (D,) or None

    Raises
    ------
    ValueError
        If what is given is no covariance, or no mean, of so many columns.
    """
    center = column_means(X, weights) if mean is None else _given_mean(mean, X.shape[1])
    if isinstance(covariance, str):
        found, shrinkage = estimated_covariance(X - center, weights, covariance == "shrunk")
        return ColumnLaw(center, found, shrinkage, False)
    return ColumnLaw(center, _given_covariance(covariance, X.shape[1]), 0.0, mean is not None)


def column_means(X: Floats, weights: Floats) -> Floats:
    """Return the weighted means of columns; of a constant one its value, to the last digit."""
    means = np.average(X, axis=0, weights=weights)
    return np.where(np.ptp(X, axis=0) == 0, X[0], means)


def estimated_covariance(
    centered: Floats, weights: Floats, shrunk: bool = True
) -> tuple[Floats, float]:
    """Return the covariance of rows without their means, and how far its correlations are shrunk.

    Variances are left as they are, so that the units of columns make no difference.
    """
    deviation = np.sqrt(np.average(centered**2, axis=0, weights=weights))
    spread = np.where(deviation > 0, deviation, 1.0)
    rows = centered / spread * np.sqrt(weights / weights.mean())[:, None]
    correlation = rows.T @ rows / len(rows)
    varying, shrinkage = deviation > 0, 0.0
    if shrunk and varying.sum() > 1:
        part = rows[:, varying][weights > 0]
        shrinkage = float(ledoit_wolf_shrinkage(part, assume_centered=True))
        inside = np.flatnonzero(varying)
        shrinkage = _harmless(correlation[np.ix_(inside, inside)], len(part), shrinkage)
        correlation = (1.0 - shrinkage) * correlation
        correlation[np.diag_indices(len(correlation))] = varying
    return correlation * np.outer(deviation, deviation), shrinkage


def _harmless(correlation: Floats, rows: int, shrinkage: float) -> float:
    """Return the largest shrinkage, up to one, that lets no column seem freer of others than it is.

    Where a column nearly equals others, what is left of it is little, and any shrinkage makes more of
    it. Its copy is then less like the others than it is itself, and which of the two a method prefers
    tells nothing of the response.
    """
    unshrunk = _left_of(correlation, rows, 0.0)

    def grows(share: float) -> bool:
        return bool((_left_of(correlation, rows, share) > _GROWTH * unshrunk).any())

    low, high = 0.0, shrinkage
    if not grows(high):
        return high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if grows(middle) else (middle, high)
    return low


def _left_of(correlation: Floats, rows: int, shrinkage: float) -> Floats:
    """Return the variances of columns given all others, or given any one where rows are few."""
    shrunk = (1.0 - shrinkage) * correlation
    shrunk[np.diag_indices_from(shrunk)] = 1.0
    count = len(shrunk)
    if rows <= 2 * count:  # given all others nothing could be told from chance
        pairs = np.abs(shrunk)
        pairs[np.diag_indices_from(pairs)] = 0.0
        # An exact copy has nothing left, and would forbid to shrink all others.
        alike = np.where(np.abs(correlation) < 1.0 - _EXACT, pairs, 0.0).max(axis=1, initial=0.0)
        return np.asarray(1.0 - alike**2)
    values, vectors = np.linalg.eigh(shrunk)
    inverse = (vectors**2 / np.maximum(values, _EXACT)).sum(axis=1)
    # Estimated from as many rows, what is left of a column is too small by the degrees of freedom.
    return np.asarray(rows / (rows - count) / inverse) if shrinkage == 0.0 else 1.0 / inverse


def _given_mean(mean: Any, count: int) -> Floats:
    given = np.asarray(mean, dtype=np.float64)
    if given.shape != (count,) or not np.isfinite(given).all():
        raise ValueError(
            f"mean must be {count} finite numbers, one for each column of X, got shape {given.shape}"
        )
    return given


def _given_covariance(covariance: Any, count: int) -> Floats:
    given = np.asarray(covariance, dtype=np.float64)
    if given.shape != (count, count) or not np.isfinite(given).all():
        raise ValueError(
            f"covariance must be a matrix of {count} x {count} finite numbers, one row for each column "
            f"of X, got shape {given.shape}"
        )
    largest = float(np.abs(given).max(initial=0.0))
    if np.abs(given - given.T).max(initial=0.0) > _ASYMMETRY * largest:
        raise ValueError("covariance must be symmetric")
    smallest = float(np.linalg.eigvalsh(given)[0])
    if smallest < -_NEGATIVE * largest:
        raise ValueError(
            f"covariance must be positive semidefinite, but has the eigenvalue {smallest:.3g}: give the "
            "covariance of one law, without rounding it"
        )
    return (given + given.T) / 2
