"""A quadratic plus the sorted l1 norm: ties of equal sizes are split and merged until none wants to move.

With the order of sizes and the signs given the penalty is linear in the sizes of ties, and a quadratic is
minimised by one linear system. Where sizes would change places their ties are merged, and those that would
pass 0 end there; the gradient of least length then says which ties fall apart, and who leaves 0. It
is the way of the fused lasso (`garrote.solvers.penalised.fused_quadratic`), with neighbours by rank.
"""

from typing import Any, Protocol

import numpy as np

from garrote.arrays import Array, Floats
from garrote.rules import proximal_point, total_cost
from garrote.solvers.descent.working_block import WorkingBlock
from garrote.solvers.penalised.fused_partition import Pieces, best_values

# Coefficients that leave 0 at once, at most; or twice as many as are not 0.
_MOST_NEW = 100
# Gains below this share of the objective's size are rounding; after so many there is no more to have.
_ROUNDING, _LAST_ROUNDS = 1e-15, 3
# Parts of the way down below this share of the tolerance count for nothing.
_NOTHING = 0.1


class RuleOfRanks(Protocol):
    """What the loop asks: `garrote.penalties.sorting.sorted_rule.SortedRule` is one."""

    @property
    def sequence(self) -> Floats: ...
    @property
    def free(self) -> Array: ...
    def ranks(self, coef: Floats, then: Floats) -> tuple[Array, Array]:
        """Return charged coefficients by size, and where ties begin."""
        ...

    def outward(self, gradient: Floats, coef: Floats) -> Floats:
        """Return the gradient of sizes."""
        ...

    def way_down(self, gradient: Floats, coef: Floats) -> Floats:
        """Return the gradient of least length, downhill."""
        ...


class SortedQuadratic:
    """The cross products of a working set, its coefficients and the gradient there (downhill)."""

    def __init__(self, rule: RuleOfRanks, gram: Floats, gradient: Floats, coef: Floats):
        self.rule, self.gram, self.gradient, self.coef = rule, gram, gradient, coef

    def gain(self, ahead: Floats) -> tuple[float, Floats]:
        """Return by how much the objective falls to other coefficients, and the change of gradients."""
        change = ahead - self.coef
        used = np.flatnonzero(change)
        moved = self.gram[:, used] @ change[used]
        everything = np.arange(len(ahead))
        saved = total_cost(self.rule, everything, self.coef)
        saved -= total_cost(self.rule, everything, ahead)
        return float(change @ (self.gradient - 0.5 * moved)) + saved, moved

    def move(self, ahead: Floats, moved: Floats) -> None:
        """Set the coefficients."""
        self.coef[:] = ahead
        self.gradient -= moved


def no_rows(rule: Any, block: WorkingBlock, residual: Floats, coef: Floats) -> Any:
    """Refuse: ranks are settled on cross products."""
    raise TypeError("ranks are settled on cross products")


def suit_rows(shape: tuple[int, int]) -> bool:
    """Tell that rows are not worked on."""
    return False


def solve_sorted(state: SortedQuadratic, tolerance: float, max_rounds: int) -> int:
    """Split and merge ties until the way down is shorter than ``tolerance``; return the rounds."""
    if not len(state.coef):
        return 0
    unit, stalled = 0.0, 0
    for made in range(max_rounds):
        direction = state.rule.way_down(state.gradient, state.coef)
        direction[np.diag(state.gram) <= 0.0] = 0.0
        if np.abs(direction).max() <= tolerance or stalled == _LAST_ROUNDS:
            return made
        gain, ahead, moved = _step(state, direction, _NOTHING * tolerance)
        unit = max(unit, gain)
        stalled = 0 if gain > _ROUNDING * unit else stalled + 1
        if gain > 0.0:
            state.move(ahead, moved)
    return max_rounds


