"""Genotypes of PLINK 2: a compressed .pgen file, with variants in .pvar and people in .psam."""

from pathlib import Path
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.designs.genotypes.dosages import DosageDesign, DosageFile
from garrote.designs.genotypes.plink_files import (
    beside,
    opened,
    read_people,
    read_table,
    read_variants,
)
from garrote.designs.genotypes.variants import People, Variants

_MAGIC = b"\x6c\x1b"


class PgenDesign(DosageDesign):
    """Genotypes or dosages in .pgen files of PLINK 2 in place of X, read by Pgenlib.

    A column counts the copies of the variant's ALT allele, from 0 to 2. A call that is missing stands
    for the mean of those of the column that are not, among the rows of this design. Variants with
    several ALT alleles are refused: split them, or leave them out.

    Every product decodes the columns anew, some at a time. Where all calls are whole numbers, `packed`
    returns them in memory in 2 bits each, and products are many times faster.

    Parameters
    ----------
    files : path, or sequence of paths
        With a .pvar and a .psam file beside each, or a .bim and a .fam. Several files, a chromosome
        each, have the same people in the same order.
    keep, variants, region, min_frequency
        As for `PlinkDesign`.

    Attributes
    ----------
    names, variants, people, missing, frequency
        As for `PlinkDesign`.

    Examples
    --------
    >>> from garrote import SingleEffectsRegressor
    >>> from garrote.designs import PgenDesign
    >>> genotypes = PgenDesign("geno.pgen", region="6:25000000-34000000")  # doctest: +SKIP
    >>> SingleEffectsRegressor().fit(genotypes, y)  # doctest: +SKIP
    """

    suffix = ".pgen"

    def _file(self, path: Path) -> "PgenFile":
        return PgenFile(path)


class PgenFile(DosageFile):
    """One .pgen file."""

    def __init__(self, path: Path):
        with opened(path).open("rb") as file:
            head = file.read(3)
        if head[:2] != _MAGIC or len(head) < 3:
            raise ValueError(
                f"{path.name} is no .pgen file of PLINK 2: it begins with {head.hex() or 'nothing'}"
            )
        super().__init__(path, *_people(path), _variants(path))
        reader = self._start()
        found = int(reader.get_raw_sample_ct()), int(reader.get_variant_ct())
        expected = len(self.people.individual), len(self.variants)
        if found != expected:
            raise ValueError(
                f"{path.name} has {found[0]:,} people and {found[1]:,} variants, and the files beside "
                f"it {expected[0]:,} and {expected[1]:,}: they belong to another file"
            )
        self._handle = reader

    def _start(self) -> Any:
        try:
            return pgenlib().PgenReader(
                str(self.path).encode(), raw_sample_ct=len(self.people.individual)
            )
        except RuntimeError as error:
            raise ValueError(f"{self.path.name} cannot be opened: {error}") from error

    def _read(self, handle: Any, at: Array) -> Array:
        several = [name for name in self.variants.counted[at] if "," in name]
        if several:
            place = at[[("," in name) for name in self.variants.counted[at]]][0]
            raise ValueError(
                f"{self.path.name}: {self.variants.name[place]!r} has several ALT alleles "
                f"({several[0]}): leave such variants out with plink2 --max-alleles 2, or split them"
            )
        found = np.empty((len(at), len(self.people.individual)), dtype=np.float32)
        handle.read_dosages_list(at.astype(np.uint32), found)
        found[found < 0] = np.nan
        return found


def pgenlib() -> Any:
    """Return the library that reads .pgen files."""
    try:
        import pgenlib
    except ImportError as error:
        raise ImportError(
            '.pgen files need Pgenlib: run `pip install "garrote[genetics]"`'
        ) from error
    return pgenlib


def _people(path: Path) -> tuple[People, Path]:
    """Read who the rows are, from .psam or .fam; return which it was, too."""
    fam, psam = path.with_suffix(".fam"), path.with_suffix(".psam")
    if not psam.is_file() and fam.is_file():
        return read_people(fam), fam
    header, rows = read_table(beside(path, ".psam"))
    if header is None:
        return read_people(psam), psam
    if "IID" not in header:
        raise ValueError(f"{psam.name} has no column IID")
    individual = np.array([row[header.index("IID")] for row in rows], dtype=object)
    # Without a family PLINK takes it for 0.
    family = np.full(len(rows), "0", dtype=object)
    if "FID" in header:
        family = np.array([row[header.index("FID")] for row in rows], dtype=object)
    return People(family, individual), psam


def _variants(path: Path) -> Variants:
    """Read variants from .pvar or .bim."""
    pvar = path.with_suffix(".pvar")
    if not pvar.is_file():
        if path.with_suffix(".bim").is_file():
            return read_variants(path.with_suffix(".bim"))
        if path.with_suffix(".pvar.zst").is_file():
            raise FileNotFoundError(
                f"{path.with_suffix('.pvar.zst').name} is compressed: write it as text with plink2 "
                f"--zst-decompress {path.stem}.pvar.zst > {path.stem}.pvar"
            )
        return read_variants(beside(path, ".pvar"))
    header, rows = read_table(pvar, most=5)
    if header is None:
        return read_variants(pvar)
    missing = [name for name in ("CHROM", "POS", "ID", "REF", "ALT") if name not in header]
    if missing:
        raise ValueError(f"{pvar.name} has no column {missing[0]}")

    def column(name: str) -> list[str]:
        k = header.index(name)
        return [row[k] for row in rows]

    texts = column("POS")
    bad = next((k for k, text in enumerate(texts) if not text.isdigit()), None)
    if bad is not None:
        raise ValueError(
            f"{pvar.name}: variant {bad + 1} has {texts[bad]!r} where the position in bases is expected"
        )
    chromosome, name, counted, other = (
        np.array(column(which), dtype=object) for which in ("CHROM", "ID", "ALT", "REF")
    )
    return Variants(chromosome, name, np.array(texts, dtype=np.int64), counted, other)
