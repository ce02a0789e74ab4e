"""How often each variable is selected among resamples of the rows, and since which strength."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.summaries import Shown


class Variables(NamedTuple):
    """What is counted: variables, which may be groups of columns, and those that are always in.

    ``unit`` is the variable of each column, numbered from 0; ``fixed`` are columns that nothing selects.
    """

    unit: Array
    fixed: Array

    @property
    def total(self) -> int:
        """How many variables there are."""
        return int(self.unit.max(initial=-1)) + 1

    @property
    def free(self) -> Array:
        """Which variables may be selected or not."""
        found = np.ones(self.total, dtype=bool)
        found[self.unit[self.fixed]] = False
        return found

    def of_columns(self, chosen: Array) -> Array:
        """Return which variables have a chosen column; those always in are not among them."""
        found = np.zeros(self.total, dtype=bool)
        found[self.unit[chosen]] = True
        return found & self.free


class Trace(NamedTuple):
    """What one resample selects: in the end, and at each strength of a path where there is one.

    ``along`` holds the variables at each strength after ``above``, strengths before being those of other
    resamples that begin earlier; ``certificate`` is the worst along the path.
    """

    chosen: Array
    along: list[Array] | None = None
    above: int = 0
    certificate: float = 0.0


@dataclass(frozen=True, repr=False)
class Frequencies(Shown):
    """In which share of the resamples each variable is selected.

    Attributes
    ----------
    resamples : int
    hits : array of int of shape (G,)
        In how many resamples each variable was selected.
    sizes : array of int of shape (resamples,)
        How many variables each resample selects.
    strengths : array of shape (K,) or None
        The strengths of the paths, where the base has them.
    along : sparse array of shape (K, G) or None
        In how many resamples a variable is in at each strength.
    certificate : float
        The worst of all fits behind it.
    """

    resamples: int
    hits: Array
    sizes: Array
    strengths: Floats | None = None
    along: Any = None
    certificate: float = 0.0

    @property
    def share(self) -> Floats:
        """The selection frequency of each variable."""
        return self.hits / self.resamples

    def until_complete(self) -> "Frequencies":
        """Return the same without the strengths after which nothing comes in any more."""
        sizes = self.along.sum(axis=1)
        last = int(np.argmax(sizes == sizes[-1])) + 1
        assert self.strengths is not None
        return replace(self, strengths=self.strengths[:last], along=self.along[:last])

    @classmethod
    def of(
        cls, traces: Sequence[Trace], free: Array, strengths: Floats | None = None
    ) -> "Frequencies":
        """Count what resamples select.

        ``strengths`` are those of all paths together. A path that begins later has nothing before; one
        that ends earlier stays as it ended.
        """
        chosen = np.array([trace.chosen for trace in traces])
        along = None if strengths is None else _added(traces, free, len(strengths))
        return cls(
            resamples=len(traces),
            hits=chosen.sum(axis=0),
            sizes=chosen.sum(axis=1),
            strengths=strengths,
            along=along,
            certificate=max((trace.certificate for trace in traces), default=0.0),
        )


def _added(traces: Sequence[Trace], free: Array, count: int) -> Any:
    """Return in how many resamples each variable is in at each strength."""
    earliest = max(trace.above for trace in traces)
    rows, columns = [], []
    for trace in traces:
        assert trace.along is not None
        first = earliest - trace.above
        for k in range(first, count):
            found = trace.along[min(k - first, len(trace.along) - 1)]
            rows.append(np.full(len(found), k))
            columns.append(found)
    places = (np.concatenate(rows), np.concatenate(columns))
    ones = np.ones(len(places[0]), dtype=np.int64)
    return scipy.sparse.coo_array((ones, places), shape=(count, len(free))).tocsr()


def order_of_entry(inside: Sequence[Array], sizes: Sequence[Floats], total: int) -> Array:
    """Return the variables of a path in the order in which they first come in.

    Of those that come at one strength the ones of larger coefficients (for a standard deviation) are
    first. ``inside`` are the variables at each strength, ``sizes`` how large their coefficients are.
    """
    entry = np.full(total, len(inside))
    size = np.zeros(total)
    for k, (variables, large) in enumerate(zip(inside, sizes, strict=True)):
        new = entry[variables] == len(inside)
        entry[variables[new]], size[variables[new]] = k, large[new]
    came = np.flatnonzero(entry < len(inside))
    return came[np.lexsort((-size[came], entry[came]))]
