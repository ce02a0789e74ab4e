"""Genotypes of PLINK 1 where they lie: 2 bits each in memory-mapped files, never expanded to floats."""

from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Moments, block_width, read_only
from garrote.designs.genotypes import codes
from garrote.designs.genotypes.base import Counts, GenotypeDesign, refuse_others
from garrote.designs.genotypes.kernel_columns import GenotypeColumns
from garrote.designs.genotypes.plink_files import (
    beside,
    map_genotypes,
    read_people,
    read_variants,
)
from garrote.designs.genotypes.variants import People, Variants
from garrote.limits.memory import free_memory

# Fewer rows than this share of those in the file are copied, in 2 bits each.
_FEW_ROWS = 0.125
# A product with one column, in multiplications read from memory in order.
_COST_OF_ENTRY = 0.5


class PlinkDesign(GenotypeDesign):
    """Genotypes in .bed files of PLINK 1 in place of X, read where they lie.

    A column counts the copies of the first allele of the .bim file (A1): 0, 1 or 2. A call that is
    missing stands for the mean of those of the column that are not, among the rows of this design.

    Parameters
    ----------
    files : path, or sequence of paths
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

    suffix = ".bed"

    @classmethod
    def of_codes(cls, people: People, variants: Variants, packed: Array) -> Self:
        """Return genotypes in memory as .bed files have them: a row of bytes for each variant."""
        design = cls.__new__(cls)
        design.people, design._known = people, variants
        design._place = np.arange(len(variants))
        design._use([read_only(packed)])
        design._measure_size()
        return design

    def _open(self, paths: Sequence[Path]) -> str:
        fam = beside(paths[0], ".fam")
        self.people, variants, files = read_people(fam), [], []
        for path in paths:
            own = self.people if path == paths[0] else read_people(beside(path, ".fam"))
            refuse_others(self.people, own, paths[0], path)
            variants.append(read_variants(beside(path, ".bim")))
            files.append(map_genotypes(path, len(own.individual), len(variants[-1])))
        self._known = Variants.together(variants)
        self._use(files)
        return fam.name

    def _use(self, files: list[Array]) -> None:
        """Take genotypes as they lie in one or several arrays."""
        self._files = files
        self._of = np.repeat(np.arange(len(files)), [len(packed) for packed in files])
        self._at = np.concatenate([np.arange(len(packed)) for packed in files])
        self._rows = np.zeros(0, dtype=np.int64)

    def _choose(self, places: Array) -> None:
        self._of, self._at = self._of[places], self._at[places]
        super()._choose(places)

    def _measure_size(self) -> None:
        super()._measure_size()
        self.nbytes = self.shape[1] * self._width
        self.column_cost = _COST_OF_ENTRY * self.shape[0]

    def _keep(self, rows: Array, count: int) -> None:
        """Keep some rows only; few of them are copied, in 2 bits each."""
        self._rows = read_only(np.ascontiguousarray(rows, dtype=np.int64))
        size, free = len(self._at) * ((len(rows) + 3) // 4), free_memory()
        if len(rows) <= _FEW_ROWS * count and (free is None or 2 * size < free):
            self._measure_size()
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

    def _count(self) -> Counts:
        every = np.ones((1, self.shape[0]))
        missing = self._fields(codes.MISSING, every)[0]
        return Counts(missing, self._fields(codes.LACKING, every)[0] - missing)

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
