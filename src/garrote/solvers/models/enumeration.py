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
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from garrote.arrays import Array, Floats
from garrote.limits.budgets import COLUMNS_PER_CALL
from garrote.priors.evidence import log_evidence
from garrote.solvers.algebra.model_factor import dependent_share
from garrote.solvers.models.elimination import (
    EnumerationSetup,
    Node,
    Sums,
    Tally,
    carry,
    fold,
    may_include,
    remaining,
    solve,
    with_next,
    without_next,
)

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
    if remaining(node) <= COLUMNS_PER_CALL:
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


def _gather(
    node: Node, setup: EnumerationSetup, results: Iterator[tuple[Sums, Tally]], totals: Tally
) -> tuple[Sums, Tally]:
    """Return the sums below a node and the tally so far, taking subtrees' results in their order."""
    m = remaining(node)
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
    carry(0, *_padded(below), *here)
    if may_include(node, setup):
        below, totals = _gather(with_next(node, setup), setup, results, totals)
        totals.inclusion[node.level] += below.weight[0]
        fold(node.matrix, 0, *_padded(below), *here)
    return here, totals


def _padded(sums: Sums) -> Sums:
    """Give the sums of a lower level the indices of the level above."""
    return Sums(
        sums.weight, np.pad(sums.first, ((0, 0), (1, 0))), np.pad(sums.second, ((1, 0), (1, 0)))
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
