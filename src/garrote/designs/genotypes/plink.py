"""Genotypes of PLINK 1 where they lie: 2 bits each in memory-mapped files, never expanded to floats."""

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design, Moments, block_width, read_only
from garrote.designs.genotypes import codes
from garrote.designs.genotypes.kernel_columns import GenotypeColumns
from garrote.designs.genotypes.plink_files import (
    beside,
    map_genotypes,
    read_people,
    read_variants,
)
from garrote.designs.genotypes.variants import People, Variants
from garrote.limits.memory import free_memory
from garrote.summaries import listing

# Fewer rows than this share of those in the file are copied, in 2 bits each.
_FEW_ROWS = 0.125
# A product with one column, in multiplications read from memory in order.
_COST_OF_ENTRY = 0.5


class PlinkDesign(Design):
    """Genotypes in .bed files of PLINK 1 in place of X, read where they lie.

    A column counts the copies of the first allele of the .bim file (A1): 0, 1 or 2. A call that is
    missing stands for the mean of those of the column that are not, among the rows of this design.

    Parameters
    ----------
    bed : path, or sequence of paths
        With a .bim and a .fam file beside each. Several files, a chromosome each, have the same people
        in the same order.
    keep : sequence of str, of pairs of str, or array of int, optional
        Whom to keep, in that order: names of individuals, of families and individuals, or rows.
    variants : sequence of str, or array of int or bool, optional
        Which variants to keep, in that order: names, or columns.
    region : str or sequence of str, optional
        Chromosomes, or parts of them as "6:25000000-34000000"; chr6 and 6 are the same.
    min_frequency : float
        Variants whose rarer allele is rarer than that among the rows are left out.

    Attributes
    ----------
    names : tuple of str
        A name for every column: the variant's, or chromosome:position:A2:A1 where that is not unique.
    variants : Variants
        Chromosome, position and alleles of every column.
    people : People
        Who the rows are.
    missing, frequency : arrays
        Of every column how many calls are missing, and how frequent the counted allele is among the
        others; NaN where all are missing, and the column is then 0.

    Examples
    --------
    >>> from garrote import SingleEffectsRegressor
    >>> from garrote.designs import PlinkDesign
    >>> genotypes = PlinkDesign("geno.bed", region="6:25000000-34000000")  # doctest: +SKIP
    >>> SingleEffectsRegressor().fit(genotypes, y)  # doctest: +SKIP
    """

    keeps_blocks = False

    def __init__(
        self,
        bed: str | Path | Sequence[str | Path],
        *,
        keep: Any = None,
        variants: Any = None,
        region: str | Sequence[str] | None = None,
        min_frequency: float = 0.0,
    ):
        if not 0 <= min_frequency <= 0.5:
            raise ValueError(f"min_frequency must be from 0 to 0.5, got {min_frequency}")
        paths = [Path(bed)] if isinstance(bed, str | Path) else [Path(path) for path in bed]
        paths = [
            path if path.suffix == ".bed" else path.with_name(path.name + ".bed") for path in paths
        ]
        self.people, self._known, self._files = _open(paths)
        self._place = np.arange(len(self._known))
        self._of = np.repeat(np.arange(len(paths)), [len(packed) for packed in self._files])
        self._at = np.concatenate([np.arange(len(packed)) for packed in self._files])
        self._rows = np.zeros(0, dtype=np.int64)
        if variants is not None:
            self._choose(self._known.places_of(variants))
        if region is not None:
            regions = [region] if isinstance(region, str) else list(region)
            self._choose(np.flatnonzero(self.variants.within(regions)))
        self._measure_size()
        if keep is not None:
            self._keep_rows(self.people.places_of(keep, beside(paths[0], ".fam").name))
        if min_frequency > 0:
            rarer = np.minimum(self.frequency, 1.0 - self.frequency)
            self._choose(np.flatnonzero(rarer >= min_frequency))
            if not len(self._at):
                raise ValueError(f"no variant is as frequent as min_frequency={min_frequency}")
        self._measure_size()

    def _choose(self, places: Array) -> None:
        """Keep some columns only, of which nothing is copied."""
        for name in ("_counts", "_fill", "variants", "names"):
            self.__dict__.pop(name, None)
        self._place, self._of, self._at = self._place[places], self._of[places], self._at[places]
        self._measure_size()

    def _measure_size(self) -> None:
        self.shape = len(self.people.individual), len(self._at)
        self.nbytes = self.shape[1] * self._width
        self.column_cost = _COST_OF_ENTRY * self.shape[0]

    def _keep_rows(self, rows: Array) -> None:
        """Keep some rows only; few of them are copied, in 2 bits each."""
        if not len(rows):
            raise ValueError("keep names nobody")
        count, self.people = len(self.people.individual), self.people.some(rows)
        if not np.array_equal(rows, np.arange(count)):
            self._rows = read_only(np.ascontiguousarray(rows, dtype=np.int64))
            size, free = len(self._at) * ((len(rows) + 3) // 4), free_memory()
            if len(rows) <= _FEW_ROWS * count and (free is None or 2 * size < free):
                self._compact()
        self._measure_size()

    def _compact(self) -> None:
        """Copy the columns and rows of this design, in 2 bits each, into one array."""
        rows = self._rows if len(self._rows) else np.arange(self.shape[0])
        small = np.zeros((len(self._at), (len(rows) + 3) // 4), dtype=np.uint8)
        step = max(1, codes.columns_per_call(small.shape[1]) // 8)
        for packed, places in self._parts():
            for start in range(0, len(places), step):
                some = places[start : start + step]
                part = np.zeros((len(some), small.shape[1]), dtype=np.uint8)
                codes.repack(packed, self._at[some], rows, part)
                small[some] = part
        self._files = [read_only(small)]
        self._of, self._at = np.zeros(len(small), dtype=np.int64), np.arange(len(small))
        self._rows = np.zeros(0, dtype=np.int64)

    @cached_property
    def variants(self) -> Variants:
        """Chromosome, position and alleles of every column."""
        return self._known.some(self._place)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for every column that no other has."""
        return self.variants.labels

    @property
    def missing(self) -> Array:
        """How many calls of each column are missing."""
        return self._counts.missing.astype(np.int64)

    @property
    def frequency(self) -> Floats:
        """How frequent the counted allele is, among calls that are not missing."""
        known = self.shape[0] - self._counts.missing
        with np.errstate(invalid="ignore"):
            return np.where(known > 0, (2.0 * known - self._counts.lacking) / (2.0 * known), np.nan)

    @cached_property
    def _counts(self) -> "_Counts":
        """Count missing calls, and copies lacking of two among the others."""
        every = np.ones((1, self.shape[0]))
        missing = self._fields(codes.MISSING, every)[0]
        return _Counts(missing, self._fields(codes.LACKING, every)[0] - missing)

    @cached_property
    def _fill(self) -> Floats:
        """What stands for missing calls: the mean of the others; 0 if there is none."""
        known = self.shape[0] - self._counts.missing
        return np.where(known > 0, 2.0 - self._counts.lacking / np.maximum(known, 1.0), 0.0)

    @property
    def _width(self) -> int:
        return int(self._files[0].shape[1])

    def _parts(self) -> Iterator[tuple[Array, Array]]:
        """Yield each file, and which columns lie there."""
        for k, packed in enumerate(self._files):
            places = np.flatnonzero(self._of == k)
            if len(places):
                yield packed, places

    def _planes(self, left: Floats) -> Floats:
        """Return vectors of length N as rows in the files' order, in planes."""
        if len(self._rows):
            placed = np.zeros((len(left), 4 * self._width))
            placed[:, self._rows] = left
            left = placed
        return codes.planes_of(left, self._width)

    def _fields(self, field: int, left: Floats, columns: Array | None = None) -> Floats:
        """Return products of a field of columns with vectors: see `codes.sum_fields`."""
        design = self if columns is None else self.pick(columns)
        product = np.empty((len(left), design.shape[1]))
        planes = self._planes(left)
        for packed, places in design._parts():
            product[:, places] = codes.sum_fields(packed, design._at[places], field, planes)
        return product

    def tdot(self, left: Floats) -> Floats:
        left = np.asarray(left, dtype=np.float64)
        product = 2.0 * left.sum(axis=1)[:, None] - self._fields(codes.LACKING, left)
        gaps = np.flatnonzero(self._counts.missing)
        if len(gaps):  # a missing call was counted as one copy
            product[:, gaps] += (self._fill[gaps] - 1.0) * self._fields(codes.MISSING, left, gaps)
        return product

    def tdot_from(self, first: int, block: Floats) -> Floats:
        return self.pick(np.arange(first, self.shape[1])).tdot(block.T).T

    def dot(self, columns: Array, coef: Floats) -> Floats:
        some = self.pick(columns)
        planes = np.zeros((coef.shape[1], 4, self._width))
        for packed, places in some._parts():
            codes.add_columns(packed, some._at[places], codes.LACKING, -coef[places], planes)
        gaps = np.flatnonzero(some._counts.missing)
        if len(gaps):
            part, filling = some.pick(gaps), coef[gaps] * (some._fill[gaps, None] - 1.0)
            for packed, places in part._parts():
                codes.add_columns(packed, part._at[places], codes.MISSING, filling[places], planes)
        product = planes.transpose(2, 1, 0).reshape(-1, coef.shape[1])
        product = product[self._rows] if len(self._rows) else product[: self.shape[0]]
        return product + 2.0 * coef.sum(axis=0)

    def moments(self, weights: Floats) -> Moments:
        """Return means and deviations, exactly: of the weights of each genotype."""
        kinds = self._weights_of_kinds(weights)
        if not (weights == 1.0).all():  # what subtraction leaves of nothing is not a deviation
            kinds *= self._weights_of_kinds((weights > 0).astype(np.float64)) > 0.5
        total = kinds.sum(axis=0)
        values = np.array(
            [np.full(self.shape[1], value) for value in (2.0, 1.0, 0.0)] + [self._fill]
        )
        mean = np.einsum("kj,kj->j", kinds, values) / total
        alone = (kinds > 0).sum(axis=0) == 1
        mean[alone] = values[(kinds > 0).argmax(axis=0), np.arange(self.shape[1])][alone]
        squares = np.einsum("kj,kj->j", kinds, (values - mean) ** 2)
        return Moments(mean, np.sqrt(squares / total))

    def _weights_of_kinds(self, weights: Floats) -> Floats:
        """Return the weight of the rows with two, one and no copies, and of those missing (4 x D)."""
        left = weights[None, :]
        low = self._fields(codes.ONE_OR_NONE, left)[0]
        none = self._fields(codes.NONE, left)[0]
        missing, gaps = np.zeros(self.shape[1]), np.flatnonzero(self._counts.missing)
        if len(gaps):
            missing[gaps] = self._fields(codes.MISSING, left, gaps)[0]
        kinds = np.array([weights.sum() - low - missing, low - none, none, missing])
        return np.maximum(kinds, 0.0)

    def take(self, columns: Array, mean: Floats) -> Floats:
        columns = np.asarray(columns, dtype=np.intp)
        block = np.empty((self.shape[0], len(columns)), order="F")
        width = block_width(self.shape[0])
        for start in range(0, len(columns), width):
            some = columns[start : start + width]
            self._unpack(some, mean[some], block[:, start : start + width])
        return block

    def _unpack(self, columns: Array, mean: Floats, block: Floats) -> None:
        values = np.column_stack([np.full(len(columns), 2.0), self._fill[columns],
                                  np.ones(len(columns)), np.zeros(len(columns))])  # fmt: skip
        values -= mean[:, None]
        for k, packed in enumerate(self._files):
            here = np.flatnonzero(self._of[columns] == k)
            if not len(here):
                continue
            part = (
                block if len(here) == len(columns) else np.empty((len(block), len(here)), order="F")
            )
            at, numbers = self._at[columns[here]], np.ascontiguousarray(values[here])
            if len(self._rows):
                codes.unpack(packed, at, self._rows, numbers, part)
            else:
                codes.unpack_all(packed, at, numbers, part)
            if part is not block:
                block[:, here] = part

    def some_rows(self, rows: Array) -> Floats:
        few = copy(self)
        few._rows = np.asarray(self._rows[rows] if len(self._rows) else rows, dtype=np.int64)
        few.shape = len(rows), self.shape[1]
        few._fill = self._fill  # of all rows of this design
        block = np.empty(few.shape)
        width = block_width(len(rows))
        nothing = np.zeros(self.shape[1])
        for start in range(0, self.shape[1], width):
            columns = np.arange(start, min(start + width, self.shape[1]))
            block[:, columns] = few.take(columns, nothing)
        return block

    def pick(self, columns: Array) -> "PlinkDesign":
        """Return a design of some of the columns; the genotypes stay where they are."""
        columns = np.asarray(columns, dtype=np.intp)
        picked = copy(self)
        counts, fill = self._counts, self._fill
        picked._choose(columns)
        picked._counts = _Counts(counts.missing[columns], counts.lacking[columns])
        picked._fill = fill[columns]
        return picked

    def columns(self, mean: Floats, scale: Floats, weights: Floats) -> GenotypeColumns | None:
        used = self
        if len(set(self._of.tolist())) > 1:  # kernels read one array
            used = copy(self)
            used._compact()
        packed = used._files[int(used._of[0])] if len(used._of) else used._files[0]
        return GenotypeColumns(
            packed,
            read_only(used._at),
            used._rows,
            read_only(used._fill),
            read_only(used._counts.missing > 0),
            mean,
            scale,
        )


class _Counts(NamedTuple):
    """Calls that are missing, and copies lacking of two among the others, of every column."""

    missing: Floats
    lacking: Floats


def _open(paths: Sequence[Path]) -> tuple[People, Variants, list[Array]]:
    """Return people, variants and genotypes of files that have the same people."""
    if not paths:
        raise ValueError("bed names no file")
    people, variants, files = read_people(beside(paths[0], ".fam")), [], []
    for path in paths:
        own = people if path == paths[0] else read_people(beside(path, ".fam"))
        _refuse_others(people, own, paths[0], path)
        variants.append(read_variants(beside(path, ".bim")))
        files.append(map_genotypes(path, len(own.individual), len(variants[-1])))
    return people, Variants.together(variants), files


def _refuse_others(people: People, own: People, first: Path, path: Path) -> None:
    """Refuse files of other people, or of the same in another order."""
    if len(own.individual) == len(people.individual):
        other = (own.individual != people.individual) | (own.family != people.family)
        if not other.any():
            return
        row = int(np.argmax(other))
        pair = [who.individual[row] for who in (people, own)]
        where = f"row {row + 1} is {listing(pair[:1])} in one and {listing(pair[1:])} in the other"
    else:
        where = f"there are {len(people.individual):,} and {len(own.individual):,} of them"
    raise ValueError(
        f"{first.name} and {path.name} are not of the same people in the same order: {where}"
    )
