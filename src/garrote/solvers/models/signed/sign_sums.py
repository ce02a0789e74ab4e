"""Sums over the signs of one model's coefficients, under a slab of two humps.

With signs t the mean of the coefficients is v + lift E[s] A^-1 t, v being the ridge solution and s the
noise's deviation, and the evidence depends on t by t'v and t'A^-1 t alone. In Gray's order one sign
changes at a time, and both follow in a few operations: nothing is factorised again.

Where larger models are described one by one, their signs are taken for independent of each other, each
in the mean field of the others. `sum_signs` with ``every`` sums over all of them.
"""

import numpy as np

from garrote._jit import kernel
from garrote.priors.evidence.humps import log_signed_evidence, noise_powers, reshaped

# Signs that are summed over in any case.
_FEW = 6
# Sweeps of the mean field over the signs, and the largest field.
_FIELD_SWEEPS, _CERTAIN = 5, 30.0
# Signs less probable than the best by this (in logs) do not count.
_FAINT = 40.0
_LOG_2 = float(np.log(2.0))


@kernel
def sum_signs(rule, log_det, left, coef, inverse, every, field, pairs):
    """Sum over signs; return the log of the sum and the mean noise variance.

    ``coef`` is the ridge solution and ``inverse`` A^-1. ``field`` becomes the mean of s t, and ``pairs``
    that of s^2 tt'. Signs of larger models are taken for independent, unless ``every`` sum is wanted.
    """
    k = coef.shape[0]
    field[:k], pairs[:k, :k] = 0.0, 0.0
    if rule.lift == 0.0:  # all signs are alike
        log_total = log_signed_evidence(rule, k, log_det, left, 0.0, 0.0) + k * _LOG_2
        return log_total, noise_powers(rule, left, 0.0)[1]
    if every or k <= _FEW:
        return _sum_all(rule, log_det, left, coef, inverse, field, pairs)
    fields = sign_fields(rule, left, coef, inverse)
    means, entropy, spread = np.tanh(fields), 0.0, 0.0
    for j in range(k):
        plus = 0.5 * (1.0 + means[j])
        if 0.0 < plus < 1.0:
            entropy -= plus * np.log(plus) + (1.0 - plus) * np.log(1.0 - plus)
        spread += (1.0 - means[j] * means[j]) * inverse[j, j]
    cross, lean = means @ coef, means @ (inverse @ means) + spread
    deviation, variance = noise_powers(rule, left, cross)
    for i in range(k):
        field[i] = deviation * means[i]
        for j in range(k):
            pairs[i, j] = variance * (means[i] * means[j] if i != j else 1.0)
    return log_signed_evidence(rule, k, log_det, left, cross, lean) + entropy, variance


@kernel
def sign_fields(rule, left, coef, inverse):
    """Return half the log odds of every sign, given the mean of the others; at most 30."""
    k = coef.shape[0]
    fields, means = np.zeros(k), np.zeros(k)
    cross = 0.0
    for _ in range(_FIELD_SWEEPS):
        deviation = noise_powers(rule, left, cross)[0]
        for a in range(k):
            others = 0.0
            for b in range(k):
                others += inverse[a, b] * means[b] if b != a else 0.0
            field = rule.lift * (coef[a] / deviation + rule.lift * others)
            fields[a] = min(max(field, -_CERTAIN), _CERTAIN)
            means[a] = np.tanh(fields[a])
        cross = means @ coef
    return fields


@kernel
def _sum_all(rule, log_det, left, coef, inverse, field, pairs):
    """Sum over all signs, one changing at a time."""
    k = coef.shape[0]
    signs, along = np.ones(k), np.zeros(k)
    cross = lean = 0.0
    for j in range(k):
        cross += coef[j]
        for i in range(k):
            along[i] += inverse[i, j]
    for j in range(k):
        lean += along[j]
    best, total, noise = -np.inf, 0.0, 0.0
    for step in range(1 << k):
        if step > 0:
            j = _trailing_zeros(step)
            signs[j] = -signs[j]
            cross += 2.0 * signs[j] * coef[j]
            lean += 4.0 * (signs[j] * along[j] + inverse[j, j])
            for i in range(k):
                along[i] += 2.0 * signs[j] * inverse[i, j]
        log_weight = log_signed_evidence(rule, k, log_det, left, cross, lean)
        if log_weight < best - _FAINT:
            continue
        if log_weight > best:
            fade = np.exp(best - log_weight)
            total, noise, best = total * fade, noise * fade, log_weight
            _scale(k, fade, field, pairs)
        weight = np.exp(log_weight - best)
        deviation, variance = noise_powers(rule, left, cross)
        total += weight
        noise += weight * variance
        for i in range(k):
            field[i] += weight * deviation * signs[i]
            for j in range(k):
                pairs[i, j] += weight * variance * signs[i] * signs[j]
    _scale(k, 1.0 / total, field, pairs)
    return best + np.log(total), noise / total


@kernel(inline=True)
def _scale(k, factor, field, pairs):
    for i in range(k):
        field[i] *= factor
        for j in range(k):
            pairs[i, j] *= factor


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
    rule, slabs, values, vectors, products, yty, every, weights, logs, mean, second, noise
):
    """Fill in the log evidence of a model under each slab; add moments to what has room, by weights.

    ``slabs`` has ridge, lift and height of each; the model is given by its spectrum.
    """
    k = values.shape[0]
    field, pairs = np.empty(k), np.empty((k, k))
    slab_mean, slab_second = np.empty(k), np.empty((k, k))
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
        logs[r], variance = sum_signs(at, log_det, left, coef, inverse, every, field, pairs)
        if mean.shape[0] == k:
            moments_over_signs(
                at.lift, variance, coef, inverse, field, pairs, slab_mean, slab_second
            )
            noise[0] += weights[r] * variance
            for i in range(k):
                mean[i] += weights[r] * slab_mean[i]
                for j in range(k):
                    second[i, j] += weights[r] * slab_second[i, j]
