"""A quadratic plus the sorted l1 norm: ties of equal sizes are split and merged until none wants to move.

With the order of sizes and the signs given the penalty is linear in the sizes of ties, and a quadratic is
minimised by one linear system. Where sizes would change places their ties are merged, and those that would
pass 0 end there; the gradient of least length then says which ties fall apart, and who leaves 0. It
is the way of the fused lasso (`garrote.solvers.penalised.fused_quadratic`), with neighbours by rank.
"""

from typing import Any, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from garrote.arrays import Array, Floats
from garrote.rules import proximal_point, total_cost
from garrote.solvers.descent.working_block import WorkingBlock
from garrote.solvers.penalised.fused_partition import Pieces
from garrote.solvers.penalised.tied.tie_sweeps import sweep_ties

# Coefficients that leave 0 at once, at most; or twice as many as are not 0.
_MOST_NEW = 100
# Sweeps over ties between two looks at how they split.
_SWEEPS = 20
# Gains below this share of the objective's size are rounding; after so many there is no more to have.
_ROUNDING, _LAST_ROUNDS = 1e-15, 3
# What is added to a singular system, as a share of its mean diagonal.
_JITTER = 1e-13
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
    unit, stalled, least = 0.0, 0, _NOTHING * tolerance
    for made in range(max_rounds):
        direction = state.rule.way_down(state.gradient, state.coef)
        direction[np.diag(state.gram) <= 0.0] = 0.0
        if np.abs(direction).max() <= tolerance or stalled == _LAST_ROUNDS:
            return made
        before, there = state.coef.copy(), state.gradient.copy()
        _sweep(state, *_split(state, direction, least), least)
        finish(state, least)
        change = state.coef - before
        everything = np.arange(len(change))
        gain = 0.5 * float(change @ (there + state.gradient))
        gain += total_cost(state.rule, everything, before)
        gain -= total_cost(state.rule, everything, state.coef)
        unit = max(unit, gain)
        stalled = 0 if gain > _ROUNDING * unit else stalled + 1
    return max_rounds


def _sweep(
    state: SortedQuadratic, members: Array, signs: Floats, pieces: Pieces, least: float
) -> None:
    """Sweep over ties and over what nothing charges, in place."""
    free = pieces.side[pieces.label] == 0.0
    charged, kept = members[~free], pieces.label[~free]
    starts = np.searchsorted(kept, np.arange(int(kept.max(initial=-1)) + 2))
    costs = np.append(0.0, np.cumsum(state.rule.sequence))
    for _ in range(_SWEEPS if free.any() else 1):
        moved = sweep_ties(
            state.gram, state.gradient, state.coef, charged, starts, signs[~free], costs,
            1 if free.any() else _SWEEPS, least,
        )  # fmt: skip
        for j in members[free]:
            step = state.gradient[j] / state.gram[j, j]
            moved = max(moved, abs(state.gradient[j]))
            state.coef[j] += step
            state.gradient -= step * state.gram[j]
        if moved <= least:
            break


def finish(state: SortedQuadratic, least: float) -> None:
    """Go to the best sizes of the ties that there are, if the objective is lower there."""
    ties = _split(state, np.zeros(len(state.coef)), least)
    members, signs, pieces = ties
    if not len(members):
        return
    values = _sorted_anew(pieces, *_sums(state, members, signs, pieces))
    if values is None:
        return
    ahead = np.zeros(len(state.coef))
    ahead[members] = signs * values[pieces.label]
    ahead = _pooled(state, members, signs, pieces, ahead)
    gain, moved = state.gain(ahead)
    if gain > 0.0:
        state.move(ahead, moved)


def _sorted_anew(pieces: Pieces, products: Floats, downhill: Floats) -> Floats | None:
    """Return the best sizes if nothing were in their way."""
    system = products.copy()
    system[np.diag_indices_from(system)] += _JITTER * np.trace(products) / len(products)
    right = downhill - pieces.threshold * pieces.side
    try:
        step = cho_solve(cho_factor(system, check_finite=False), right, check_finite=False)
    except LinAlgError:
        return None
    return np.asarray(pieces.value + step)


def _pooled(
    state: SortedQuadratic, members: Array, signs: Floats, pieces: Pieces, ahead: Floats
) -> Floats:
    """Return coefficients with their places changed where that pays, and pooled where it does not.

    It is the proximal point of which the given coefficients are one if they are in order: nothing
    changes then. Merging all that would pass, as neighbours on a chain are, would take as many
    systems as there are pairs, and most of these do not stay together.
    """
    count = np.bincount(pieces.label, minlength=len(pieces.value))
    charged = (pieces.threshold * pieces.side / count)[pieces.label]
    typical = float(np.diag(state.gram)[members].mean())
    back = np.zeros(len(ahead))
    back[members] = signs * charged / typical
    return np.asarray(proximal_point(state.rule, ahead + back, 1.0 / typical))


def _split(
    state: SortedQuadratic, direction: Floats, least: float
) -> tuple[Array, Floats, Pieces]:
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
        rows = np.add.reduceat(products, starts, axis=0)
        products = np.add.reduceat(np.ascontiguousarray(rows.T), starts, axis=0)
    return products, pieces.sums(signs * state.gradient[members])
