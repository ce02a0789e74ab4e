"""A design that is read by blocks of rows: every product is a sum, or a row, of products of blocks."""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design, Moments
from garrote.designs.blocks import tasks
from garrote.designs.blocks.condensed import Condensed, Kept, condense
from garrote.designs.blocks.gathering import Gathered, Gathering, gather, join
from garrote.designs.blocks.tallies import Level
from garrote.limits.budgets import BLOCK_BYTES

# Bytes of a block as floats, and rows that it has at least where columns are so few that cross products
# of all of them are formed: these cost less the taller it is.
_BYTES, _FEWEST_ROWS = 1 << 26, 1024
# With up to so many columns X'X is formed in one pass, and everything else is done with that.
MOST_CONDENSED = 20_000
# A table is condensed if that leaves at most so large a share of its rows.
_SHARE = 0.5


@dataclass(frozen=True)
class Pass:
    """What is done with each block of rows in one pass.

    ``task(block, *common, *parts)`` is called with the rows' parts of the arrays in ``by_row``; an
    empty array has no parts, and is handed on as it is.
    """

    task: Callable[..., Any]
    common: tuple[Any, ...] = ()
    by_row: tuple[Array, ...] = ()

    def parts(self, start: int, stop: int) -> list[Any]:
        """Return what a task is given beside the block of some rows."""
        return [*self.common, *(rows[start:stop] if len(rows) else rows for rows in self.by_row)]


