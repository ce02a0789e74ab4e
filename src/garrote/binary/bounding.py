"""Which upper bound is taken: all settings, a minimum cut, semidefinite, or that of many parts."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.binary.branching import MOST_SWITCHES as MOST_BRANCHED
from garrote.binary.branching import branch
from garrote.binary.enumeration import MOST_SWITCHES, best_of_all
from garrote.binary.programme import BinaryProgramme
from garrote.binary.roof_duality import roof_dual
from garrote.binary.semidefinite import semidefinite_bound

BOUNDS = ("auto", "enumeration", "branching", "semidefinite", "roof", "signs")
# Without being asked: all settings of so many switches, which take some 20 ms,
_FEW_SWITCHES = 20
# ... a minimum cut of so many pairs, and eigenvalues of so many switches, some seconds.
_PAIRS_CUT, _SWITCHES_RELAXED = 500_000, 1000
# Parts that branching looks at, which take up to a millisecond, and of how many switches, without being
# asked; and parts where it is asked.
_FEW_PARTS, _SWITCHES_BRANCHED = 1000, 100
_MOST_PARTS = 100_000
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
    most = {
        "enumeration": MOST_SWITCHES,
        "branching": MOST_BRANCHED,
        "semidefinite": _MOST_RELAXED,
    }.get(bound)
    n = programme.n_switches
    if most is not None and n > most:
        raise ValueError(
            f"bound={bound!r} takes {most} switches at most, got {n}: take bound='roof' or 'auto'"
        )


def quick_bound(bound: str, programme: BinaryProgramme) -> Bound:
    """Return the bound that is known before any search."""
    if bound == "enumeration" or (bound == "auto" and programme.n_switches <= _FEW_SWITCHES):
        best, most = best_of_all(programme)
        return Bound(programme.rounded(most), "enumeration", best)
    positive = np.maximum(programme.single, 0.0).sum()
    positive += np.maximum(programme.pairs[2], 0.0).sum()
    positive += np.finfo(float).eps * (programme.n_switches + 16) * programme.scale
    found = Bound(programme.rounded(positive), "signs")
    if bound == "roof" or (bound == "auto" and len(programme.pairs[0]) <= _PAIRS_CUT):
        return min(found, Bound(programme.rounded(roof_dual(programme)), "roof"))
    return found


def slow_bound(
    bound: str,
    programme: BinaryProgramme,
    x: Floats,
    known: Bound,
    go_on: Callable[[int, int], bool],
) -> Bound:
    """Return the smaller of the bound that is known and those that take a value to stop at.

    ``x`` are the best switches known: a bound that proves them best is not made smaller. ``go_on`` is
    told how many parts branching has looked at, and of how many; it does no more once that is False.
    """
    value, n = programme.value(x), programme.n_switches
    if known.best is not None:
        return known
    auto = bound == "auto" and known.value > value
    if bound in ("semidefinite", "branching") or (auto and n <= _SWITCHES_RELAXED):
        enough = value + 0.999 * programme.unit
        relaxed = programme.rounded(semidefinite_bound(programme, enough))
        known = min(known, Bound(relaxed, "semidefinite"))
    left = known.value - value > programme.rounding
    if left and (bound == "branching" or (auto and n <= _SWITCHES_BRANCHED)):
        most = _MOST_PARTS if bound == "branching" else _FEW_PARTS
        best, proved = branch(programme, x, most, lambda seen: go_on(seen, most))
        known = Bound(min(proved, known.value), "branching", best)
    return known
