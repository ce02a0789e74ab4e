"""A few that stand for all: the heaviest with their own weights, and draws from the rest.

A list of models that ends after the best of them is not their law: what is left out is often most of it,
and unlike what is listed (larger models, other variables). Here the rest is drawn from, each of the
draws with an equal part of its weight, so that averages over the list are those over all without a bias,
whatever is averaged. Draws come one from each of equal parts of the running sum (stratified sampling),
which has less variance than independent draws wherever neighbours in the order are alike.
"""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats

# Shares sum to 1 up to this.
_ROUNDING = 1e-12
# Where in its part of the sum each draw falls: the same wherever a sum is cut, so that fits repeat.
_SEED = 15


class Representatives(NamedTuple):
    """Positions of the representatives, and their normalised weights.

    The first ``listed`` are the heaviest with their own shares, the others draws from the rest.
    """

    chosen: Array
    weight: Floats
    listed: int


def represent(
    weight: Floats,
    listed: int,
    drawn: int,
    order: Array | None = None,
    negligible: float = 0.0,
) -> Representatives:
    """Choose representatives of all that have a weight.

    Parameters
    ----------
    weight : array of shape (M,)
        In any unit, heaviest first.
    listed, drawn : int
        How many of the heaviest are taken as they are, and how many are drawn from the rest. All are
        taken where there are no more than these.
    order : array of shape (M,), optional
        Numbers by which the rest is sorted before draws: those alike should be neighbours.
    negligible : float, default=0.0
        The share of the weight that may be left out.
    """
    share = np.asarray(weight / weight.sum())
    listed = len(share) if len(share) <= listed + drawn else listed
    listed = listed_count(share, listed, negligible)
    if (rest := float(share[listed:].sum())) <= max(negligible, _ROUNDING):
        return Representatives(np.arange(listed), share[:listed], listed)
    beyond = np.arange(listed, len(share))
    if order is not None:
        beyond = beyond[np.argsort(order[beyond], kind="stable")]
    places, times = np.unique(draw_evenly(share[beyond], drawn)[0], return_counts=True)
    return Representatives(
        np.concatenate([np.arange(listed), beyond[places]]),
        np.concatenate([share[:listed], times * (rest / drawn)]),
        listed,
    )


def listed_count(share: Floats, most: int, negligible: float) -> int:
    """Return how many of the heaviest, with given shares of the weight, are enough; at most so many."""
    enough = int(np.searchsorted(np.cumsum(share), 1.0 - negligible)) + 1
    return min(most, enough, len(share))


def draw_evenly(weight: Floats, count: int) -> tuple[Array, Floats]:
    """Draw places by their weight, one from each of ``count`` equal parts of the sum.

    Also returns how far into each place the draw fell, as a share of its weight.
    """
    ends = np.cumsum(weight)
    parts = np.arange(count) + np.random.default_rng(_SEED).random(count)
    goals = parts * (ends[-1] / count)
    places = np.minimum(np.searchsorted(ends, goals, side="right"), np.flatnonzero(weight)[-1])
    into = (goals - (ends[places] - weight[places])) / weight[places]
    return places, np.clip(into, 0.0, 1.0)
