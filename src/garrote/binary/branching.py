"""Branch and bound: parts in which some switches are fixed, the one of the largest bound first.

A part is done where its semidefinite bound is no larger than the best value known, or, with few
switches left, where all settings were looked at. Any other is parted in two, by the switch whose
direction in the relaxation is least decided. Whenever it ends, no setting exceeds the largest bound of
all parts.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from garrote.arrays import Array, Floats
from garrote.binary.enumeration import best_of_all
from garrote.binary.programme import BinaryProgramme
from garrote.binary.semidefinite import relax

# More switches than this are not parted: a part would not be done before most of them are fixed.
MOST_SWITCHES = 200
# All settings of so many switches are looked at sooner than their bounds.
_FEW = 14
# Bounds of parts are as sharp as this, and less so where they cannot settle a part.
_NEAR, _FAR = 1e-3, 2e-2


class Part(NamedTuple):
    """Settings in which some switches are fixed: minus their bound, a number, and who is fixed next.

    ``fixed`` is 0 or 1, or -1 where a switch is free.
    """

    minus_bound: float
    number: int
    fixed: Array
    doubt: int


def branch(
    programme: BinaryProgramme, x: Floats, most: int, go_on: Callable[[int], bool]
) -> tuple[Floats, float]:
    """Return the best switches found and a bound, after so many parts or once the two are equal.

    Parameters
    ----------
    programme : BinaryProgramme
    x : array
        Good switches, to begin with.
    most : int
        How many parts are looked at, at most.
    go_on : callable
        Told how many parts were looked at; False ends the search.
    """
    tree = _Tree(programme, x)
    tree.look_at(np.full(programme.n_switches, -1))
    while tree.open and tree.seen < most and -tree.open[0].minus_bound > tree.value:
        part = heappop(tree.open)
        for choice in (0, 1):
            fixed = part.fixed.copy()
            fixed[part.doubt] = choice
            tree.look_at(fixed)
        if not go_on(tree.seen):
            break
    left = [-part.minus_bound for part in tree.open[:1]]
    return tree.best, max([tree.bounded, *left])


class _Tree:
    """Parts that are open, the best switches known, and the largest bound of parts that are done."""

    def __init__(self, programme: BinaryProgramme, x: Floats) -> None:
        self._programme = programme
        self._A = programme.A.toarray() if issparse(programme.A) else programme.A
        self.best, self.value = x, programme.value(x)
        self.open: list[Part] = []
        self.bounded, self.seen = self.value, 0

    def look_at(self, fixed: Array) -> None:
        """Settle a part, or keep it open."""
        self.seen += 1
        rest, constant = self._rest(fixed)
        if rest is None or rest.n_switches <= _FEW:
            self._try_all(fixed, rest, constant)
            return
        relaxed = relax(rest, self.value - constant, _NEAR, _FAR)
        bound = self._programme.rounded(relaxed.bound + constant)
        if bound <= self.value:
            self.bounded = max(self.bounded, bound)
            return
        doubt = np.flatnonzero(fixed < 0)[np.argmin(np.abs(relaxed.aligned))]
        heappush(self.open, Part(-bound, self.seen, fixed, int(doubt)))

    def _try_all(self, fixed: Array, rest: BinaryProgramme | None, constant: float) -> None:
        """Look at all settings of a part."""
        x, bound = np.where(fixed > 0, 1.0, 0.0), constant
        if rest is not None:
            free, most = best_of_all(rest)
            x[fixed < 0], bound = free, constant + most
        self.bounded = max(self.bounded, self._programme.rounded(bound))
        if self._programme.value(x) > self.value:
            self.best, self.value = x, self._programme.value(x)

    def _rest(self, fixed: Array) -> tuple[BinaryProgramme | None, float]:
        """Return the programme of the free switches, and what the others add, with rounding."""
        free, on = fixed < 0, (fixed > 0).astype(np.float64)
        constant = self._programme.value(on) + self._programme.rounding / 16.0
        if not free.any():
            return None, constant
        b = self._programme.b[free] + 2.0 * (self._A @ on)[free]
        return BinaryProgramme(self._A[np.ix_(free, free)], b), constant
