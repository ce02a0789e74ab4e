"""Annealing and reheating: one solver over a grid of strengths, from sparse to dense and then back.

Each solution starts from the last. Kappen & Gomez (2014), Algorithm 1.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.scale import Scale
from garrote.results.fit import Fit
from garrote.results.path import Path
from garrote.solvers.control import Control

# Steps of log odds on the dense side of a grid.
DENSE_STEP = 0.75
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


# Is handed every solution of a pass; says whether the next one is wanted.
Accept = Callable[[Solved], bool]
# A solver of strengths in a row, one by one or several at a time: see `anneal`.
Follow = Callable[
    [Floats, Solved, Accept[Solved], Sequence[Solved]], Generator[Floats, Floats, None]
]


def one_by_one(
    solve: Callable[[float, Solved], Solved],
    solve_back: Callable[[Solved, Solved], Solved] | None = None,
) -> Follow[Solved]:
    """Return a solver of strengths in a row from a solver of one, which needs no products with X.

    Parameters
    ----------
    solve : callable
        From a strength and a solution to begin with to the solution there.
    solve_back : callable, optional
        The same on the way back: from the known solution at a strength and the next denser one.
    """

    def follow(
        strengths: Floats, start: Solved, accept: Accept[Solved], known: Sequence[Solved]
    ) -> Generator[Floats, Floats, None]:
        yield from ()
        back = solve_back if known else None
        for k, strength in enumerate(strengths):
            start = back(known[k], start) if back else solve(float(strength), start)
            if not accept(start):
                return

    return follow


def anneal(
    follow: Follow[Solved], grid: Floats, limit: float, start: Solved, control: Control
) -> Generator[Floats, Floats, Annealed[Solved]]:
    """Solve for each strength of a grid from the solution before it, and then all the way back.

    Parameters
    ----------
    follow : callable
        Solves ``strengths`` in a row, each from the solution before it, the first from ``start``. Hands
        every solution to ``accept``, and ends where that returns False. ``known`` are solutions at these
        strengths on the way back, and none before: where one is met again, it is handed over itself.
        `one_by_one` makes such a solver.
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
        until it meets a forward solution, those of more than ``limit`` variables are passed through but
        not kept.
    """

    def report(done: int) -> None:
        control.report("forward", done, len(grid))

    forward, larger = yield from _pass(follow, grid, start, limit, report)
    cut = None
    if larger is not None:
        # The first strength is that of the empty model, however few rows there are.
        forward = forward or [larger]
        cut = cut_message(forward[-1].strength, limit)
    densest = forward[-1]
    if control.reheat == "dense" and np.isfinite(limit):
        further = dense_side(grid, len(forward))
        densest = yield from _through_dense_side(follow, further, densest, INTERPOLATES * limit)
    backward = yield from _reheat(follow, forward, densest, limit, control)
    return Annealed(tuple(forward), tuple(backward), cut)


def _pass(
    follow: Follow[Solved],
    strengths: Floats,
    start: Solved,
    limit: float,
    report: Callable[[int], None] | None = None,
    known: Sequence[Solved] = (),
) -> Generator[Floats, Floats, tuple[list[Solved], Solved | None]]:
    """Return solutions up to the first known one, and the first of more variables than the limit."""
    accepted: list[Solved] = []
    larger: Solved | None = None

    def accept(one: Solved) -> bool:
        nonlocal larger
        if one.expected_size > limit:
            larger = one
            return False
        accepted.append(one)
        if report:
            report(len(accepted))
        return not known or one is not known[len(accepted) - 1]

    yield from follow(strengths, start, accept, known)
    return accepted, larger


def _through_dense_side(
    follow: Follow[Solved], strengths: Floats, start: Solved, limit: float
) -> Generator[Floats, Floats, Solved]:
    """Anneal on to where solutions nearly interpolate, and back to the first of these strengths."""
    up, _ = yield from _pass(follow, strengths, start, limit)
    if len(up) < 2:
        return up[0] if up else start
    down, _ = yield from _pass(follow, strengths[: len(up) - 1][::-1], up[-1], np.inf)
    return down[-1]


def _reheat(
    follow: Follow[Solved], forward: list[Solved], densest: Solved, limit: float, control: Control
) -> Generator[Floats, Floats, list[Solved]]:
    """Return the solutions on the way back, from sparse to dense.

    Where the way meets a forward solution, or would lead to one of more variables than the limit, it
    goes on from the forward solution. From the dense side it comes through such large ones.
    """
    passing = densest is not forward[-1]
    backward: list[Solved] = [] if passing else [densest]

    def report(more: int) -> None:
        control.report("backward", len(backward) + more, len(forward))

    if backward:
        report(0)
    while len(backward) < len(forward):
        known = forward[: len(forward) - len(backward)][::-1]
        strengths = np.array([one.strength for one in known])
        start, most = (densest, np.inf) if passing else (backward[-1], limit)
        reached, larger = yield from _pass(follow, strengths, start, most, report, known)
        pairs = zip(reached, known, strict=False)
        backward += [one if one.expected_size <= limit else instead for one, instead in pairs]
        if larger is not None:
            backward.append(known[len(reached)])
            report(0)
        passing = False
    return backward[::-1]


def dense_side(grid: Floats, count: int) -> Floats:
    """Return the strengths that come after the first ``count`` of a grid, on to even odds."""
    further = np.arange(grid[-1] + DENSE_STEP, DENSE_STEP, DENSE_STEP)
    return np.concatenate([grid[count:], np.minimum(further, 0.0)])


def cut_message(gamma: float, limit: float) -> str:
    """Say why a forward pass ended before the last gamma."""
    return (
        f"forward pass ended at gamma = {gamma:.4g}: beyond it more than {limit:.4g} variables, half "
        "of what interpolates the data, would be in the model"
    )
