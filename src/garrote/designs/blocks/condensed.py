r"""A small table with the same moments as a large one, for all that depends on nothing else.

What a Gaussian regression asks of rows are their number, means and cross products. Of rows with total
weight W, means m and centred cross products S = R'R the m = rank + 1 rows

.. math:: 1 m' + \sqrt{m / W} H R, \\quad H'H = I, \; H'1 = 0,

of weight W / m each have exactly these, so that every method gives the same answer on them. Parts of the
rows that are held out apart, such as folds, are condensed apart.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpstrf

from garrote.arrays import Array, Floats
from garrote.designs.base import Moments
from garrote.designs.blocks.gathering import Gathered
from garrote.designs.blocks.tallies import Level, Tally
from garrote.designs.dense import DenseDesign, StandardizedDense


class CondensedDesign(DenseDesign):
    """A few rows with the moments of many; ``center`` is kept apart, and so are its digits.

    ``known_distinct_rows`` is how many different rows the large table has, or enough of them;
    ``splits`` are the folds of its rows, where they were told apart; ``names`` are those of the columns.
    """

    names: tuple[str, ...] | None = None
    splits: list[tuple[Array, Array]] | None = None

    def __init__(self, values: Floats, center: Floats, distinct_rows: int):
        super().__init__(values)
        self.center = center
        self.known_distinct_rows: int = distinct_rows

    def columns(self, mean: Floats, scale: Floats, weights: Floats) -> StandardizedDense | None:
        return super().columns(mean - self.center, scale, weights)

    def in_columns(self) -> "CondensedDesign":
        if self.values.flags.f_contiguous:
            return self
        values = np.asfortranarray(self.values)
        return CondensedDesign(values, self.center, self.known_distinct_rows)

    def dot(self, columns: Array, coef: Floats) -> Floats:
        return super().dot(columns, coef) + self.center[columns] @ coef

    def tdot(self, left: Floats) -> Floats:
        return super().tdot(left) + np.outer(left.sum(axis=1), self.center)

    def tdot_from(self, first: int, block: Floats) -> Floats:
        return super().tdot_from(first, block) + np.outer(self.center[first:], block.sum(axis=0))

    def cross_products(self) -> None:
        return None

    def take(self, columns: Array, mean: Floats) -> Floats:
        return super().take(columns, mean - self.center)

    def pick(self, columns: Array) -> "CondensedDesign":
        return CondensedDesign(
            self.values[:, columns], self.center[columns], self.known_distinct_rows
        )

    def few_entries(self) -> None:
        return None

    def some_rows(self, rows: Array) -> Floats:
        return super().some_rows(rows) + self.center

    def moments(self, weights: Floats) -> Moments:
        found = super().moments(weights)
        return Moments(found.mean + self.center, found.deviation)


@dataclass(frozen=True)
class Kept:
    """Some rows that were kept as they are: their numbers, and X there."""

    rows: Array
    X: Array


@dataclass(frozen=True)
class Condensed:
    """A large table as a small one.

    Attributes
    ----------
    design : CondensedDesign
    y : array of shape (m,) or (m, K)
        The response less its offset, condensed with X.
    weights : array of shape (m,)
    part : array of int of shape (m,)
        Which part of the large table a row stands for.
    kept : Kept
        Rows of the large table that pictures and fingerprints show.
    """

    design: CondensedDesign
    y: Floats
    weights: Floats
    part: Array
    kept: Kept


def condense(gathered: Gathered, level: Level, responses: int, kept: Kept) -> Condensed:
    """Return the small table of the parts that have been tallied.

    ``responses`` columns at the end of what was tallied are y; a part without rows is left out.
    """
    filled = [(number, tally) for number, tally in enumerate(gathered.tallies) if tally.rows]
    blocks, weights = [], []
    for _, tally in filled:
        blocks.append(_rows_of(tally))
        weights.append(np.full(len(blocks[-1]), tally.weight / len(blocks[-1])))
    part = np.repeat([number for number, _ in filled], [len(block) for block in blocks])
    values = np.vstack(blocks)
    if level.unit is not None:
        values *= level.unit
    width = values.shape[1] - responses
    y = values[:, width:] + level.shift[width:]
    X = np.asfortranarray(values[:, :width])
    design = CondensedDesign(X, level.shift[:width], len(gathered.shadows))
    return Condensed(design, y, np.concatenate(weights), part, kept)


def _rows_of(tally: Tally) -> Floats:
    """Return rows, of equal weights, with the mean and the centred products of a tally."""
    root = _root(tally.products)
    count = len(root) + 1
    # The reflection that takes the first unit vector to equal entries: its other columns sum to 0.
    along = np.full(count, 1.0 / np.sqrt(count))
    along[0] -= 1.0
    along /= np.linalg.norm(along)
    rows = np.vstack([np.zeros((1, root.shape[1])), root])
    rows -= np.outer(2.0 * along, along[1] * root.sum(axis=0))
    rows *= np.sqrt(count / tally.weight)
    rows += tally.mean
    return rows


def _root(products: Floats) -> Floats:
    """Return R with R'R equal to products of which the lower triangle counts, of any rank."""
    diagonal = np.sqrt(np.maximum(np.diag(products), 0.0))
    unit = np.where(diagonal > 0, diagonal, 1.0)
    scaled = np.asfortranarray(products / unit)
    scaled /= unit[:, None]
    # By the largest column that is left, so that a column others explain comes last, and ends it.
    factor, pivots, rank, _ = dpstrf(scaled, lower=1, overwrite_a=1)
    root = np.zeros(products.shape)
    root[:rank, pivots - 1] = np.tril(factor)[:, :rank].T
    root *= unit
    return root


