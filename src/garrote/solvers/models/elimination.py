"""All models below a node, summed by elimination: a variable at a time is left out, then taken in.

A node is a model of some of the first variables, with the cross products of the others beside it. The
walk below it needs no memory beyond one matrix a level, and is one kernel call.
"""

from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.evidence import log_evidence, noise_mean, slab_moments


class EnumerationSetup(NamedTuple):
    """What stays the same during an enumeration: priors, limits, and what weights are relative to.

    A column whose pivot is not above ``least_pivot`` adds nothing to those in the model.
    """

    by_size: Floats
    log_odds: Floats
    least_pivot: Floats
    most: int
    reference: float
    block_level: int


class Node(NamedTuple):
    """A model of some of the first variables, and the cross products of the others beside it.

    ``matrix`` is the Schur complement for the variables from ``level`` on and, last, the response.
    """

    level: int
    size: int
    log_det: float
    log_prior: float
    bits: int
    matrix: Floats


class Sums(NamedTuple):
    """Sums over the models below a node, for the variables from its level on.

    ``weight`` holds the sums of p, p f1, p f2, p f3 and of p times the noise variance, ``first`` those
    of p f1 v and p f2 v, ``second`` that of p (f2 vv' + f3 V); see `garrote.priors.evidence` for f, v
    and V.
    """

    weight: Floats
    first: Floats
    second: Floats


class Tally(NamedTuple):
    """What is counted over the models of one subtree, wherever they are in it.

    ``best`` and ``bits`` are a heap of the best models, the worst of them at its root. ``blocks``, which
    all subtrees share, has the weights of the models below each pattern of the first variables.
    """

    inclusion: Floats
    by_size: Floats
    best: Floats
    bits: Array
    blocks: Floats


def remaining(node: Node) -> int:
    """Return how many variables follow a node."""
    return len(node.matrix) - 1


def without_next(node: Node) -> Node:
    """Leave the next variable out."""
    return node._replace(level=node.level + 1, matrix=node.matrix[1:, 1:])


def may_include(node: Node, setup: EnumerationSetup) -> bool:
    """Tell whether the next variable has something of its own, and the model is not full."""
    independent = node.matrix[0, 0] > setup.least_pivot[node.level]
    return node.size < setup.most and bool(independent)


def with_next(node: Node, setup: EnumerationSetup) -> Node:
    """Take the next variable in."""
    pivot, row = node.matrix[0, 0], node.matrix[0, 1:]
    return Node(
        node.level + 1,
        node.size + 1,
        node.log_det + float(np.log(pivot)),
        node.log_prior + float(setup.log_odds[node.level]),
        node.bits | (1 << node.level),
        node.matrix[1:, 1:] - np.outer(row, row) / pivot,
    )


def solve(
    rule: Any, setup: EnumerationSetup, node: Node, keep: int, blocks: Floats
) -> tuple[Sums, Tally]:
    """Sum over the models below a node; write the weights of its ``blocks`` into these."""
    m, D = remaining(node), len(setup.log_odds)
    levels = Sums(np.zeros((m + 1, 5)), np.zeros((m + 1, 2, m)), np.zeros((m + 1, m, m)))
    keep = min(keep, 2**m)
    heap = np.full(keep, -np.inf), np.zeros(keep, np.uint64)
    tally = Tally(np.zeros(D), np.zeros(D + 1), *heap, blocks)
    buffers = np.empty((m + 1, m + 1, m + 1))
    buffers[0] = node.matrix
    node = node._replace(matrix=buffers[0])  # one layout, for which the kernel is compiled once
    _sum_below(rule, setup, node, buffers, levels, tally)
    return Sums(levels.weight[0], levels.first[0], levels.second[0]), tally


@kernel
def carry(at, weight_below, first_below, second_below, weight, first, second):
    """Set the sums of level ``at`` to those of the models without its variable."""
    m = first.shape[1]
    for a in range(5):
        weight[a] = weight_below[a]
    for a in range(2):
        first[a, at] = 0.0
        for i in range(at + 1, m):
            first[a, i] = first_below[a, i]
    for i in range(at, m):
        second[at, i] = 0.0
        second[i, at] = 0.0
    for i in range(at + 1, m):
        for j in range(at + 1, m):
            second[i, j] = second_below[i, j]


