"""Models that represent a posterior over models: the most probable ones, and a sample of the others.

Posteriors keep the law of the coefficients in so many models as there is room for. Were these the most
probable alone, draws, predictive deviations, correlations and credible sets would know no others, and be
too sure. So models drawn from all others follow: see `garrote.solvers.models.representatives`. Credible
sets need no laws of coefficients, and are made from a longer list (`Components`).
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import scipy.sparse

from garrote.arrays import Array, Floats
from garrote.solvers.models.enumeration import members_of
from garrote.solvers.models.representatives import represent
from garrote.solvers.models.scored_models import ModelList

# Models that are listed, and drawn from the others, with the laws of their coefficients, at most: fewer
# where the best have all of the probability but a share, or where covariances have many entries ...
MOST_LISTED, MOST_DRAWN = 500, 1000
LEFT_OUT = 1e-4
_ENTRIES = 4_000_000
# ... and never less than this many in all.
_FEW = 200
# Models that have to be fitted to the rows once more for their laws, listed and drawn.
MOST_FITTED = 200, 400
# In how many models variables are looked up, at most: half of them the best, half drawn.
_MOST_COMPONENTS = 2**15

Members = tuple[int, ...]


class Representatives(NamedTuple):
    """Weighted models that represent the whole posterior; the first ``listed`` are the most probable."""

    members: tuple[Members, ...]
    probability: Floats
    listed: int

    @property
    def best(self) -> "Representatives":
        """The most probable models alone."""
        first = self.listed
        return Representatives(self.members[:first], self.probability[:first], first)


class Components(NamedTuple):
    """In which models variables are, a row of ``inside`` for each, and weights; the last were drawn."""

    inside: scipy.sparse.csr_array
    weight: Floats
    drawn: int


def room(
    sizes: Floats, probability: Floats, most: tuple[int, int] | None = None
) -> tuple[int, int]:
    """Return how many models to list, and to draw, of given sizes; at most so many of both."""
    listed, drawn = most or (MOST_LISTED, MOST_DRAWN)
    entries = float(probability @ (np.asarray(sizes) + 1.0) ** 2 / probability.sum())
    share = max(min(1.0, _ENTRIES / entries / (listed + drawn)), _FEW / (listed + drawn))
    return int(share * listed), int(share * drawn)


def represent_known(
    members: Sequence[Members],
    probability: Floats,
    n_features: int,
    most: tuple[int, int] | None = None,
) -> tuple[Representatives, Components]:
    """Choose among models that are known one by one, best first."""
    known = members if isinstance(members, ModelList) else ModelList.of(members)
    sizes = known.sizes
    kept = represent(probability, *room(sizes, probability, most), sizes, LEFT_OUT)
    representatives = Representatives(
        tuple(members[k] for k in kept.chosen), kept.weight, kept.listed
    )
    wide = represent(probability, _MOST_COMPONENTS // 2, _MOST_COMPONENTS // 2, order=sizes)
    inside = membership([members[k] for k in wide.chosen], n_features)
    return representatives, Components(inside, wide.weight, len(wide.weight) - wide.listed)


def represent_all(
    probability: Floats, usable: Array, n_features: int, most: tuple[int, int] | None = None
) -> tuple[Representatives, Components]:
    """Choose among all models of the usable columns, by the probability of every bit pattern."""
    patterns = np.argsort(-probability, kind="stable")[: np.count_nonzero(probability)]
    share, inside = probability[patterns], _unpacked(patterns, len(usable))
    sizes = inside.sum(axis=1)
    kept = represent(share, *room(sizes, share, most), sizes, LEFT_OUT)
    chosen = members_of(patterns[kept.chosen], len(usable))
    representatives = Representatives(in_columns(chosen, usable), kept.weight, kept.listed)
    wide = represent(share, _MOST_COMPONENTS // 2, _MOST_COMPONENTS // 2, order=sizes)
    rows, places = np.nonzero(inside[wide.chosen])
    shape = (len(wide.chosen), n_features)
    there = scipy.sparse.csr_array((np.ones(len(rows), bool), (rows, usable[places])), shape)
    return representatives, Components(there, wide.weight, len(wide.weight) - wide.listed)


def in_columns(members: Sequence[Members], usable: Array) -> tuple[Members, ...]:
    """Return models of usable columns by the places of these among all."""
    return tuple(tuple(int(usable[j]) for j in model) for model in members)


def membership(members: Sequence[Members], n_features: int) -> scipy.sparse.csr_array:
    """Return a table of who is in which model."""
    ends = np.concatenate([[0], np.cumsum([len(model) for model in members])]).astype(np.int64)
    columns = np.fromiter(chain.from_iterable(members), np.int64, int(ends[-1]))
    there = np.ones(len(columns), dtype=bool)
    return scipy.sparse.csr_array((there, columns, ends), (len(members), n_features))


def _unpacked(patterns: Array, count: int) -> Array:
    return (patterns[:, None] >> np.arange(count)) & 1 == 1
