"""The log weights of models that are given: a small Cholesky factor for each of them.

What a search found with one slab is looked at with another so, without searching again.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import logarithm
from garrote.priors.evidence import log_evidence
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.algebra.model_factor import dependent_share
from garrote.solvers.models.model_chain import Data, Target

# Products that one kernel call makes, about: some 10 ms, so that Ctrl-C is heard.
_PRODUCTS_PER_CALL = 2e7


class ModelList(NamedTuple):
    """Models one after another: their members in one array, and where each model begins and ends."""

    members: Array
    ends: Array

    @classmethod
    def of(cls, models: Sequence[tuple[int, ...]]) -> "ModelList":
        """Put models into one array."""
        sizes = np.fromiter(map(len, models), np.int64, len(models))
        members = np.fromiter(chain.from_iterable(models), np.int64, int(sizes.sum()))
        return cls(members, np.concatenate([[0], np.cumsum(sizes)]))

    @property
    def sizes(self) -> Array:
        """How many variables each model has."""
        return np.diff(self.ends)

    def inclusion(self, weights: Floats, n_features: int) -> Floats:
        """Return the sum of the weights of the models that each variable is in."""
        each = np.repeat(weights, self.sizes)
        return np.asarray(np.bincount(self.members, each, minlength=n_features), np.float64)

    def by_size(self, weights: Floats, n_features: int) -> Floats:
        """Return the sum of the weights of the models of each size."""
        return np.asarray(np.bincount(self.sizes, weights, minlength=n_features + 1), np.float64)


class Products(NamedTuple):
    """Cross products of the columns of models; ``slot[j]`` is the row of column j, or -1.

    Of two columns of a model one at least has a row.
    """

    gram: Floats
    slot: Array
    xty: Floats
    yty: float


def products_for(rows: GramRows, columns: Array) -> Products:
    """Return cross products for models that have one column, at most, that is not given here."""
    problem = rows.problem
    return Products(*rows.taken(columns), problem.xty, float(problem.yty))


def score_models(target: Target, products: Products, models: ModelList) -> Floats:
    """Return log evidence and log prior of models, added up, under a slab of known variance.

    Models with columns that depend on each other up to rounding have -inf.
    """
    rule, prior = target.rule(target.first_variance), target.inclusion
    data = Data(target.problem.curvature, prior.by_size, prior.log_odds)
    count, largest = len(models.ends) - 1, int(models.sizes.max(initial=1))
    root, log_weights = np.zeros((largest, largest + 1)), np.empty(count)
    cost = np.cumsum((models.sizes + 1.0) ** 3)
    calls = np.searchsorted(cost, np.arange(0.0, cost[-1], _PRODUCTS_PER_CALL)[1:])
    for first, last in zip([0, *calls], [*calls, count], strict=True):
        ends = models.ends[first : last + 1]
        _score(rule, data, products, models.members, ends, root, log_weights[first:last])
    return log_weights


@kernel
def _score(rule, data, products, members, ends, root, log_weights):
    """Fill in log weights, one model after another; the last column of the root are its scores."""
    for m in range(log_weights.shape[0]):
        own = members[ends[m] : ends[m + 1]]
        independent, log_det, left = _factorise(rule, data, products, own, root)
        log_prior = data.by_size[own.shape[0]]
        for j in own:
            log_prior += data.log_odds[j]
        log_weights[m] = -np.inf
        if independent:
            log_weights[m] = log_evidence(rule, own.shape[0], log_det, left) + log_prior


@kernel
def _factorise(rule, data, products, own, root):
    """Return whether columns are independent, the log determinant, and what is left of y'y."""
    last = root.shape[1] - 1
    gram, slot, least = products.gram, products.slot, dependent_share(rule)
    log_det, left = 0.0, products.yty
    for a in range(own.shape[0]):
        i = own[a]
        pivot, product = data.length[i] + rule.ridge, products.xty[i]
        for b in range(a):
            j = own[b]
            entry = gram[slot[i], j] if slot[i] >= 0 else gram[slot[j], i]
            for c in range(b):
                entry -= root[a, c] * root[b, c]
            entry /= root[b, b]
            root[a, b] = entry
            pivot -= entry * entry
            product -= entry * root[b, last]
        if not pivot > least * data.length[i]:
            return False, 0.0, 0.0
        root[a, a] = np.sqrt(pivot)
        root[a, last] = product / root[a, a]
        left -= root[a, last] * root[a, last]
        log_det += logarithm(pivot)
    return True, log_det, max(left, 0.0)
