"""A quadratic plus the sorted l1 norm: ties of equal sizes split and merge until none wants to move.

The gradient of least length says which ties fall apart, and who leaves 0. Sweeps over ties
(`tie_sweeps`) then move them past one another, into one another and to 0. With the order of sizes and
the signs given the penalty is linear in the sizes of ties: a linear system finishes.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from garrote.arrays import Array, Floats
from garrote.rules import proximal_point, total_cost
from garrote.solvers.descent.working_block import WorkingBlock
from garrote.solvers.penalised.tied.tie_sweeps import sweep_ties

# Coefficients that leave 0 at once, at most; or twice as many as are not 0.
_MOST_NEW = 100
# Sweeps over ties between two looks at how they split; each is followed by one over what is not charged.
_SWEEPS = 10
# Gains below this share of the objective's size are rounding; after so many there is no more to have.
_ROUNDING, _LAST_ROUNDS = 1e-15, 3
# Parts of the way down below this share of the tolerance count for nothing.
_NOTHING = 0.1
# What is added to a singular system, as a share of its mean diagonal.
_JITTER = 1e-13
# Parts of one tie whose ways differ by less than this share stay together.
_SAME = 1e-12


class RuleOfRanks(Protocol):
    """What the loop asks: `garrote.penalties.sorting.sorted_rule.SortedRule` is one."""

    @property
    def sequence(self) -> Floats: ...
    @property
    def free(self) -> Array: ...
    def ranks(self, coef: Floats, then: Floats, least: float) -> tuple[Array, Array]:
        """Return charged coefficients by size, and where ties begin."""
        ...

    def way_down(self, gradient: Floats, coef: Floats) -> Floats:
        """Return the gradient of least length, downhill."""
        ...


class Ties(NamedTuple):
    """Coefficients by falling size, each with its sign; tie t begins at ``starts[t]``.

    ``free`` are those that nothing charges and that may move.
    """

    members: Array
    starts: Array
    signs: Floats
    free: Array


class SortedQuadratic:
    """The cross products of a working set, its coefficients and the gradient there (downhill)."""

    def __init__(self, rule: RuleOfRanks, gram: Floats, gradient: Floats, coef: Floats):
        self.rule, self.gram, self.gradient, self.coef = rule, gram, gradient, coef
        self.costs = np.append(0.0, np.cumsum(rule.sequence))

    def charge(self, coef: Floats) -> float:
        """Return what some coefficients are charged."""
        return float(total_cost(self.rule, np.arange(len(coef)), coef))

    def split(self, direction: Floats) -> Ties:
        """Return the ties, split by the way down; with those that leave 0."""
        coef = self.coef
        outward = np.where(coef != 0.0, np.sign(coef) * direction, np.abs(direction))
        order, starts = self.rule.ranks(coef, outward, 0.0)
        first = np.zeros(len(order), dtype=bool)
        first[starts[:-1]] = True
        first[1:] |= outward[order[:-1]] > (1.0 + _SAME) * outward[order[1:]] + 1e-300
        kept = int(np.count_nonzero(coef[order]))
        most = max(_MOST_NEW, 2 * kept)
        if len(order) > kept + most:  # those of one size come together
            later = np.flatnonzero(first[kept + most :])
            order = order[: kept + most + int(later[0])] if len(later) else order
        begun = np.append(np.flatnonzero(first[: len(order)]), len(order))
        signs = np.sign(np.where(coef[order] != 0.0, coef[order], direction[order]))
        free = np.flatnonzero(self.rule.free & ((coef != 0.0) | (direction != 0.0)))
        return Ties(order, begun, signs, free)

    def sweep(self, ties: Ties, least: float) -> None:
        """Move ties, and what nothing charges, one by one."""
        together = not len(ties.free)
        for _ in range(1 if together else _SWEEPS):
            moved = sweep_ties(
                self.gram, self.gradient, self.coef, ties.members, ties.starts, ties.signs,
                self.costs, _SWEEPS if together else 1, least,
            )  # fmt: skip
            for j in ties.free:
                step = self.gradient[j] / self.gram[j, j]
                moved = max(moved, abs(self.gradient[j]))
                self.coef[j] += step
                self.gradient -= step * self.gram[j]
            if moved <= least:
                return

    def finish(self) -> None:
        """Go to the best sizes of the ties that there are, if the objective is lower there."""
        ties = self.split(np.zeros(len(self.coef)))
        width = np.diff(ties.starts)
        members, signs = np.append(ties.members, ties.free), ties.signs
        if not len(members):
            return
        signs = np.append(signs, np.ones(len(ties.free)))
        starts = np.append(ties.starts[:-1], len(ties.members) + np.arange(len(ties.free)))
        pulls = np.append(np.diff(self.costs[ties.starts]), np.zeros(len(ties.free)))
        values = self._best_sizes(members, starts, signs, pulls)
        if values is None:
            return
        each = np.repeat(np.arange(len(values)), np.append(width, np.ones(len(ties.free), np.intp)))
        ahead, back = np.zeros(len(self.coef)), np.zeros(len(self.coef))
        ahead[members] = signs * values[each]
        # Where sizes are in order this proximal point is what they were before; it pools or exchanges
        # those that are not, and sets to 0 what has passed it.
        typical = float(np.diag(self.gram)[members].mean())
        shared = pulls / np.append(width, np.ones(len(ties.free)))
        back[members] = signs * shared[each] / typical
        ahead = proximal_point(self.rule, ahead + back, 1.0 / typical)
        change = ahead - self.coef
        used = np.flatnonzero(change)
        moved = self.gram[:, used] @ change[used]
        gain = float(change @ (self.gradient - 0.5 * moved))
        if gain + self.charge(self.coef) - self.charge(ahead) > 0.0:
            self.coef[:] = ahead
            self.gradient -= moved

    def _best_sizes(
        self, members: Array, starts: Array, signs: Floats, pulls: Floats
    ) -> Floats | None:
        """Return the best sizes of ties if nothing were in their way."""
        system = self.gram[np.ix_(members, members)] * (signs[:, None] * signs)
        if len(starts) < len(members):
            rows = np.add.reduceat(system, starts, axis=0)
            system = np.add.reduceat(np.ascontiguousarray(rows.T), starts, axis=0)
        system[np.diag_indices_from(system)] += _JITTER * np.trace(system) / len(system)
        right = np.add.reduceat(signs * self.gradient[members], starts) - pulls
        try:
            step = cho_solve(cho_factor(system, check_finite=False), right, check_finite=False)
        except LinAlgError:
            return None
        return np.asarray((signs * self.coef[members])[starts] + step)


def no_rows(rule: Any, block: WorkingBlock, residual: Floats, coef: Floats) -> Any:
    """Refuse: ranks are settled on cross products."""
    raise TypeError("ranks are settled on cross products")


def suit_rows(shape: tuple[int, int]) -> bool:
    """Tell that rows are not worked on."""
    return False


def solve_sorted(state: SortedQuadratic, tolerance: float, max_rounds: int) -> int:
    """Split, move and merge ties until the way down is shorter than ``tolerance``; return the rounds."""
    if not len(state.coef):
        return 0
    unit, stalled, least = 0.0, 0, _NOTHING * tolerance
    flat = np.diag(state.gram) <= 0.0
    for made in range(max_rounds):
        direction = np.where(flat, 0.0, state.rule.way_down(state.gradient, state.coef))
        if np.abs(direction).max() <= tolerance or stalled == _LAST_ROUNDS:
            return made
        before, there = state.coef.copy(), state.gradient.copy()
        state.sweep(state.split(np.where(np.abs(direction) > least, direction, 0.0)), least)
        state.finish()
        # Gradients of a quadratic are linear: their mean along a change is that at its ends.
        gain = 0.5 * float((state.coef - before) @ (there + state.gradient))
        gain += state.charge(before) - state.charge(state.coef)
        unit = max(unit, gain)
        stalled = 0 if gain > _ROUNDING * unit else stalled + 1
    return max_rounds
