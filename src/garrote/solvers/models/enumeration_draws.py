"""Models drawn from the sum over all of them: subtrees by their weight, then models of these.

An enumeration keeps the weight of every subtree below the first few variables. What it has beyond the
best models, which are known one by one, is drawn from by walking once more through the subtrees that
draws fall into; the others are passed by.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.solvers.models.elimination import (
    EnumerationSetup,
    Node,
    may_include,
    solve,
    with_next,
    without_next,
)
from garrote.solvers.models.enumeration import Enumeration


def known_one_by_one(found: Enumeration) -> Array:
    """Tell which of the best models are better than any that is not among them."""
    everything = len(found.blocks) == 2 ** len(found.inclusion)
    worst = -np.inf if everything else found.log_weights[-1]
    return np.asarray(found.log_weights > worst)


def beyond_best(found: Enumeration) -> Floats:
    """Return the probability in every block that models known one by one do not have."""
    known = known_one_by_one(found)
    block = (found.models[known] & np.uint64(len(found.blocks) - 1)).astype(np.intp)
    share = np.exp(found.log_weights[known] - found.log_total)
    return np.maximum(found.blocks - np.bincount(block, share, len(found.blocks)), 0.0)


def draw_models(
    rule: Any, root: Node, setup: EnumerationSetup, found: Enumeration, blocks: Array, into: Floats
) -> list[int]:
    """Return bit patterns of models that are not known one by one, in the order of the blocks.

    Parameters
    ----------
    rule, root, setup
        As `garrote.solvers.models.enumeration.begin` makes them.
    found : Enumeration
    blocks : array of int
        The blocks that draws fall into, ascending.
    into : array
        How far into each block the draw fell, as a share of what `beyond_best` has there.
    """
    worst = found.log_weights[-1]
    alone = setup._replace(block_level=-1)  # the weights of blocks are known
    drawn: dict[int, int] = {}
    for node in _nodes(root, setup, np.unique(blocks)):
        _, tally = solve(rule, alone, node, 2 ** (len(node.matrix) - 1), found.blocks)
        order = np.argsort(tally.bits, kind="stable")
        logs = tally.best[order] - worst  # -inf where a model is not allowed
        weight = np.where(logs <= 0.0, np.exp(np.minimum(logs, 0.0)), 0.0)
        ends = np.cumsum(weight)
        if ends[-1] <= 0.0:  # the block has nothing else, but for rounding
            continue
        for k in np.flatnonzero(blocks == node.bits):
            place = int(np.searchsorted(ends, into[k] * ends[-1], side="right"))
            drawn[int(k)] = int(tally.bits[order[min(place, np.flatnonzero(weight)[-1])]])
    return [drawn[k] for k in sorted(drawn)]


def _nodes(node: Node, setup: EnumerationSetup, blocks: Array) -> Iterator[Node]:
    """Walk to the nodes of some blocks."""
    if not len(blocks):
        return
    if node.level == setup.block_level:
        yield node
        return
    inside = (blocks >> node.level) & 1 == 1
    yield from _nodes(without_next(node), setup, blocks[~inside])
    if inside.any() and may_include(node, setup):
        yield from _nodes(with_next(node, setup), setup, blocks[inside])
