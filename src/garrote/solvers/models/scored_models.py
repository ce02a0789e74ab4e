"""The log weights of models that are given: a small Cholesky factor for each of them, or for several.

What a search found with one slab is looked at with another so, without searching again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.elementary import logarithm
from garrote.limits.budgets import PRODUCTS_PER_CALL
from garrote.priors.evidence import log_evidence
from garrote.solvers.algebra.factor_updates import factor_column
from garrote.solvers.algebra.gram_rows import GramRows
from garrote.solvers.algebra.model_factor import dependent_share
from garrote.solvers.models.model_chain import Data, Target

# Models that are scored together, at most.
_TOGETHER = 256
# In the place of a variable: none.
NOBODY = -1


@dataclass(frozen=True)
class ModelList(Sequence[tuple[int, ...]]):
    """Models one after another: their members in one array, and where each model begins and ends.

    A model that is asked for is a tuple of its members, ascending.
    """

    members: Array
    ends: Array

    @classmethod
    def of(cls, models: Sequence[tuple[int, ...]]) -> "ModelList":
        """Put models into one array."""
        sizes = np.fromiter(map(len, models), np.int64, len(models))
        members = np.fromiter(chain.from_iterable(models), np.int32, int(sizes.sum()))
        return cls.of_sizes(sizes, members)

    @classmethod
    def of_sizes(cls, sizes: Array, members: Array | None = None) -> "ModelList":
        """Return models of given sizes; their members may be filled in later."""
        ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        return cls(np.empty(int(ends[-1]), np.int32) if members is None else members, ends)

    @classmethod
    def joined(cls, lists: "Sequence[ModelList]") -> "ModelList":
        """Put several lists into one."""
        members = np.concatenate([each.members for each in lists])
        return cls.of_sizes(np.concatenate([each.sizes for each in lists]), members)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(self[k] for k in range(len(self))[place])
        k = range(len(self))[place]
        return tuple(sorted(self.members[self.ends[k] : self.ends[k + 1]].tolist()))

    @property
    def sizes(self) -> Array:
        """How many variables each model has."""
        return np.diff(self.ends)

    def take(self, places: Array) -> "ModelList":
        """Return the models at some places."""
        taken = ModelList.of_sizes(self.sizes[places])
        _copy(self.members, self.ends, places, taken.members, taken.ends)
        return taken

    def inclusion(self, weights: Floats, n_features: int) -> Floats:
        """Return the sum of the weights of the models that each variable is in."""
        total = np.zeros(n_features)
        _add_weights(self.members, self.ends, weights, total)
        return total

    def by_size(self, weights: Floats, n_features: int) -> Floats:
        """Return the sum of the weights of the models of each size."""
        return np.asarray(np.bincount(self.sizes, weights, minlength=n_features + 1), np.float64)


class Keys:
    """A set of keys, none of them 0, which tells of many at once whether they are new."""

    def __init__(self) -> None:
        self._table, self._count = np.zeros(1 << 12, np.int64), 0

    def add(self, keys: Array) -> Array:
        """Take keys in; return which of them were not there before."""
        while 2 * (self._count + len(keys)) > len(self._table):
            before = self._table[self._table != 0]
            self._table = np.zeros(4 * len(self._table), np.int64)
            _enter(self._table, before, np.empty(len(before), np.bool_))
        new = np.empty(len(keys), np.bool_)
        _enter(self._table, keys, new)
        self._count += int(np.count_nonzero(new))
        return new


@kernel
def _enter(table, keys, new):
    """Put keys into the first place that is free, or theirs, from where their last bits point to."""
    last = table.shape[0] - 1
    for k in range(keys.shape[0]):
        place = keys[k] & last
        while table[place] != 0 and table[place] != keys[k]:
            place = (place + 1) & last
        new[k] = table[place] == 0
        table[place] = keys[k]


@dataclass(frozen=True)
class Neighbours:
    """Models as parents with one variable less, where one leaves, and one more, where one comes."""

    parents: ModelList
    parent: Array
    leaves: Array
    comes: Array

    def models(self, places: Array | None = None) -> ModelList:
        """Return the models themselves, or those at some places; who comes is last."""
        every = (self.parent, self.leaves, self.comes)
        parent, leaves, comes = every if places is None else (each[places] for each in every)
        sizes = self.parents.sizes[parent] - (leaves != NOBODY) + (comes != NOBODY)
        models = ModelList.of_sizes(sizes)
        known = self.parents.members, self.parents.ends
        _write(*known, parent, leaves, comes, models.members, models.ends)
        return models

    def inclusion(self, weights: Floats, n_features: int) -> Floats:
        """Return the sum of the weights of the models that each variable is in."""
        each = np.bincount(self.parent, weights, minlength=len(self.parents))
        total = self.parents.inclusion(each.astype(np.float64), n_features)
        for sign, who in ((-1.0, self.leaves), (1.0, self.comes)):
            there = who != NOBODY
            total += np.bincount(who[there], sign * weights[there], minlength=n_features)
        return total


@kernel
def _write(members, ends, parent, leaves, comes, new, new_ends):
    for m in range(parent.shape[0]):
        at = new_ends[m]
        for a in range(ends[parent[m]], ends[parent[m] + 1]):
            if members[a] != leaves[m]:
                new[at] = members[a]
                at += 1
        if comes[m] != NOBODY:
            new[at] = comes[m]


@kernel
def _copy(members, ends, places, new, new_ends):
    for m in range(places.shape[0]):
        first, start = ends[places[m]], new_ends[m]
        for a in range(new_ends[m + 1] - start):
            new[start + a] = members[first + a]


@kernel
def _add_weights(members, ends, weights, total):
    for m in range(weights.shape[0]):
        for a in range(ends[m], ends[m + 1]):
            total[members[a]] += weights[m]


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

    Models with columns that depend on each other up to rounding have -inf. Those that follow each other
    and differ in their last member alone, as neighbours of one model do, are scored together.
    """
    rule, prior = target.rule(target.first_variance), target.inclusion
    data = Data(target.problem.curvature, prior.by_size, prior.log_odds)
    largest, log_weights = int(models.sizes.max(initial=1)), np.empty(len(models))
    step = max(1, int(PRODUCTS_PER_CALL / (largest + 1.0) ** 3))
    root, rows = np.zeros((largest, largest + 1)), np.zeros((largest + 2, _TOGETHER))
    for first in range(0, len(models), step):
        ends, part = models.ends[first : first + step + 1], log_weights[first : first + step]
        _score(rule, data, products, models.members, ends, root, rows, part)
    return log_weights


