"""Metropolis sampling of models by flips and swaps (Murphy 2012, section 13.2.3.2).

Half of the proposals flip one variable, taken at random; the others exchange one that is in for one that
is out, which flips alone would have to do by way of a worse model. Both are scored from the factor of
the present model: k operations for a swap, one for a newcomer.
"""

from typing import Any

import numpy as np

from garrote._jit import generic, kernel
from garrote.arrays import Array, Floats
from garrote.priors.evidence import noise_mean, slab_moments
from garrote.solvers.algebra.factor_updates import invert_root
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.algebra.model_factor import ModelFactor, member_coefficient
from garrote.solvers.models.factor_kinds import (
    enter,
    leave,
    member_log_odds,
    newcomer_log_odds,
    turn,
)
from garrote.solvers.models.factor_walk import FactorWalk
from garrote.solvers.models.model_chain import Averages, Target

# The share of steps that draw a sign anew, where members have signs.
TURNS = 0.25


class MetropolisWalk(FactorWalk):
    """A walk that proposes one flip or swap at a time."""

    def __init__(self, target: Target, rng: np.random.Generator, rows: GramRows | None = None):
        super().__init__(target, rng, rows)
        self.usable = np.flatnonzero(target.problem.curvature > 0)

    def stretch(self, steps: int, averages: Averages | None) -> tuple[Array, Floats]:
        """Make steps with the slab's variance as it is; return flips and logs of weights."""
        proposals = self.rng.random((steps, 4))
        coins = self._coins(proposals[:, 0])
        flips, weights = np.full(2 * steps + 1, -1, np.int64), np.zeros(2 * steps + 1)
        done = used = stays = missing = 0
        while done < steps or missing >= 0:
            made, more, missing = _walk(
                self.rule, self.data, self.factor, self.inverse, self.usable,
                self.unused if averages is None else averages, self.rows.rows, self.rows.slot,
                proposals[done:], coins[done:], flips[used:], weights[used:], averages is not None,
                stays,
            )  # fmt: skip
            done, used = done + made, used + more
            if missing >= 0:
                self.add(missing)
            stays = 1
        with np.errstate(divide="ignore"):  # states on the way of a swap have no weight
            return flips[:used], np.log(weights[:used])


@generic
def count_state(
    factor: Any, rule: Any, inverse: Floats, averages: Averages, stays: int, k: int
) -> None:
    """Count the present state as often as it was stayed in."""


@generic
def takes_turn(factor: Any, rule: Any, coin: float) -> bool:
    """Tell by a coin whether a step draws a sign anew, in place of proposing another model."""
    raise TypeError(f"no signs are registered for {type(factor).__name__}")


@takes_turn.register
def _(factor: ModelFactor, rule, coin):
    return False


@generic
def turning(factor: Any, rule: Any, inverse: Floats, coin: float) -> int:
    """Draw the sign of one member anew; return it where that is the other sign, and else -1."""
    raise TypeError(f"no signs are registered for {type(factor).__name__}")


@turning.register
def _(factor: ModelFactor, rule, inverse, coin):
    return -1


@kernel(inline=True)
def _propose(rule, data, factor, inverse, usable, random):
    """Return the variable that is to leave, or -1, the one that is to come in, and the log ratio."""
    k = factor.size[0]
    j = usable[int(random[1] * usable.shape[0])]
    place = factor.place[j]
    leaves, comes, log_ratio = -1, -1, -np.inf
    if random[0] < 0.5:
        if place >= 0:
            leaves = j
            log_ratio = -member_log_odds(factor, rule, data, inverse, place, k)
            log_ratio += data.by_size[k - 1] - data.by_size[k]
        elif k < data.by_size.shape[0] - 1:
            comes = j
            log_ratio = newcomer_log_odds(factor, rule, data, inverse, -1, j, k)
            log_ratio += data.by_size[k + 1] - data.by_size[k]
    elif k > 0 and place < 0:
        # Members and others are taken evenly: a swap and its way back are equally likely.
        a = int(random[2] * k)
        leaves, comes = factor.members[a], j
        log_ratio = newcomer_log_odds(factor, rule, data, inverse, a, j, k - 1)
        log_ratio -= member_log_odds(factor, rule, data, inverse, a, k)
    return leaves, comes, log_ratio


@count_state.register
def _(factor: ModelFactor, rule, inverse, averages, stays, k):
    f1, f2, f3 = slab_moments(rule, k, factor.left[0])
    averages.weight[0] += stays
    averages.by_size[k] += stays
    averages.noise[0] += stays * noise_mean(rule, k, factor.left[0])
    for a in range(k):
        j = factor.members[a]
        weight, spread = member_coefficient(factor, inverse, a, k)
        averages.inclusion[j] += stays
        averages.mean[j] += stays * f1 * weight
        averages.square[j] += stays * (f2 * weight * weight + f3 * spread)


@kernel
def _walk(
    rule, data, factor, inverse, usable, averages, gram, slot, proposals, coins, flips, weights,
    counts, stays,
):  # fmt: skip
    """Make the proposals, or as many as there are until a row of the Gram matrix is missing.

    ``stays`` tells how often the present state counts so far. Returns how many were made, how many
    entries of ``flips`` and ``weights`` were filled in, and the variable whose row is missing, or -1:
    the caller takes it in, and has stayed there once.
    """
    used = 0
    invert_root(factor.root, inverse, factor.size[0])
    for step in range(proposals.shape[0]):
        turned, leaves, comes, log_ratio = -1, -1, -1, 0.0
        # A coin decides beforehand: whether a proposal is refused depends on the signs, and turning one
        # after refusals alone would favour some.
        if takes_turn(factor, rule, coins[step]):
            turned = turning(factor, rule, inverse, coins[step])
            if turned < 0:
                stays += 1
                continue
        else:
            leaves, comes, log_ratio = _propose(
                rule, data, factor, inverse, usable, proposals[step]
            )
            # Between two models without probability there is no ratio: that is no move either.
            if not np.log(proposals[step, 3]) < log_ratio:
                stays += 1
                continue
        if counts:
            count_state(factor, rule, inverse, averages, stays, factor.size[0])
        weights[used] = stays
        stays = 1
        if turned >= 0:
            turn(factor, turned, inverse)
            flips[used] = -1
            used += 1
            continue
        if leaves >= 0:
            leave(factor, leaves)
            flips[used] = leaves
            used += 1
            weights[used] = 0.0
        if comes >= 0:
            flips[used] = comes
            used += 1
            if slot[comes] < 0 or factor.size[0] == factor.rows.shape[0]:
                return step + 1, used, comes
            enter(factor, rule, gram[slot[comes]], comes, (coins[step] - TURNS) / (1.0 - TURNS))
        invert_root(factor.root, inverse, factor.size[0])
    if counts:
        count_state(factor, rule, inverse, averages, stays, factor.size[0])
    weights[used], flips[used] = stays, -1
    return proposals.shape[0], used + 1, -1
