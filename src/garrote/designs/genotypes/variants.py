"""Whose genotypes, and where: people by both names, variants by place and alleles."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array
from garrote.summaries import listing

# What PLINK calls chromosomes by number, by letters; X's ends that pair with Y's lie on X.
_LETTERS = {"23": "X", "24": "Y", "25": "XY", "26": "MT", "M": "MT"}
_REGION = re.compile(r"(?P<chromosome>[^:]+)(?::(?P<first>[\d,_]+)-(?P<last>[\d,_]+))?")
_NO_NAME = ("", ".")


def plain_chromosome(text: Any) -> str:
    """Return a chromosome's name without regard to style: 6 for chr6, X for 23."""
    name = str(text).strip().upper()
    name = name.removeprefix("CHR").lstrip("_")
    name = name.lstrip("0") or name
    return _LETTERS.get(name, name)


def plain_chromosomes(texts: Sequence[Any] | Array) -> Array:
    """Do as `plain_chromosome` for many, of which few differ."""
    known = {text: plain_chromosome(text) for text in set(texts)}
    return np.array([known[text] for text in texts], dtype=object)


class Region(NamedTuple):
    """A part of a chromosome, both ends included; all of it where there are no ends."""

    chromosome: str
    first: int | None = None
    last: int | None = None

    @classmethod
    def of(cls, text: str) -> "Region":
        """Read "6", "chr6" or "6:25000000-34000000"."""
        found = _REGION.fullmatch(text.strip())
        if found is None:
            raise ValueError(
                f"a region is a chromosome, or a part of one as 6:25000000-34000000, got {text!r}"
            )
        chromosome = plain_chromosome(found["chromosome"])
        if found["first"] is None:
            return cls(chromosome)
        first, last = (int(re.sub("[,_]", "", found[end])) for end in ("first", "last"))
        if first > last:
            raise ValueError(
                f"region {text!r} ends before it begins: give the lower position first"
            )
        return cls(chromosome, first, last)

    def holds(self, chromosomes: Array, positions: Array) -> Array:
        """Tell which variants are in the region."""
        inside = chromosomes == self.chromosome
        if self.first is not None:
            inside &= (positions >= self.first) & (positions <= self.last)
        return inside