def _step(
    state: SortedQuadratic, direction: Floats, least: float
) -> tuple[float, Floats, Floats]:
    """Return what the best sizes of the ties gain, where they are, and the change of gradients."""
    ties = _split(state, direction, least)
    if ties is not None:
        members, signs, pieces = ties
        products, downhill = _sums(state, members, signs, pieces)
        for walking in (False, True):
            values = best_values(pieces, products, downhill, walking)
            if values is None:
                continue
            ahead = np.zeros(len(state.coef))
            ahead[members] = signs * values[pieces.label]
            gain, moved = state.gain(ahead)
            if gain > 0.0:
                return gain, ahead, moved
    # A proximal step surely goes down.
    steep = float(np.abs(state.gram).sum(axis=1).max())
    ahead = proximal_point(state.rule, state.coef + state.gradient / steep, 1.0 / steep)
    return (*_with_place(state, ahead),)  # type: ignore[return-value]


def _with_place(state: SortedQuadratic, ahead: Floats) -> tuple[float, Floats, Floats]:
    gain, moved = state.gain(ahead)
    return gain, ahead, moved


def _split(
    state: SortedQuadratic, direction: Floats, least: float
) -> tuple[Array, Floats, Pieces] | None:
    """Return who moves, with what signs, and the ties: those there are, split by the way down."""
    rule, coef = state.rule, state.coef
    outward = np.where(coef != 0.0, np.sign(coef) * direction, np.abs(direction))
    outward[np.abs(direction) <= least] = 0.0
    order, starts = rule.ranks(coef, outward)
    tie = np.zeros(len(order), np.intp)
    tie[starts[1:-1]] = 1
    tie = np.cumsum(tie)
    new = np.flatnonzero((coef[order] == 0.0) & (outward[order] > 0.0))
    kept = coef[order] != 0.0
    most = max(_MOST_NEW, 2 * int(np.count_nonzero(kept)))
    if len(new) > most:  # those of one size come together, or not at all
        bar = outward[order[new[most]]]
        new = new[outward[order[new]] > bar] if outward[order[new[0]]] > bar else new
    kept[new] = True
    ranked = np.flatnonzero(kept)
    members, rank = order[ranked], ranked  # zeros are last: ranks of those that move have no gaps
    free = np.flatnonzero(rule.free & ((coef != 0.0) | (np.abs(direction) > least)))
    if not len(members) + len(free):
        return None
    first = np.ones(len(members), dtype=bool)
    same = (tie[ranked][1:] == tie[ranked][:-1]) & np.isclose(
        outward[members[1:]], outward[members[:-1]], rtol=1e-12, atol=0.0
    )
    first[1:] = ~same
    label = np.cumsum(first) - 1
    count = int(label[-1]) + 1 if len(label) else 0
    signs = np.where(coef[members] != 0.0, np.sign(coef[members]), np.sign(direction[members]))
    threshold = np.bincount(label, rule.sequence[rank], count)
    value = np.zeros(count + len(free))
    value[label], value[count:] = np.abs(coef[members]), coef[free]
    neighbours = np.arange(max(count - 1, 0))
    pieces = Pieces(
        np.append(label, count + np.arange(len(free))),
        value, neighbours, neighbours + 1, np.zeros(len(neighbours)), np.ones(len(neighbours)),
        np.append(np.ones(count), np.zeros(len(free))),
        # What is not charged at all may not pass 0 either: its rank would be another's.
        np.append(np.maximum(threshold, 1e-300), np.zeros(len(free))),
        np.zeros(count + len(free), dtype=bool),
    )  # fmt: skip
    return np.append(members, free), np.append(signs, np.ones(len(free))), pieces


def _sums(
    state: SortedQuadratic, members: Array, signs: Floats, pieces: Pieces
) -> tuple[Floats, Floats]:
    """Return the second derivatives of ties, and the gradient of their sizes."""
    products = state.gram[np.ix_(members, members)] * (signs[:, None] * signs)
    if len(pieces.value) < len(members):
        starts = np.searchsorted(pieces.label, np.arange(len(pieces.value)))
        products = np.add.reduceat(np.add.reduceat(products, starts, axis=0), starts, axis=1)
    return products, pieces.sums(signs * state.gradient[members])
