"""Genotypes of BGEN files: probabilities of each genotype, of which dosages are expectations."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.genotypes.dosages import DosageDesign, DosageFile
from garrote.designs.genotypes.plink_files import opened, read_table
from garrote.designs.genotypes.variants import People, Variants


class BgenDesign(DosageDesign):
    """Dosages in .bgen files in place of X, read by cbgen.

    A column is the expected number of copies of the variant's second allele, from 0 to 2, under the
    file's probabilities, phased or not; of somebody with a single chromosome it is twice that. A call
    that is missing stands for the mean of those of the column that are not, among the rows of this
    design. Variants of more than two alleles are refused.

    Opening reads where variants are, and every product decodes the columns anew, some at a time. Where
    all calls are certain, `packed` returns them in memory in 2 bits each, and products are many times
    faster.

    Parameters
    ----------
    files : path, or sequence of paths
        With a .sample file beside each, unless the file itself names its people. Several files, a
        chromosome each, have the same people in the same order.
    keep, variants, region, min_frequency
        As for `PlinkDesign`.

    Attributes
    ----------
    names, variants, people, missing, frequency
        As for `PlinkDesign`.

    Examples
    --------
    >>> from garrote import SingleEffectsRegressor
    >>> from garrote.designs import BgenDesign
    >>> genotypes = BgenDesign("chr6.bgen", region="6:25000000-34000000")  # doctest: +SKIP
    >>> SingleEffectsRegressor().fit(genotypes, y)  # doctest: +SKIP
    """

    suffix = ".bgen"

    def _file(self, path: Path) -> "BgenFile":
        return BgenFile(path)


class BgenFile(DosageFile):
    """One .bgen file, with where each variant begins."""

    def __init__(self, path: Path):
        with opened(path).open("rb") as file:
            head = file.read(20)
        if len(head) < 20 or head[16:20] not in (b"bgen", b"\0\0\0\0"):
            raise ValueError(f"{path.name} is no .bgen file: its header does not say so")
        self.path = path
        handle = self._start()
        people, source = _people(path, handle)
        if len(people.individual) != handle.nsamples:
            raise ValueError(
                f"{path.name} has {handle.nsamples:,} people, and {source.name} "
                f"{len(people.individual):,}: it belongs to another file"
            )
        variants, self._offsets, self._alleles = _variants(handle)
        super().__init__(path, people, source, variants)
        self._handle = handle

    def _start(self) -> Any:
        try:
            return cbgen().bgen_file(self.path)
        except RuntimeError as error:
            raise ValueError(
                f"{self.path.name} cannot be opened: it is cut off, or no .bgen"
            ) from error

    def _read(self, handle: Any, at: Array) -> Array:
        several = np.flatnonzero(self._alleles[at] != 2)
        if len(several):
            place = at[several[0]]
            raise ValueError(
                f"{self.path.name}: {self.variants.name[place]!r} has {self._alleles[place]} alleles: "
                "leave such variants out, or split them"
            )
        found = np.empty((len(at), len(self.people.individual)))
        for k, place in enumerate(at):
            call = handle.read_genotype(int(self._offsets[place]))
            found[k] = _dosage(call, f"{self.path.name}: {self.variants.name[place]!r}")
        return found


def _dosage(call: Any, label: str) -> Floats:
    """Return expected copies of the second allele; somebody with one chromosome has 0 to 2, too."""
    ploidy, given = np.asarray(call.ploidy), call.probability
    if ((ploidy > 2) | (ploidy < 1)).any():
        raise ValueError(
            f"{label} has people with {ploidy.max()} chromosomes of a kind: at most 2 are read"
        )
    if call.phased:  # of each chromosome, the probability of each allele
        two = given[:, 1] + given[:, 3] if given.shape[1] > 2 else 2.0 * given[:, 1]
    else:
        two = given[:, 1] + 2.0 * given[:, 2] if given.shape[1] > 2 else 2.0 * given[:, 1]
    dosage = np.where(ploidy == 1, 2.0 * given[:, 1], two)
    return np.where(call.missing, np.nan, dosage)


def cbgen() -> Any:
    """Return the library that reads .bgen files."""
    try:
        import cbgen
    except ImportError as error:
        raise ImportError(
            '.bgen files need cbgen: run `pip install "garrote[genetics]"`'
        ) from error
    return cbgen


def _people(path: Path, handle: Any) -> tuple[People, Path]:
    """Read who the rows are, from a .sample file beside or the file itself; return which, too."""
    sample, source = path.with_suffix(".sample"), path
    if sample.is_file():
        source = sample
        header, rows = read_table(sample, named=True)
        names = [name.upper() for name in header or ()]
        rows = rows[1:]  # what kind of column each is
        if names[:2] == ["ID_1", "ID_2"]:
            family, individual = ([row[k] for row in rows] for k in (0, 1))
        elif names[:1] == ["ID"]:
            family = individual = [row[0] for row in rows]
        else:
            raise ValueError(f"{sample.name} begins with neither ID_1 and ID_2 nor ID")
    elif handle.contain_samples:
        family = individual = [name.decode() for name in handle.read_samples()]
    else:
        raise FileNotFoundError(
            f"{path.name} does not name its people, and {sample.name} is missing beside it"
        )
    people = People(np.array(family, dtype=object), np.array(individual, dtype=object))
    return people, source


def _variants(handle: Any) -> tuple[Variants, Array, Array]:
    """Return variants, where each begins in the file, and how many alleles it has."""
    with TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        handle.create_metafile(index, verbose=False)
        with cbgen().bgen_metafile(index) as told:
            parts = [told.read_partition(k).variants for k in range(told.npartitions)]

    def column(name: str) -> list[str]:
        return [text.decode() for part in parts for text in getattr(part, name)]

    alleles = [text.split(",") for text in column("allele_ids")]
    chromosome, name, first, second = (
        np.array(texts, dtype=object)
        for texts in (
            column("chromosome"),
            [rs or own for rs, own in zip(column("rsid"), column("id"), strict=True)],
            [pair[0] for pair in alleles],
            [pair[1] if len(pair) > 1 else "" for pair in alleles],
        )
    )
    position = np.concatenate([part.position for part in parts]).astype(np.int64)
    offsets = np.concatenate([part.offset for part in parts])
    counts = np.concatenate([part.nalleles for part in parts])
    return Variants(chromosome, name, position, second, first), offsets, counts