@kernel
def fold(matrix, at, weight_below, first_below, second_below, weight, first, second):
    """Add the models with variable ``at``, whose v is (z - row v) / pivot, given those below it."""
    m = first.shape[1]
    pivot, z = matrix[at, at], matrix[at, m]
    for a in range(5):
        weight[a] += weight_below[a]
    for a in range(2):
        along = 0.0
        for i in range(at + 1, m):
            along += matrix[at, i] * first_below[a, i]
            first[a, i] += first_below[a, i]
        first[a, at] += (z * weight_below[1 + a] - along) / pivot
    along = across = 0.0
    for i in range(at + 1, m):
        product = 0.0
        for j in range(at + 1, m):
            product += matrix[at, j] * second_below[i, j]
            second[i, j] += second_below[i, j]
        mixed = (z * first_below[1, i] - product) / pivot
        second[at, i] += mixed
        second[i, at] += mixed
        along += matrix[at, i] * first_below[1, i]
        across += matrix[at, i] * product
    square = (z * z * weight_below[2] - 2.0 * z * along + across) / (pivot * pivot)
    second[at, at] += square + weight_below[3] / pivot


@kernel(inline=True)
def _weigh_model(rule, setup, size, log_det, left, log_prior, bits, weight, tally):
    """Set the sums of one model, and count it."""
    log_weight = log_evidence(rule, size, log_det, left)
    log_weight += setup.by_size[size] + log_prior
    p = np.exp(log_weight - setup.reference)
    f1, f2, f3 = slab_moments(rule, size, left)
    weight[0] = p
    weight[1] = p * f1
    weight[2] = p * f2
    weight[3] = p * f3
    weight[4] = p * noise_mean(rule, size, left)
    tally.by_size[size] += p
    if log_weight > tally.best[0]:
        _replace_worst(tally.best, tally.bits, log_weight, bits)


@kernel(inline=True)
def _eliminate(matrix, at, inner):
    """Set ``inner`` to the Schur complement of those that follow, variable ``at`` taken in."""
    for i in range(at + 1, matrix.shape[0]):
        share = matrix[at, i] / matrix[at, at]
        for j in range(at + 1, matrix.shape[0]):
            inner[i, j] = matrix[i, j] - share * matrix[at, j]


@kernel
def _sum_below(rule, setup, node, buffers, levels, tally):
    """Walk all models below a node, leaving a variable out before taking it in."""
    m = levels.first.shape[2]
    block = setup.block_level - node.level
    visits = np.zeros(m + 1, np.int64)
    log_dets = np.zeros(m + 1)
    level, included, bits, log_prior = 0, 0, np.uint64(node.bits), node.log_prior
    log_dets[0] = node.log_det
    while level >= 0:
        if level == m:
            _weigh_model(
                rule, setup, node.size + included, log_dets[included],
                max(buffers[included, m, m], 0.0), log_prior, bits, levels.weight[m], tally,
            )  # fmt: skip
            if block == m:
                tally.blocks[bits] = levels.weight[m, 0]
            level -= 1
            continue
        column = node.level + level
        visits[level] += 1
        matrix = buffers[included]
        if visits[level] == 1:  # leave it out: the matrix of those below is a part of this one
            level += 1
        elif visits[level] == 2:  # back from there
            carry(
                level, levels.weight[level + 1], levels.first[level + 1], levels.second[level + 1],
                levels.weight[level], levels.first[level], levels.second[level],
            )  # fmt: skip
            pivot = matrix[level, level]
            if node.size + included < setup.most and pivot > setup.least_pivot[column]:
                _eliminate(matrix, level, buffers[included + 1])
                log_dets[included + 1] = log_dets[included] + np.log(pivot)
                log_prior += setup.log_odds[column]
                bits |= np.uint64(1) << np.uint64(column)
                included += 1
                level += 1
            else:
                if level == block:
                    tally.blocks[bits] = levels.weight[level, 0]
                visits[level] = 0
                level -= 1
        else:  # back from the models with it
            included -= 1
            log_prior -= setup.log_odds[column]
            bits &= ~(np.uint64(1) << np.uint64(column))
            tally.inclusion[column] += levels.weight[level + 1, 0]
            fold(
                buffers[included], level,
                levels.weight[level + 1], levels.first[level + 1], levels.second[level + 1],
                levels.weight[level], levels.first[level], levels.second[level],
            )  # fmt: skip
            if level == block:
                tally.blocks[bits] = levels.weight[level, 0]
            visits[level] = 0
            level -= 1


@kernel
def _replace_worst(values, bits, value, pattern):
    """Put a model in the place of the worst of the heap, and sink it to where it belongs."""
    size = values.shape[0]
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and values[child + 1] < values[child]:
            child += 1
        if values[child] >= value:
            break
        values[hole], bits[hole] = values[child], bits[child]
        hole = child
    values[hole], bits[hole] = value, pattern
