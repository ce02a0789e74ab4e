"""What a model's evidence gains by a group of columns: one that comes, leaves, or takes another's place.

All is read from the factor of the present model (`garrote.solvers.algebra.model_factor`). Beside it a
group that is out has cross products of its own, less what the model explains of them; one that is in has
a block V of the inverse and coefficients w, and leaving gives back w'V^-1 w of the response. A swap is
both: what a group that leaves explained of the other is given back to that.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.evidence import log_evidence, log_evidence_ratio
from garrote.priors.grouped_inclusion import InclusionOfGroups
from garrote.priors.structured.switch_table import SwitchTable, flip, listed, take_out_everyone
from garrote.problem import Problem
from garrote.solvers.algebra.factor_updates import factor_column
from garrote.solvers.algebra.model_factor import dependent_share


class GroupTable(NamedTuple):
    """Groups and what is believed of them, in arrays: group g has ``columns[first[g] : first[g + 1]]``.

    ``blocks`` are the groups' own cross products, one after another from ``block[g]`` on; ``switches``
    is the prior on sets of groups. The last five are scratch, as large as the largest group.
    """

    first: Array
    columns: Array
    length: Floats
    block: Array
    blocks: Floats
    switches: SwitchTable
    square: Floats
    beside: Floats
    cross: Floats
    vector: Floats
    other: Floats


def group_table(problem: Problem, law: InclusionOfGroups) -> GroupTable:
    """Return the groups of a problem for kernels."""
    columns = [law.columns(g) for g in range(len(law))]
    sizes = [len(members) for members in columns]
    blocks = [
        np.diag(problem.curvature[members]) if len(members) == 1 else problem.known_block(members)
        for members in columns
    ]
    widest = max(sizes, default=1)
    square, beside, cross = np.zeros((3, widest, widest))
    vector, other = np.zeros((2, widest))
    return GroupTable(
        *listed(columns), problem.curvature,
        np.cumsum([0, *(size**2 for size in sizes)]).astype(np.int64),
        np.concatenate([np.zeros(0), *(members.ravel() for members in blocks)]),
        law.table(), square, beside, cross, vector, other,
    )  # fmt: skip


@kernel(inline=True)
def is_inside(factor, table, g):
    """Tell whether a group is in the model."""
    return factor.place[table.columns[table.first[g]]] >= 0


@kernel
def take_stock(factor, table):
    """Make the present set of the prior that of the model."""
    take_out_everyone(table.switches)
    for g in range(table.first.shape[0] - 1):
        if is_inside(factor, table, g):
            flip(table.switches, g)


@kernel
def _beyond(factor, table, g, k):
    """Fill in what a group that is out has beyond the model: cross products, and with the response."""
    first, r = table.first[g], table.first[g + 1] - table.first[g]
    for a in range(r):
        one = table.columns[first + a]
        table.vector[a] = factor.product[one]
        for b in range(a):
            two = table.columns[first + b]
            entry = table.blocks[table.block[g] + b * r + a]
            for m in range(k):
                entry -= factor.rows[m, one] * factor.rows[m, two]
            table.square[b, a] = entry
        table.square[a, a] = factor.pivot[one]


@kernel
def _factorised(rule, table, g):
    """Return the log determinant of a group's cross products and what it explains; NaN if dependent."""
    first, r = table.first[g], table.first[g + 1] - table.first[g]
    square, vector, least = table.square, table.vector, dependent_share(rule)
    log_det, drop = 0.0, 0.0
    for a in range(r):
        pivot = factor_column(square, a, square[a, a])
        if not pivot > least * table.length[table.columns[first + a]]:
            return np.nan, 0.0
        square[a, a] = np.sqrt(pivot)
        for b in range(a):
            vector[a] -= square[b, a] * vector[b]
        vector[a] /= square[a, a]
        drop += vector[a] * vector[a]
        log_det += np.log(pivot)
    return log_det, drop


@kernel
def gain_of_coming(factor, rule, table, g, k):
    """Return by how much the log evidence rises with a group; -inf if it depends on those in."""
    r, left = table.first[g + 1] - table.first[g], factor.left[0]
    if r == 1:
        j = table.columns[table.first[g]]
        pivot = factor.pivot[j]
        if not pivot > dependent_share(rule) * table.length[j]:
            return -np.inf
        return log_evidence_ratio(rule, k, left, pivot, factor.product[j] ** 2 / pivot)
    _beyond(factor, table, g, k)
    log_det, drop = _factorised(rule, table, g)
    if np.isnan(log_det):
        return -np.inf
    more = log_evidence(rule, k + r, log_det, max(left - drop, 0.0))
    return more - log_evidence(rule, k, 0.0, left) if more > -np.inf else -np.inf


@kernel
def _give_back(factor, table, g, k, inverse):
    """Factorise a member group's block of the inverse; return its log determinant, and what it explains.

    The factor is left in ``beside``, and what it makes of the group's coefficients in ``other``.
    """
    first, r = table.first[g], table.first[g + 1] - table.first[g]
    beside, other = table.beside, table.other
    log_det, drop = 0.0, 0.0
    for a in range(r):
        one = factor.place[table.columns[first + a]]
        weight = 0.0
        for m in range(one, k):
            weight += inverse[one, m] * factor.scores[m]
        for b in range(a + 1):
            two = factor.place[table.columns[first + b]]
            entry = 0.0
            for m in range(max(one, two), k):
                entry += inverse[one, m] * inverse[two, m]
            beside[b, a] = entry
        pivot = max(factor_column(beside, a, beside[a, a]), 1e-300)
        beside[a, a] = np.sqrt(pivot)
        for b in range(a):
            weight -= beside[b, a] * other[b]
        other[a] = weight / beside[a, a]
        drop += other[a] * other[a]
        log_det += np.log(pivot)
    return log_det, drop


@kernel
def gain_of_leaving(factor, rule, table, g, k, inverse):
    """Return by how much the log evidence rises without a group that is in."""
    log_det, drop = _give_back(factor, table, g, k, inverse)
    left, r = factor.left[0], table.first[g + 1] - table.first[g]
    now = log_evidence(rule, k, 0.0, left)
    return log_evidence(rule, k - r, log_det, left + drop) - now if now > -np.inf else np.inf


@kernel
def gain_of_swap(factor, rule, table, i, j, k, inverse):
    """Return by how much the log evidence rises where a group j takes the place of a group i."""
    log_det, drop = _give_back(factor, table, i, k, inverse)
    first_i, first_j = table.first[i], table.first[j]
    ri, rj = table.first[i + 1] - first_i, table.first[j + 1] - first_j
    _beyond(factor, table, j, k)
    beside, other, cross = table.beside, table.other, table.cross
    for c in range(rj):
        column = table.columns[first_j + c]
        for a in range(ri):
            one = factor.place[table.columns[first_i + a]]
            entry = 0.0
            for m in range(one, k):
                entry += inverse[one, m] * factor.rows[m, column]
            for b in range(a):
                entry -= beside[b, a] * cross[b, c]
            cross[a, c] = entry / beside[a, a]
            table.vector[c] += cross[a, c] * other[a]
        for d in range(c + 1):
            for a in range(ri):
                table.square[d, c] += cross[a, c] * cross[a, d]
    more_det, more = _factorised(rule, table, j)
    if np.isnan(more_det):
        return -np.inf
    left = factor.left[0]
    there = log_evidence(rule, k - ri + rj, log_det + more_det, max(left + drop - more, 0.0))
    return there - log_evidence(rule, k, 0.0, left) if there > -np.inf else -np.inf
