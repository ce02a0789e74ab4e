"""How far copies are kept from their originals: the matrix S of knockoffs, by one of three aims.

In coordinates of variance 1 (`garrote.selecting.knockoffs.coordinates`), with correlations R, a copy has
the correlations of its original, and with it 1 - s instead of 1. Such columns exist where s >= 0 and
2 R - diag(s) is positive semidefinite. The larger s is, the more a copy differs from its original, and
the more a method finds; all coordinates of a group share one s, so that groups are kept apart as wholes
(Dai & Barber 2016, S_g = s_g Sigma_gg).

A coordinate that is a linear function of others is a copy of itself: s has to be 0 there, and the others
are separated given it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from garrote.arrays import Array, Floats
from garrote.selecting.knockoffs.coordinates import Coordinates
from garrote.selecting.knockoffs.equicorrelated import equicorrelated
from garrote.selecting.knockoffs.reconstructability import least_reconstructable
from garrote.selecting.knockoffs.semidefinite import most_separated

# Correlations of no more than this variance in some direction have none there.
_NO_VARIANCE = 1e-10
# A coordinate takes part in such a direction if the square of its share is at least this.
_PART = 1e-8


class Aim(NamedTuple):
    """A way to choose s: its function, what its optimum leaves, in words, and its source."""

    find: Callable[[Floats, Array], tuple[Floats, float]]
    left: str
    reference: str


AIMS = {
    "mvr": Aim(least_reconstructable, "slope", "Spector & Janson (2022), Annals of Statistics 50"),
    "sdp": Aim(most_separated, "duality gap", "Candes, Fan, Janson & Lv (2018), JRSS B 80"),
    "equicorrelated": Aim(
        equicorrelated, "duality gap", "Barber & Candes (2015), Annals of Statistics 43"
    ),
}


@dataclass(frozen=True)
class Separation:
    """What was chosen: s of every group, and how far it is from the optimum of its aim.

    Attributes
    ----------
    share : array of shape (G,)
        s of each group: 0 where a group cannot be separated.
    each : array of shape (R,)
        s of each coordinate.
    optimality : float
        The relative duality gap, or the largest relative slope of the objective.
    aim : str
    """

    share: Floats
    each: Floats
    optimality: float
    aim: str

    @property
    def inseparable(self) -> Array:
        """The groups whose copies equal the originals."""
        return np.flatnonzero(self.share == 0)


def separate(coordinates: Coordinates, aim: str) -> Separation:
    """Choose s by the name of an aim.

    Raises
    ------
    ValueError
        If the name is none of `AIMS`.
    """
    if aim not in AIMS:
        raise ValueError(f"separation must be one of {tuple(AIMS)}, got {aim!r}")
    owner, count = coordinates.owner, coordinates.n_groups
    free, among = separable(coordinates.correlation, owner)
    share, optimality = np.zeros(count), 0.0
    if len(free):
        groups, numbers = np.unique(owner[free], return_inverse=True)
        share[groups], optimality = AIMS[aim].find(among, numbers)
    return Separation(share, share[owner], optimality, aim)


def separable(correlation: Floats, owner: Array) -> tuple[Array, Floats]:
    """Return the coordinates that can be separated, and their covariance given all others."""
    everyone = np.arange(len(correlation))
    if not len(everyone):
        return everyone, correlation
    # A factor costs a tenth of all eigenvalues, and most tables have one.
    try:
        factor = np.linalg.cholesky(correlation)
        if np.diag(factor).min() ** 2 > 1e3 * _NO_VARIANCE * len(everyone):
            return everyone, correlation
    except LinAlgError:
        pass
    variances, directions = np.linalg.eigh(correlation)
    none = variances <= _NO_VARIANCE * max(1.0, variances[-1])
    part = (directions[:, none] ** 2).sum(axis=1) > _PART
    tied = np.isin(owner, owner[part])
    free, rest = np.flatnonzero(~tied), np.flatnonzero(tied)
    if not len(rest) or not len(free):
        return free, correlation[np.ix_(free, free)]
    across = correlation[np.ix_(rest, free)]
    explained = across.T @ np.linalg.pinv(correlation[np.ix_(rest, rest)], 1e-9, True) @ across
    return free, correlation[np.ix_(free, free)] - (explained + explained.T) / 2


def smallest_joint_variance(correlation: Floats, each: Floats) -> float:
    """Return the smallest eigenvalue of the joint correlations of originals and copies.

    These have the eigenvalues of 2 R - diag(s), and of diag(s).
    """
    if not len(each):
        return 0.0
    return float(min(each.min(), np.linalg.eigvalsh(2 * correlation - np.diag(each))[0]))


def solved_by(correlation: Floats, right: Floats) -> Floats:
    """Return R^-1 times the right side, which has no part where R has no variance."""
    try:
        return np.asarray(cho_solve(cho_factor(correlation), right))
    except LinAlgError:
        return np.asarray(np.linalg.pinv(correlation, _NO_VARIANCE, True) @ right)
