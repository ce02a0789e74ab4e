"""The evidence of a model that several responses share, their noises correlated (Brown et al. 1998).

With K responses Y = X_s B + E, rows of E normal with covariance V, B | V matrix normal with variances v
along columns and V along responses, and V improper, p(V) ~ |V|^-(K + 1) / 2,

    log p(Y | s) = -K / 2 log |v X_s'X_s + I| - n / 2 log |Y'Y - Y'X_s (X_s'X_s + I / v)^-1 X_s'Y|,

but for a constant. Of one response it is that under `garrote.priors.GaussianSlab`.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.structured.switch_table import (
    SwitchTable,
    flip,
    prior_gain,
    swap_gain,
    take_out_everyone,
)

# What is left of a response keeps this share of it, whatever a model explains.
_LEAST = 1e-12


class JointMoments(NamedTuple):
    """Cross products of columns, with responses (D x K), of these (K x K), and how many rows."""

    gram: Floats
    xty: Floats
    yty: Floats
    n: float


class Scratch(NamedTuple):
    """Room for the factor of a model, its scores, and what is left of the responses."""

    root: Floats
    scores: Floats
    left: Floats

    @classmethod
    def of(cls, columns: int, responses: int) -> "Scratch":
        """Return room for models of so many columns."""
        return cls(
            np.zeros((columns, columns)),
            np.zeros((columns, responses)),
            np.zeros((responses, responses)),
        )


@kernel
def joint_evidence(data, ridge, members, k, scratch):
    """Return the log evidence of a model of the first ``k`` members."""
    root, scores, left = scratch
    K, log_det = data.xty.shape[1], 0.0
    for a in range(K):
        for b in range(K):
            left[a, b] = data.yty[a, b]
    for a in range(k):
        for b in range(a + 1):
            entry = data.gram[members[a], members[b]]
            for c in range(b):
                entry -= root[a, c] * root[b, c]
            if a == b:
                entry += ridge
                root[a, a] = np.sqrt(max(entry, 1e-300))
                log_det += 2.0 * np.log(root[a, a])
            else:
                root[a, b] = entry / root[b, b]
        for r in range(K):
            value = data.xty[members[a], r]
            for c in range(a):
                value -= root[a, c] * scores[c, r]
            scores[a, r] = value / root[a, a]
        for r in range(K):
            for q in range(K):
                left[r, q] -= scores[a, r] * scores[a, q]
    log_left = 0.0
    for a in range(K):
        for b in range(a + 1):
            entry = left[a, b]
            for c in range(b):
                entry -= left[a, c] * left[b, c]
            if a == b:
                pivot = max(entry, _LEAST * data.yty[a, a])
                log_left += np.log(pivot)
                left[a, a] = np.sqrt(pivot)
            else:
                left[a, b] = entry / left[b, b]
    return 0.5 * K * (k * np.log(ridge) - log_det) - 0.5 * data.n * log_left


@kernel
def weigh_joint_models(data, ridge, members, ends, scratch, logs):
    """Fill in the log evidence of models, which are listed one after another."""
    for m in range(logs.shape[0]):
        own = members[ends[m] : ends[m + 1]]
        logs[m] = joint_evidence(data, ridge, own, own.shape[0], scratch)


@kernel
def walk_joint_models(
    data, ridge, table, members, size, proposals, likely, by_likely, scratch, evidence, moves
):
    """Make Metropolis steps: half flip a switch, half exchange one that is in for one that is out.

    Proposals favour switches by ``likely``, whose sums are ``by_likely``. ``moves`` has two columns, who
    leaves and who comes at each step, -1 for nobody. Returns the log evidence and the size at the end.
    """
    count, room = likely.shape[0], members.shape[0]
    for step in range(proposals.shape[0]):
        moves[step, 0] = moves[step, 1] = -1
        j = min(
            int(np.searchsorted(by_likely, proposals[step, 1] * by_likely[count - 1])), count - 1
        )
        leaves, comes, prior = -1, -1, -np.inf
        if proposals[step, 0] < 0.5:
            prior = prior_gain(table, j)
            if np.isinf(prior):
                continue
            if table.inside[j]:
                leaves, prior = j, -prior
            elif size < room:
                comes = j
        elif size > 0 and not table.inside[j]:
            leaves, comes = members[int(proposals[step, 2] * size)], j
            prior = swap_gain(table, leaves, comes) + np.log(likely[leaves]) - np.log(likely[comes])
        if (leaves < 0 and comes < 0) or prior == -np.inf:
            continue
        place = size
        if leaves >= 0:
            for a in range(size):
                if members[a] == leaves:
                    place = a
            members[place], members[size - 1] = members[size - 1], members[place]
            place = size - 1
        held = members[place] if place < room else -1
        after = size - (leaves >= 0) + (comes >= 0)
        if comes >= 0:
            members[place] = comes
        there = joint_evidence(data, ridge, members, after, scratch)
        if np.log(proposals[step, 3]) < there - evidence + prior:
            evidence, size = there, after
            if leaves >= 0:
                flip(table, leaves)
            if comes >= 0:
                flip(table, comes)
            moves[step, 0], moves[step, 1] = leaves, comes
        elif comes >= 0 and place < room:
            members[place] = held
    return evidence, size


class JointWalk:
    """A walk over models that several responses share, and over the slab's variance."""

    def __init__(self, data: JointMoments, table: SwitchTable, most: int, rng: np.random.Generator):
        self.data, self.table, self.rng = data, table, rng
        count = len(data.xty)
        room = min(most, count)
        self.members = np.full(room, -1, dtype=np.int64)
        self.size = 0
        self.scratch = Scratch.of(room, data.xty.shape[1])
        strength = np.sum(data.xty**2 / np.diag(data.yty), axis=1) / np.diag(data.gram)
        self.likely = 1.0 / count + strength / max(strength.sum(), 1e-300)
        self.by_likely = np.cumsum(self.likely)
        take_out_everyone(self.table)

    def evidence(self, variance: float) -> float:
        """Return the log evidence of the present model."""
        return float(
            joint_evidence(self.data, 1.0 / variance, self.members, self.size, self.scratch)
        )

    def stretch(self, steps: int, variance: float) -> Array:
        """Make steps under a slab of known variance; return who left and who came."""
        moves = np.full((steps, 2), -1, dtype=np.int64)
        _, self.size = walk_joint_models(
            self.data, 1.0 / variance, self.table, self.members, self.size,
            self.rng.random((steps, 4)), self.likely, self.by_likely, self.scratch,
            self.evidence(variance), moves,
        )  # fmt: skip
        return moves
