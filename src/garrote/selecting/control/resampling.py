"""Rows drawn at random, again and again: nine tenths, halves, pairs of halves, or with replacement.

A resample is a weight for every row, those of rows that are left out being 0, so that X is never copied.
What is drawn are units: rows, or groups of rows. Of several classes each gives its share.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from garrote.arrays import Array, Floats

# What a refit of a stability check has of the rows.
SHARE = 0.9


class RowUnits(NamedTuple):
    """What is drawn: rows that count, each of a unit, and pools of units that give their shares.

    ``counted`` are the rows of positive weight, ``unit`` the unit of each; ``pools`` are units by class.
    """

    weights: Floats
    counted: Array
    unit: Array
    pools: list[Array]

    @classmethod
    def of(cls, weights: Any, strata: Any = None, groups: Any = None) -> "RowUnits":
        """Return rows as units, or ``groups`` of them, in pools by ``strata`` (rows only)."""
        weights = np.asarray(weights, dtype=np.float64)
        counted = np.flatnonzero(weights > 0)
        if groups is not None:
            named, unit = np.unique(np.asarray(groups)[counted], return_inverse=True)
            return cls(weights, counted, unit, [np.arange(len(named))])
        kinds = np.zeros(len(counted)) if strata is None else np.asarray(strata)[counted]
        pools = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds)]
        return cls(weights, counted, np.arange(len(counted)), pools)

    @property
    def total(self) -> int:
        """How many units there are."""
        return sum(map(len, self.pools))

    def part(self, times: Array) -> Floats:
        """Return the weights of rows whose units were drawn so many times."""
        part = np.zeros_like(self.weights)
        part[self.counted] = self.weights[self.counted] * times[self.unit]
        return part

    def times(self, units: Array) -> Array:
        """Return how often each unit is among those drawn."""
        return np.bincount(units, minlength=self.total)


def parts_of_rows(
    weights: Floats, count: int, seed: Any, strata: Any = None, groups: Any = None
) -> list[Floats]:
    """Return the weights of each refit: those given, and 0 for a tenth of the rows.

    At least one row is left out of rows that count. ``strata`` are classes, of which each gives its
    share and keeps a row at least; of ``groups`` whole ones are left out. A single group, or row, has no
    parts.
    """
    rng = check_random_state(0 if seed is None else seed)
    units = RowUnits.of(weights, strata, groups)
    parts = []
    for _ in range(count if max(map(len, units.pools)) > 1 else 0):
        left_out = np.concatenate([_tenth(rng, pool) for pool in units.pools])
        if not len(left_out):
            left_out = _one(rng, max(units.pools, key=len))
        parts.append(units.part(units.times(left_out) == 0))
    return parts


def _one(rng: Any, pool: Array) -> Array:
    """Return one of several units; none of a single one, without which nothing would be left."""
    return np.asarray(rng.choice(pool, min(1, len(pool) - 1), replace=False))


def _tenth(rng: Any, pool: Array) -> Array:
    """Return a tenth of some units, without replacement; never all of them."""
    size = min(round((1.0 - SHARE) * len(pool)), len(pool) - 1)
    return np.asarray(rng.choice(pool, size, replace=False))


def draw_resamples(scheme: str, count: int, streams: list[Any], units: RowUnits) -> list[Floats]:
    """Return the weights of so many resamples, each drawn (or each pair) from a stream of its own.

    Parameters
    ----------
    scheme : {"pairs", "half", "bootstrap"}
        Two halves of the rows without a row in common; halves by themselves; as many rows as there are,
        with replacement.
    count : int
        Even, for pairs.
    streams : list of SeedSequence
        As many as there are resamples; of a pair the first is used.
    units : RowUnits
    """
    parts: list[Floats] = []
    for stream in streams:
        if len(parts) >= count:
            break
        parts.extend(SCHEMES[scheme](np.random.default_rng(stream), units))
    return parts


def _halves(rng: np.random.Generator, units: RowUnits) -> tuple[Array, Array]:
    """Return two halves of the units of each pool; one unit of an odd number is in neither."""
    orders = [rng.permutation(pool) for pool in units.pools]
    first = np.concatenate([order[: len(order) // 2] for order in orders])
    second = np.concatenate([order[len(order) // 2 : 2 * (len(order) // 2)] for order in orders])
    return first, second


def _pair(rng: np.random.Generator, units: RowUnits) -> Iterator[Floats]:
    for half in _halves(rng, units):
        yield units.part(units.times(half))


def _half(rng: np.random.Generator, units: RowUnits) -> Iterator[Floats]:
    yield units.part(units.times(_halves(rng, units)[0]))


def _bootstrap(rng: np.random.Generator, units: RowUnits) -> Iterator[Floats]:
    drawn = [rng.choice(pool, len(pool)) for pool in units.pools]
    yield units.part(units.times(np.concatenate(drawn)))


SCHEMES: dict[str, Callable[[np.random.Generator, RowUnits], Iterator[Floats]]] = {
    "pairs": _pair,
    "half": _half,
    "bootstrap": _bootstrap,
}
