"""Which upper bound is taken: all settings of a few switches, a minimum cut, or semidefinite."""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.binary.enumeration import MOST_SWITCHES, best_of_all
from garrote.binary.programme import BinaryProgramme
from garrote.binary.roof_duality import roof_dual
from garrote.binary.semidefinite import semidefinite_bound

BOUNDS = ("auto", "enumeration", "semidefinite", "roof", "signs")
# Without being asked: all settings of so many switches, which take some 20 ms,
_FEW_SWITCHES = 20
# ... a minimum cut of so many pairs, and eigenvalues of so many switches, some seconds.
_PAIRS_CUT, _SWITCHES_RELAXED = 500_000, 1000
# A matrix of more switches than this has eigenvalues that nobody waits for.
_MOST_RELAXED = 2000


class Bound(NamedTuple):
    """What no setting exceeds, how that is known, and the best setting where all were looked at."""

    value: float
    name: str
    best: Floats | None = None


def check_bound(bound: str, programme: BinaryProgramme) -> None:
    """Refuse a bound that there is not, or not for so many switches."""
    if bound not in BOUNDS:
        raise ValueError(f"bound must be one of {BOUNDS}, got {bound!r}")
    most = {"enumeration": MOST_SWITCHES, "semidefinite": _MOST_RELAXED}.get(bound)
    n = programme.n_switches
    if most is not None and n > most:
        raise ValueError(
            f"bound={bound!r} takes {most} switches at most, got {n}: take bound='roof' or 'auto'"
        )


def quick_bound(bound: str, programme: BinaryProgramme) -> Bound:
    """Return the bound that is known before any search."""
    if bound == "enumeration" or (bound == "auto" and programme.n_switches <= _FEW_SWITCHES):
        best, most = best_of_all(programme)
        return Bound(_rounded(most, programme), "enumeration", best)
    positive = np.maximum(programme.single, 0.0).sum()
    positive += np.maximum(programme.pairs[2], 0.0).sum()
    positive += np.finfo(float).eps * (programme.n_switches + 16) * programme.scale
    found = Bound(_rounded(float(positive), programme), "signs")
    if bound == "roof" or (bound == "auto" and len(programme.pairs[0]) <= _PAIRS_CUT):
        return min(found, Bound(_rounded(roof_dual(programme), programme), "roof"))
    return found


def slow_bound(bound: str, programme: BinaryProgramme, value: float, known: Bound) -> Bound:
    """Return the smaller of the bound that is known and the semidefinite one, if that is wanted.

    ``value`` is the best value known: a bound that proves it best is not made smaller.
    """
    left = known.best is None and known.value > value
    few = bound == "auto" and programme.n_switches <= _SWITCHES_RELAXED
    if bound == "semidefinite" or (few and left):
        enough = value + max(0.0, 0.999 * programme.unit)
        found = _rounded(semidefinite_bound(programme, enough), programme)
        return min(known, Bound(found, "semidefinite"))
    return known


def _rounded(bound: float, programme: BinaryProgramme) -> float:
    """Return the largest value that the function can have below a bound, where that is known."""
    unit = programme.unit
    return unit * float(np.floor(bound / unit)) if unit else bound