class BlockDesign(Design):
    """A table read by blocks of rows, as often as products with it are asked for.

    A subclass sets ``shape``, ``dtype``, ``nbytes`` and ``names``, and has `each` and `fold`. Blocks are
    always the same, and what is made of them is joined in one order, so that the same question has the
    same answer, bit for bit.
    """

    names: tuple[str, ...] | None = None

    def each(self, work: Pass, columns: Array | None = None) -> Generator[Any]:
        """Yield what a task makes of each block of some columns, in order."""
        raise NotImplementedError

    def first(self, work: Pass) -> Any:
        """Return what a task makes of the first block."""
        with closing(self.each(work)) as blocks:
            return next(blocks)

    def fold(
        self,
        work: Pass,
        join: Callable[[Any, Any], Any],
        columns: Array | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> Any:
        """Return what ``task(state, block, ...)`` has made of the state None after all blocks.

        Runs of blocks may be gone through apart; ``join`` then makes one state of those of neighbours.
        ``tell`` is told how many rows have been gone through, and of how many.
        """
        raise NotImplementedError

    def folds(self, work: Pass, join: Callable[[Any, Any], Any]) -> list[Any]:
        """Do as `fold` for stripes of columns, from left to right; one where all are stored together."""
        return [self.fold(work, join)]

    def sum(self, work: Pass, columns: Array | None = None) -> Any:
        """Return the sum of what a task makes of the blocks."""
        added = Pass(tasks.Added(work.task), work.common, work.by_row)
        return self.fold(added, tasks.add, columns)

    def dot(self, columns: Array, coef: Floats) -> Floats:
        """Return X[:, columns] @ coef."""
        used = np.flatnonzero(coef.any(axis=1))
        if not len(used):
            return np.zeros((self.shape[0], coef.shape[1]))
        work = Pass(tasks.multiply, (np.ascontiguousarray(coef[used]),))
        return self._stacked(work, np.asarray(columns)[used], coef.shape[1])

    def tdot(self, left: Floats) -> Floats:
        """Return left @ X (K x D), of K vectors of length N."""
        work = Pass(tasks.Added(tasks.contract), (), (left.T,))
        return np.hstack(self.folds(work, tasks.add))

    def tdot_from(self, first: int, block: Floats) -> Floats:
        """Return X[:, first:].T @ block."""
        columns = np.arange(first, self.shape[1])
        return np.asarray(self.sum(Pass(tasks.contract, (), (block,)), columns)).T

    def take(self, columns: Array, mean: Floats) -> Floats:
        """Return columns as a dense float64 block of their own, less their means."""
        columns = np.asarray(columns, dtype=np.intp)
        return self._stacked(Pass(tasks.less, (mean[columns],)), columns, len(columns), "F")

    def some_rows(self, rows: Array) -> Floats:
        """Return rows as a dense float64 block."""
        rows = np.asarray(rows, dtype=np.intp)
        wanted = np.zeros(self.shape[0], dtype=bool)
        wanted[rows] = True
        found = np.concatenate(list(self.each(Pass(tasks.picked, (), (wanted,)))))
        return found[np.searchsorted(np.flatnonzero(wanted), rows)].astype(np.float64)

    def row_lengths(self) -> Floats:
        """Return the sum of squares of each row."""
        return np.concatenate(list(self.each(Pass(tasks.lengths))))

    def gram(
        self, left: Array, right: Array, mean: Floats, scale: Floats, weights: Floats
    ) -> Floats:
        """Return the weighted cross products of two sets of standardised columns."""
        columns, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        sides = places[: len(left)], places[len(left) :]
        work = Pass(tasks.cross, (mean[columns], scale[columns], *sides), (weights,))
        return np.asarray(self.sum(work, columns))

    def moments(self, weights: Floats) -> Moments:
        """Return the weighted mean and standard deviation of every column, centred block by block."""
        found = self.folds(Pass(tasks.measure, (), (weights,)), tasks.joined)
        parts = zip(*(stripe.moments() for stripe in found), strict=True)
        return Moments(*(np.concatenate(part) for part in parts))

    def whole_gram(self, mean: Floats, scale: Floats, weights: Floats) -> Floats:
        """Return the weighted cross products of all standardised columns, in one pass."""
        work = Pass(tasks.square, (mean, scale), (weights,))
        return np.asarray(self.sum(work))

    def condenses(self, parts: int = 1, responses: int = 1) -> bool:
        """Tell whether a table of so many parts is much smaller by its moments, and fits in memory."""
        rows, columns = self.shape
        small = parts * (columns + responses + 1)
        bytes_needed = 8 * columns * (small + parts * columns)
        fits = columns <= MOST_CONDENSED and (parts == 1 or bytes_needed <= BLOCK_BYTES)
        return fits and small <= _SHARE * rows

    def condense(
        self,
        y: Floats,
        weights: Floats | None = None,
        part: Array | None = None,
        parts: int = 1,
        kept: Array | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> Condensed:
        """Return a small table with the same moments, from one pass.

        Parameters
        ----------
        y : array of shape (N,) or (N, K)
        weights : array of shape (N,), optional
        part : array of int of shape (N,), optional
            Rows of one part, numbered from 0, are condensed together; as many as ``parts``.
        kept : array of int, optional
            Sorted numbers of rows that are handed back as they are.
        tell : callable, optional
            Told how many rows have been read, and of how many.
        """
        rows, columns = self.shape
        beside = np.asarray(y, dtype=np.float64).reshape(rows, -1)
        flat = np.zeros(0) if weights is None or (weights == 1.0).all() else weights
        part = np.zeros(0, dtype=np.int64) if part is None else part
        keeps = np.zeros(rows, dtype=bool)
        keeps[[] if kept is None else kept] = True
        level: Level = self.first(Pass(Level.of, (), (beside,)))
        wanted = Gathering(level, parts, columns + beside.shape[1] + 3)
        work = Pass(gather, (wanted,), (beside, flat, part, keeps))
        found: Gathered = self.fold(work, join, tell=tell)
        X = np.concatenate([np.zeros((0, columns), self.dtype), *found.kept])
        return condense(found, wanted.level, beside.shape[1], Kept(np.flatnonzero(keeps), X))

    def _stacked(self, work: Pass, columns: Array, width: int, order: Any = "C") -> Floats:
        """Return what a task makes of the blocks, one below the other."""
        found, start = np.empty((self.shape[0], width), order=order), 0
        for part in self.each(work, columns):
            found[start : start + len(part)] = part
            start += len(part)
        return found


def block_height(shape: tuple[int, int]) -> int:
    """Return how many rows of a table are a block."""
    rows, columns = shape
    fewest = _FEWEST_ROWS if columns <= MOST_CONDENSED else 1
    return min(rows, max(fewest, _BYTES // (8 * columns)))
