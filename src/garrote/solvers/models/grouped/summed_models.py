"""Sums over given models: their log evidences, and moments of coefficients weighed by them.

Each model has a Cholesky factor of its own, which costs a third of its size cubed. Sums over sets of
groups are made of that, whose models grow by several columns at a time.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats
from garrote.limits.budgets import PRODUCTS_PER_CALL
from garrote.priors.evidence import log_evidence, noise_mean, slab_moments
from garrote.solvers.algebra.factor_updates import factor_column, invert_root
from garrote.solvers.algebra.model_factor import dependent_share
from garrote.solvers.models.scored_models import ModelList

# Models of less than this share of the probability add nothing to moments.
_NEGLIGIBLE = 1e-14


class Moments(NamedTuple):
    """Cross products of columns, and with a response, whose own square is ``yty``."""

    gram: Floats
    xty: Floats
    yty: float


def weigh_models(rule: Any, data: Moments, models: ModelList) -> Floats:
    """Return the log evidence of models; -inf where columns depend on each other."""
    logs = np.empty(len(models))
    for part, ends in _parts(models):
        root = np.zeros((int(models.sizes.max(initial=1)),) * 2)
        _weigh(rule, data, models.members, ends, root, logs[part])
    return logs


def sum_moments(
    rule: Any, data: Moments, models: ModelList, share: Floats
) -> tuple[Floats, Floats, float]:
    """Return first and second moments of coefficients, and the mean of the noise, over models."""
    D, largest = len(data.xty), int(models.sizes.max(initial=1))
    mean, second, noise = np.zeros(D), np.zeros((D, D)), np.zeros(1)
    root, inverse = np.zeros((2, largest, largest))
    for part, ends in _parts(models):
        _add_moments(
            rule, data, models.members, ends, share[part], root, inverse, mean, second, noise
        )
    return mean, second, float(noise[0])


def _parts(models: ModelList) -> Iterator[tuple[slice, Array]]:
    """Yield stretches of models that take milliseconds."""
    step = max(1, int(PRODUCTS_PER_CALL / (models.sizes.max(initial=1) + 1.0) ** 3))
    for first in range(0, len(models), step):
        yield slice(first, first + step), models.ends[first : first + step + 1]


@kernel
def _factorise(rule, data, inside, root):
    """Return whether columns are independent, the log determinant, and what is left of y'y."""
    log_det, left, size = 0.0, data.yty, inside.shape[0]
    least, scores = dependent_share(rule), np.zeros(size)
    for a in range(size):
        for b in range(a):
            root[b, a] = data.gram[inside[b], inside[a]]
        length, product = data.gram[inside[a], inside[a]], data.xty[inside[a]]
        pivot = factor_column(root, a, length + rule.ridge)
        if not pivot > least * length:
            return False, 0.0, 0.0, scores
        root[a, a] = np.sqrt(pivot)
        for b in range(a):
            product -= root[b, a] * scores[b]
        scores[a] = product / root[a, a]
        left -= scores[a] * scores[a]
        log_det += np.log(pivot)
    return True, log_det, max(left, 0.0), scores


@kernel
def _weigh(rule, data, members, ends, root, logs):
    for m in range(logs.shape[0]):
        inside = members[ends[m] : ends[m + 1]]
        independent, log_det, left, _ = _factorise(rule, data, inside, root)
        logs[m] = log_evidence(rule, inside.shape[0], log_det, left) if independent else -np.inf


@kernel
def _add_moments(rule, data, members, ends, share, root, inverse, mean, second, noise):
    for m in range(share.shape[0]):
        if share[m] < _NEGLIGIBLE:
            continue
        inside = members[ends[m] : ends[m + 1]]
        size = inside.shape[0]
        _, _, left, scores = _factorise(rule, data, inside, root)
        noise[0] += share[m] * noise_mean(rule, size, left)
        invert_root(root, inverse, size)
        f1, f2, f3 = slab_moments(rule, size, left)
        coef = np.zeros(size)
        for a in range(size):
            for b in range(a, size):
                coef[a] += inverse[a, b] * scores[b]
            mean[inside[a]] += share[m] * f1 * coef[a]
        for a in range(size):
            for b in range(a + 1):
                spread = 0.0
                for c in range(a, size):
                    spread += inverse[a, c] * inverse[b, c]
                entry = share[m] * (f2 * coef[a] * coef[b] + f3 * spread)
                second[inside[a], inside[b]] += entry
                if b < a:
                    second[inside[b], inside[a]] += entry
