"""Genotypes in place of X, however stored: of whom, at which variants, and what stands for gaps."""

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design
from garrote.designs.genotypes.variants import People, Variants
from garrote.summaries import listing


class Counts(NamedTuple):
    """Calls that are missing, and copies lacking of two among the others, of every column."""

    missing: Floats
    lacking: Floats

    def some(self, columns: Array) -> "Counts":
        """Return those of some columns."""
        return Counts(self.missing[columns], self.lacking[columns])


class GenotypeDesign(Design):
    """Genotypes of people in place of X: copies of an allele, from 0 to 2.

    A subclass opens files (`_open`), keeps some columns or rows of them (`_choose`, `_keep`) and counts
    (`_count`). A call that is missing stands for the mean of those of the column that are not, among
    the rows of this design. ``people_file`` is what the file that names people is called.
    """

    keeps_blocks = False
    suffix: ClassVar[str]
    people: People
    _known: Variants

    def __init__(
        self,
        files: str | Path | Sequence[str | Path],
        *,
        keep: Any = None,
        variants: Any = None,
        region: str | Sequence[str] | None = None,
        min_frequency: float = 0.0,
    ):
        if not 0 <= min_frequency <= 0.5:
            raise ValueError(f"min_frequency must be from 0 to 0.5, got {min_frequency}")
        given = [files] if isinstance(files, str | Path) else files
        paths = [self._path(Path(one)) for one in given]
        if not paths:
            raise ValueError("a list of files names no file")
        self.people_file = self._open(paths)
        self._place = np.arange(len(self._known))
        if variants is not None:
            self._choose(self._known.places_of(variants))
        if region is not None:
            regions = [region] if isinstance(region, str) else list(region)
            self._choose(np.flatnonzero(self.variants.within(regions)))
        self._measure_size()
        if keep is not None:
            rows = self.people.places_of(keep, self.people_file)
            if not len(rows):
                raise ValueError("keep names nobody")
            count, self.people = len(self.people.individual), self.people.some(rows)
            if not np.array_equal(rows, np.arange(count)):
                self._keep(rows, count)
        if min_frequency > 0:
            rarer = np.minimum(self.frequency, 1.0 - self.frequency)
            self._choose(np.flatnonzero(rarer >= min_frequency))
            if not len(self._place):
                raise ValueError(f"no variant is as frequent as min_frequency={min_frequency}")
        self._measure_size()

    @classmethod
    def _path(cls, path: Path) -> Path:
        return path if path.suffix == cls.suffix else path.with_name(path.name + cls.suffix)

    def _open(self, paths: Sequence[Path]) -> str:
        """Set ``people`` and ``_known``; return the name of the file that names people."""
        raise NotImplementedError

    def _keep(self, rows: Array, count: int) -> None:
        """Keep some of ``count`` rows only, in that order."""
        raise NotImplementedError

    def _count(self) -> Counts:
        """Count missing calls, and copies lacking of two among the others."""
        raise NotImplementedError

    def _choose(self, places: Array) -> None:
        """Keep some columns only, of which nothing is copied."""
        for name in ("_counts", "_fill", "variants", "names"):
            self.__dict__.pop(name, None)
        self._place = self._place[places]
        self._measure_size()

    def _measure_size(self) -> None:
        self.shape = len(self.people.individual), len(self._place)

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
    def _counts(self) -> Counts:
        return self._count()

    @cached_property
    def _fill(self) -> Floats:
        """What stands for missing calls: the mean of the others; 0 if there is none."""
        known = self.shape[0] - self._counts.missing
        return np.where(known > 0, 2.0 - self._counts.lacking / np.maximum(known, 1.0), 0.0)

    def pick(self, columns: Array) -> Self:
        """Return a design of some of the columns; the genotypes stay where they are."""
        columns = np.asarray(columns, dtype=np.intp)
        counts, fill = self._counts, self._fill
        picked = copy(self)
        picked._choose(columns)
        picked._counts, picked._fill = counts.some(columns), fill[columns]
        return picked


def refuse_others(people: People, own: People, first: Path, path: Path) -> None:
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
