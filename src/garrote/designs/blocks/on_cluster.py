"""Dask arrays and data frames as designs: the workers of a cluster read blocks where they lie."""

from collections.abc import Callable, Generator
from copy import deepcopy
from typing import Any, NamedTuple, Self

import numpy as np

from garrote.arrays import Array
from garrote.designs.blocks.base import BlockDesign, Pass
from garrote.designs.blocks.clusters import Cluster
from garrote.designs.blocks.reading import check_block
from garrote.summaries import listing

# Blocks are gone through in so many runs of neighbours, whatever the number of workers: sums are formed
# in an order that depends on the table alone.
_RUNS = 64


class DaskDesign(BlockDesign):
    """A table on a cluster: products and moments are sums over its blocks, formed by the workers.

    Parameters
    ----------
    table : dask.array.Array or dask.dataframe.DataFrame
        Of two dimensions; numbers without gaps. Where an array has several blocks beside each other,
        products with all columns are formed stripe by stripe.
    client : distributed.Client, optional
        Of the cluster that does the work; by default the one that is in use, or a cluster of processes
        on this machine, which `close` (or the end of a ``with`` block) ends.

    Attributes
    ----------
    shape : tuple of int
    names : tuple of str, or None
        Of the columns of a data frame.

    Notes
    -----
    Blocks are read from where they are stored by each pass, unless the table was persisted, and no state
    lives on a worker between tasks: parameters travel as arguments. So a worker that dies costs the time
    of its tasks, and changes no digit. Sums have a fixed order: answers are the same bit for bit,
    whatever the schedule, on machines of one kind.

    As for `ChunkedDesign`, regressions of numbers on up to 20,000 columns take one pass, folds included.

    Examples
    --------
    >>> import dask.array as da
    >>> from garrote import SparseRegressor
    >>> from garrote.designs import DaskDesign
    >>> X = da.random.default_rng(0).standard_normal((2000, 8), chunks=(500, 8))
    >>> y = (X[:, 1] - X[:, 4]).compute()
    >>> with DaskDesign(X) as design:  # doctest: +SKIP
    ...     model = SparseRegressor().fit(design, y)
    """

    def __init__(self, table: Any, client: Any = None):
        self.cluster = Cluster(client)
        if hasattr(table, "to_delayed") and hasattr(table, "chunks"):
            self._take_array(table)
        elif hasattr(table, "to_delayed") and hasattr(table, "columns"):
            self._take_frame(table)
        else:
            raise TypeError(
                f"DaskDesign takes a dask.array or a dask.dataframe, got a {type(table).__name__}: "
                "ChunkedDesign takes other tables"
            )
        if not all(self.shape):
            raise ValueError(f"X has shape {self.shape}: it needs rows and columns")
        self._ends = np.cumsum(self._heights)
        self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize

    def _take_array(self, table: Any) -> None:
        if table.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {table.ndim}")
        if table.dtype.kind not in "fiub":
            raise TypeError(f"X must hold numbers, got an array of {table.dtype}")
        if np.isnan(table.shape[1]):
            raise ValueError("X must have a known number of columns")
        if np.isnan(table.shape[0]):
            with self.cluster.asked():
                table = table.compute_chunk_sizes()
        kind = np.float32 if table.dtype == np.float32 else np.float64
        self.names, self.dtype = None, np.dtype(kind)
        self._widths = np.array(table.chunks[1], dtype=np.int64)
        self._use(table.to_delayed(), np.array(table.chunks[0]), int(table.shape[1]))

    def _take_frame(self, table: Any) -> None:
        kinds = table.dtypes
        words = [
            str(name) for name, kind in kinds.items() if getattr(kind, "kind", "O") not in "fiub"
        ]
        if words:
            raise ValueError(
                f"X: {listing(words)} {'holds' if len(words) == 1 else 'hold'} no numbers: leave it out "
                "by table.drop(columns=...), or write its levels as columns of 0 and 1"
            )
        self.names = tuple(map(str, table.columns))
        self.dtype = np.dtype(np.float32 if all(kinds == np.float32) else np.float64)
        self._widths = np.array([len(self.names)])
        blocks = np.array(table.to_delayed(), dtype=object)[:, None]
        heights = self.cluster.compute([self._delayed(len)(block) for block in blocks[:, 0]])
        self._use(blocks, np.array(heights), len(self.names))

    def _use(self, blocks: Array, heights: Array, columns: int) -> None:
        """Keep the blocks that have rows; there may be several beside each other."""
        full = np.flatnonzero(heights)
        self._parts = blocks[full]
        self._heights = heights[full].astype(np.int64)
        self.shape = int(heights.sum()), columns

    @property
    def client(self) -> Any:
        """The client of the cluster that does the work; started if there is none."""
        return self.cluster.client

    def close(self) -> None:
        """End the cluster, if it was started for this table."""
        self.cluster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @staticmethod
    def _delayed(task: Callable[..., Any]) -> Any:
        from dask import delayed

        # The names of tasks need not tell what is in the arrays that they are given.
        return delayed(task, pure=False, traverse=False)

    def _read(self, columns: Array | None) -> list[Any]:
        """Return each block of some columns, as a task that reads it.

        Of blocks beside each other only those with a column that is asked for are read.
        """
        columns = np.arange(self.shape[1]) if columns is None else np.asarray(columns, np.intp)
        starts = np.concatenate([[0], np.cumsum(self._widths)])
        stripe = np.searchsorted(starts, columns, side="right") - 1
        used = np.unique(stripe)
        widths = self._widths[used]
        first = np.concatenate([[0], np.cumsum(widths)])
        place = columns - starts[stripe] + first[np.searchsorted(used, stripe)]
        whole = np.array_equal(place, np.arange(first[-1]))
        # Every task is sent what it is asked: a range where that says the same as so many numbers.
        together = len(columns) and columns[-1] - columns[0] == len(columns) - 1 and whole
        said = range(int(columns[0]), int(columns[-1]) + 1) if together else columns
        read, found = self._delayed(read_block), []
        for parts, stop, height in zip(self._parts, self._ends, self._heights, strict=True):
            rows = int(stop - height), int(height)
            asked = Asked(*rows, widths, said, None if whole else place, self.names, self.dtype)
            found.append(read(asked, *parts[used]))
        return found

    def _given(self, work: Pass) -> list[Any]:
        """Return what a task is given beside each block, as a task of its own: blocks may share it."""
        hand_on = self._delayed(_handed_on)
        bounds = zip(self._ends - self._heights, self._ends, strict=True)
        return [hand_on(*work.parts(int(start), int(stop))) for start, stop in bounds]

    def each(self, work: Pass, columns: Array | None = None) -> Generator[Any]:
        yield from self.cluster.results(self._applied(work, columns))

    def first(self, work: Pass) -> Any:
        return self.cluster.compute(self._applied(work, None)[:1])[0]

    def _applied(self, work: Pass, columns: Array | None) -> list[Any]:
        """Return the tasks whose results are those of `each`."""
        applied = self._delayed(_applied)
        ready = zip(self._read(columns), self._given(work), strict=True)
        return [applied(work.task, *block) for block in ready]

    def fold(
        self,
        work: Pass,
        join: Callable[[Any, Any], Any],
        columns: Array | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> Any:
        (found,) = self.cluster.compute([self._folded(work, join, self._given(work), columns)])
        if tell is not None:  # how far it is before that, the cluster's dashboard shows
            tell(self.shape[0], self.shape[0])
        return found

    def folds(self, work: Pass, join: Callable[[Any, Any], Any]) -> list[Any]:
        stripes = np.split(np.arange(self.shape[1]), np.cumsum(self._widths)[:-1])
        given = self._given(work)
        return self.cluster.compute([self._folded(work, join, given, one) for one in stripes])

    def _folded(
        self, work: Pass, join: Callable[[Any, Any], Any], given: list[Any], columns: Array | None
    ) -> Any:
        """Return the task whose result is that of `fold`."""
        step, joined = self._delayed(_step), self._delayed(_join)
        ready = self._read(columns)
        states = []
        for run in np.array_split(np.arange(len(ready)), min(_RUNS, len(ready))):
            state = None
            for k in run:
                state = step(work.task, state, ready[k], given[k])
            states.append(state)
        while len(states) > 1:  # neighbours in pairs, and pairs of these
            pairs = [states[k : k + 2] for k in range(0, len(states), 2)]
            states = [joined(join, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return states[0]


class Asked(NamedTuple):
    """What is asked of blocks beside each other: ``height`` rows from ``start`` on, and some columns.

    ``widths`` are those of the blocks, ``columns`` those asked for, and ``places`` where they are in
    them, unless all are.
    """

    start: int
    height: int
    widths: Array
    columns: Any
    places: Array | None
    names: tuple[str, ...] | None
    dtype: Any


def read_block(asked: Asked, *parts: Any) -> Array:
    """Return some columns of rows as numbers, looked at for what is none; runs on a worker."""
    for part, width in zip(parts, asked.widths, strict=True):
        found = tuple(map(str, getattr(part, "columns", ()))) or None
        if part.shape != (asked.height, width) or (
            asked.names is not None and found != asked.names
        ):
            raise ValueError(
                f"the block from row {asked.start} on has the shape {part.shape}, and had "
                f"{(asked.height, int(width))} and the same columns when the table was opened: it has "
                "changed, open it again"
            )
    whole = [
        part.to_numpy("float64") if hasattr(part, "iloc") else np.asarray(part) for part in parts
    ]
    values = whole[0] if len(whole) == 1 else np.hstack(whole)
    if asked.places is not None:
        values = values[:, asked.places]
    values = values.astype(asked.dtype, copy=False)
    check_block(values, asked.start, asked.columns, asked.names, _place)
    return values


def _place(row: int) -> str:
    return f"row {row}"


def _handed_on(*given: Any) -> tuple[Any, ...]:
    return given


def _applied(task: Callable[..., Any], block: Array, given: tuple[Any, ...]) -> Any:
    return task(block, *given)


def _step(task: Callable[..., Any], state: Any, block: Array, given: tuple[Any, ...]) -> Any:
    # A state may be read again, by the task that takes the place of one that was lost.
    return task(deepcopy(state), block, *given)


def _join(join: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    return join(deepcopy(first), second)
