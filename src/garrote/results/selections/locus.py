"""Variables along a chromosome, or along the columns: how probable each is, alone and among all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.files.json_values import numbers
from garrote.results.credible_sets import CredibleSet
from garrote.summaries import Shown

# Variables of a document's picture, at most; those of sets are always among them.
_MOST = 3000


@dataclass(frozen=True, repr=False)
class Locus(Shown):
    """Where variables are, what is known of each, and which credible sets they belong to.

    Attributes
    ----------
    columns : array of int of shape (n,)
        The variables, from left to right.
    at : array of shape (n,)
        Where they are; their columns' numbers where positions are not known.
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
        if len(self.columns) <= most:
            return self
        inside = np.isin(self.columns, np.concatenate([*self.sets, np.zeros(0, np.intp)]))
        size = np.nan_to_num(np.abs(self.z))
        rank = np.lexsort((-size, -np.round(self.probability, 3), ~inside))
        kept = np.sort(rank[: max(most, int(inside.sum()))])
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
