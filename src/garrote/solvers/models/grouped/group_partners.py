"""Groups that stand in for each other: which of them may be exchanged on a walk."""

import numpy as np

from garrote.arrays import Array
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.solvers.algebra.gram_rows import GramRows

# Partners share at least this much: the mean of their squared canonical correlations.
_SHARED = 0.4
# A group has about so many partners, at most.
_FEW = 8


def group_partners(rows: GramRows, law: InclusionOfGroups) -> tuple[Array, Array]:
    """Return pairs of groups that resemble each other, both ways; none where X'X is not at hand.

    Columns of one group are orthogonal to each other, as rotated ones are.
    """
    none = np.zeros(0, np.int64)
    columns = np.concatenate([law.columns(g) for g in range(len(law))])
    if len(rows.rows) < len(rows.slot) or len(law) < 2:
        return none, none
    sizes = np.bincount(law.of_column[columns], minlength=len(law))
    first = np.cumsum([0, *sizes[:-1]])
    gram = rows.rows[np.ix_(columns, columns)]
    length = np.sqrt(np.diag(gram))
    shared = np.square(gram / np.outer(length, length))
    shared = np.add.reduceat(np.add.reduceat(shared, first, axis=0), first, axis=1)
    shared /= np.minimum(sizes[:, None], sizes)
    np.fill_diagonal(shared, 0.0)
    best = -np.sort(-shared, axis=1)[:, : _FEW + 1]
    enough = np.maximum(best[:, -1] * (best.shape[1] > _FEW), _SHARED)
    alike = shared >= enough[:, None]
    owner, partner = np.nonzero(alike | alike.T)
    return owner.astype(np.int64), partner.astype(np.int64)
