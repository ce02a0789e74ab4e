"""Genotypes that need not be whole numbers, read from compressed files some columns at a time."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.base import Design, Moments, block_width
from garrote.designs.dense import in_memory_if_small
from garrote.designs.genotypes.base import Counts, GenotypeDesign, refuse_others
from garrote.designs.genotypes.plink import PlinkDesign
from garrote.designs.genotypes.variants import People, Variants
from garrote.limits.memory import free_memory
from garrote.summaries import listing

# Reading a call from a compressed file, in multiplications read from memory in order.
_COST_OF_CALL = 10.0
# What PLINK writes for no, one and two copies, and for a missing call.
_CODES = np.array([3, 2, 0, 1], dtype=np.uint8)


class DosageFile:
    """A compressed file of genotypes: whose, of which variants, and some of them at a time.

    A subclass opens the file (`_start`) and reads from it (`_read`). Copies, as workers get them, open
    it anew; threads take turns.
    """

    def __init__(self, path: Path, people: People, people_file: Path, variants: Variants):
        self.path, self.variants = path, variants
        self.people, self.people_file = people, people_file.name
        self._handle: Any = None
        self._turn = Lock()

    def _start(self) -> Any:
        """Return what reads the file."""
        raise NotImplementedError

    def _read(self, handle: Any, at: Array) -> Array:
        """Return dosages of variants (variants x people), NaN where a call is missing."""
        raise NotImplementedError

    def read(self, at: Array) -> Array:
        """Return dosages of variants (variants x people), NaN where a call is missing."""
        with self._turn:
            if self._handle is None:
                self._handle = self._start()
            try:
                return self._read(self._handle, at)
            except RuntimeError as error:
                names = listing(self.variants.name[at], most=2)
                raise ValueError(f"{self.path.name}: {names} cannot be read: {error}") from error

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_handle": None, "_turn": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _turn=Lock())


class DosageDesign(GenotypeDesign):
    """Dosages in compressed files in place of X; every product reads its columns once.

    A subclass says by `_file` how a file is opened, and ``allele`` which allele is counted.
    """

    def _file(self, path: Path) -> DosageFile:
        raise NotImplementedError

    def _open(self, paths: Sequence[Path]) -> str:
        self._files = [self._file(path) for path in paths]
        first = self._files[0]
        for file in self._files[1:]:
            refuse_others(first.people, file.people, first.path, file.path)
        self.people = first.people
        self._known = Variants.together([file.variants for file in self._files])
        counts = [len(file.variants) for file in self._files]
        self._of = np.repeat(np.arange(len(counts)), counts)
        self._at = np.concatenate([np.arange(count) for count in counts])
        self._rows: Array | None = None
        return first.people_file

    def _choose(self, places: Array) -> None:
        self._of, self._at = self._of[places], self._at[places]
        super()._choose(places)

    def _keep(self, rows: Array, count: int) -> None:
        self._rows = rows
        self._measure_size()

    def _measure_size(self) -> None:
        super()._measure_size()
        stored = sum(file.path.stat().st_size for file in self._files)
        self.nbytes = stored * self.shape[1] // max(1, len(self._known))
        self.column_cost = _COST_OF_CALL * self.shape[0]

    def _raw(self, columns: Array) -> Floats:
        """Return dosages as they are stored, NaN where a call is missing."""
        block = np.empty((self.shape[0], len(columns)), order="F")
        for k, file in enumerate(self._files):
            here = np.flatnonzero(self._of[columns] == k)
            if len(here):
                read = file.read(self._at[columns[here]])
                block[:, here] = (read if self._rows is None else read[:, self._rows]).T
        return block

    def _raw_blocks(self) -> Iterator[tuple[Array, Floats]]:
        width = block_width(self.shape[0])
        for start in range(0, self.shape[1], width):
            columns = np.arange(start, min(start + width, self.shape[1]))
            yield columns, self._raw(columns)

    def _count(self) -> Counts:
        missing, lacking = np.empty(self.shape[1]), np.empty(self.shape[1])
        for columns, block in self._raw_blocks():
            missing[columns] = np.isnan(block).sum(axis=0)
            lacking[columns] = np.nansum(2.0 - block, axis=0)
        return Counts(missing, lacking)

    def take(self, columns: Array, mean: Floats) -> Floats:
        columns = np.asarray(columns, dtype=np.intp)
        block = self._raw(columns)
        for k in np.flatnonzero(self._counts.missing[columns]):
            block[np.isnan(block[:, k]), k] = self._fill[columns[k]]
        block -= mean[columns]
        return block

    def tdot(self, left: Floats) -> Floats:
        product = np.empty((len(left), self.shape[1]))
        for columns, block in self._blocks():
            product[:, columns] = left @ block
        return product

    def dot(self, columns: Array, coef: Floats) -> Floats:
        columns, nothing = np.asarray(columns, dtype=np.intp), np.zeros(self.shape[1])
        product = np.zeros((self.shape[0], coef.shape[1]))
        used, width = np.flatnonzero(coef.any(axis=1)), block_width(self.shape[0])
        for start in range(0, len(used), width):
            some = used[start : start + width]
            product += self.take(columns[some], nothing) @ coef[some]
        return product

    def moments(self, weights: Floats) -> Moments:
        found = super().moments(weights)
        # Of a column of one number rounding may leave a deviation.
        alone = found.deviation < 1e-12
        return Moments(found.mean, np.where(alone, 0.0, found.deviation))

    def in_columns(self) -> Design:
        return in_memory_if_small(self)

    def packed(self) -> PlinkDesign | None:
        """Return the same genotypes in memory, 2 bits each, which are multiplied much faster.

        None where some are no whole numbers, or where they take more than half of the free memory.
        """
        n, count = self.shape
        width, free = (n + 3) // 4, free_memory()
        if free is not None and 2 * count * width > free:
            return None
        small = np.empty((count, width), dtype=np.uint8)
        for columns, block in self._raw_blocks():
            kind = np.where(np.isnan(block), 3.0, block)
            if not (kind == np.floor(kind)).all():
                return None
            four = np.zeros((len(columns), 4 * width), dtype=np.uint8)
            four[:, :n] = _CODES[kind.astype(np.intp)].T
            part = four.reshape(len(columns), width, 4)
            small[columns] = np.bitwise_or.reduce(part << np.array([0, 2, 4, 6], np.uint8), axis=2)
        return PlinkDesign.of_codes(self.people, self.variants, small)