class Variants:
    """Where variants are and what their alleles are.

    Parameters
    ----------
    chromosome, name : arrays of str
    position : array of int
    counted, other : arrays of str
        Genotypes are copies of the allele ``counted``.
    """

    def __init__(
        self, chromosome: Array, name: Array, position: Array, counted: Array, other: Array
    ):
        self.chromosome, self.name, self.position = chromosome, name, position
        self.counted, self.other = counted, other

    def __len__(self) -> int:
        return len(self.name)

    def some(self, places: Array) -> "Variants":
        """Return some of them."""
        return Variants(*(column[places] for column in self._columns))

    @property
    def _columns(self) -> tuple[Array, ...]:
        return self.chromosome, self.name, self.position, self.counted, self.other

    @staticmethod
    def together(parts: Sequence["Variants"]) -> "Variants":
        """Return those of several files."""
        columns = zip(*(part._columns for part in parts), strict=True)
        return Variants(*(np.concatenate(column) for column in columns))

    @cached_property
    def plain_chromosome(self) -> Array:
        """Chromosomes without regard to style: see `plain_chromosome`."""
        return plain_chromosomes(self.chromosome)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A name for every variant that no other has: its own where it has one, else where it lies."""
        known = Counter(self.name)
        labels = [
            name if known[name] == 1 and name not in _NO_NAME else self._place_of(j)
            for j, name in enumerate(self.name)
        ]
        taken, seen = Counter(labels), Counter[str]()
        for j, label in enumerate(labels):
            if taken[label] > 1:
                seen[label] += 1
                labels[j] = f"{label}#{seen[label]}"
        return tuple(labels)

    def _place_of(self, j: int) -> str:
        return ":".join(map(str, (column[j] for column in (
            self.chromosome, self.position, self.other, self.counted,
        ))))  # fmt: skip

    def within(self, regions: Sequence[str]) -> Array:
        """Tell which variants are in one of several regions; refuse regions without any."""
        inside = np.zeros(len(self), dtype=bool)
        for text in regions:
            here = Region.of(text).holds(self.plain_chromosome, self.position)
            if not here.any():
                known = sorted(set(self.chromosome), key=lambda name: (len(name), name))
                raise ValueError(
                    f"no variant is in region {text}: there are {len(self):,} on chromosome "
                    f"{listing(known, str)}"
                )
            inside |= here
        return inside

    def places_of(self, wanted: Any) -> Array:
        """Return which variants are meant by names, numbers or a mask, in the order given."""
        given = np.asarray(wanted)
        if given.dtype == bool:
            if given.shape != (len(self),):
                raise ValueError(f"variants is a mask of {len(given)} for {len(self)} variants")
            return np.flatnonzero(given)
        if given.dtype.kind in "iu":
            if len(given) and not (-len(self) <= given.min() and given.max() < len(self)):
                raise ValueError(f"variants must be from 0 to {len(self) - 1}, got {given.max()}")
            return np.asarray(given % max(1, len(self)), dtype=np.int64)
        place = {name: j for j, name in enumerate(self.labels)}
        missing = [name for name in wanted if str(name) not in place]
        if missing:
            raise ValueError(f"no variant is called {listing(missing, most=3)}")
        return np.array([place[str(name)] for name in wanted], dtype=np.int64)


class People(NamedTuple):
    """Who the rows are: names of families and of the people in them."""

    family: Array
    individual: Array

    def some(self, places: Array) -> "People":
        """Return some of them."""
        return People(self.family[places], self.individual[places])

    def places_of(self, wanted: Any, label: str) -> Array:
        """Return where some people are, in the order given.

        ``wanted`` are names, pairs of a family's and an individual's name, or numbers of rows; None
        stands for everybody.
        """
        count = len(self.individual)
        if isinstance(wanted, np.ndarray) and wanted.dtype.kind in "biu":
            places = np.flatnonzero(wanted) if wanted.dtype == bool else wanted.astype(np.int64)
            if len(places) and (places.min() < 0 or places.max() >= count):
                raise ValueError(f"{label} has rows 0 to {count - 1}, got {places.max()}")
        else:
            names = [one if isinstance(one, str) else tuple(map(str, one)) for one in wanted]
            index = Index(self, label)
            absent = [name for name in names if name not in index]
            if absent:
                raise ValueError(
                    f"{label} has nobody called {listing(absent, str, most=3)}"
                    f" ({len(absent)} of {len(names)} are not there)"
                )
            places = np.array([index.place(name) for name in names], dtype=np.int64)
        repeated = np.flatnonzero(np.bincount(places, minlength=count) > 1)
        if len(repeated):
            raise ValueError(f"{label}: {self.individual[repeated[0]]!r} is asked for twice")
        return places


class Index:
    """Looks people up by the individual's name, or by both names."""

    def __init__(self, people: People, label: str):
        self._label = label
        pairs = list(zip(people.family, people.individual, strict=True))
        self._pairs = {pair: j for j, pair in enumerate(pairs)}
        if len(self._pairs) < len(pairs):
            twice = next(pair for pair, count in Counter(pairs).items() if count > 1)
            raise ValueError(
                f"{label} names {' '.join(twice)} twice: people need names of their own"
            )
        self._alone: dict[str, int] = {}
        self._several: set[str] = set()
        for j, (_, individual) in enumerate(pairs):
            if individual in self._alone:
                self._several.add(individual)
            self._alone[individual] = j

    def __contains__(self, name: str | tuple[str, ...]) -> bool:
        return name in (self._alone if isinstance(name, str) else self._pairs)

    def place(self, name: str | tuple[str, ...]) -> int:
        """Return where somebody is."""
        if not isinstance(name, str):
            return self._pairs[name]  # type: ignore[index]
        if name in self._several:
            raise ValueError(
                f"{self._label} has {name!r} in several families: give the family's name, too"
            )
        return self._alone[name]
