"""The posterior over all 2^D models, exactly, in a few dozen operations a model.

Variables are taken in turn. To include one is one step of elimination, a rank-one update of the cross
products of those that follow (their Schur complement); to leave it out costs nothing. A subtree with m
variables to go works on m x m numbers, and half of all nodes have m = 0, so that a model costs some
sum of m^2 / 2^m = 6 products on average, whatever D is. Nothing is ever downdated, so nothing cancels.

On the way back up the sums that make the posterior (weights, coefficients, their second moments) are
carried along, each by the same elimination: memory is a few D^3 numbers, not 2^D.

The weight of every subtree below the first few variables is kept too. That is the whole law where there
are no more variables than these, and else tells which subtrees to walk again to draw models from it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.limits.budgets import COLUMNS_PER_CALL
from garrote.priors.evidence import log_evidence, noise_mean, slab_moments
from garrote.solvers.algebra.model_factor import dependent_share

# Variables whose in or out is told apart in the weights of subtrees: a quarter of a megabyte of them.
BLOCK_LEVELS = 15
# Weights are relative to a good model; one better by more than this (in logs) becomes the reference.
_FAR = 500.0


@dataclass(frozen=True)
class Enumeration:
    """The posterior over all models, in the units of the problem.

    ``models`` are bit patterns (bit j for variable j) of the most probable ones, best first, with
    their log weights; ``log_total`` is the log of the sum of all weights. ``blocks`` has the probability
    of every pattern of the first variables: of every model, where there are no others. ``noise`` is the
    mean of the noise variance.
    """

    log_total: float
    inclusion: Floats
    size_probability: Floats
    mean: Floats
    second_moment: Floats
    noise: float
    models: Array
    log_weights: Floats
    blocks: Floats

    @property
    def members(self) -> list[tuple[int, ...]]:
        """The variables of the most probable models."""
        return members_of(self.models, len(self.inclusion))


def members_of(patterns: Array, count: int) -> list[tuple[int, ...]]:
    """Return the variables of models given as bit patterns."""
    return [tuple(j for j in range(count) if int(bits) >> j & 1) for bits in patterns]


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


def enumerate_models(
    rule: Any,
    gram: Floats,
    xty: Floats,
    yty: float,
    by_size: Floats,
    log_odds: Floats,
    *,
    most: int | None = None,
    keep: int = 1000,
    n_jobs: int | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Enumeration:
    """Sum over all models of up to ``most`` variables.

    Parameters
    ----------
    rule : NamedTuple
        A marginal likelihood of `garrote.priors.evidence`.
    gram, xty, yty
        Cross products of the variables and the response.
    by_size : array of shape (D + 1,)
        Log prior of a model of each size.
    log_odds : array of shape (D,)
        Added for each variable that is in.
    keep : int
        How many of the best models to return.
    n_jobs : int, optional
        Threads.
    report : callable, optional
        Called with how many subtrees are done, and of how many.
    """
    root, setup = begin(rule, gram, xty, yty, by_size, log_odds, most)
    while True:
        totals = _no_tally(setup)
        nodes = list(_subtrees(root, setup))
        results = _solve_all(rule, setup, nodes, keep, totals.blocks, n_jobs, report)
        sums, totals = _gather(root, setup, results, totals)
        best = float(totals.best.max())
        if best <= setup.reference + _FAR:
            return _enumeration(sums, totals, setup.reference, keep)
        setup = setup._replace(reference=best)


def begin(
    rule: Any,
    gram: Floats,
    xty: Floats,
    yty: float,
    by_size: Floats,
    log_odds: Floats,
    most: int | None = None,
) -> tuple[Node, EnumerationSetup]:
    """Return the node that all models are below, and what stays the same; see `enumerate_models`."""
    D = len(xty)
    matrix = np.empty((D + 1, D + 1))
    matrix[:D, :D] = gram + rule.ridge * np.eye(D)
    matrix[:D, D] = matrix[D, :D] = xty
    matrix[D, D] = yty
    reference = log_evidence(rule, 0, 0.0, yty) + by_size[0]
    most = D if most is None else min(most, D)
    least_pivot = dependent_share(rule) * np.diag(gram)
    setup = EnumerationSetup(by_size, log_odds, least_pivot, most, reference, _block_level(D))
    return Node(0, 0, 0.0, 0.0, 0, matrix), setup


def _block_level(count: int) -> int:
    """Return how many first variables there are of which every pattern has its models' weights summed.

    -1 for no such sums: kernel calls make them, and these would begin below the last of the variables.
    """
    return min(count, BLOCK_LEVELS) if count - COLUMNS_PER_CALL <= BLOCK_LEVELS else -1


def _no_tally(setup: EnumerationSetup) -> Tally:
    D, level = len(setup.log_odds), setup.block_level
    blocks = np.zeros(2**level if level >= 0 else 0)
    return Tally(np.zeros(D), np.zeros(D + 1), np.zeros(0), np.zeros(0, np.uint64), blocks)


def _subtrees(node: Node, setup: EnumerationSetup) -> Iterator[Node]:
    """Walk the upper levels; yield the nodes below which a kernel call does the rest."""
    if _remaining(node) <= COLUMNS_PER_CALL:
        yield node
        return
    yield from _subtrees(without_next(node), setup)
    if may_include(node, setup):
        yield from _subtrees(with_next(node, setup), setup)


def _solve_all(
    rule: Any,
    setup: EnumerationSetup,
    nodes: list[Node],
    keep: int,
    blocks: Floats,
    n_jobs: int | None,
    report: Callable[[int, int], None] | None,
) -> Iterator[tuple[Sums, Tally]]:
    jobs = min(effective_n_jobs(n_jobs), len(nodes))
    solved = Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
        delayed(solve)(rule, setup, node, keep, blocks) for node in nodes
    )
    for done, result in enumerate(solved):
        if report is not None:
            report(done + 1, len(nodes))
        yield result


def solve(
    rule: Any, setup: EnumerationSetup, node: Node, keep: int, blocks: Floats
) -> tuple[Sums, Tally]:
    """Sum over the models below a node; write the weights of its ``blocks`` into these."""
    m, D = _remaining(node), len(setup.log_odds)
    levels = Sums(np.zeros((m + 1, 5)), np.zeros((m + 1, 2, m)), np.zeros((m + 1, m, m)))
    keep = min(keep, 2**m)
    heap = np.full(keep, -np.inf), np.zeros(keep, np.uint64)
    tally = Tally(np.zeros(D), np.zeros(D + 1), *heap, blocks)
    buffers = np.empty((m + 1, m + 1, m + 1))
    buffers[0] = node.matrix
    node = node._replace(matrix=buffers[0])  # one layout, for which the kernel is compiled once
    _sum_below(rule, setup, node, buffers, levels, tally)
    return Sums(levels.weight[0], levels.first[0], levels.second[0]), tally


def _gather(
    node: Node, setup: EnumerationSetup, results: Iterator[tuple[Sums, Tally]], totals: Tally
) -> tuple[Sums, Tally]:
    """Return the sums below a node and the tally so far, taking subtrees' results in their order."""
    m = _remaining(node)
    if m <= COLUMNS_PER_CALL:
        sums, tally = next(results)
        return sums, Tally(
            totals.inclusion + tally.inclusion,
            totals.by_size + tally.by_size,
            np.concatenate([totals.best, tally.best]),
            np.concatenate([totals.bits, tally.bits]),
            tally.blocks,
        )
    here = Sums(np.zeros(5), np.zeros((2, m)), np.zeros((m, m)))
    below, totals = _gather(without_next(node), setup, results, totals)
    _carry(0, *_padded(below), *here)
    if may_include(node, setup):
        below, totals = _gather(with_next(node, setup), setup, results, totals)
        totals.inclusion[node.level] += below.weight[0]
        _fold(node.matrix, 0, *_padded(below), *here)
    return here, totals


def _padded(sums: Sums) -> Sums:
    """Give the sums of a lower level the indices of the level above."""
    return Sums(
        sums.weight, np.pad(sums.first, ((0, 0), (1, 0))), np.pad(sums.second, ((1, 0), (1, 0)))
    )


def _remaining(node: Node) -> int:
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


def _enumeration(sums: Sums, totals: Tally, reference: float, keep: int) -> Enumeration:
    total = sums.weight[0]
    order = np.argsort(-totals.best, kind="stable")[:keep]
    order = order[np.isfinite(totals.best[order])]
    return Enumeration(
        log_total=float(reference + np.log(total)),
        inclusion=totals.inclusion / total,
        size_probability=totals.by_size / total,
        mean=sums.first[0] / total,
        second_moment=sums.second / total,
        noise=float(sums.weight[4] / total),
        models=totals.bits[order],
        log_weights=totals.best[order],
        blocks=totals.blocks / total,
    )


@kernel
def _carry(at, weight_below, first_below, second_below, weight, first, second):
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
def _fold(matrix, at, weight_below, first_below, second_below, weight, first, second):
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
            _carry(
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
            _fold(
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
