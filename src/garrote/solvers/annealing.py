"""Annealing and reheating: one solver over a grid of strengths, from sparse to dense and then back.

Each solution starts from the last. Kappen & Gomez (2014), Algorithm 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.fit import Fit, Scale
from garrote.results.path import Path
from garrote.solvers.control import Control

# Steps of log odds between the end of a grid and even odds.
_DENSE_STEP = 0.75
# Solutions are limited to half as many variables as interpolate.
INTERPOLATES = 2.0


class Solution(Protocol):
    """What annealing asks of a solution; of two, the one of lower free energy is better."""

    @property
    def strength(self) -> float: ...
    @property
    def expected_size(self) -> float: ...
    @property
    def free_energy(self) -> float: ...


Solved = TypeVar("Solved", bound=Solution)


@dataclass(frozen=True)
class Annealed(Generic[Solved]):
    """Solutions with the strength annealed (forward) and reheated (backward), from sparse to dense.

    Where both directions lead to the same solution it may be one object. ``cut`` says why the forward
    pass ended early, if it did.
    """

    forward: tuple[Solved, ...]
    backward: tuple[Solved, ...]
    cut: str | None = None

    @cached_property
    def strengths(self) -> Floats:
        """The strengths that were reached, ascending."""
        return np.array([one.strength for one in self.forward])

    @cached_property
    def kept(self) -> Array:
        """Which direction led to the lower free energy, at each strength."""
        pairs = zip(self.forward, self.backward, strict=True)
        better = [b.free_energy < f.free_energy for f, b in pairs]
        return np.where(better, "backward", "forward")

    @cached_property
    def solutions(self) -> tuple[Solved, ...]:
        """The solution of lower free energy at each strength."""
        both = zip(self.forward, self.backward, self.kept, strict=True)
        return tuple(b if side == "backward" else f for f, b, side in both)

    @property
    def best(self) -> Solved:
        """The solution of lowest free energy in either direction."""
        return min([*self.backward, *self.forward], key=lambda one: one.free_energy)

    def path(self, scale: Scale, n_features: int, as_fit: Callable[[Any], Fit]) -> Path[Fit]:
        """Return both directions as a path, each solution described by ``as_fit``."""
        fits = {id(one): as_fit(one) for one in (*self.forward, *self.backward)}
        return Path(
            fits=tuple(fits[id(one)] for one in self.solutions),
            scale=scale,
            n_features=n_features,
            cut=self.cut,
            forward=tuple(fits[id(one)] for one in self.forward),
            backward=tuple(fits[id(one)] for one in self.backward),
            kept=self.kept,
        )


def anneal(
    solve: Callable[[float, Solved], Solved],
    grid: Floats,
    limit: float,
    start: Solved,
    control: Control,
    solve_back: Callable[[Solved, Solved], Solved] | None = None,
) -> Annealed[Solved]:
    """Solve for each strength of a grid from the solution before it, and then all the way back.

    Parameters
    ----------
    solve : callable
        From a strength and a solution to begin with to the solution there.
    grid : array
        Strengths from sparse to dense.
    limit : float
        The forward pass ends before a solution of more variables than this, the branch that
        interpolates; on the way back the forward solution takes its place.
    start : solution
        Where the first one begins.
    control : Control
        Told of every solution; says whether to reheat from the dense side. Then the strength is annealed
        on, to even odds at least but not to where solutions interpolate, and the way back begins there:
        solutions of more than ``limit`` variables are passed through but not kept.
    solve_back : callable, optional
        On the way back: from the forward solution at a strength and the next denser one to the
        solution there. By default `solve`.
    """
    forward: list[Solved] = []
    cut = None
    for strength in grid:
        one = solve(float(strength), start)
        if forward and one.expected_size > limit:
            cut = cut_message(forward[-1].strength, limit)
            break
        forward.append(one)
        start = one
        control.report("forward", len(forward), len(grid))
    dense: list[Solved] = []
    if control.reheat == "dense" and np.isfinite(limit):
        for strength in dense_side(grid, len(forward)):
            one = solve(float(strength), start)
            if one.expected_size > INTERPOLATES * limit:
                break
            dense.append(one)
            start = one
        for known in dense[-2::-1]:
            start = solve(known.strength, start)
    backward: list[Solved] = [] if dense else forward[-1:]
    denser = start
    for known in forward[len(forward) - 1 - len(backward) :: -1]:
        back = solve_back(known, denser) if solve_back else solve(known.strength, denser)
        admissible = back.expected_size <= limit
        backward.append(back if admissible else known)
        denser = back if admissible or dense else known
        control.report("backward", len(backward), len(forward))
    return Annealed(tuple(forward), tuple(backward[::-1]), cut)


def dense_side(grid: Floats, count: int) -> Floats:
    """Return the strengths that come after the first ``count`` of a grid, on to even odds."""
    further = np.arange(grid[-1] + _DENSE_STEP, _DENSE_STEP, _DENSE_STEP)
    return np.concatenate([grid[count:], np.minimum(further, 0.0)])


def cut_message(gamma: float, limit: float) -> str:
    """Say why a forward pass ended before the last gamma."""
    return (
        f"forward pass ended at gamma = {gamma:.4g}: beyond it more than {limit:.4g} variables, half "
        "of what interpolates the data, would be in the model"
    )
