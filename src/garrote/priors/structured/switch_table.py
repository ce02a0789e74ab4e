"""A law over switches as kernels know it: what one switch adds to the log prior, beside the others.

The parts are those of `garrote.priors.structured.ties`, with counts of the present set, so that a gain
costs no more than a switch has neighbours, parents and children.
"""

from math import lgamma
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.structured.ties import Ties, strong


class SwitchTable(NamedTuple):
    """Parts of a prior in arrays, and the present set.

    Block b has the rates from ``first[b]`` on; links are listed for both of their ends; parents,
    children and links of switch g lie from ``..._first[g]`` to ``..._first[g + 1]``, and what a child
    has by how many parents are in from ``parent_first[g] + g`` on. The last five are the present set:
    who is in, how many of all and of each block, how many blocks have any, how many parents each has
    in, and transitions from out to out, out to in, in to out and in to in.
    """

    by_size: Floats
    log_odds: Floats
    block: Array
    first: Array
    rates: Floats
    by_active: Floats
    link_first: Array
    linked: Array
    coupling: Floats
    parent_first: Array
    parents: Array
    child_first: Array
    children: Array
    log_in: Floats
    log_out: Floats
    before: Array
    after: Array
    transitions: Floats
    inside: Array
    size: Array
    in_block: Array
    parents_in: Array
    steps: Array


def switch_table(
    by_size: Floats, log_odds: Floats, parents: tuple[Array, ...], ties: Ties | None
) -> SwitchTable:
    """Return a prior over sets of switches for kernels; without ties heredity is strong."""
    count = len(log_odds)
    ties = (Ties(count) if ties is None else ties).fully()
    heredity = ties.heredity or tuple(strong(above) for above in parents)
    children = [np.array([c for c in range(count) if g in parents[c]], int) for g in range(count)]
    owner = np.concatenate([ties.links[:, 0], ties.links[:, 1]])
    other = np.concatenate([ties.links[:, 1], ties.links[:, 0]])
    order = np.argsort(owner, kind="stable")
    after = np.full(count, -1)
    known = np.flatnonzero(np.asarray(ties.before) >= 0)
    after[np.asarray(ties.before)[known]] = known
    return SwitchTable(
        np.asarray(by_size, float), np.asarray(log_odds, float), _whole(ties.block),
        _whole(np.cumsum([0, *map(len, ties.rates)])),
        np.concatenate([np.zeros(0), *ties.rates]), np.asarray(ties.by_active, float),
        _whole(np.searchsorted(owner[order], np.arange(count + 1))), _whole(other[order]),
        np.tile(ties.coupling, 2)[order],
        *listed(parents), *listed(children),
        np.concatenate([np.zeros(0), *(table[0] for table in heredity)]),
        np.concatenate([np.zeros(0), *(table[1] for table in heredity)]),
        _whole(ties.before), _whole(after),
        np.array(ties.transitions or (), dtype=np.float64),
        np.zeros(count, np.int64), np.zeros(2, np.int64), np.zeros(len(ties.rates), np.int64),
        np.zeros(count, np.int64), np.zeros(4, np.int64),
    )  # fmt: skip


def listed(lists: Any) -> tuple[Array, Array]:
    """Return where each list begins, and all of them one after another."""
    ends = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return ends, np.concatenate([np.zeros(0), *lists]).astype(np.int64)


def _whole(values: Any) -> Array:
    return np.ascontiguousarray(values, dtype=np.int64)


@kernel
def take_out_everyone(table):
    """Make the present set the empty one."""
    table.inside[:] = 0
    table.size[:] = 0
    table.in_block[:] = 0
    table.parents_in[:] = 0
    table.steps[:] = 0
    table.steps[0] = table.inside.shape[0]


