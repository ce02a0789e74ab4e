"""Many signals with gaps under a mixture of Gaussians: which part each is of, what is in its gaps."""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel
from garrote.arrays import Array, Floats

# Parts of which a signal is less probable than this tell nothing of it.
_IMPROBABLE = 1e-3
# Products that one call of the kernel makes: less than 50 ms of work.
_MOST_PRODUCTS = 4e7


class PartSums(NamedTuple):
    """What signals say of each part of a mixture: expected counts, sums, and sums of products."""

    counts: Floats
    sums: Floats
    products: Floats


class MaskedPosterior(NamedTuple):
    """Means and variances of all entries of signals, the sum of log likelihoods, and sums by parts."""

    mean: Floats
    variance: Floats
    log_likelihood: float
    sums: PartSums


def masked_posterior(
    signals: Floats,
    known: Array,
    log_weights: Floats,
    means: Floats,
    covariances: Floats,
    noise: float,
    learn: bool = False,
) -> MaskedPosterior:
    """Return what signals are, given their known entries, which have noise.

    Parameters
    ----------
    signals : array of shape (N, D)
    known : array of bool of shape (N, D)
    log_weights, means, covariances : arrays of shape (C,), (C, D), (C, D, D)
    noise : float
        The variance of the noise.
    learn : bool
        Whether sums for a step of EM are made.
    """
    count, length = means.shape
    mean, variance = np.empty(signals.shape), np.empty(signals.shape)
    size = count if learn else 0
    sums = PartSums(np.zeros(size), np.zeros((size, length)), np.zeros((size, length, length)))
    together, total = max(1, int(20 * _MOST_PRODUCTS / (count * length**3))), 0.0
    for first in range(0, len(signals), together):
        rows = slice(first, first + together)
        total += _posterior(
            signals[rows], known[rows], log_weights, means, covariances, noise,
            mean[rows], variance[rows], *sums,
        )  # fmt: skip
    for products in sums.products:
        products += np.tril(products, -1).T
    return MaskedPosterior(mean, variance, total, sums)


@kernel
def _posterior(
    signals, known, log_weights, means, covariances, noise, mean, variance, counts, sums, products
):
    """Fill in means and variances; return the sum of log likelihoods."""
    parts, length = means.shape
    factor, across = np.empty((length, length)), np.empty((length, length))
    scores, places, found = np.empty(parts), np.empty(length, np.int64), np.empty(length)
    total = 0.0
    for s in range(signals.shape[0]):
        m = 0
        for i in range(length):
            if known[s, i]:
                places[m] = i
                m += 1
        for c in range(parts):
            scores[c] = log_weights[c] + _whiten(
                signals[s], places, m, means[c], covariances[c], noise, factor, found
            )
        top = scores.max()
        scores[:] = np.exp(scores - top)
        whole = scores.sum()
        total += top + np.log(whole)
        scores /= whole
        scores[scores < _IMPROBABLE] = 0.0
        scores /= scores.sum()
        mean[s], variance[s] = 0.0, 0.0
        for c in range(parts):
            share = scores[c]
            if share == 0.0:
                continue
            _whiten(signals[s], places, m, means[c], covariances[c], noise, factor, found)
            _reach(places, m, covariances[c], factor, across)
            _add_part(share, means[c], covariances[c], m, across, found, mean[s], variance[s])
            if counts.shape[0]:
                counts[c] += share
                _add_sums(share, means[c], covariances[c], m, across, found, sums[c], products[c])
        for i in range(length):
            variance[s, i] = max(variance[s, i] - mean[s, i] ** 2, 0.0)
    return total


@kernel
def _whiten(signal, places, m, mean, covariance, noise, factor, found):
    """Factor the covariance of known entries, and whiten these; return their log density."""
    score = -0.5 * m * np.log(2.0 * np.pi)
    for a in range(m):
        row, at = factor[a], places[a]
        for b in range(a + 1):
            value, other = covariance[at, places[b]], factor[b]
            if a == b:
                value += noise
            for k in range(b):
                value -= row[k] * other[k]
            row[b] = np.sqrt(value) if a == b else value / other[b]
        value = signal[at] - mean[at]
        for k in range(a):
            value -= row[k] * found[k]
        found[a] = value / row[a]
        score -= np.log(row[a]) + 0.5 * found[a] ** 2
    return score


@kernel
def _reach(places, m, covariance, factor, across):
    """Whiten the covariances of known entries with all entries."""
    for a in range(m):
        row = across[a]
        row[:] = covariance[places[a]]
        for k in range(a):
            share, other = factor[a, k], across[k]
            for i in range(row.shape[0]):
                row[i] -= share * other[i]
        for i in range(row.shape[0]):
            row[i] /= factor[a, a]


@kernel
def _add_part(share, centre, covariance, m, across, found, mean, variance):
    """Add first and second moments of a signal in one part."""
    for i in range(centre.shape[0]):
        value, spread = centre[i], covariance[i, i]
        for a in range(m):
            value += across[a, i] * found[a]
            spread -= across[a, i] ** 2
        mean[i] += share * value
        variance[i] += share * (max(spread, 0.0) + value * value)


@kernel
def _add_sums(share, centre, covariance, m, across, found, sums, products):
    """Add what a signal says of a part: of products those below the diagonal alone."""
    length = centre.shape[0]
    value = centre.copy()
    for a in range(m):
        for i in range(length):
            value[i] += across[a, i] * found[a]
    for i in range(length):
        sums[i] += share * value[i]
        row = products[i]
        for j in range(i + 1):
            row[j] += share * (covariance[i, j] + value[i] * value[j])
    for a in range(m):
        for i in range(length):
            part, row = share * across[a, i], products[i]
            for j in range(i + 1):
                row[j] -= part * across[a, j]
