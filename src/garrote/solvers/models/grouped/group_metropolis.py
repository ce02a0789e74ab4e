"""Metropolis sampling of sets of groups by random flips and swaps (Murphy 2012, section 13.2.3.2).

Half of the proposals flip one group; the others exchange one that is in for one that is out. Both are
scored from the factor of the present model, and refused where the prior does not allow the other set.
"""

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.structured.switch_table import prior_gain, swap_gain
from garrote.solvers.algebra.factor_updates import invert_root
from garrote.solvers.models.grouped.group_odds import (
    gain_of_coming,
    gain_of_leaving,
    gain_of_swap,
    is_inside,
    take_stock,
)
from garrote.solvers.models.grouped.group_walk import (
    GroupWalk,
    come_group,
    count_groups,
    leave_group,
)
from garrote.solvers.models.model_chain import Averages


class GroupMetropolisWalk(GroupWalk):
    """A walk that proposes one flip or swap of groups at a time."""

    def log_weight(self, rule: object, factor: object) -> float:
        """Return 0: the walk's target is the posterior."""
        return 0.0

    def stretch(self, steps: int, averages: Averages | None) -> tuple[Array, Floats]:
        """Make steps with the slab's variance as it is; return flips and logs of weights."""
        proposals = self.rng.random((steps, 4))
        flips = np.full(2 * self.widest * steps + 1, -1, np.int64)
        weights = np.zeros(len(flips))
        done = used = stays = 0
        missing = 0
        while done < steps or missing >= 0:
            made, more, missing = _walk(
                self.rule, self.table, self.factor, self.inverse, self.rows.rows, self.rows.slot,
                proposals[done:], self.unused if averages is None else averages,
                averages is not None, flips[used:], weights[used:], stays,
            )  # fmt: skip
            done, used, stays = done + made, used + more, 1
            if missing >= 0:
                for j in self.law.columns(missing):
                    self.add(int(j))
        with np.errstate(divide="ignore"):  # states on the way of a move have no weight
            return flips[:used], np.log(weights[:used])


@kernel
def _propose(rule, table, factor, inverse, random):
    """Return the group that is to leave, or -1, the one that is to come, and the log ratio."""
    k, count = factor.size[0], table.first.shape[0] - 1
    g = int(random[1] * count)
    take_stock(factor, table)
    size, inside = table.switches.size[0], is_inside(factor, table, g)
    if random[0] < 0.5:
        prior = prior_gain(table.switches, g)
        if np.isinf(prior):
            return -1, -1, -np.inf
        if inside:
            return g, -1, gain_of_leaving(factor, rule, table, g, k, inverse) - prior
        return -1, g, gain_of_coming(factor, rule, table, g, k) + prior
    if inside or size == 0:
        return -1, -1, -np.inf
    # Members and others are taken evenly: a swap and its way back are equally likely.
    wanted, leaves = int(random[2] * size), -1
    for other in range(count):
        if is_inside(factor, table, other):
            if wanted == 0:
                leaves = other
            wanted -= 1
    prior = swap_gain(table.switches, leaves, g)
    if prior == -np.inf:
        return -1, -1, -np.inf
    return leaves, g, prior + gain_of_swap(factor, rule, table, leaves, g, k, inverse)


@kernel
def _count(rule, table, factor, inverse, averages, stays):
    """Count the present state as often as it was stayed in."""
    count_groups(factor, rule, table, inverse, averages, stays)
    for a in range(factor.size[0]):
        averages.inclusion[factor.members[a]] += stays


@kernel
def _walk(
    rule, table, factor, inverse, gram, slot, proposals, averages, counts, flips, weights, stays
):
    """Make the proposals, or as many as there are until rows of the Gram matrix are missing.

    ``stays`` tells how often the present state counts so far. Returns how many were made, how many
    entries of ``flips`` and ``weights`` were filled in, and the group whose rows are missing, or -1.
    """
    used = 0
    invert_root(factor.root, inverse, factor.size[0])
    for step in range(proposals.shape[0]):
        leaves, comes, log_ratio = _propose(rule, table, factor, inverse, proposals[step])
        if not np.log(proposals[step, 3]) < log_ratio:
            stays += 1
            continue
        if counts:
            _count(rule, table, factor, inverse, averages, stays)
        weights[used] = stays
        stays = 1
        if leaves >= 0:
            used = leave_group(factor, table, leaves, flips, used)
        if comes >= 0:
            used, there = come_group(factor, table, comes, gram, slot, flips, used)
            if not there:
                return step + 1, used, comes
        invert_root(factor.root, inverse, factor.size[0])
    if counts:
        _count(rule, table, factor, inverse, averages, stays)
    weights[used], flips[used] = stays, -1
    return proposals.shape[0], used + 1, -1
