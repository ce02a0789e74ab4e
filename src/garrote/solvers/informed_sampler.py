"""Weighted tempered Gibbs sampling over models (Zanella & Roberts 2019).

From a model every one of its D neighbours, one variable more or less, is scored; one is moved to, with
probability in proportion to (p_j + exploration / D) / P(state of j | the others), p_j being the
probability that j is in given the others. The chain leaves improbable states at once and the state's
weight 1 / Z, Z the sum of those rates, makes the averages right. They are taken of the p_j themselves
(Rao-Blackwell), so that one step tells something of every variable.

Scores come from the Cholesky factor R of G + ridge I on the model's variables, its rows U = R^-T G for
all columns, and what they leave of every column's length (``pivot``) and product with the response
(``product``). A step costs one row of U for a variable more, and a few rotations of its rows for one less.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.priors.evidence import evidence_ratio, log_evidence, slab_moments
from garrote.priors.inclusion import Inclusion
from garrote.solvers.gram_rows import GramRows

# Steps in one kernel call, at most, in column visits: some 20 ms, so that Ctrl-C is heard.
_VISITS_PER_CALL = 2e6
# A column whose pivot is below this share of its length adds nothing to those in the model.
_DEPENDENT = 1e-9


class Factor(NamedTuple):
    """A model: its variables in order of their coming, and the factor that scores its neighbours."""

    members: Array
    place: Array
    count: Array
    root: Floats
    rows: Floats
    scores: Floats
    pivot: Floats
    product: Floats
    left: Floats


class Rates(NamedTuple):
    """Of every variable: the probability to be in given the others, its coefficient then, the rate."""

    inclusion: Floats
    mean: Floats
    square: Floats
    rate: Floats


class Averages(NamedTuple):
    """Weighted sums over the states seen: of 1, of the weights' squares, and of the rates' values."""

    weight: Floats
    inclusion: Floats
    mean: Floats
    square: Floats
    by_size: Floats


class Data(NamedTuple):
    """What stays the same: lengths and products of the columns, priors, exploration."""

    length: Floats
    xty: Floats
    yty: float
    by_size: Floats
    odds: Floats
    exploration: float


@kernel
def _begin(data, ridge, factor):
    """Make the factor that of the empty model."""
    factor.count[0] = 0
    factor.left[0] = data.yty
    for j in range(data.length.shape[0]):
        factor.place[j] = -1
        factor.pivot[j] = data.length[j] + ridge
        factor.product[j] = data.xty[j]


@kernel
def _add(gram_row, j, factor):
    """Take variable j in: one more row of U."""
    k = factor.count[0]
    scale = 1.0 / np.sqrt(factor.pivot[j])
    new = factor.rows[k]
    for i in range(new.shape[0]):
        new[i] = gram_row[i]
    for a in range(k):
        share = factor.rows[a, j]
        factor.root[a, k] = share
        row = factor.rows[a]
        for i in range(new.shape[0]):
            new[i] -= share * row[i]
    factor.root[k, k] = 1.0 / scale
    score = factor.product[j] * scale
    for i in range(new.shape[0]):
        new[i] *= scale
        factor.pivot[i] -= new[i] * new[i]
        factor.product[i] -= new[i] * score
    factor.scores[k] = score
    factor.left[0] = max(factor.left[0] - score * score, 0.0)
    factor.members[k] = j
    factor.place[j] = k
    factor.count[0] = k + 1


@kernel
def _remove(j, factor):
    """Leave variable j out: rotate its row to the end of U, and give back what it took."""
    k = factor.count[0]
    start = factor.place[j]
    root, rows = factor.root, factor.rows
    for a in range(start, k - 1):
        # Columns move one to the left; a rotation of rows a and a + 1 makes the root triangular again.
        for b in range(a + 2):
            root[b, a] = root[b, a + 1]
        size = np.hypot(root[a, a], root[a + 1, a])
        c, s = root[a, a] / size, root[a + 1, a] / size
        root[a, a], root[a + 1, a] = size, 0.0
        for b in range(a + 2, k):
            upper, lower = root[a, b], root[a + 1, b]
            root[a, b], root[a + 1, b] = c * upper + s * lower, c * lower - s * upper
        for i in range(rows.shape[1]):
            upper, lower = rows[a, i], rows[a + 1, i]
            rows[a, i], rows[a + 1, i] = c * upper + s * lower, c * lower - s * upper
        upper, lower = factor.scores[a], factor.scores[a + 1]
        factor.scores[a], factor.scores[a + 1] = c * upper + s * lower, c * lower - s * upper
        factor.members[a] = factor.members[a + 1]
        factor.place[factor.members[a]] = a
    last, score = rows[k - 1], factor.scores[k - 1]
    for i in range(rows.shape[1]):
        factor.pivot[i] += last[i] * last[i]
        factor.product[i] += last[i] * score
    factor.left[0] += score * score
    factor.place[j] = -1
    factor.count[0] = k - 1


@kernel
def _score(rule, data, factor, rates, inverse):
    """Fill in the rates of all flips and return their sum."""
    k, D = factor.count[0], data.length.shape[0]
    left = factor.left[0]
    least = data.exploration / D
    total = 0.0
    one_more = np.exp(data.by_size[k + 1] - data.by_size[k]) if k < D else 0.0
    _, _, noise = slab_moments(rule, k, left)
    for j in range(D):
        pivot = factor.pivot[j]
        if factor.place[j] >= 0 or pivot <= _DEPENDENT * data.length[j]:
            rates.inclusion[j] = rates.mean[j] = rates.square[j] = rates.rate[j] = 0.0
            continue
        drop = factor.product[j] * factor.product[j] / pivot
        odds = evidence_ratio(rule, k, left, pivot, drop) * one_more * data.odds[j]
        p = 1.0 - 1.0 / (1.0 + odds)
        weight = factor.product[j] / pivot
        rates.inclusion[j] = p
        rates.mean[j] = weight
        rates.square[j] = weight * weight + noise / pivot
        rates.rate[j] = min((p + least) * (1.0 + odds), 1e200)
        total += rates.rate[j]
    _invert(factor.root, inverse, k)
    for a in range(k):
        j = factor.members[a]
        weight = spread = 0.0
        for b in range(a, k):
            weight += inverse[a, b] * factor.scores[b]
            spread += inverse[a, b] * inverse[a, b]
        drop = weight * weight / spread
        odds = evidence_ratio(rule, k - 1, left + drop, 1.0 / spread, drop)
        odds *= np.exp(data.by_size[k] - data.by_size[k - 1]) * data.odds[j]
        p = 1.0 - 1.0 / (1.0 + odds)
        rates.inclusion[j] = p
        rates.mean[j] = weight
        rates.square[j] = weight * weight + noise * spread
        rates.rate[j] = (p + least) / max(p, 1e-300)
        total += rates.rate[j]
    return total


@kernel
def _invert(root, inverse, k):
    """Invert the upper triangular root."""
    for b in range(k):
        inverse[b, b] = 1.0 / root[b, b]
        for a in range(b - 1, -1, -1):
            total = 0.0
            for c in range(a + 1, b + 1):
                total += root[a, c] * inverse[c, b]
            inverse[a, b] = -total / root[a, a]


@kernel
def _walk(rule, data, factor, rates, inverse, averages, gram, slot, uniforms, flips, weights, burnt):
    """Make steps until the uniforms are used up, or a row of the Gram matrix is missing.

    Returns how many steps were made. The flip of the last one is not carried out if its row is missing:
    it is in ``flips``, to be carried out by the caller.
    """
    D = data.length.shape[0]
    for step in range(uniforms.shape[0]):
        total = _score(rule, data, factor, rates, inverse)
        weight = 1.0 / total
        weights[step] = weight
        if burnt:
            averages.weight[0] += weight
            averages.weight[1] += weight * weight
            averages.by_size[factor.count[0]] += weight
            for j in range(D):
                p = weight * rates.inclusion[j]
                averages.inclusion[j] += p
                averages.mean[j] += p * rates.mean[j]
                averages.square[j] += p * rates.square[j]
        goal, chosen = uniforms[step] * total, -1
        for j in range(D):
            if rates.rate[j] > 0.0:
                chosen = j
                goal -= rates.rate[j]
                if goal < 0.0:
                    break
        flips[step] = chosen
        if factor.place[chosen] >= 0:
            _remove(chosen, factor)
        elif slot[chosen] < 0 or factor.count[0] == factor.rows.shape[0]:
            return step + 1, True
        else:
            _add(gram[slot[chosen]], chosen, factor)
    return uniforms.shape[0], False
