"""Associations of variants with a trait, as PLINK, SAIGE, regenie and GWAS-SSF write them, beside LD."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.designs.genotypes import GenotypeDesign, Variants, is_genotypes, open_genotypes
from garrote.designs.genotypes.plink_files import read_variants
from garrote.designs.genotypes.variants import plain_chromosomes
from garrote.designs.standardized import StandardizedDesign
from garrote.limits.memory import free_memory
from garrote.results.selections.locus import Placed
from garrote.tables.errors import TableError
from garrote.tables.formats.base import TableFile
from garrote.tables.formats.opening import with_table
from garrote.tables.formats.whole_columns import plain_name, read_numbers, read_texts
from garrote.tables.zscores import read_ld
from garrote.zscores.alleles import Aligned, Alleles, align_alleles

# Of each kind the columns of place, the allele that effects are of and the other one.
_CHROMOSOME = ("chrom", "chr", "chromosome")
_POSITION = ("genpos", "pos", "bp", "base_pair_location", "position")
_NAME = ("rsid", "id", "snp", "markerid", "variant_id", "snpid", "markername", "name")
_EFFECT, _ERROR = ("beta",), ("se", "standard_error", "stderr", "log(or)_se")
_RATIO = ("or", "odds_ratio")
_Z = ("z", "z_stat", "zscore", "z_score", "t_stat", "stat")
_SAMPLES = ("n", "obs_ct", "nmiss", "n_total", "neff", "n_eff")
# GWAS-SSF; regenie, whose effects are of ALLELE1; SAIGE, whose are of Allele2; PLINK 2, which names the
# effect's as A1 beside REF and ALT; PLINK 1, which may have the other as A2.
_ALLELES = (("effect_allele", "other_allele"), ("allele1", "allele0"), ("allele2", "allele1"),
            ("a1", "ref/alt"), ("a1", "a2"), ("a1", None), ("alt", "ref"))  # fmt: skip
# Correlations of so many variants are 3 GB.
_MOST_VARIANTS = 20_000


class Associations(NamedTuple):
    """One association a variant."""

    z: Floats
    alleles: Alleles
    samples: Floats | None
    notes: tuple[str, ...]
    label: str


@dataclass(frozen=True)
class AlignedLD:
    """Z-scores, correlations and the number of samples, as `fit_zscores` takes them.

    Attributes
    ----------
    z, ld : arrays of shape (D,) and (D, D)
    n : float or None
        The median of the associations' samples; None where the file does not state them.
    names : tuple of str
    placed : Placed
        Chromosomes, positions and alleles.
    aligned : Aligned
        What was left out, and which signs changed.
    notes : tuple of str
        The same in sentences.
    """

    z: Floats
    ld: Floats
    n: float | None
    names: tuple[str, ...]
    placed: Placed
    aligned: Aligned
    notes: tuple[str, ...]


def read_gwas(
    source: str, panel: str | Sequence[str], region: str | Sequence[str] | None = None
) -> AlignedLD:
    """Read associations, and LD of the same variants from a panel, with the panel's alleles.

    Parameters
    ----------
    source : str
        A table with columns as PLINK 1 and 2, SAIGE, regenie or GWAS-SSF name them.
    panel : str, or several
        Genotypes (``.bed``, ``.pgen``, ``.bgen``), or one file of correlations with a ``.bim`` of the
        same name beside it.
    region : str or sequence of str, optional
        Such as "6:25000000-34000000".
    """
    found = read_associations(source)
    files = [panel] if isinstance(panel, str) else list(panel)
    genotypes = None
    if is_genotypes(files[0]):
        genotypes = open_genotypes(files, region=region)
        variants, places = genotypes.variants, np.arange(genotypes.shape[1])
    else:
        variants = read_variants(bim_beside(files[0]))
        places = np.arange(len(variants))
        if region is not None:
            places = np.flatnonzero(
                variants.within([region] if isinstance(region, str) else region)
            )
    there = variants.some(places)
    aligned = align_alleles(found.z, found.alleles, _alleles(there))
    notes = list(found.notes)
    if genotypes is not None:
        aligned, left = _without_constants(aligned, genotypes)
        if left:
            notes.append(f"{left:,} variants do not vary in the panel, and were left out")
    if not len(aligned.places):
        raise TableError(
            f"{found.label} and {Path(files[0]).name} have no variant in common that can be used: "
            + ("; ".join(aligned.notes) or "neither has any")
        )
    kept = there.some(aligned.places)
    ld = _correlations(genotypes, aligned.places) if genotypes is not None else (
        _given_correlations(files[0], len(variants), places[aligned.places])
    )  # fmt: skip
    n = None
    if found.samples is not None:
        samples = found.samples[aligned.rows]
        samples = samples[np.isfinite(samples)]
        n = float(np.median(samples)) if len(samples) else None
        if n is not None and samples.min() < samples.max():
            notes.append(
                f"the associations have {samples.min():g} to {samples.max():g} samples; their median, "
                f"{n:g}, stands for all"
            )
    return AlignedLD(
        aligned.z, ld, n, kept.labels, Placed.of(kept), aligned, (*notes, *aligned.notes)
    )


def bim_beside(ld: str) -> Path:
    """Return the .bim file of the same name as an LD matrix, which has to be there."""
    path = Path(ld).with_suffix(".bim")
    if not path.is_file():
        raise TableError(
            f"{Path(ld).name} has no {path.name} beside it, which tells its variants and alleles: "
            "write one (PLINK --make-just-bim), or give the genotypes (.bed) of the panel"
        )
    return path


def read_associations(source: str) -> Associations:
    """Read z-scores with places, alleles and samples; see `read_gwas` for the kinds of files."""
    return with_table(source, _read)


def _read(table: TableFile) -> Associations:
    place = {plain_name(name): j for j, name in reversed(list(enumerate(table.names)))}

    def find(words: Sequence[str]) -> int | None:
        return next((place[word] for word in words if word in place), None)

    notes: list[str] = []
    rows = _additive(table, place.get("test"), notes)
    z = _zscores(table, find)[rows]
    effect, other = _two_alleles(table, place)
    chromosome, position = find(_CHROMOSOME), find(_POSITION)
    name = find(_NAME)
    if name is None and (chromosome is None or position is None):
        raise TableError(
            f"{table.label} has neither names nor places of variants: it needs a column ID, "
            "or CHROM and POS"
        )
    places = names = None
    if chromosome is not None and position is not None:
        at = read_numbers(table, position)[rows]
        at = np.where(np.isfinite(at), at, -1).astype(np.int64)
        places = plain_chromosomes(np.array(read_texts(table, chromosome), dtype=object)[rows]), at
    if name is not None:
        names = np.array(read_texts(table, name), dtype=object)[rows]
    else:
        assert places is not None
        names = np.array([f"{c}:{p}" for c, p in zip(*places, strict=True)], dtype=object)
    samples = find(_SAMPLES)
    chromosomes, positions = (None, None) if places is None else places
    alleles = Alleles(names, chromosomes, positions, effect[rows], other[rows])
    counted = None if samples is None else read_numbers(table, samples)[rows]
    return Associations(z, alleles, counted, tuple(notes), table.label)


def _additive(table: TableFile, test: int | None, notes: list[str]) -> Array:
    """Return the rows of additive effects: files of PLINK and regenie may have others between them."""
    if test is None:
        return np.arange(len(read_texts(table, 0)))
    tests = np.array(read_texts(table, test), dtype=object)
    rows = np.flatnonzero(tests == "ADD")
    if not len(rows):
        raise TableError(f"{table.label} has no row of the test ADD in its column TEST")
    if len(rows) < len(tests):
        notes.append(
            f"{len(tests) - len(rows):,} rows of {table.label} are of other tests than ADD"
        )
    return rows


def _zscores(table: TableFile, find: Callable[[Sequence[str]], int | None]) -> Floats:
    effect, error, ratio, z = find(_EFFECT), find(_ERROR), find(_RATIO), find(_Z)
    if error is not None and (effect is not None or ratio is not None):
        spread = read_numbers(table, error)
        if effect is not None:
            values = read_numbers(table, effect)
        else:
            assert ratio is not None
            values = read_numbers(table, ratio)
            values = np.log(np.where(values > 0, values, np.nan))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(spread > 0, values / spread, np.nan)
    if z is not None:
        return read_numbers(table, z)
    raise TableError(
        f"{table.label} has no effects with standard errors (BETA and SE, or OR and its SE), and no "
        f"z-scores (Z, Z_STAT, T_STAT, STAT): it has the columns {', '.join(table.names[:12])}"
    )


def _two_alleles(table: TableFile, place: dict[str, int]) -> tuple[Array, Array]:
    """Return the alleles that effects are of, and the others, "" where the file has none."""
    for effect, other in _ALLELES:
        both = (
            {"ref", "alt"} <= place.keys()
            if other == "ref/alt"
            else other is None or other in place
        )
        if effect not in place or not both:
            continue
        effects = _column(table, place[effect])
        if other == "ref/alt":
            reference, alternative = (_column(table, place[name]) for name in ("ref", "alt"))
            return effects, np.where(effects == reference, alternative, reference)
        nothing = np.full(len(effects), "", dtype=object)
        return effects, nothing if other is None else _column(table, place[other])
    raise TableError(
        f"{table.label} has no column of the effect's allele, such as A1, ALLELE1 or effect_allele: "
        "signs of z-scores mean nothing without it"
    )


def _column(table: TableFile, column: int) -> Array:
    return np.array([text.strip().upper() for text in read_texts(table, column)], dtype=object)


def _alleles(variants: Variants) -> Alleles:
    return Alleles(
        variants.name,
        variants.plain_chromosome,
        variants.position,
        variants.counted,
        variants.other,
    )


def _without_constants(aligned: Aligned, genotypes: GenotypeDesign) -> tuple[Aligned, int]:
    """Leave out variants that have no correlations."""
    frequency = genotypes.frequency[aligned.places]
    deviation = genotypes.pick(aligned.places).moments(np.ones(genotypes.shape[0])).deviation
    varies = np.isfinite(frequency) & (deviation > 0)
    if varies.all():
        return aligned, 0
    kept = replace(
        aligned, places=aligned.places[varies], rows=aligned.rows[varies], z=aligned.z[varies]
    )
    return kept, int((~varies).sum())


def _correlations(genotypes: GenotypeDesign, places: Array) -> Floats:
    _refuse_many(len(places))
    n = genotypes.shape[0]
    design = StandardizedDesign(genotypes.pick(places), np.ones(n))
    found = design.whole_gram() / n
    np.fill_diagonal(found, 1.0)
    return found


def _given_correlations(ld: str, count: int, places: Array) -> Floats:
    whole = read_ld(ld).values
    if whole.shape != (count, count):
        raise TableError(
            f"{Path(ld).name} has shape {whole.shape}, and the .bim beside it {count:,} variants"
        )
    return np.ascontiguousarray(whole[np.ix_(places, places)])


def _refuse_many(count: int) -> None:
    free = free_memory()
    if count > _MOST_VARIANTS or (free is not None and 16 * count**2 > free):
        raise TableError(
            f"correlations of {count:,} variants need {8e-9 * count**2:.1f} GB: name a region"
        )
