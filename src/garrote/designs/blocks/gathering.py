"""What one pass brings together of all rows: moments by part, some rows as they are, how many differ."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.blocks.tallies import Level, Tally, measured

# Shadows of rows that are nearer to each other than this, as a share of all of them, are of equal rows.
_RESOLUTION = 1e-10


class Gathering(NamedTuple):
    """What is gathered: from which level, how many parts, and how many different rows are enough."""

    level: Level
    parts: int
    enough: int


@dataclass
class Gathered:
    """What has been gathered of the rows so far.

    ``shadows`` are projections of different rows on one direction, no more than enough of them.
    """

    tallies: list[Tally]
    kept: list[Array] = field(default_factory=list)
    shadows: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def nothing(cls, wanted: Gathering) -> "Gathered":
        return cls([Tally(len(wanted.level.shift)) for _ in range(wanted.parts)])


def gather(
    state: Gathered | None,
    block: Array,
    wanted: Gathering,
    beside: Floats,
    weights: Floats,
    part: Array,
    keeps: Array,
) -> Gathered:
    """Return what has been gathered with one more block of rows.

    ``beside`` are columns that are tallied with those of X. ``weights`` are empty where all are 1, and
    ``part`` is where there is one part; ``keeps`` marks rows to be kept as they are.
    """
    state = Gathered.nothing(wanted) if state is None else state
    if keeps.any():
        state.kept.append(block[keeps])
    if len(weights) and not (weights > 0).all():
        given = np.flatnonzero(weights > 0)
        block, beside, weights = block[given], beside[given], weights[given]
        part = part[given] if len(part) else part
    if not len(block):
        return state
    values = measured(block, beside, wanted.level)
    if len(state.shadows) < wanted.enough:
        state.shadows = _different(state.shadows, values[:, : block.shape[1]], wanted.level)
    if not len(part):
        state.tallies[0].add(values, weights if len(weights) else None)
        return state
    for number in np.unique(part):
        rows = np.flatnonzero(part == number)
        some = values[rows] if values.flags.c_contiguous else values.T[:, rows].T
        state.tallies[number].add(some, weights[rows] if len(weights) else None)
    return state


def join(first: Gathered, second: Gathered) -> Gathered:
    """Return what two runs of blocks, one after the other, have gathered."""
    for mine, other in zip(first.tallies, second.tallies, strict=True):
        mine.join(other)
    first.kept += second.kept
    first.shadows = _merged(first.shadows, second.shadows)
    return first


def _different(known: Floats, values: Floats, level: Level) -> Floats:
    """Return the shadows of different rows among those known and new ones."""
    reach = level.reach[: values.shape[1]]
    direction = np.random.default_rng(0).standard_normal(values.shape[1])
    return _merged(known, values @ (direction / np.where(reach > 0, reach, 1.0)))


def _merged(known: Floats, new: Floats) -> Floats:
    every = np.sort(np.concatenate([known, new]))
    if not len(every):
        return every
    resolution = _RESOLUTION * max(np.ptp(every), np.abs(every).max() * 1e-4)
    return every[np.concatenate([[True], np.diff(every) > resolution])]