def splits_of(part: Array, trained: Array, tested: Array) -> list[tuple[Array, Array]]:
    """Return the splits of a small table: ``trained`` (splits x parts) says how often each part is.

    A part that a split has k times is k times among its rows.
    """
    rows = np.arange(len(part))
    return [
        (np.repeat(rows, train[part]), np.repeat(rows, test[part]))
        for train, test in zip(trained, tested, strict=True)
    ]


def parts_of(splits: Any, count: int) -> tuple[Array, Array, Array]:
    """Return which rows every split treats alike, as numbers, and how often each has them.

    Parameters
    ----------
    splits : iterable of (train, test)
        Row numbers; looked at one by one, as they may be as long as the table.
    count : int
        Of the rows.

    Returns
    -------
    part : array of int of shape (count,)
    trained, tested : array of int of shape (splits, parts)
    """
    part, kinds = np.zeros(count, dtype=np.int64), 1
    trained: list[Array] = []
    tested: list[Array] = []
    for train, test in splits:
        inside, outside = (_counts(rows, count) for rows in (train, test))
        most = int(inside.max(initial=0)) + 1, int(outside.max(initial=0)) + 1
        part *= most[0] * most[1]
        part += inside * most[1] + outside
        present, kinds_here = _present(part, kinds * most[0] * most[1])
        old, here = np.divmod(present, most[0] * most[1])
        trained = [*(one[old] for one in trained), here // most[1]]
        tested = [*(one[old] for one in tested), here % most[1]]
        part, kinds = kinds_here, len(present)
    return part, np.array(trained), np.array(tested)


def _counts(rows: Array, count: int) -> Array:
    rows = np.asarray(rows)
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    if len(rows) and not (rows.min() >= 0 and rows.max() < count):
        raise ValueError(f"a split of cv has row {rows.max()}, but there are {count} rows")
    return np.bincount(rows, minlength=count)


def _present(codes: Array, kinds: int) -> tuple[Array, Array]:
    """Return the codes that occur, and the place of every row's code among them."""
    seen = np.zeros(kinds, dtype=bool)
    seen[codes] = True
    present = np.flatnonzero(seen)
    place = np.zeros(kinds, dtype=np.int64)
    place[present] = np.arange(len(present))
    return present, place[codes]
