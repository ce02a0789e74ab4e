"""The s of which no column can be made up of the others and the copies: least reconstructable.

Minimises the trace of the inverse of the joint correlations of originals and copies,

::

    sum_g m_g / s_g + tr (2 R - diag s)^-1,

m_g being the coordinates of a group, one group after the other (Spector & Janson 2022). Copies with the
largest sum of s may be such that a column is a function of its copy and all others, and then no method
can tell which of them matter. With A = 2 R - diag(s), a change d of s_g makes the objective

::

    m_g / (s_g + d) + sum_i d c_i / (1 - d b_i),

b the eigenvalues of (A^-1)_gg and c the diagonal of (A^-2)_gg in the same basis: convex in d. Changes of
A^-1 are collected and applied by one matrix product for some tens of coordinates, so that a sweep costs
about 3 D^3 operations.
"""

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import brentq

from garrote.arrays import Array, Floats

# Sweeps go on until no slope of the objective by log s is above this share of its two parts.
TOL, _MOST_SWEEPS = 1e-5, 200
# Coordinates whose changes are applied at once.
_AT_ONCE = 48
_BORDER = 1e-9


def least_reconstructable(
    correlation: Floats, groups: Array, tol: float = TOL, max_sweeps: int = _MOST_SWEEPS
) -> tuple[Floats, float]:
    """Return s of each group, and the largest relative slope of the objective."""
    count = int(groups.max()) + 1
    share = np.full(count, min(1.0, float(np.linalg.eigvalsh(correlation)[0])))
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=count))[:-1]
    members = np.split(order, ends)
    worst = np.inf
    for _ in range(max_sweeps):
        inverse = _inverse(correlation, share[groups])
        worst = _slope(inverse, share, groups)
        if worst <= tol:
            break
        _sweep(inverse, share, members)
    return share, worst


def _inverse(correlation: Floats, each: Floats) -> Floats:
    """Return (2 R - diag s)^-1, all of it."""
    factor, _ = dpotrf(2.0 * correlation - np.diag(each), lower=1, clean=1)
    inverse, _ = dpotri(factor, lower=1)
    return np.asfortranarray(np.tril(inverse) + np.tril(inverse, -1).T)


def _slope(inverse: Floats, share: Floats, groups: Array) -> float:
    """Return how far the two parts of each derivative are from each other, relative to their size."""
    count = len(share)
    rises = np.bincount(groups, weights=(inverse**2).sum(axis=1), minlength=count)
    falls = np.bincount(groups, minlength=count) / share**2
    return float((np.abs(rises - falls) / np.maximum(rises, falls)).max())


class _Pending:
    """Changes of an inverse that are known and not yet applied: the sum of w_k u_k u_k'."""

    def __init__(self, inverse: Floats, room: int):
        self.inverse, self.used = inverse, 0
        self.vectors = np.zeros((len(inverse), room), order="F")
        self.weights = np.zeros(room)

    def rows(self, places: Array) -> Floats:
        """Return some rows of the inverse as it is by now."""
        k = self.used
        known = self.inverse[:, places].T
        if not k:
            return known.copy()
        return known + (self.vectors[places, :k] * self.weights[:k]) @ self.vectors[:, :k].T

    def add(self, vectors: Floats, weights: Floats) -> None:
        """Take in some changes, one a row; apply all where there is no more room."""
        if self.used + len(weights) > len(self.weights):
            self.apply()
        k = self.used
        self.vectors[:, k : k + len(weights)] = vectors.T
        self.weights[k : k + len(weights)] = weights
        self.used += len(weights)

    def apply(self) -> None:
        """Bring the inverse up to date."""
        weights = self.weights[: self.used]
        for sign in (1.0, -1.0):
            chosen = sign * weights > 0
            if chosen.any():
                scaled = self.vectors[:, : self.used][:, chosen] * np.sqrt(sign * weights[chosen])
                dsyrk(sign, scaled, beta=1.0, c=self.inverse, lower=1, overwrite_c=1)
        lower = np.tril_indices(len(self.inverse), -1)
        self.inverse.T[lower] = self.inverse[lower]
        self.used = 0


def _sweep(inverse: Floats, share: Floats, members: list[Array]) -> None:
    """Move s of each group to where the objective is lowest given all others."""
    pending = _Pending(inverse, max(_AT_ONCE, max(map(len, members))))
    for group, places in enumerate(members):
        rows = pending.rows(places)
        if len(places) == 1:
            b, c = rows[:, places[0]], np.array([rows[0] @ rows[0]])
        else:
            b, basis = np.linalg.eigh(rows[:, places])
            rows = basis.T @ rows
            c = (rows**2).sum(axis=1)
        change = _best_change(share[group], b, c)
        share[group] += change
        if change:
            # A - change I on the block has the inverse A^-1 + sum_i change/(1 - change b_i) u_i u_i'.
            pending.add(rows, change / (1.0 - change * b))


def _best_change(share: float, b: Floats, c: Floats) -> float:
    """Return the change of s that minimises the objective along one group."""
    size = len(b)
    if size == 1:
        root = np.sqrt(c[0])
        return float((1.0 - share * root) / (root + b[0]))

    def slope(change: float) -> float:
        return float((c / (1.0 - change * b) ** 2).sum() - size / (share + change) ** 2)

    most = 1.0 / b.max()
    return float(brentq(slope, -share * (1.0 - _BORDER), most * (1.0 - _BORDER), xtol=1e-14))
