"""Optima followed from the priors where they were found to those around.

An optimum of the mean field exists over a range of priors. Which of several one finds at any of them
depends on the way there; followed from one prior to the next, each keeps its place in all of them.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple, TypeVar

# Optima that are followed at most, the best first: each costs a solution at every prior.
_MOST = 16

Optimum = TypeVar("Optimum")


class Place(NamedTuple):
    """Where a prior stands in a grid: by its slab variance, by its log odds; in the grid of a shape."""

    variance: int
    odds: int
    shape: int = 0


def follow(
    optima: Sequence[Optimum],
    found: dict[Place, list[Optimum]],
    origin: Place,
    places: Collection[Place],
    solve: Callable[[Optimum, Place], Optimum | None],
    same: Callable[[Optimum, Optimum], bool],
) -> None:
    """Add optima of one prior to what was ``found`` at the others, where they still exist.

    An optimum goes from the prior of its origin over the log odds, and from each slab variance to the
    next; ``solve`` starts from a solution of a neighbour, and returns None where it has ceased to exist.
    Where it has become another one it is there already.
    """
    for optimum in optima[:_MOST]:
        here = {origin: optimum}
        add_distinct(found[origin], optimum, same)
        for place, before in _outwards(places, origin):
            if before not in here:
                continue
            after = solve(here[before], place)
            if after is not None:
                here[place] = after
                add_distinct(found[place], after, same)


def add_distinct(
    known: list[Optimum], one: Optimum, same: Callable[[Optimum, Optimum], bool]
) -> None:
    """Add a solution to those of its prior, unless it is there."""
    if not any(same(one, other) for other in known):
        known.append(one)


def _outwards(places: Collection[Place], origin: Place) -> Iterator[tuple[Place, Place]]:
    """Yield places and the one before each: over the odds first, up and down, then by variance."""
    nearest = sorted(
        places,
        key=lambda at: (
            abs(at.variance - origin.variance), at.variance, at.odds < origin.odds,
            abs(at.odds - origin.odds),
        ),
    )  # fmt: skip
    for at in nearest:
        if at == origin:
            continue
        if at.variance == origin.variance:
            towards = 1 if at.odds < origin.odds else -1
            yield at, at._replace(odds=at.odds + towards)
        else:
            towards = 1 if at.variance < origin.variance else -1
            yield at, at._replace(variance=at.variance + towards)
