"""Sums over the signs of one model's coefficients, under a slab of two humps.

With signs t the mean of the coefficients is v + lift E[s] A^-1 t, v being the ridge solution and s the
noise's deviation, and the evidence depends on t by t'v and t'A^-1 t alone. In Gray's order one sign
changes at a time, and both follow in a few operations: nothing is factorised again.

A sign whose odds are beyond e^18 whatever the others are is left as it is. That is certain for a known
noise; if more than 12 signs remain in question, the surest of them are left as the ridge solution has
them. `sum_signs` with ``every`` takes all of them.
"""

import numpy as np

from garrote._jit import kernel
from garrote.priors.humps import log_signed_evidence, noise_powers, reshaped

# Log odds beyond which a sign is not in question, and the most signs that are.
_SURE, _MOST_OPEN = 18.0, 12
# Signs less probable than the best by this (in logs) do not count.
_FAINT = 40.0
_LOG_2 = float(np.log(2.0))


@kernel
def open_signs(rule, left, coef, inverse, signs, margin, every):
    """Set signs to those of the coefficients; return which of them are in question, and how many."""
    k = coef.shape[0]
    deviation = noise_powers(rule, left, 0.0)[0]
    for j in range(k):
        signs[j] = 1.0 if coef[j] >= 0.0 else -1.0
        others = 0.0
        for i in range(k):
            others += abs(inverse[j, i]) if i != j else 0.0
        margin[j] = 2.0 * rule.lift * (abs(coef[j]) / deviation - rule.lift * others)
    order = np.argsort(margin)
    if every:
        return order, k
    count = 0
    while count < min(k, _MOST_OPEN) and margin[order[count]] < _SURE:
        count += 1
    return order, count


@kernel
def sum_signs(rule, log_det, left, coef, inverse, every, field, pairs):
    """Sum over signs; return the log of the sum and the mean noise variance.

    ``coef`` is the ridge solution and ``inverse`` A^-1. ``field`` becomes the mean of s t, and ``pairs``
    that of s^2 tt'.
    """
    k = coef.shape[0]
    field[:k], pairs[:k, :k] = 0.0, 0.0
    if rule.lift == 0.0:  # all signs are alike
        log_total = log_signed_evidence(rule, k, log_det, left, 0.0, 0.0) + k * _LOG_2
        return log_total, noise_powers(rule, left, 0.0)[1]
    signs, along = np.empty(k), np.zeros(k)
    order, count = open_signs(rule, left, coef, inverse, signs, np.empty(k), every)
    cross = lean = 0.0
    for j in range(k):
        cross += signs[j] * coef[j]
        for i in range(k):
            along[i] += inverse[i, j] * signs[j]
    for j in range(k):
        lean += signs[j] * along[j]
    best, total, noise = -np.inf, 0.0, 0.0
    for step in range(1 << count):
        if step > 0:
            j = order[_trailing_zeros(step)]
            signs[j] = -signs[j]
            cross += 2.0 * signs[j] * coef[j]
            lean += 4.0 * (signs[j] * along[j] + inverse[j, j])
            for i in range(k):
                along[i] += 2.0 * signs[j] * inverse[i, j]
        log_weight = log_signed_evidence(rule, k, log_det, left, cross, lean)
        if log_weight > best:
            fade = np.exp(best - log_weight)
            total, noise, best = total * fade, noise * fade, log_weight
            for i in range(k):
                field[i] *= fade
                for j in range(k):
                    pairs[i, j] *= fade
        elif log_weight < best - _FAINT:
            continue
        weight = np.exp(log_weight - best)
        deviation, variance = noise_powers(rule, left, cross)
        total += weight
        noise += weight * variance
        for i in range(k):
            field[i] += weight * deviation * signs[i]
            for j in range(k):
                pairs[i, j] += weight * variance * signs[i] * signs[j]
    for i in range(k):
        field[i] /= total
        for j in range(k):
            pairs[i, j] /= total
    return best + np.log(total), noise / total


@kernel(inline=True)
def _trailing_zeros(number):
    count = 0
    while number & 1 == 0:
        number >>= 1
        count += 1
    return count


@kernel
def moments_over_signs(lift, noise, coef, inverse, field, pairs, mean, second):
    """Set the mean of the coefficients and that of their products, from sums over signs."""
    k = coef.shape[0]
    shift = inverse @ field[:k]
    middle = inverse @ np.ascontiguousarray(pairs[:k, :k]) @ inverse
    for i in range(k):
        mean[i] = coef[i] + lift * shift[i]
        for j in range(k):
            both = coef[i] * coef[j] + lift * (coef[i] * shift[j] + shift[i] * coef[j])
            second[i, j] = both + lift * lift * middle[i, j] + noise * inverse[i, j]


@kernel
def describe_over_slabs(
    rule, slabs, values, vectors, products, yty, weights, logs, mean, second, noise
):
    """Fill in the log evidence of a model under each slab; add moments to what has room, by weights.

    ``slabs`` has ridge, lift and height of each; the model is given by its spectrum.
    """
    k = values.shape[0]
    field, pairs = np.empty(k), np.empty((k, k))
    own_mean, own_second = np.empty(k), np.empty((k, k))
    for r in range(slabs.shape[0]):
        at = reshaped(rule, slabs[r, 0], slabs[r, 1], slabs[r, 2])
        shrunk, log_det, left = np.empty((k, k)), 0.0, yty
        for e in range(k):
            log_det += np.log(values[e] + at.ridge)
            left -= products[e] * products[e] / (values[e] + at.ridge)
            for i in range(k):
                shrunk[i, e] = vectors[i, e] / (values[e] + at.ridge)
        inverse, coef = shrunk @ vectors.T, shrunk @ products
        left = max(left, 0.0)
        logs[r], variance = sum_signs(at, log_det, left, coef, inverse, False, field, pairs)
        if mean.shape[0] == k:
            moments_over_signs(at.lift, variance, coef, inverse, field, pairs, own_mean, own_second)
            noise[0] += weights[r] * variance
            for i in range(k):
                mean[i] += weights[r] * own_mean[i]
                for j in range(k):
                    second[i, j] += weights[r] * own_second[i, j]
