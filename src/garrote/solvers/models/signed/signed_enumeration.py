"""The posterior over all models with a slab of two humps: all signs of all models, 3^D in all."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Floats
from garrote.limits.budgets import SIGNS_PER_CALL
from garrote.solvers.algebra.factor_updates import factor_column, invert_root
from garrote.solvers.algebra.model_factor import dependent_share
from garrote.solvers.models.enumeration import Enumeration
from garrote.solvers.models.signed.sign_sums import moments_over_signs, sum_signs

# Sums are relative to a good model; one better by more than this (in logs) becomes the reference.
_FAR = 200.0


class _Sums(NamedTuple):
    """Sums over models in units of exp(unit): of 1 by size, the noise, coefficients and products."""

    unit: Floats
    by_size: Floats
    noise: Floats
    mean: Floats
    second: Floats


def enumerate_signed(
    rule: Any,
    gram: Floats,
    xty: Floats,
    yty: float,
    by_size: Floats,
    log_odds: Floats,
    *,
    keep: int = 1000,
    n_jobs: int | None = None,
) -> Enumeration:
    """Sum over all models and their signs, in one thread; see `enumerate_models` for the parameters."""
    D = len(xty)
    sums = _Sums(np.full(1, -np.inf), np.zeros(D + 1), np.zeros(1), np.zeros(D), np.zeros((D, D)))
    log_weights = np.full(2**D, -np.inf)
    shift = max(1, D - int(np.log(SIGNS_PER_CALL) / np.log(3.0)))
    bounds = np.linspace(0, 2**D, min(2**D, 3**shift) + 1).astype(np.int64)
    products = np.ascontiguousarray(gram), np.ascontiguousarray(xty), float(yty)
    for first, last in pairwise(bounds):
        _sum_models(rule, *products, by_size, log_odds, first, last, log_weights, sums)
    best = float(log_weights.max())
    probability = np.exp(log_weights - best)
    total = probability.sum()
    order = np.argsort(-log_weights, kind="stable")[:keep]
    order = order[np.isfinite(log_weights[order])]
    share = np.exp(sums.unit[0] - best) / total
    probability /= total
    patterns = np.arange(2**D)
    return Enumeration(
        log_total=float(best + np.log(total)),
        inclusion=np.array([probability[patterns >> j & 1 == 1].sum() for j in range(D)]),
        size_probability=sums.by_size * share,
        mean=sums.mean * share,
        second_moment=sums.second * share,
        noise=float(sums.noise[0] * share),
        models=order.astype(np.uint64),
        log_weights=log_weights[order],
        blocks=probability,
    )


@kernel
def _sum_models(rule, gram, xty, yty, by_size, log_odds, first, last, log_weights, sums):
    """Sum over the models of some bit patterns."""
    D = xty.shape[0]
    members = np.empty(D, np.int64)
    root, inverse_root = np.zeros((D, D)), np.zeros((D, D))
    field, pairs = np.empty(D), np.empty((D, D))
    mean, second = np.empty(D), np.empty((D, D))
    for bits in range(first, last):
        k, log_prior = 0, 0.0
        for j in range(D):
            if bits >> j & 1:
                members[k] = j
                log_prior += log_odds[j]
                k += 1
        model = members[:k]
        independent, log_det = _factorise(rule, gram, model, root)
        if not independent or by_size[k] + log_prior == -np.inf:
            continue
        invert_root(root, inverse_root, k)
        inverse = np.ascontiguousarray(inverse_root[:k, :k]) @ np.ascontiguousarray(
            inverse_root[:k, :k].T
        )
        coef = inverse @ xty[model]
        left = max(yty - coef @ xty[model], 0.0)
        log_sum, noise = sum_signs(rule, log_det, left, coef, inverse, True, field, pairs)
        log_weights[bits] = log_sum + by_size[k] + log_prior
        if log_weights[bits] > sums.unit[0] + _FAR or sums.unit[0] == -np.inf:
            _change_unit(sums, log_weights[bits])
        weight = np.exp(log_weights[bits] - sums.unit[0])
        moments_over_signs(rule.lift, noise, coef, inverse, field, pairs, mean, second)
        sums.by_size[k] += weight
        sums.noise[0] += weight * noise
        for a in range(k):
            sums.mean[model[a]] += weight * mean[a]
            for b in range(k):
                sums.second[model[a], model[b]] += weight * second[a, b]


@kernel
def _change_unit(sums, unit):
    fade = np.exp(sums.unit[0] - unit)
    sums.unit[0] = unit
    sums.noise[0] *= fade
    for values in (sums.by_size, sums.mean):
        values *= fade
    for row in sums.second:
        row *= fade


@kernel
def _factorise(rule, gram, inside, root):
    """Fill the upper triangular root of A; return whether columns are independent, and log |A|."""
    log_det = 0.0
    for b in range(inside.shape[0]):
        for a in range(b):
            root[a, b] = gram[inside[a], inside[b]]
        pivot = factor_column(root, b, gram[inside[b], inside[b]] + rule.ridge)
        if not pivot > dependent_share(rule) * gram[inside[b], inside[b]]:
            return False, 0.0
        root[b, b] = np.sqrt(pivot)
        log_det += np.log(pivot)
    return True, log_det