@kernel
def _score(rule, data, products, members, ends, root, rows, log_weights):
    """Fill in log weights, one stretch of models with all members but the last in common at a time."""
    m = 0
    while m < log_weights.shape[0]:
        size, together = ends[m + 1] - ends[m], 1
        if size == 0:
            log_weights[m] = log_evidence(rule, 0, 0.0, products.yty) + data.by_size[0]
            m += 1
            continue
        while m + together < log_weights.shape[0] and together < rows.shape[1]:
            if not _differ_in_last(members, ends, m, m + together):
                break
            together += 1
        common = members[ends[m] : ends[m + 1] - 1]
        last = members[ends[m + 1] - 1 : ends[m + together] : size]
        scores = log_weights[m : m + together]
        independent, log_det, left = _factorise(rule, data, products, common, root)
        if independent:
            log_prior = data.by_size[size]
            for j in common:
                log_prior += data.log_odds[j]
            _score_last(rule, data, products, common, last, root, rows, log_det, left, scores)
            scores += log_prior
        else:
            scores[:] = -np.inf
        m += together


@kernel(inline=True)
def _differ_in_last(members, ends, one, two):
    """Tell whether models are of one size and have all members but the last in common, in order."""
    size = ends[one + 1] - ends[one]
    if ends[two + 1] - ends[two] != size:
        return False
    differ = 0
    for a in range(size - 1):
        differ += members[ends[one] + a] != members[ends[two] + a]
    return differ == 0


@kernel
def _score_last(rule, data, products, common, last, root, rows, log_det, left, scores):
    """Score each of some columns beside common ones: log evidence, and the column's prior log odds."""
    gram, slot, least = products.gram, products.slot, dependent_share(rule)
    size, count, end = common.shape[0], last.shape[0], root.shape[1] - 1
    pivot, product = rows[size], rows[size + 1]
    for c in range(count):
        pivot[c], product[c] = data.length[last[c]] + rule.ridge, products.xty[last[c]]
    for a in range(size):
        i, row = common[a], rows[a]
        for c in range(count):
            row[c] = gram[slot[i], last[c]] if slot[i] >= 0 else gram[slot[last[c]], i]
        for b in range(a):
            share, other = root[a, b], rows[b]
            for c in range(count):
                row[c] -= share * other[c]
        scale, score = 1.0 / root[a, a], root[a, end]
        for c in range(count):
            row[c] *= scale
            pivot[c] -= row[c] * row[c]
            product[c] -= row[c] * score
    for c in range(count):
        usable = pivot[c] > least * data.length[last[c]]
        safe_pivot = pivot[c] if usable else 1.0
        rest = left - product[c] * product[c] / safe_pivot
        rest = rest if rest > 0.0 else 0.0
        evidence = log_evidence(rule, size + 1, log_det + logarithm(safe_pivot), rest)
        scores[c] = evidence + data.log_odds[last[c]] if usable else -np.inf


@kernel
def _factorise(rule, data, products, inside, root):
    """Return whether columns are independent, the log determinant, and what is left of y'y.

    The last column of the root are the scores.
    """
    last = root.shape[1] - 1
    gram, slot, least = products.gram, products.slot, dependent_share(rule)
    log_det, left = 0.0, products.yty
    for a in range(inside.shape[0]):
        i = inside[a]
        for b in range(a):
            j = inside[b]
            root[a, b] = gram[slot[i], j] if slot[i] >= 0 else gram[slot[j], i]
        pivot, product = factor_column(root.T, a, data.length[i] + rule.ridge), products.xty[i]
        for b in range(a):
            product -= root[a, b] * root[b, last]
        if not pivot > least * data.length[i]:
            return False, 0.0, 0.0
        root[a, a] = np.sqrt(pivot)
        root[a, last] = product / root[a, a]
        left -= root[a, last] * root[a, last]
        log_det += logarithm(pivot)
    return True, log_det, max(left, 0.0)
