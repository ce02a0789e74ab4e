"""Associations from elsewhere, brought to the variants, the order and the alleles of an LD panel.

A variant is found by chromosome and position where both sides know them, else by name. Its z-score
changes sign where the effect allele is the one that the panel does not count. Alleles that are each
other's complement (A and T, C and G) are the same on both strands, so that nobody can tell whose is
whose: such variants are left out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.summaries import Shown, listing

_COMPLEMENT = str.maketrans("ACGT", "TGCA")
AMBIGUOUS = "alleles of which the strand cannot be told (A and T, C and G)"
MISMATCHED = "other alleles than in the panel"
ABSENT = "not in the panel"
REPEATED = "there more than once"
UNKNOWN = "no z-score"
_NAMED = 3


class Alleles(NamedTuple):
    """What is known of variants: names, places (None where not known) and alleles in capitals.

    ``counted`` is the allele that effects, or genotypes, are of; ``other`` may be "" where not known.
    """

    names: Sequence[str] | Array
    chromosome: Sequence[str] | Array | None
    position: Sequence[int] | Array | None
    counted: Sequence[str] | Array
    other: Sequence[str] | Array


@dataclass(frozen=True, repr=False)
class Aligned(Shown):
    """Z-scores of variants of the panel.

    Attributes
    ----------
    places : array of int
        Which variants of the panel have one, in the panel's order.
    rows : array of int
        The row of each among the associations.
    z : array
        For a copy of the allele that the panel counts.
    turned : int
        How many changed their sign.
    dropped : dict
        Names of associations that were left out, by the reason.
    without : int
        How many variants of the panel have no association.
    """

    places: Array
    rows: Array
    z: Floats
    turned: int
    dropped: Mapping[str, tuple[str, ...]]
    without: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, in sentences."""
        told = [
            f"{len(names):,} associations left out: {reason} ({listing(names, str, _NAMED)})"
            for reason, names in self.dropped.items()
            if names
        ]
        if self.turned:
            told.append(
                f"{self.turned:,} of {len(self.z):,} z-scores changed sign, as the panel counts the "
                "other allele"
            )
        if self.without:
            told.append(
                f"{self.without:,} variants of the panel have no association, and were left out"
            )
        return tuple(told)


def align_alleles(z: Floats, given: Alleles, panel: Alleles) -> Aligned:
    """Bring z-scores to the variants of a panel.

    Parameters
    ----------
    z : array of shape (K,)
        NaN where one is not known.
    given : Alleles of K variants
        ``counted`` are the effect alleles.
    panel : Alleles
    """
    z = np.asarray(z, dtype=np.float64)
    dropped: dict[str, list[str]] = {
        reason: [] for reason in (UNKNOWN, REPEATED, ABSENT, MISMATCHED, AMBIGUOUS)
    }
    keys, known = _keys(given, panel)
    found: dict[int, tuple[int, float]] = {}
    twice = _repeated(given, keys)
    for row, key in enumerate(keys):
        name = str(given.names[row])
        candidates = known.get(key, ())
        if not np.isfinite(z[row]):
            dropped[UNKNOWN].append(name)
        elif row in twice:
            dropped[REPEATED].append(name)
        elif not candidates:
            dropped[ABSENT].append(name)
        else:
            alleles = str(given.counted[row]).upper(), str(given.other[row]).upper()
            signs = [(j, _sign(alleles, _of(panel, j))) for j in candidates]
            fitting = [(j, sign) for j, sign in signs if sign is not None]
            if not fitting:
                dropped[MISMATCHED].append(name)
            elif _ambiguous(_of(panel, fitting[0][0])):
                dropped[AMBIGUOUS].append(name)
            elif len(fitting) > 1 or fitting[0][0] in found:
                dropped[REPEATED].append(name)
            else:
                found[fitting[0][0]] = row, fitting[0][1]
    places = np.array(sorted(found), dtype=np.int64)
    rows = np.array([found[j][0] for j in places.tolist()], dtype=np.int64)
    signs_of = np.array([found[j][1] for j in places.tolist()])
    return Aligned(
        places, rows, z[rows] * signs_of, int((signs_of < 0).sum()),
        {reason: tuple(names) for reason, names in dropped.items()},
        len(panel.names) - len(places),
    )  # fmt: skip


def _of(variants: Alleles, j: int) -> tuple[str, str]:
    return str(variants.counted[j]).upper(), str(variants.other[j]).upper()


def _keys(given: Alleles, panel: Alleles) -> tuple[list[Any], dict[Any, list[int]]]:
    """Return what each association is looked up by, and the panel's variants by that."""
    sides: list[list[Any]] = []
    placed = given.chromosome is not None and given.position is not None
    placed = placed and panel.chromosome is not None and panel.position is not None
    for one in (given, panel):
        if placed:
            assert one.chromosome is not None
            assert one.position is not None
            sides.append(list(zip(one.chromosome, map(int, one.position), strict=True)))
        else:
            sides.append([str(name) for name in one.names])
    known: dict[Any, list[int]] = {}
    for j, key in enumerate(sides[1]):
        known.setdefault(key, []).append(j)
    return sides[0], known


def _repeated(given: Alleles, keys: Sequence[Any]) -> set[int]:
    """Return the rows of variants that are there more than once, with the same two alleles."""
    whole = [(key, *sorted(_of(given, row))) for row, key in enumerate(keys)]
    count = Counter(whole)
    return {row for row, one in enumerate(whole) if count[one] > 1}


def _sign(given: tuple[str, str], panel: tuple[str, str]) -> float | None:
    """Return 1 where the effect allele is the panel's counted one, -1 where the other, None if neither.

    Strands may differ. An allele that is not known fits any.
    """
    for effect, other in (given, tuple(one.translate(_COMPLEMENT) for one in given)):
        for sign, (counted, left) in ((1.0, panel), (-1.0, panel[::-1])):
            if effect == counted and other in ("", left):
                return sign
    return None


def _ambiguous(alleles: tuple[str, str]) -> bool:
    return alleles[0].translate(_COMPLEMENT) == alleles[1]
