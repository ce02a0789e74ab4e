"""Variables along a chromosome, or along the columns: how probable each is, alone and among all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from garrote.arrays import Array, Floats
from garrote.files.json_values import numbers
from garrote.results.credible_sets import CredibleSet
from garrote.summaries import Shown

# Variables of a document's picture, at most; those of sets are always among them.
_MOST = 3000
# What a table calls the places and alleles of variants.
PLACES = ("chromosome", "position", "allele", "other allele")
# Between two chromosomes of one picture, as a share of all of them.
_GAP = 0.01


def minus_log_p(z: Floats) -> Floats:
    """Return -log10 of the two-sided p-values of z-scores."""
    return np.asarray(-(log_ndtr(-np.abs(z)) + np.log(2.0)) / np.log(10.0))


@dataclass(frozen=True, repr=False)
class Locus(Shown):
    """Where variables are, what is known of each, and which credible sets they belong to.

    Attributes
    ----------
    columns : array of int of shape (n,)
        The variables, from left to right.
    at : array of shape (n,)
        Where they are; their columns' numbers where positions are not known. NaN of a column that has
        no place among the others, and is not drawn.
    probability, z : array of shape (n,)
        Inclusion probabilities, and z-scores of variables one by one; NaN where not known.
    sets : tuple of arrays of int
        The columns of each credible set.
    """

    columns: Array
    at: Floats
    probability: Floats
    z: Floats
    sets: tuple[Array, ...]

    @classmethod
    def of(
        cls,
        at: Floats,
        probability: Floats,
        z: Floats | None,
        sets: Sequence[CredibleSet],
    ) -> "Locus":
        """Bring all variables into the order of their positions."""
        order = np.argsort(at, kind="stable")
        known = np.full(len(at), np.nan) if z is None else z
        members = tuple(one.variables for one in sets)
        return cls(order, at[order], probability[order], known[order], members)

    def thinned(self, most: int = _MOST) -> "Locus":
        """Return no more than so many: those in sets, then the most probable, then the largest |z|."""
        there = np.isfinite(self.at)
        if not there.all():
            return self._some(np.flatnonzero(there)).thinned(most)
        if len(self.columns) <= most:
            return self
        inside = np.isin(self.columns, np.concatenate([*self.sets, np.zeros(0, np.intp)]))
        size = np.nan_to_num(np.abs(self.z))
        rank = np.lexsort((-size, -np.round(self.probability, 3), ~inside))
        kept = np.sort(rank[: max(most, int(inside.sum()))])
        return self._some(kept)

    def _some(self, kept: Array) -> "Locus":
        """Return some of the points."""
        return Locus(
            self.columns[kept], self.at[kept], self.probability[kept], self.z[kept], self.sets
        )

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return it as plain values, with names of the variables."""
        return {
            "variables": [names[j] for j in self.columns],
            "positions": [int(j) for j in self.columns],
            "at": numbers(self.at, 12),
            "probability": numbers(self.probability, 4),
            "z": numbers(self.z, 4),
        }


@dataclass(frozen=True, repr=False)
class Placed(Shown):
    """Chromosome, position and alleles of every variable; "" and -1 of one that is no variant.

    Attributes
    ----------
    chromosome : tuple of str
    position : array of int
        In bases.
    counted, other : tuple of str
        Effects are for a copy of the allele ``counted`` in place of ``other``.
    """

    chromosome: tuple[str, ...]
    position: Array
    counted: tuple[str, ...]
    other: tuple[str, ...]

    @classmethod
    def of(cls, variants: Any, more: int = 0) -> "Placed":
        """Take those of `garrote.designs.genotypes.Variants`, and of some columns more that are none."""
        texts = (variants.chromosome, variants.counted, variants.other)
        chromosome, counted, other = ((*map(str, column), *[""] * more) for column in texts)
        position = np.concatenate([variants.position, np.full(more, -1)]).astype(np.int64)
        return cls(chromosome, position, counted, other)

    @property
    def at(self) -> Floats:
        """Where variants are on one axis: positions, with several chromosomes one after the other.

        NaN of what is no variant.
        """
        at = np.where(self.position >= 0, self.position, np.nan).astype(np.float64)
        names = [name for name in dict.fromkeys(self.chromosome) if name]
        if len(names) < 2:
            return at
        chromosome, begins = np.array(self.chromosome, dtype=object), 0.0
        gap = _GAP * sum(np.nanmax(at[chromosome == name]) for name in names)
        for name in names:
            inside = chromosome == name
            at[inside] += begins
            begins = float(np.nanmax(at[inside])) + gap
        return at

    def to_dict(self, j: int) -> dict[str, Any] | None:
        """Return those of one variable as plain values; None where it is no variant."""
        if self.position[j] < 0:
            return None
        return {
            "chromosome": self.chromosome[j],
            "position": int(self.position[j]),
            "counted": self.counted[j],
            "other": self.other[j],
        }

    def words(self, j: int) -> str:
        """Say where a variable is, and its alleles, the counted one last; "" if it is no variant."""
        if self.position[j] < 0:
            return ""
        where = f"{self.chromosome[j]}:{self.position[j]:,}"
        return f" ({where} {self.other[j]}>{self.counted[j]})"

    def columns(self, j: int) -> dict[str, Any]:
        """Return those of one variable as cells of a table."""
        found = self.to_dict(j)
        return dict(zip(PLACES, found.values() if found else [None] * len(PLACES), strict=True))