@kernel
def flip(table, g):
    """Take a switch in, or out if it is in."""
    comes = 1 - 2 * table.inside[g]
    if table.transitions.shape[0]:
        _count_steps(table, g, -1)
    table.inside[g] += comes
    if table.transitions.shape[0]:
        _count_steps(table, g, 1)
    table.size[0] += comes
    b = table.block[g]
    if b >= 0:
        if table.in_block[b] == 0:
            table.size[1] += 1
        table.in_block[b] += comes
        if table.in_block[b] == 0:
            table.size[1] -= 1
    for a in range(table.child_first[g], table.child_first[g + 1]):
        table.parents_in[table.children[a]] += comes


@kernel(inline=True)
def _count_steps(table, g, sign):
    """Add the transitions to a switch, and on from it, to those of the present set."""
    was = table.inside[table.before[g]] if table.before[g] >= 0 else 0
    table.steps[2 * was + table.inside[g]] += sign
    if table.after[g] >= 0:
        table.steps[2 * table.inside[g] + table.inside[table.after[g]]] += sign


@kernel
def prior_gain(table, g):
    """Return the log prior with a switch in, less that without; the others are as they are."""
    own = table.inside[g]
    size = table.size[0] - own
    gain = table.log_odds[g] + table.by_size[size + 1] - table.by_size[size]
    b = table.block[g]
    if b >= 0:
        there, active = table.in_block[b] - own, table.size[1]
        if own == 1 and there == 0:
            active -= 1
        gain += table.rates[table.first[b] + there + 1] - table.rates[table.first[b] + there]
        if there == 0:
            gain += table.by_active[active + 1] - table.by_active[active]
    for a in range(table.link_first[g], table.link_first[g + 1]):
        if table.inside[table.linked[a]]:
            gain += table.coupling[a]
    place = table.parent_first[g] + g + table.parents_in[g]
    gain += table.log_in[place] - table.log_out[place]
    for a in range(table.child_first[g], table.child_first[g + 1]):
        c = table.children[a]
        place = table.parent_first[c] + c + table.parents_in[c] - own
        if table.inside[c]:
            gain += table.log_in[place + 1] - table.log_in[place]
        else:
            gain += table.log_out[place + 1] - table.log_out[place]
    if table.transitions.shape[0]:
        gain += _gain_of_steps(table, g)
    return gain


@kernel
def swap_gain(table, i, j):
    """Return the log prior with j in the place of i, less the present; -inf where there is no way.

    Both sets are reached from that without either, which has to be possible too.
    """
    leaving = prior_gain(table, i)
    if leaving == np.inf:
        return -np.inf
    flip(table, i)
    coming = prior_gain(table, j)
    flip(table, i)
    return coming - leaving


@kernel
def _gain_of_steps(table, g):
    """Return what transitions add where a switch is in, less what they add where it is out."""
    was = table.inside[table.before[g]] if table.before[g] >= 0 else 0
    then = table.inside[table.after[g]] if table.after[g] >= 0 else -1
    s, t = table.steps, table.transitions
    n00, n01, n10, n11 = float(s[0]), float(s[1]), float(s[2]), float(s[3])
    # Without the steps of the present state of g.
    own = table.inside[g]
    first, second = 2 * was + own, 2 * own + then
    n00 -= (first == 0) + (then >= 0 and second == 0)
    n01 -= (first == 1) + (then >= 0 and second == 1)
    n10 -= (first == 2) + (then >= 0 and second == 2)
    n11 -= (first == 3) + (then >= 0 and second == 3)
    out01, out00 = n01 + (then == 1), n00 + (then == 0)
    out10, out11 = n10, n11
    in01, in00, in10, in11 = n01, n00, n10 + (then == 0), n11 + (then == 1)
    if was == 1:
        out10 += 1.0
        in11 += 1.0
    else:
        out00 += 1.0
        in01 += 1.0
    gain = _log_beta(t[0] + in01, t[1] + in00) - _log_beta(t[0] + out01, t[1] + out00)
    return gain + _log_beta(t[2] + in11, t[3] + in10) - _log_beta(t[2] + out11, t[3] + out10)


@kernel(inline=True)
def _log_beta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)
